"""The paper's cell: a single linear recurrent unit."""

from dataclasses import dataclass
from typing import final

from tallystick.arithmetic import Number
from tallystick.cells.cell import Cell, Token


@final
@dataclass(frozen=True)
class LinearCell(Cell):
    """h' = U·h + c(x), with c = a for `(` and b for `)`: the paper's Linear Recurrent Network (Definition 3).

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        recurrent_weight: U, the factor on the previous state.

    >>> LinearCell(open_step=2, close_step=-1, recurrent_weight=3).final_state("()")
    5
    """

    recurrent_weight: Number

    @classmethod
    def from_network(
        cls, open_weight: Number, close_weight: Number, recurrent_weight: Number, bias: Number = 0
    ) -> "LinearCell":
        """A = W_open + W_b and b = W_close + W_b: read a cell from a network's weights and bias."""
        return cls(open_weight + bias, close_weight + bias, recurrent_weight)

    def step(self, h: Number, token: Token) -> Number:
        """Return U·h + c(x): multiply, then add."""
        return self.recurrent_weight * h + token.choose(self.open_step, self.close_step)
