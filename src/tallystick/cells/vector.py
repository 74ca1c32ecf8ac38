"""Cells with several units, whose state is made of vectors that start at 0.

Some have PyTorch's layout, the gated ones among them. Others are affine in the state: h' = A(x)·h + W·x + b, with a matrix A(x)
for each token.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self, cast

from tallystick.cells.cell import TOKENS, Cell, Input, Shape, Tensors
from tallystick.errors import BadInput
from tallystick.numbers import Number
from tallystick.numbers.values import (
    Matrix,
    Vector,
    check_shape,
    first_number,
    is_filled,
    layer,
    map_nested,
    rows_of,
)

AFFINE_DECIDERS = ("sorting", "zero check", "matrices", "lattice paths", "exact states", "gated boxes")
"""The deciders of an affine layer, best first: each returns None where its theorem does not apply."""


@dataclass(frozen=True)
class VectorCell(Cell):
    """A cell with several units; its fields are tensors: `input_weight`, `recurrent_weight`, and any number of biases."""

    most_units = 16  # more would take a compiler minutes: each weight is a number of its own in the step
    rests = False

    def __post_init__(self) -> None:
        """Refuse weights that do not fit together or are not finite numbers, naming them."""
        for field, (rows, *columns) in self.shapes(self.units, self.inputs).items():
            check_shape(getattr(self, field), field, rows, *columns)

    @property
    def inputs(self) -> int:
        """The length of the vector that a step reads: how many columns `input_weight` has."""
        rows = cast("tuple[object, ...]", next(iter(self.tensors().values())))
        return len(cast("Vector", rows[0])) if is_filled(rows) and is_filled(rows[0]) else TOKENS

    def tensors(self) -> dict[str, Any]:
        """Return the weights by the names they have in files."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> Self:
        """Return the cell with these weights."""
        return cls(**tensors)

    @classmethod
    def from_training(cls, inputs: Any, recurrent: Any, bias: tuple[Any, ...]) -> Self:  # noqa: ANN401 -- arrays
        """Return the cell, its tensors taken apart into numbers, each with one entry per seed; a missing bias is zero."""
        shapes = list(cls.shapes(1).values())
        arrays = [inputs, recurrent, *bias]
        tensors = [rows_of(array, len(shape)) for array, shape in zip(arrays, shapes, strict=False)]
        zero = 0 * first_number(tensors[0])
        return cls(*tensors, *((zero,) * len(tensors[0]) for _ in shapes[len(arrays) :]))

    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return this cell with number(weight, name) in the place of each weight."""
        # A bias is a term and all else a factor, which is what a fused arithmetic asks.
        names = {field.name: "bias" if field.name.endswith("bias") else field.name for field in fields(self)}
        return type(self)(*(map_nested(getattr(self, name), number, role) for name, role in names.items()))


@dataclass(frozen=True)
class TensorCell(VectorCell):
    """A cell that looks at W·x + b_x and U·h + b_h, in PyTorch's layout.

    All rows of a gate stand together, one per unit, gate after gate in PyTorch's order.

    Attributes:
        input_weight: W, one row per gate and unit: what each entry of x adds; for a bracket, `(` and `)`. PyTorch's weight_ih.
        recurrent_weight: U, one row per gate and unit, one column per unit. PyTorch's weight_hh.
        input_bias: b_x, one number per row. PyTorch's bias_ih.
        recurrent_bias: b_h, the same. PyTorch's bias_hh.
    """

    input_weight: Matrix
    recurrent_weight: Matrix
    input_bias: Vector
    recurrent_bias: Vector

    gates: ClassVar[int] = 1

    deciders = ("gated boxes",)

    @property
    def units(self) -> int:
        """How many units: the length of h."""
        first = cast("object", self.recurrent_weight[0] if is_filled(self.recurrent_weight) else None)
        if not is_filled(first):
            raise BadInput(f"recurrent_weight: {self.recurrent_weight!r} is not a matrix as a tuple of rows")
        return len(cast("tuple[Any, ...]", first))

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
        return self._by_gate(token.weigh(self.input_weight, self.input_bias))

    def _from_hidden(self, hidden: Vector) -> list[Vector]:
        """Return U·h + b_h, gate by gate."""
        return self._by_gate(layer(self.recurrent_weight, self.recurrent_bias, hidden))

    def _by_gate(self, rows: list[Number]) -> list[Vector]:
        return [tuple(rows[start : start + self.units]) for start in range(0, len(rows), self.units)]


class State(NamedTuple):
    """What a gated cell carries from token to token.

    Attributes:
        hidden: h, one number per unit; what the gates and the readout see.
        memory: c, the same for an LSTM's memory; empty for a cell that has none.
    """

    hidden: Vector
    memory: Vector = ()


@dataclass(frozen=True)
class GatedCell(TensorCell):
    """A recurrence h, c → h', c' whose gates each look at W·x + b_x and U·h + b_h."""

    has_memory: ClassVar[bool]
    gate_names: ClassVar[tuple[str, ...]]
    """The letter of each gate, in the order of its rows; g and n are what is new, between −1 and 1, all others are shares."""

    is_rational = False

    @property
    def initial_state(self) -> State:
        """Zeros."""
        return State((0,) * self.units, (0,) * self.units if self.has_memory else ())

    @abstractmethod
    def gate_values(self, state: State, token: Input) -> list[list[Number]]:
        """Return the value of each gate while a token is read, one number per unit."""

    @abstractmethod
    def step(self, state: State, token: Input) -> State:
        """Return the next state."""

    def hidden(self, state: State) -> Vector:
        """Return h."""
        return state.hidden


@dataclass(frozen=True)
class AffineLayer(VectorCell):
    """A layer without a squashing function; the state is h, which starts at 0, and the readout sees all of it.

    Attributes:
        input_weight: W, one row per unit, one column per entry of x.
        recurrent_weight: what makes A(x); each kind of layer has its own form.
        input_bias: b, one number per unit.
    """

    input_weight: Matrix
    recurrent_weight: Matrix
    input_bias: Vector

    deciders = AFFINE_DECIDERS
    most_units = 64

    @property
    def units(self) -> int:
        """How many units: the length of h."""
        if not is_filled(self.input_bias):
            raise BadInput(f"input_bias: {self.input_bias!r} is not a tuple of one number per unit")
        return len(self.input_bias)

    @property
    def is_affine(self) -> bool:
        """True."""
        return True

    @property
    def initial_state(self) -> Vector:
        """Zeros."""
        return (0,) * self.units

    def hidden(self, state: Vector) -> Vector:
        """Return h."""
        return state
