"""A cell whose recurrent weight depends on the token, as in gated linear RNNs and state-space models."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from tallystick.cells.cell import Input, ScalarCell
from tallystick.cells.conditions import Condition, Counting, Recurrent, Steps, show
from tallystick.numbers import Number, exact

_LEAST_FACTOR = 2.0**-4
"""Where a projection would take a factor to zero or below, it stops here: beyond lies no counter to go to."""


def _undone(steps: Steps, recurrent: Recurrent) -> Any:  # noqa: ANN401 -- an array
    """Return b + Q·a, what `()` leaves of the step."""
    return steps[1] + recurrent[1] * steps[0]


def _inverse(recurrent: Recurrent) -> Any:  # noqa: ANN401
    """Return P·Q − 1."""
    return recurrent[0] * recurrent[1] - 1


def _near_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """Scale P and Q alike until P·Q = 1, then take the nearest steps with b = −Q·a."""
    xp = recurrent[0].__array_namespace__()
    opening, closing = (xp.maximum(weight, _LEAST_FACTOR) for weight in recurrent)
    P = xp.sqrt(opening / closing)
    Q = 1 / P
    a = (steps[0] - Q * steps[1]) / (1 + Q * Q)
    return (a, -Q * a), (P, Q)


@final
@dataclass(frozen=True)
class SelectiveCell(ScalarCell):
    """h' = P·h + a on `(` and h' = Q·h + b on `)`.

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        open_recurrent_weight: P, the factor on the previous state when `(` is read.
        close_recurrent_weight: Q, the same for `)`.

    >>> SelectiveCell(1, -2, open_recurrent_weight=0.5, close_recurrent_weight=2).trace("(())")
    [0, 1.0, 1.5, 1.0, 0.0]
    """

    open_recurrent_weight: Number
    close_recurrent_weight: Number

    name = "selective"
    scales = True
    deciders = ("theorem", "exact depth", "search")
    counting = Counting(_undone, _inverse, _near_counter)

    def step(self, state: Number, token: Input) -> Number:
        """Return P·h + a or Q·h + b: multiply, then add."""
        weight = token.choose(self.open_recurrent_weight, self.close_recurrent_weight)
        return weight * state + token.choose(self.open_step, self.close_step)

    def conditions(self) -> list[Condition]:
        """Return Theorem 2: P·Q = 1, b = −Q·a, a ≠ 0 and P ≠ −1."""
        cell = self.map_weights(exact)
        a, b, P, Q = cell.open_step, cell.close_step, cell.open_recurrent_weight, cell.close_recurrent_weight
        return [
            Condition.equation("P·Q", P * Q, "1", Fraction(1)),
            Condition.equation("b", b, "−Q·a", -Q * a),
            Condition("a ≠ 0", a != 0, f"a = {show(a)}", a),
            Condition("P ≠ −1", P != -1, f"P = {show(P)}", P),
        ]
