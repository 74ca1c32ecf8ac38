"""A single tanh unit, the plain recurrent network of most libraries."""

from dataclasses import dataclass
from typing import final

from tallystick.cells.cell import Input, ScalarCell
from tallystick.numbers import Number, hyperbolic_tangent


@final
@dataclass(frozen=True)
class TanhCell(ScalarCell):
    """h' = tanh(U·h + c(x)), with c = a for `(` and b for `)`.

    Attributes:
        open_step: a, what `(` adds.
        close_step: b, what `)` adds.
        recurrent_weight: U, the factor on the previous state.

    >>> [round(h, 3) for h in TanhCell(0.5, -0.5, 1.0).trace("()")]
    [0, 0.462, -0.038]
    """

    recurrent_weight: Number

    name = "tanh"
    deciders = ("enclosures",)
    is_rational = False

    def step(self, state: Number, token: Input) -> Number:
        """Return tanh(U·h + c(x)): multiply, add, then squash."""
        return hyperbolic_tangent(self.recurrent_weight * state + token.choose(self.open_step, self.close_step))
