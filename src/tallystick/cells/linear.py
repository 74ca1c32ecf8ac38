"""The paper's cell: a single linear recurrent unit."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tallystick.cells.cell import Input, ScalarCell
from tallystick.cells.conditions import UNIT, Condition, Counting, Recurrent, Steps, minus, opposite, unit
from tallystick.numbers import Number, exact


def nearest_counter(steps: Steps, recurrent: Recurrent) -> tuple[Steps, Recurrent]:
    """Return the nearest point of all: a = (a − b)/2, b = −a, U = 1."""
    a = (steps[0] - steps[1]) / 2
    return (a, -a), (recurrent[0].__array_namespace__().ones_like(recurrent[0]),)


@final
@dataclass(frozen=True)
class LinearCell(ScalarCell):
    """h' = U·h + c(x), with c = a for `(` and b for `)`: the paper's Linear Recurrent Network (Definition 3).

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        recurrent_weight: U, the factor on the previous state.

    >>> LinearCell(open_step=2, close_step=-1, recurrent_weight=3).final_state("()")
    5
    """

    recurrent_weight: Number

    name = "linear"
    scales = True
    deciders = ("theorem", "sorted strings", "exact depth", "search")
    counting = Counting(opposite, unit, nearest_counter, minus, UNIT)

    @classmethod
    def from_network(
        cls, open_weight: Number, close_weight: Number, recurrent_weight: Number, bias: Number = 0
    ) -> "LinearCell":
        """Read a cell from a network's weights and bias: a = W_open + W_b and b = W_close + W_b."""
        return cls(open_weight + bias, close_weight + bias, recurrent_weight)

    @property
    def is_affine(self) -> bool:
        """True: its matrix is the number U."""
        return True

    def step(self, state: Number, token: Input) -> Number:
        """Return U·h + c(x): multiply, then add."""
        return self.recurrent_weight * state + token.choose(self.open_step, self.close_step)

    def conditions(self) -> list[Condition]:
        """Return Theorem 1: a/b = −1 and U = 1."""
        cell = self.map_weights(exact)
        a, b, U = cell.open_step, cell.close_step, cell.recurrent_weight
        ratio = (
            Condition.equation("a/b", a / b, "−1", Fraction(-1))
            if b
            else Condition("a/b = −1", holds=False, finding="b = 0, so a/b does not exist", value=None)
        )
        return [ratio, Condition.equation("U", U, "1", Fraction(1))]
