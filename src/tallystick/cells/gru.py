"""The gated recurrent unit, as PyTorch has it."""

from dataclasses import dataclass
from typing import final

from tallystick.cells.cell import Input
from tallystick.cells.vector import GatedCell, State
from tallystick.numbers import hyperbolic_tangent, sigmoid, weighted_mean
from tallystick.numbers.values import add


@final
@dataclass(frozen=True)
class GruCell(GatedCell):
    """h' = (1 − z)·n + z·h with n = tanh(W_n·x + b_xn + r·(U_n·h + b_hn)); the rows are those of r, z and n in turn.

    r and z are sigmoids of W·x + b_x + U·h + b_h. As in PyTorch, b_hn stands inside the product with r.

    >>> cell = GruCell(((0.0, 0.0),) * 2 + ((1.0, -1.0),), ((0.0,),) * 3, (0.0,) * 3, (0.0,) * 3)
    >>> [round(state.hidden[0], 3) for state in cell.trace("()")]
    [0, 0.381, -0.19]
    """

    name = "gru"
    gates = 3
    has_memory = False

    def step(self, state: State, token: Input) -> State:
        """Return h'."""
        (r_x, z_x, n_x), (r_h, z_h, n_h) = self._from_token(token), self._from_hidden(state.hidden)
        reset = [sigmoid(x) for x in add(r_x, r_h)]
        keep = [sigmoid(x) for x in add(z_x, z_h)]
        kept_back = tuple(r * x for r, x in zip(reset, n_h, strict=True))
        new = [hyperbolic_tangent(x) for x in add(n_x, kept_back)]
        return State(tuple(weighted_mean(z, n, h) for z, n, h in zip(keep, new, state.hidden, strict=True)))
