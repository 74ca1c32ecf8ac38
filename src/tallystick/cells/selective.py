"""A cell whose recurrent weight depends on the token, as in gated linear RNNs and state-space models."""

from dataclasses import dataclass
from typing import final

from tallystick.arithmetic import Number
from tallystick.cells.cell import Cell, Token


@final
@dataclass(frozen=True)
class SelectiveCell(Cell):
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

    def step(self, h: Number, token: Token) -> Number:
        """Return P·h + a or Q·h + b: multiply, then add."""
        weight = token.choose(self.open_recurrent_weight, self.close_recurrent_weight)
        return weight * h + token.choose(self.open_step, self.close_step)
