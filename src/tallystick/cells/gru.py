"""The gated recurrent unit, as PyTorch has it, and as others have it: the reset gate before the product, or none."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from tallystick.cells.cell import Input
from tallystick.cells.vector import GatedCell, State
from tallystick.numbers import Number, hyperbolic_tangent, sigmoid, weighted_mean
from tallystick.numbers.values import Vector, add, layer

Reset = Literal["after", "before", False]
"""Where the reset gate stands: after the product U_n·h, before it, or nowhere."""


@dataclass(frozen=True)
class Gru(GatedCell):
    """h' = (1 − z)·n + z·h with n = tanh(W_n·x + b_xn + what is recalled of h).

    z, and r where there is a reset gate, are sigmoids of W·x + b_x + U·h + b_h. The rows are those of r, z and n in turn, or
    of z and n.
    """

    has_memory = False

    reset: ClassVar[Reset]

    @abstractmethod
    def _recalled(self, reset: list[Number], product: Vector, hidden: Vector) -> Vector:
        """Return what n recalls of h, given r, U_n·h + b_hn and h."""

    def gate_values(self, state: State, token: Input) -> list[list[Number]]:
        """Return r, z and n, or z and n."""
        (*gates_x, n_x), (*gates_h, n_h) = self._from_token(token), self._from_hidden(state.hidden)
        *reset, keep = ([sigmoid(x) for x in add(*both)] for both in zip(gates_x, gates_h, strict=True))
        recalled = self._recalled(reset[0] if reset else [], n_h, state.hidden)
        return [*reset, keep, [hyperbolic_tangent(x) for x in add(n_x, recalled)]]

    def step(self, state: State, token: Input) -> State:
        """Return h'."""
        *_, keep, new = self.gate_values(state, token)
        return State(tuple(weighted_mean(z, n, h) for z, n, h in zip(keep, new, state.hidden, strict=True)))


@final
@dataclass(frozen=True)
class GruCell(Gru):
    """n = tanh(W_n·x + b_xn + r·(U_n·h + b_hn)): PyTorch's, and Keras's with reset_after=True.

    >>> cell = GruCell(((0.0, 0.0),) * 2 + ((1.0, -1.0),), ((0.0,),) * 3, (0.0,) * 3, (0.0,) * 3)
    >>> [round(state.hidden[0], 3) for state in cell.trace("()")]
    [0, 0.381, -0.19]
    """

    name = "gru"
    gates = 3
    gate_names = ("r", "z", "n")
    reset = "after"

    def _recalled(self, reset: list[Number], product: Vector, hidden: Vector) -> Vector:
        del hidden
        return _products(reset, product)


@final
@dataclass(frozen=True)
class ResetBeforeGruCell(Gru):
    """n = tanh(W_n·x + b_xn + U_n·(r·h) + b_hn): the first published one, and Keras's with reset_after=False."""

    name = "gru-reset-before"
    gates = 3
    gate_names = ("r", "z", "n")
    reset = "before"

    def _recalled(self, reset: list[Number], product: Vector, hidden: Vector) -> Vector:
        del product
        rows = slice(-self.units, None)
        return tuple(layer(self.recurrent_weight[rows], self.recurrent_bias[rows], _products(reset, hidden)))


@final
@dataclass(frozen=True)
class NoResetGruCell(Gru):
    """n = tanh(W_n·x + b_xn + U_n·h + b_hn): a GRU without a reset gate."""

    name = "gru-without-reset"
    gates = 2
    gate_names = ("z", "n")
    reset = False

    def _recalled(self, reset: list[Number], product: Vector, hidden: Vector) -> Vector:
        del reset, hidden
        return product


def _products(first: list[Number], second: Vector) -> Vector:
    return tuple(x * y for x, y in zip(first, second, strict=True))


GRUS: dict[Reset, type[Gru]] = {kind.reset: kind for kind in (GruCell, ResetBeforeGruCell, NoResetGruCell)}
"""Every GRU by what its file says of the reset gate, beside the cell's name, which is `gru` for all of them."""
