"""A recurrence: a state and one step per token, which is all that a network needs to run, and a decider to decide.

A cell is a recurrence with weights of its own, by the names and shapes that files and training know them by.

The state is whatever the step carries from token to token; `hidden` is what the readout sees of it, a vector. Vectors and
matrices are tuples of numbers rather than arrays, so that a weight may be a rational, a float or a box, or itself an array
with one entry per network, and the one step runs on all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import accumulate
from math import prod
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from tallystick.cells.conditions import Condition, Counting, RecurrentForm
from tallystick.errors import BadInput, check_tokens
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.languages.counter_machine import String
from tallystick.languages.tasks import BB_MEMBERSHIP, Task
from tallystick.numbers import Number, check_number
from tallystick.numbers.values import Matrix, Vector

Shape = tuple[int, ...]
Tensors = Mapping[str, Any]
"""The weights of a cell by the names they have in files, each a number, a vector or a matrix."""

TOKENS = len(ALPHABET)


class Input(Protocol):
    """What a step reads: the vector x, seen through its products with the rows of a weight matrix."""

    def choose(self, *weights: Number) -> Number:
        """Return the product of a row of weights with x."""
        ...

    def weigh(self, weight: Matrix, bias: Vector) -> list[Number]:
        """Return W·x + b, row by row."""
        ...

    def mixture(self, matrices: tuple[Matrix, ...]) -> Matrix:
        """Return the sum of matrices, one per entry of x, each multiplied by its entry."""
        ...


class Token(NamedTuple):
    """A one-hot token x, as the network reads it; the entries may be arrays, one token per string."""

    opening: Number
    closing: Number

    def choose(self, *weights: Number) -> Number:
        """Return the number that belongs to this token, exact in every arithmetic since one factor is 1 and the other 0."""
        if_open, if_close = weights
        return self.opening * if_open + self.closing * if_close

    def weigh(self, weight: Matrix, bias: Vector) -> list[Number]:
        """Return the numbers that belong to this token, a bias added to each."""
        return [self.choose(*row) + term for row, term in zip(weight, bias, strict=True)]

    def mixture(self, matrices: tuple[Matrix, ...]) -> Matrix:
        """Return the matrix that belongs to this token: the same object for each of `ONE_HOT`, so that it can be a key."""
        if isinstance(self.opening, int) and isinstance(self.closing, int) and self.opening + self.closing == 1:
            return matrices[self.closing]
        return mixture(matrices, self.choose)


class OneHot(NamedTuple):
    """One token of an alphabet of any size, by its place: the vector whose entry there is 1 and all others 0."""

    place: int

    def choose(self, *weights: Number) -> Number:
        """Return the number that belongs to this token."""
        return weights[self.place]

    def weigh(self, weight: Matrix, bias: Vector) -> list[Number]:
        """Return the numbers that belong to this token, a bias added to each."""
        return [row[self.place] + term for row, term in zip(weight, bias, strict=True)]

    def mixture(self, matrices: tuple[Matrix, ...]) -> Matrix:
        """Return the matrix that belongs to this token."""
        return matrices[self.place]


ONE_HOT = {OPEN: Token(1, 0), CLOSE: Token(0, 1)}


def inputs_of(alphabet: tuple[str, ...]) -> Mapping[str, Input]:
    """Return what a step reads for each token of an alphabet."""
    return ONE_HOT if alphabet == ALPHABET else {token: OneHot(place) for place, token in enumerate(alphabet)}


def mixture(matrices: tuple[Matrix, ...], choose: Callable[..., Number]) -> Matrix:
    """Return the matrix whose entries are chosen from the entries of several."""
    return tuple(tuple(choose(*entries) for entries in zip(*rows, strict=True)) for rows in zip(*matrices, strict=True))


@dataclass(frozen=True)
class Recurrence(ABC):
    """A recurrence over tokens, of brackets if nothing else is said: one cell, or a stack of them.

    Attributes:
        name: what it is called in files and messages.
        deciders: the names of the deciders that apply to it (`certificates.deciders`), best first.
        is_rational: whether rational weights make rational states, as with everything but tanh and the sigmoid.
        membership: the task that its zero check answers.
        has_order: whether its definition says in which order a step adds, so that it is one number in floating point too.
    """

    name: ClassVar[str]
    deciders: ClassVar[tuple[str, ...]] = ()
    is_rational: ClassVar[bool] = True
    membership: ClassVar[Task] = BB_MEMBERSHIP
    has_order: ClassVar[bool] = False

    @property
    @abstractmethod
    def units(self) -> int:
        """The length of the vector that the readout sees."""

    @property
    def inputs(self) -> int:
        """The length of the vector that a step reads; a one-hot token has one entry per token of the alphabet."""
        return len(ALPHABET)

    @property
    @abstractmethod
    def matrix_entries(self) -> int:
        """How many entries the weight matrices have, by which the cost of a step grows."""

    @property
    def shows_rationals(self) -> bool:
        """Whether rational weights make rational what the readout sees, as rational states do nearly everywhere."""
        return self.is_rational

    @property
    def is_padded(self) -> bool:
        """Whether the state before the first token depends on the length of the string (`start_of`)."""
        return False

    @property
    def is_affine(self) -> bool:
        """Whether a step is A(x)·h + s(x): affine in the state, with a matrix for each token."""
        return False

    @property
    @abstractmethod
    def initial_state(self) -> Any:  # noqa: ANN401 -- each recurrence has its own kind of state
        """The state before the first token."""

    @abstractmethod
    def step(self, state: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the next state."""

    @abstractmethod
    def hidden(self, state: Any) -> Vector:  # noqa: ANN401
        """Return what the readout sees of a state."""

    @abstractmethod
    def map_weights(self, number: Callable[..., Number]) -> Self:
        """Return this recurrence with number(weight, name) in the place of each weight, such as `ARITHMETICS["float32"]`."""

    def conditions(self) -> list[Condition]:
        """Return the conditions under which this kind of recurrence counts exactly, each decided in rationals."""
        if self.is_affine:
            raise BadInput(
                "cell: what several units count hangs on the readout too; ask for the conditions of a Network"
            )
        raise BadInput(f"cell: no counting theorem is known for a {type(self).__name__}")

    def start_of(self, length: int) -> Any:  # noqa: ANN401
        """Return the state before the first token of a string of that length; without padding it is the initial state."""
        del length
        return self.initial_state

    def trace(self, string: String, alphabet: tuple[str, ...] = ALPHABET) -> list[Any]:
        """Return the state before the first token and after each one.

        >>> from tallystick import LinearCell
        >>> LinearCell(1, -1, 1).trace("(()")
        [0, 1, 2, 1]
        """
        known = inputs_of(alphabet)
        try:
            tokens = [known[token] for token in string]
        except (KeyError, TypeError):
            check_tokens(string, alphabet)
            raise
        return list(accumulate(tokens, self.step, initial=self.start_of(len(tokens))))

    def final_state(self, string: String, alphabet: tuple[str, ...] = ALPHABET) -> Any:  # noqa: ANN401
        """Return the state after the whole string."""
        return self.trace(string, alphabet)[-1]


@dataclass(frozen=True)
class Cell(Recurrence):
    """One cell, whose weights have names and shapes.

    Attributes:
        counting: what a theorem asks of the weights of a cell that counts, for training; None where no theorem is known.
        recurrent_form: what training makes the recurrent weights of, where that is other numbers.
        most_units: how many units a trained network may have.
        units_step: what the number of units is a multiple of.
        scales: whether steps that are c times as large, c > 0, make states that are c times as large.
        rests: whether the initial state stays as it is while nothing is read, so that strings may be padded on the left.
    """

    counting: ClassVar[Counting | None] = None
    recurrent_form: ClassVar[RecurrentForm | None] = None
    most_units: ClassVar[int] = 1
    units_step: ClassVar[int] = 1
    rests: ClassVar[bool] = True
    scales: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def shapes(cls, units: int, inputs: int = TOKENS) -> dict[str, Shape]:
        """Return the shape of every weight, by the name it has in files."""

    @classmethod
    def initial_recurrent(cls, draws: Any, bound: float) -> Any:  # noqa: ANN401 -- an array
        """Return the recurrent weights that training starts from, given numbers drawn from ±1 in their shape."""
        return bound * draws

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
