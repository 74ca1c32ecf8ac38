"""A single ReLU unit."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tallystick.cells.cell import Input, ScalarCell
from tallystick.cells.conditions import UNIT, Condition, Counting, Recurrent, Steps, minus, opposite, show, unit
from tallystick.languages.tasks import SEMI_DYCK1_MEMBERSHIP
from tallystick.numbers import Number, exact, positive_part

_LEAST_STEP = 2.0**-10
"""Where a projection would take the step to zero, it stops here: beyond lies no counter to go to."""


def _nearest_rising_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """Return the nearest counter with a > 0, since the state is cut off below zero: one that counts down is turned over."""
    xp = recurrent[0].__array_namespace__()
    a = xp.maximum(xp.abs(steps[0] - steps[1]) / 2, _LEAST_STEP)
    return (a, -a), (xp.ones_like(recurrent[0]),)


@final
@dataclass(frozen=True)
class ReluCell(ScalarCell):
    """h' = max(0, U·h + c(x)), with c = a for `(` and b for `)`.

    The state cannot go below zero, so the zero check answers for semi-Dyck-1, as in Theorem 3.

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        recurrent_weight: U, the factor on the previous state.

    >>> ReluCell(1, -1, 1).trace("())(")
    [0, 1, 0, 0, 1]
    """

    recurrent_weight: Number

    name = "relu"
    scales = True
    deciders = ("theorem", "exact depth", "search")
    membership = SEMI_DYCK1_MEMBERSHIP
    counting = Counting(opposite, unit, _nearest_rising_counter, minus, UNIT, only_counts_up=True)

    def step(self, state: Number, token: Input) -> Number:
        """Return max(0, U·h + c(x)): multiply, add, then cut off below zero."""
        return positive_part(self.recurrent_weight * state + token.choose(self.open_step, self.close_step))

    def conditions(self) -> list[Condition]:
        """Return Theorem 3: a > 0, b = −a and U = 1."""
        cell = self.map_weights(exact)
        a, b = cell.open_step, cell.close_step
        return [
            Condition("a > 0", a > 0, f"a = {show(a)}", a),
            Condition.equation("b", b, "−a", -a),
            Condition.equation("U", cell.recurrent_weight, "1", Fraction(1)),
        ]
