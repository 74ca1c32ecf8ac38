"""The training as one would first write it in JAX: one network's loss, `jax.grad`, `optax.adam`, scanned, `jax.vmap` over seeds.

Binary, without bias, on whichever device JAX takes. Nothing is done for speed beyond compiling it: the tokens of a string are
unrolled, the strings of an epoch and the epochs are scans.
"""

from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax

LEARNING_RATE = 0.005

Network: TypeAlias = dict[str, jax.Array]


def train(
    start: np.ndarray, opening: np.ndarray, closing: np.ndarray, target: np.ndarray, epochs: int = 100
) -> np.ndarray:
    """Train an ensemble in the precision of `start`; float64 needs JAX's 64 bits.

    Args:
        start: initial weights, shape (4, models): for `(`, for `)`, recurrent, readout.
        opening: 1 where a string has an opening bracket, shape (strings, tokens); shorter strings are padded on the left.
        closing: the same for closing brackets.
        target: 1 for a positive string, 0 for any other.
        epochs: passes over the strings.

    Returns:
        The final weights, of the shape of `start`.
    """
    networks = {"inputs": start[:2].T, "recurrent": start[2], "readout": start[3]}
    strings = np.stack([opening, closing], axis=-1).astype(start.dtype)
    trained = _train_all(networks, strings, target.astype(start.dtype), epochs)
    return np.concatenate([np.asarray(trained["inputs"]).T, [trained["recurrent"], trained["readout"]]])


def loss(network: Network, string: jax.Array, target: jax.Array) -> jax.Array:
    """Return one network's cross-entropy on one string."""
    h = jnp.zeros((), string.dtype)
    for token in string:
        # Told nothing, a GPU would round the weights to ten bits.
        h = jnp.dot(network["inputs"], token, precision="highest") + network["recurrent"] * h
    return optax.sigmoid_binary_cross_entropy(network["readout"] * h, target)


@partial(jax.jit, static_argnums=3)
def _train_all(networks: Network, strings: jax.Array, targets: jax.Array, epochs: int) -> Network:
    adam = optax.adam(LEARNING_RATE)

    def train_one(network: Network) -> Network:
        def step(state: tuple, lesson: tuple) -> tuple[tuple, None]:
            network, moments = state
            updates, moments = adam.update(jax.grad(loss)(network, *lesson), moments)
            return (optax.apply_updates(network, updates), moments), None

        def epoch(state: tuple, _: None) -> tuple[tuple, None]:
            return jax.lax.scan(step, state, (strings, targets))

        (network, _), _ = jax.lax.scan(epoch, (network, adam.init(network)), length=epochs)
        return network

    return jax.vmap(train_one)(networks)
