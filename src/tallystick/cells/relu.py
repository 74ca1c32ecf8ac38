"""A single ReLU unit."""

from dataclasses import dataclass
from typing import final

from tallystick.arithmetic import Number, positive_part
from tallystick.cells.cell import Cell, Token


@final
@dataclass(frozen=True)
class ReluCell(Cell):
    """h' = max(0, U·h + c(x)), with c = a for `(` and b for `)`.

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        recurrent_weight: U, the factor on the previous state.

    >>> ReluCell(1, -1, 1).trace("())(")
    [0, 1, 0, 0, 1]
    """

    recurrent_weight: Number

    def step(self, h: Number, token: Token) -> Number:
        """Return max(0, U·h + c(x)): multiply, add, then cut off below zero."""
        return positive_part(self.recurrent_weight * h + token.choose(self.open_step, self.close_step))
