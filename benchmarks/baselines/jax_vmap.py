"""The training as one would first write it in JAX: one network's loss, `jax.grad`, `optax.adam`, scanned, `jax.vmap` over seeds.

Binary or ternary, with biases or without, on whichever device JAX takes. Nothing is done for speed beyond compiling it: the
tokens of a string are unrolled, the strings of an epoch and the epochs are scans.
"""

from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.baselines import parts_of

LEARNING_RATE = 0.005

Network: TypeAlias = dict[str, jax.Array]


def train(
    start: np.ndarray, opening: np.ndarray, closing: np.ndarray, target: np.ndarray, epochs: int = 100
) -> np.ndarray:
    """Train an ensemble in the precision of `start`; float64 needs JAX's 64 bits.

    Args:
        start: initial weights, a column per model, in rows as `parts_of` cuts them.
        opening: 1 where a string has an opening bracket, shape (strings, tokens); shorter strings are padded on the left.
        closing: the same for closing brackets.
        target: 1 for a positive string and 0 for any other, or a row of three for the string's class.
        epochs: passes over the strings.

    Returns:
        The final weights, of the shape of `start`.
    """
    a, b, u, *rest = parts_of(start, outputs=target[0].size)
    networks = {"inputs": np.stack([a, b], axis=-1), "recurrent": u}
    networks |= {name: np.stack(rows, axis=-1) for name, rows in zip(_OTHERS, rest, strict=True) if rows}
    strings = np.stack([opening, closing], axis=-1).astype(start.dtype)
    trained = _train_all(networks, strings, target.astype(start.dtype), epochs)
    columns = [
        trained["inputs"],
        trained["recurrent"][:, None],
        *(trained[name] for name in _OTHERS if name in trained),
    ]
    return np.concatenate(columns, axis=1).T


_OTHERS = ("bias", "readout", "offset")


def loss(network: Network, string: jax.Array, target: jax.Array) -> jax.Array:
    """Return one network's cross-entropy on one string; with three classes their shares count as logits, as in the paper."""
    h = jnp.zeros((), string.dtype)
    for token in string:
        # Told nothing, a GPU would round the weights to ten bits.
        h = jnp.dot(network["inputs"], token, precision="highest") + network["recurrent"] * h
        if "bias" in network:
            h = h + token.sum() * network["bias"][0]
    outputs = network["readout"] * h + network.get("offset", 0)
    if target.ndim:
        return optax.softmax_cross_entropy(jax.nn.softmax(outputs), target)
    return optax.sigmoid_binary_cross_entropy(outputs[0], target)


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
