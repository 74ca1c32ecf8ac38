"""Adam, written so that a step over many seeds costs little, and the optimisers by name.

The update is −η·m̂/(√ŝ + ε), where m is the mean of the gradients over about 1/(1 − β₁) steps and s that of their squares over
1/(1 − β₂). It is that of `optax.adam`, which a test compares it with. The two bias corrections are the same for every weight
and seed, so they are computed once per step and multiplied in, instead of divided by everywhere.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float


class Momenta(NamedTuple):
    """Adam's own numbers: how slowly the mean gradient and the mean square forget, and what is added to the root.

    Attributes:
        decay: β₁.
        square_decay: β₂.
        epsilon: ε; steps are in proportion to gradients far below it, and of one size for gradients far above it.
    """

    decay: float = 0.9
    square_decay: float = 0.999
    epsilon: float = 1e-8


PUBLISHED_MOMENTA = Momenta()
"""The paper's: β = (0.9, 0.999) and ε = 1e-8."""

CALM = Momenta(decay=0.5, epsilon=0.01)
"""The mean of the gradients forgets half at every step, and gradients below a hundredth make small steps. Close to a zero of
the loss Adam then comes to rest, where the paper's numbers blow the gradients' rounding errors up to full steps."""

OPTIMISERS: dict[str, Momenta] = {
    "adam": PUBLISHED_MOMENTA,
    "calm": CALM,
    "short": Momenta(square_decay=0.99),
    "rmsprop": Momenta(decay=0.0),
    "sign": Momenta(decay=0.0, square_decay=0.0),
}
"""Adam with other numbers than a method's own, by name. short forgets squares ten times as fast; rmsprop has no mean of the
gradients; sign moves every weight by η, against the sign of its slope."""


class Corrections(NamedTuple):
    """What a step multiplies by: the learning rate over 1 − β₁ⁿ, and 1/√(1 − β₂ⁿ)."""

    rate: Float[Any, "*step"]
    root: Float[Any, "*step"]


LearningRate = Array | float | Callable[[Array], Array]
"""A number, or a function of the number of steps done."""


def corrections(done: Array, learning_rate: LearningRate, momenta: Momenta = PUBLISHED_MOMENTA) -> Corrections:
    """Return the corrections of the next step, after `done` steps."""
    now = learning_rate(done) if callable(learning_rate) else learning_rate
    rate = jnp.asarray(now / (1 - jnp.power(momenta.decay, done + 1)))
    return Corrections(rate, 1 / jnp.sqrt(1 - jnp.power(momenta.square_decay, done + 1)))


def adam(
    corrected: Callable[[Array], Corrections], momenta: Momenta = PUBLISHED_MOMENTA
) -> optax.GradientTransformation:
    """Return Adam without weight decay or clipping; the corrections are a function of the number of steps done."""
    decay, square_decay, epsilon = momenta

    def step(moments: Moments, gradient: optax.Updates, done: Array) -> tuple[optax.Updates, Moments]:
        mean = jax.tree.map(lambda m, g: decay * m + (1 - decay) * g, moments.first, gradient)
        square = jax.tree.map(lambda s, g: square_decay * s + (1 - square_decay) * g * g, moments.second, gradient)
        rate, root = corrected(done)
        changes = jax.tree.map(lambda m, s: _change(m, s, rate, root, epsilon), mean, square)
        return changes, Moments(mean, square)

    return optimiser_of(step)


class Moments(NamedTuple):
    """What Adam remembers of the gradients: of each weight, and of its square."""

    first: optax.Params
    second: optax.Params


MomentsStep = Callable[[Moments, optax.Updates, Array], tuple[optax.Updates, Moments]]
"""From the moments, a gradient and the number of steps done to the changes of the weights and the moments after."""


def optimiser_of(step: MomentsStep) -> optax.GradientTransformation:
    """Return an optimiser that takes such steps; its moments begin at zero."""

    def init(params: optax.Params) -> optax.ScaleByAdamState:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return optax.ScaleByAdamState(count=jnp.zeros([], jnp.int32), mu=zeros, nu=zeros)

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.ScaleByAdamState]:
        del params  # part of optax's interface; Adam does not look at the weights
        assert isinstance(state, optax.ScaleByAdamState)
        changes, (first, second) = step(Moments(state.mu, state.nu), updates, jnp.asarray(state.count))
        return changes, optax.ScaleByAdamState(state.count + 1, first, second)

    return optax.GradientTransformation(init, update)


def _change(mean: Array, square: Array, rate: Array, root: Array, epsilon: float) -> Array:
    return -rate.astype(mean.dtype) * mean / (jnp.sqrt(square) * root.astype(mean.dtype) + epsilon)
