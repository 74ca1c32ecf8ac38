"""The theorems' conditions as training uses them: what should be zero, and the point that meets them all.

For each cell that can count exactly, in one place:

    linear      a + b = 0       U − 1 = 0           (Theorem 1)
    relu        a + b = 0       U − 1 = 0, a > 0    (Theorem 3)
    selective   b + Q·a = 0     P·Q − 1 = 0         (Theorem 2)

`indicators.conditions` decides the same conditions in rationals; a test holds the two together. No tanh cell counts exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from tallystick.cells import Cell, LinearCell, ReluCell, SelectiveCell

Steps = tuple[Array, Array]
"""a and b."""

Recurrent = tuple[Array, ...]
"""U, or P and Q."""


@dataclass(frozen=True)
class Conditions:
    """What one kind of cell must meet to count.

    Attributes:
        step_residual: what should be zero for the steps, given the recurrent weights.
        recurrent_residual: what should be zero for the recurrent weights.
        met_by: steps and recurrent weights near the given ones that meet both.
        only_counts_up: whether a must be positive, since the state never falls below zero.
    """

    step_residual: Callable[[Steps, Recurrent], Array]
    recurrent_residual: Callable[[Recurrent], Array]
    met_by: Callable[[Steps, Recurrent], tuple[Steps, Recurrent]]
    only_counts_up: bool = False


def _opposite(steps: Steps, recurrent: Recurrent) -> Array:
    """A + b."""
    del recurrent
    return steps[0] + steps[1]


def _unit(recurrent: Recurrent) -> Array:
    """U − 1."""
    return recurrent[0] - 1


def _nearest_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """The nearest point of all: a = (a − b)/2, b = −a, U = 1."""
    a = (steps[0] - steps[1]) / 2
    return (a, -a), (jnp.ones_like(recurrent[0]),)


def _nearest_rising_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """The same with a > 0, for a cell that is cut off below zero: one that counts down is turned over."""
    a = jnp.maximum(jnp.abs(steps[0] - steps[1]) / 2, _LEAST_STEP)
    return (a, -a), (jnp.ones_like(recurrent[0]),)


def _undone(steps: Steps, recurrent: Recurrent) -> Array:
    """B + Q·a: what `()` leaves of the step."""
    return steps[1] + recurrent[1] * steps[0]


def _inverse(recurrent: Recurrent) -> Array:
    """P·Q − 1."""
    return recurrent[0] * recurrent[1] - 1


def _near_selective_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """P and Q scaled alike until P·Q = 1, then the nearest steps with b = −Q·a."""
    P, Q = (jnp.maximum(weight, _LEAST_FACTOR) for weight in recurrent)
    P = jnp.sqrt(P / Q)
    Q = 1 / P
    a = (steps[0] - Q * steps[1]) / (1 + Q * Q)
    return (a, -Q * a), (P, Q)


_LEAST_STEP = 2.0**-10
_LEAST_FACTOR = 2.0**-4
"""Where a projection would fall to zero or below, it stops here: beyond lies no counter to go to."""

CONDITIONS: dict[type[Cell], Conditions] = {
    LinearCell: Conditions(_opposite, _unit, _nearest_counter),
    ReluCell: Conditions(_opposite, _unit, _nearest_rising_counter, only_counts_up=True),
    SelectiveCell: Conditions(_undone, _inverse, _near_selective_counter),
}
"""The conditions of each cell that has any."""
