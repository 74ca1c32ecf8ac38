"""Adam, written so that a step over many seeds costs little.

The same update as `optax.adam`, to which a test holds it, with the two bias corrections taken out of the arrays: they are
the same for every weight and seed, so they are worked out once a step and multiplied in, instead of divided by everywhere.
"""

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8


def adam(learning_rate: Array | float) -> optax.GradientTransformation:
    """−η·m̂/(√ŝ + ε) with β = (0.9, 0.999) and ε = 1e-8, no decay, no clipping: the paper's optimiser."""

    def init(params: optax.Params) -> optax.ScaleByAdamState:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return optax.ScaleByAdamState(count=jnp.zeros([], jnp.int32), mu=zeros, nu=zeros)

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.ScaleByAdamState]:
        del params  # the interface has it; Adam does not look at the weights
        assert isinstance(state, optax.ScaleByAdamState)
        count = state.count + 1
        mean = jax.tree.map(lambda m, g: DECAY * m + (1 - DECAY) * g, state.mu, updates)
        square = jax.tree.map(lambda s, g: SQUARE_DECAY * s + (1 - SQUARE_DECAY) * g * g, state.nu, updates)
        rate = jnp.asarray(learning_rate / (1 - jnp.power(DECAY, count)))
        root = 1 / jnp.sqrt(1 - jnp.power(SQUARE_DECAY, count))
        changes = jax.tree.map(lambda m, s: _change(m, s, rate, root), mean, square)
        return changes, optax.ScaleByAdamState(count, mean, square)

    return optax.GradientTransformation(init, update)


def _change(mean: Array, square: Array, rate: Array, root: Array) -> Array:
    return -rate.astype(mean.dtype) * mean / (jnp.sqrt(square) * root.astype(mean.dtype) + EPSILON)
