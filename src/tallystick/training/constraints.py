"""Three ways of bringing the weights to the conditions of a cell's counting theorem (`Cell.counting`).

A parametrisation lets conditions hold by construction, since it decides which numbers are trained:

    free        every weight
    tied        α, with a = α and b = −α           (relu: a = |α|; selective: b = −Q·α)
    unit        everything but U, which is 1       (selective: σ, with P = e^σ and Q = e^−σ)
    tied-unit   both

A regulariser adds to the loss a term that draws the residuals r of the conditions to zero:

    penalty       λ·Σ r²
    lagrangian    Σ μ·r + λ·Σ r², where each multiplier μ grows by λ·η·r at every step

With a penalty alone the task's loss keeps r away from zero; a multiplier grows until it balances the loss at r = 0.

A projection moves the weights after each update to a point that meets the conditions.

Where a and b are made from α or projected, a bias of the cell would only shift them apart: it stays in the network as a zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from tallystick.cells import Cell, SelectiveCell
from tallystick.training.weights import Weights

Trained = optax.Params
"""The numbers that are trained: any tree of arrays."""


@dataclass(frozen=True)
class Parametrisation:
    """Which conditions hold by construction.

    Attributes:
        tied: the steps undo each other.
        unit: the recurrent weights undo each other.
    """

    tied: bool = False
    unit: bool = False

    @property
    def is_free(self) -> bool:
        """Whether every weight is trained."""
        return not (self.tied or self.unit)

    def start(self, weights: Weights) -> Trained:
        """Return the trained numbers that initial weights stand for; what is not trained is left out."""
        if self.is_free:
            return weights
        if self.tied:
            weights = weights._replace(inputs=(weights.steps[0],), bias=())
        return weights._replace(recurrent=weights.recurrent[1:]) if self.unit else weights

    def weights(self, kind: type[Cell], trained: Trained, like: Weights) -> Weights:
        """Return the network's weights; `like` gives the shape of what was left out."""
        if self.is_free:
            return cast("Weights", trained)
        assert isinstance(trained, Weights)
        recurrent = _inverse_factors(kind, trained, like) if self.unit else trained.recurrent
        weights = trained._replace(recurrent=recurrent)
        return _tie_steps(kind, weights, like) if self.tied else weights

    def pull_back(
        self, kind: type[Cell], trained: Trained, like: Weights
    ) -> tuple[Weights, Callable[[Weights], Trained]]:
        """Return the weights, and the map from a slope by the weights to one by the trained numbers."""
        if self.is_free:
            return cast("Weights", trained), lambda slope: slope
        weights, back = jax.vjp(lambda numbers: self.weights(kind, numbers, like), trained)
        return weights, lambda slope: back(slope)[0]


def _inverse_factors(kind: type[Cell], trained: Weights, like: Weights) -> tuple[jax.Array, ...]:
    """Return U = 1, or P = e^σ and Q = e^−σ, which no step of training can make negative."""
    if kind is SelectiveCell:
        (sigma,) = trained.recurrent
        return jnp.exp(sigma), jnp.exp(-sigma)
    return (jnp.ones_like(like.recurrent[0]),)


def _tie_steps(kind: type[Cell], weights: Weights, like: Weights) -> Weights:
    alpha, *_ = weights.inputs
    a = jnp.abs(alpha) if kind.counting and kind.counting.only_counts_up else alpha
    b = -weights.recurrent[1] * a if kind is SelectiveCell else -a
    return weights._replace(inputs=(a, b), bias=tuple(jnp.zeros_like(bias) for bias in like.bias))


FREE = Parametrisation()
TIED = Parametrisation(tied=True)
UNIT = Parametrisation(unit=True)
TIED_UNIT = Parametrisation(tied=True, unit=True)

Multipliers = tuple[Array, ...]
"""One number per condition and seed, or none where a regulariser keeps nothing from step to step."""


def residuals(kind: type[Cell], weights: Weights) -> tuple[Array, Array]:
    """Return what the conditions ask to be zero: for the linear cell a + b and U − 1."""
    conditions, recurrent = kind.counting, weights.recurrent
    assert conditions is not None, "a setting with a regulariser has a cell with conditions"
    return conditions.step_residual(weights.steps, recurrent), conditions.recurrent_residual(recurrent)


@dataclass(frozen=True)
class Regulariser:
    """A term that is added to the loss.

    Attributes:
        start: the multipliers before the first step.
        term: the term for residuals, multipliers and the strength λ.
        advance: the multipliers after a step of the size λ·η.
    """

    start: Callable[[Array], Multipliers]
    term: Callable[[tuple[Array, ...], Multipliers, Array], Array]
    advance: Callable[[tuple[Array, ...], Multipliers, Array], Multipliers]

    def slope(self, kind: type[Cell], weights: Weights, multipliers: Multipliers, strength: Array) -> Weights:
        """Return the derivative of the term by every weight."""

        def total(weights: Weights) -> Array:
            return self.term(residuals(kind, weights), multipliers, strength).sum()

        return jax.grad(total)(weights)


def _squares(found: tuple[Array, ...]) -> Array:
    return sum((residual**2 for residual in found[1:]), start=found[0] ** 2)


PENALTY = Regulariser(
    start=lambda _: (),
    term=lambda found, _, strength: strength * _squares(found),
    advance=lambda _, multipliers, __: multipliers,
)

LAGRANGIAN = Regulariser(
    start=lambda seeds: (jnp.zeros_like(seeds), jnp.zeros_like(seeds)),
    term=lambda found, multipliers, strength: (
        strength * _squares(found) + multipliers[0] * found[0] + multipliers[1] * found[1]
    ),
    advance=lambda found, multipliers, size: tuple(m + size * r for m, r in zip(multipliers, found, strict=True)),
)


def project(kind: type[Cell], weights: Weights) -> Weights:
    """Move steps and recurrent weights to a point that meets the conditions; a cell's bias goes into the steps."""
    assert kind.counting is not None, "a setting with a projection has a cell with conditions"
    steps, recurrent = kind.counting.met_by(weights.steps, weights.recurrent)
    return weights._replace(inputs=steps, recurrent=recurrent, bias=tuple(jnp.zeros_like(b) for b in weights.bias))
