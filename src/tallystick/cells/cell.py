"""A cell: a recurrence with weights of its own, and what files and training need to know of its kind."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from math import prod
from typing import Any, ClassVar, Self, cast

from tallystick.cells.conditions import Counting
from tallystick.cells.recurrence import Recurrence
from tallystick.languages.brackets import ALPHABET
from tallystick.numbers import Number, check_number
from tallystick.numbers.values import Vector, check_shape, first_number, is_filled, map_nested, rows_of

Shape = tuple[int, ...]
Tensors = Mapping[str, Any]
"""The weights of a cell by the names they have in files, each a number, a vector or a matrix."""

TOKENS = len(ALPHABET)


@dataclass(frozen=True)
class Cell(Recurrence):
    """One cell, whose weights have names and shapes.

    Attributes:
        counting: what a theorem asks of the weights of a cell that counts, for training; None where no theorem is known.
        most_units: how many units a trained network may have.
        scales: whether steps that are c times as large, c > 0, make states that are c times as large.
        rests: whether the initial state stays as it is while nothing is read, so that strings may be padded on the left.
    """

    counting: ClassVar[Counting | None] = None
    most_units: ClassVar[int] = 1
    rests: ClassVar[bool] = True
    scales: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shape of every weight, by the name it has in files."""

    @property
    def matrix_entries(self) -> int:
        """How many entries the weight matrices have."""
        return sum(prod(shape) for shape in self.shapes(self.units, self.inputs).values() if len(shape) > 1)

    @abstractmethod
    def tensors(self) -> dict[str, Any]:
        """Return the weights by the names they have in files."""

    @classmethod
    @abstractmethod
    def from_tensors(cls, tensors: Tensors) -> Self:
        """Return the cell with these weights."""

    @classmethod
    @abstractmethod
    def from_training(cls, inputs: Any, recurrent: Any, bias: tuple[Any, ...]) -> Self:  # noqa: ANN401 -- arrays
        """Return the cell with the weights that training has, whose biases may be missing."""


@dataclass(frozen=True)
class ScalarCell(Cell):
    """A cell with one unit and the steps a = `open_step` and b = `close_step`; its state is the number h.

    The fields are numbers of any kind, or arrays of one length: then the cell is an ensemble.
    """

    open_step: Number
    close_step: Number

    def __post_init__(self) -> None:
        """Refuse a weight that is not a finite number, naming it."""
        for field in fields(self):
            check_number(getattr(self, field.name), field.name)

    @classmethod
    def recurrent_fields(cls) -> tuple[str, ...]:
        """The names of the weights that this kind of cell has beside its two steps.

        >>> from tallystick import SelectiveCell
        >>> SelectiveCell.recurrent_fields()
        ('open_recurrent_weight', 'close_recurrent_weight')
        """
        return tuple(field.name for field in fields(cls)[len(fields(ScalarCell)) :])

    @property
    def recurrent_weights(self) -> Vector:
        """U, or whatever recurrent weights the cell has, in the order of its fields."""
        return tuple(getattr(self, name) for name in self.recurrent_fields())

    @property
    def units(self) -> int:
        """One."""
        return 1

    @property
    def initial_state(self) -> Number:
        """The number 0."""
        return 0

    def hidden(self, state: Number) -> Vector:
        """Return the vector of h alone."""
        return (state,)

    @classmethod
    def shapes(cls, units: int = 1, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shapes: two numbers for the steps, and one recurrent weight or a list of them."""
        del units, inputs
        recurrent = len(cls.recurrent_fields())
        return {"open_step": (), "close_step": (), "recurrent_weight": () if recurrent == 1 else (recurrent,)}

    def tensors(self) -> dict[str, Any]:
        """Return the weights by the names they have in files."""
        recurrent = self.recurrent_weights
        return {
            "open_step": self.open_step,
            "close_step": self.close_step,
            "recurrent_weight": recurrent[0] if len(recurrent) == 1 else recurrent,
        }

    @classmethod
    def from_tensors(cls, tensors: Tensors) -> Self:
        """Return the cell with these weights."""
        recurrent = tensors["recurrent_weight"]
        return cls(
            tensors["open_step"], tensors["close_step"], *(recurrent if isinstance(recurrent, tuple) else (recurrent,))
        )

    @classmethod
    def from_training(cls, inputs: Any, recurrent: Any, bias: tuple[Any, ...]) -> Self:  # noqa: ANN401 -- arrays
        """Return the cell: a = W_open + W_b and b = W_close + W_b."""
        opening, closing = (weight + bias[0] if bias else weight for weight in inputs)
        return cls(opening, closing, *recurrent)

    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return this cell with number(weight, name) in the place of each weight.

        >>> from tallystick import LinearCell
        >>> from tallystick.numbers import exact
        >>> LinearCell("1/3", "-1/3", 1) # doctest: +ELLIPSIS
        Traceback (most recent call last):
        tallystick.errors.BadInput: open_step: '1/3' is not a number
        >>> LinearCell(0.5, -0.5, 1).map_weights(exact).close_step
        Fraction(-1, 2)
        """
        return type(self)(**{field.name: number(getattr(self, field.name), field.name) for field in fields(self)})


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
