"""What every gated cell has: weights in PyTorch's layout, a vector of states that starts at 0, and traces along a string.

Vectors and matrices are tuples of numbers rather than arrays. So a weight may be a rational, a float or a box, or itself an
array with an entry a network, and the one step runs on all of them; two cells with the same weights are equal.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple, Self, cast

from tallystick.arithmetic import Number, check_number
from tallystick.cells.cell import ONE_HOT, Token
from tallystick.errors import BadInput, check_tokens
from tallystick.languages.brackets import ALPHABET

Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]

_TOKENS = 2
_WEIGHTS = ("input_weight", "recurrent_weight")


class State(NamedTuple):
    """What a gated cell carries from token to token.

    Attributes:
        hidden: h, one number a unit; what the gates and the readout see.
        memory: c, the same for an LSTM's memory; empty for a cell that has none.
    """

    hidden: Vector
    memory: Vector = ()


@dataclass(frozen=True)
class GatedCell(ABC):
    """A recurrence h, c → h', c' whose gates each look at W·x + b_x and U·h + b_h.

    All rows of a gate stand together, one a unit, gate after gate in PyTorch's order.

    Attributes:
        input_weight: W, a row a gate and unit: what `(` adds and what `)` adds. PyTorch's weight_ih.
        recurrent_weight: U, a row a gate and unit, a column a unit. PyTorch's weight_hh.
        input_bias: b_x, a number a row. PyTorch's bias_ih.
        recurrent_bias: b_h, the same. PyTorch's bias_hh.
    """

    input_weight: Matrix
    recurrent_weight: Matrix
    input_bias: Vector
    recurrent_bias: Vector

    gates: ClassVar[int]
    has_memory: ClassVar[bool]

    def __post_init__(self) -> None:
        """Refuse weights that do not fit together or are no finite numbers, naming them."""
        rows = self.gates * self.units
        shapes = {"input_weight": _TOKENS, "recurrent_weight": self.units, "input_bias": None, "recurrent_bias": None}
        for field, columns in shapes.items():
            check_shape(getattr(self, field), field, rows, columns)

    @property
    def units(self) -> int:
        """How many units: the length of h."""
        first = cast("object", self.recurrent_weight[0] if _is_filled(self.recurrent_weight) else None)
        if not _is_filled(first):
            raise BadInput(f"recurrent_weight: {self.recurrent_weight!r} is not a matrix as a tuple of rows")
        return len(cast("tuple[Any, ...]", first))

    @abstractmethod
    def step(self, state: State, token: Token) -> State:
        """Return the next state."""

    @property
    def initial_state(self) -> State:
        """The state before the first token: zeros."""
        return State((0,) * self.units, (0,) * self.units if self.has_memory else ())

    def trace(self, string: str) -> list[State]:
        """Return the state before the first token and after each one."""
        check_tokens(string, ALPHABET)
        return list(accumulate((ONE_HOT[token] for token in string), self.step, initial=self.initial_state))

    def final_state(self, string: str) -> Vector:
        """Return h after the whole string."""
        return self.trace(string)[-1].hidden

    def converted(self, number: Callable[..., Number]) -> Self:
        """Return this cell with each weight brought into another arithmetic, such as `ARITHMETICS["float32"]`."""
        return type(self)(
            *(_converted(getattr(self, field.name), field.name, number) for field in fields(self)),
        )

    def _from_token(self, token: Token) -> list[Vector]:
        """W·x + b_x, gate by gate."""
        rows = zip(self.input_weight, self.input_bias, strict=True)
        return self._by_gate([token.choose(*row) + bias for row, bias in rows])

    def _from_hidden(self, hidden: Vector) -> list[Vector]:
        """U·h + b_h, gate by gate."""
        return self._by_gate(layer(self.recurrent_weight, self.recurrent_bias, hidden))

    def _by_gate(self, rows: list[Number]) -> list[Vector]:
        return [tuple(rows[start : start + self.units]) for start in range(0, len(rows), self.units)]


def layer(weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """W·x + b, row by row: the products are added from the left, the bias last."""
    return [_dot(row, inputs) + term for row, term in zip(weight, bias, strict=True)]


def added(first: Vector, second: Vector) -> Vector:
    """Add two vectors."""
    return tuple(x + y for x, y in zip(first, second, strict=True))


def _dot(row: Vector, inputs: Vector) -> Number:
    first, *others = (weight * x for weight, x in zip(row, inputs, strict=True))
    return sum(others, start=first)


def check_shape(values: object, field: str, rows: int, columns: int | None) -> None:
    """Refuse what is no matrix of this shape (no vector, where there are no columns), or holds what is no number."""
    wanted = f"{rows} numbers" if columns is None else f"{rows} rows of {columns}"
    fits = _is_filled(values) and len(cast("tuple[Any, ...]", values)) == rows
    if not fits:
        raise BadInput(f"{field}: {_shown(values)} is not a tuple of {wanted}")
    for place, row in enumerate(cast("tuple[object, ...]", values)):
        if columns is None:
            check_number(row, f"{field}[{place}]")
        elif not _is_filled(row) or len(cast("tuple[Any, ...]", row)) != columns:
            raise BadInput(f"{field}[{place}]: {_shown(row)} is not a tuple of {columns} numbers")
        else:
            for column, value in enumerate(cast("tuple[object, ...]", row)):
                check_number(value, f"{field}[{place}][{column}]")


def _is_filled(values: object) -> bool:
    return isinstance(values, tuple) and bool(cast("tuple[Any, ...]", values))


def _shown(values: object) -> str:
    text = repr(values)
    return text if len(text) <= 40 else text[:37] + "..."  # noqa: PLR2004 -- a readable line


def _converted(values: Vector | Matrix, field: str, number: Callable[..., Number]) -> tuple[Any, ...]:
    def one(value: Number) -> Any:  # noqa: ANN401 -- a number of any kind
        # A bias is a term and all else a factor, which is what a fused arithmetic asks.
        return number(value, field if field in _WEIGHTS else "bias")

    return tuple(tuple(map(one, cast("Vector", row))) if isinstance(row, tuple) else one(row) for row in values)
