"""Regularisers: what is added to the loss to draw the weights to the conditions r = 0 of a cell (`Cell.counting`).

    penalty       λ·Σ r²
    lagrangian    Σ μ·r + λ·Σ r², where each multiplier μ grows by λ·η·r at every step

With a penalty alone the task's loss keeps r away from zero; a multiplier grows until it balances the loss at r = 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.cells import Cell
from tallystick.training.weights import Weights

Multipliers = tuple[Array, ...]
"""One number a condition and seed; none where a regulariser keeps nothing from step to step."""


def residuals(kind: type[Cell], weights: Weights) -> tuple[Array, Array]:
    """Return what the conditions ask to be zero: for the linear cell a + b and U − 1."""
    conditions = kind.counting
    assert conditions is not None, "a setting with a regulariser has a cell with conditions"
    opening, closing = (weight + weights.bias[0] if weights.bias else weight for weight in weights.inputs)
    return (
        conditions.step_residual((opening, closing), weights.recurrent),
        conditions.recurrent_residual(weights.recurrent),
    )


@dataclass(frozen=True)
class Regulariser:
    """A term beside the loss.

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

        def summed(weights: Weights) -> Array:
            return self.term(residuals(kind, weights), multipliers, strength).sum()

        return jax.grad(summed)(weights)


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
