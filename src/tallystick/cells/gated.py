"""Cells with gates and several units, as in PyTorch: weights in its layout, and a vector of states that starts at 0."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

from tallystick.cells.cell import TOKENS, Shape, VectorCell
from tallystick.cells.recurrence import Input
from tallystick.errors import BadInput
from tallystick.numbers import Number
from tallystick.numbers.values import Matrix, Vector, is_filled, layer


class State(NamedTuple):
    """What a gated cell carries from token to token.

    Attributes:
        hidden: h, one number per unit; what the gates and the readout see.
        memory: c, the same for an LSTM's memory; empty for a cell that has none.
    """

    hidden: Vector
    memory: Vector = ()


@dataclass(frozen=True)
class GatedCell(VectorCell):
    """A recurrence h, c → h', c' whose gates each look at W·x + b_x and U·h + b_h.

    All rows of a gate stand together, one per unit, gate after gate in PyTorch's order.

    Attributes:
        input_weight: W, one row per gate and unit: what `(` adds and what `)` adds. PyTorch's weight_ih.
        recurrent_weight: U, one row per gate and unit, one column per unit. PyTorch's weight_hh.
        input_bias: b_x, one number per row. PyTorch's bias_ih.
        recurrent_bias: b_h, the same. PyTorch's bias_hh.
    """

    input_weight: Matrix
    recurrent_weight: Matrix
    input_bias: Vector
    recurrent_bias: Vector

    gates: ClassVar[int]
    has_memory: ClassVar[bool]

    deciders = ("gated boxes",)
    is_rational = False

    @property
    def units(self) -> int:
        """How many units: the length of h."""
        first = cast("object", self.recurrent_weight[0] if is_filled(self.recurrent_weight) else None)
        if not is_filled(first):
            raise BadInput(f"recurrent_weight: {self.recurrent_weight!r} is not a matrix as a tuple of rows")
        return len(cast("tuple[Any, ...]", first))

    @property
    def initial_state(self) -> State:
        """Zeros."""
        return State((0,) * self.units, (0,) * self.units if self.has_memory else ())

    @abstractmethod
    def step(self, state: State, token: Input) -> State:
        """Return the next state."""

    def hidden(self, state: State) -> Vector:
        """Return h."""
        return state.hidden

    @classmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shapes of PyTorch's tensors."""
        rows = cls.gates * units
        return {
            "input_weight": (rows, inputs),
            "recurrent_weight": (rows, units),
            "input_bias": (rows,),
            "recurrent_bias": (rows,),
        }

    def _from_token(self, token: Input) -> list[Vector]:
        """Return W·x + b_x, gate by gate."""
        rows = zip(self.input_weight, self.input_bias, strict=True)
        return self._by_gate([token.choose(*row) + bias for row, bias in rows])

    def _from_hidden(self, hidden: Vector) -> list[Vector]:
        """Return U·h + b_h, gate by gate."""
        return self._by_gate(layer(self.recurrent_weight, self.recurrent_bias, hidden))

    def _by_gate(self, rows: list[Number]) -> list[Vector]:
        return [tuple(rows[start : start + self.units]) for start in range(0, len(rows), self.units)]
