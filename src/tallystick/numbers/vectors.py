"""Vectors and matrices as tuples of numbers, so that an entry may be of any kind: a rational, a float, a box, or an array."""

from collections.abc import Callable
from typing import Any, cast

from tallystick.errors import BadInput
from tallystick.numbers.kinds import Number
from tallystick.numbers.reading import check_number

Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]
_LONGEST_TEXT = 40


def layer(weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Return W·x + b, row by row: the products are added from the left, the bias last."""
    return [_dot(row, inputs) + term for row, term in zip(weight, bias, strict=True)]


def add(first: Vector, second: Vector) -> Vector:
    """Add two vectors."""
    return tuple(x + y for x, y in zip(first, second, strict=True))


def map_nested(values: Any, number: Callable[..., Number], field: str) -> Any:  # noqa: ANN401 -- a number, vector or matrix
    """Return number(value, field) for each number of a vector or matrix."""
    if isinstance(values, tuple):
        return tuple(map_nested(value, number, field) for value in cast("Vector", values))
    return number(values, field)


def check_shape(values: object, field: str, rows: int, columns: int | None = None) -> None:
    """Refuse anything but a matrix of this shape (a vector, where there are no columns) whose entries are finite numbers."""
    wanted = f"{rows} numbers" if columns is None else f"{rows} rows of {columns}"
    if not is_filled(values) or len(cast("tuple[Any, ...]", values)) != rows:
        raise BadInput(f"{field}: {_shorten(values)} is not a tuple of {wanted}")
    for place, row in enumerate(cast("tuple[object, ...]", values)):
        if columns is None:
            check_number(row, f"{field}[{place}]")
        elif not is_filled(row) or len(cast("tuple[Any, ...]", row)) != columns:
            raise BadInput(f"{field}[{place}]: {_shorten(row)} is not a tuple of {columns} numbers")
        else:
            for column, value in enumerate(cast("tuple[object, ...]", row)):
                check_number(value, f"{field}[{place}][{column}]")


def is_filled(values: object) -> bool:
    """Say whether something is a tuple with at least one entry."""
    return isinstance(values, tuple) and bool(cast("tuple[Any, ...]", values))


def _dot(row: Vector, inputs: Vector) -> Number:
    first, *others = (weight * x for weight, x in zip(row, inputs, strict=True))
    return sum(others, start=first)


def _shorten(values: object) -> str:
    text = repr(values)
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def rows_of(array: Any, axes: int) -> Any:  # noqa: ANN401 -- a NumPy or a JAX array
    """Take an array apart along its first axes into nested tuples."""
    return tuple(rows_of(part, axes - 1) for part in array) if axes else array


def first_number(values: Any) -> Number:  # noqa: ANN401
    """Return the first number of a vector or matrix."""
    return first_number(cast("Vector", values)[0]) if isinstance(values, tuple) else values


def map_states(function: Callable[..., Any], *states: Any) -> Any:  # noqa: ANN401 -- numbers, or nested tuples of them
    """Apply a function to the numbers of states that have one form: numbers, or nested tuples of numbers.

    >>> map_states(lambda x, y: x + y, (1, (2,)), (10, (20,)))
    (11, (22,))
    """
    first = states[0]
    if not isinstance(first, tuple):
        return function(*states)
    parts = [map_states(function, *entries) for entries in zip(*states, strict=True)]
    return type(first)(*parts) if hasattr(cast("object", first), "_fields") else tuple(parts)


def numbers_of(state: Any) -> list[Number]:  # noqa: ANN401
    """Return the numbers of a state, one after the other."""
    return (
        [number for part in cast("Vector", state) for number in numbers_of(part)]
        if isinstance(state, tuple)
        else [state]
    )
