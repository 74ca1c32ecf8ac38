"""Numbers, vectors and matrices, read exactly and checked; and that this thread computes with floats as it should.

A number from outside is a whole number, a float, a decimal, "p/q" or a C hex float. Vectors and matrices are tuples of
numbers, so that an entry may be of any kind: a rational, a float, a box, or an array.

A verdict about floats holds only where the processor rounds to nearest and keeps subnormal numbers, as IEEE 754 has it. A
processor keeps its mode per thread, and any library may change it: PyTorch when asked to, a library built with -ffast-math
while it is loaded. No system tells the mode everywhere, so it is found by computing: a few sums in every format, through NumPy
and through Python, whose bits differ as soon as the mode does.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch
from math import isfinite
from numbers import Integral, Rational, Real
from operator import is_
from typing import Any, NamedTuple, TypeAlias, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.files import LONGEST_NUMBER, Document

Number: TypeAlias = Any
"""An int, Fraction, float, NumPy or JAX array, or a solver's term: anything with + and ×."""

Vector = tuple[Number, ...]
Matrix = tuple[Vector, ...]

_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e(?P<exponent>[+-]?\d+))?", re.ASCII | re.IGNORECASE)
_HEX_FLOAT = re.compile(
    r"(?P<sign>[+-]?)0x(?P<whole>[0-9a-f]+)(\.(?P<part>[0-9a-f]*))?(p(?P<exponent>[+-]?\d+))?",
    re.ASCII | re.IGNORECASE,
)

_MOST_BITS_WRITTEN = int((LONGEST_NUMBER - 1) / 0.30103)
# Enough for every float64 (2^-1074 to 2^1024), and a hostile number cannot fill the memory.
_LONGEST_TEXT = 4200
_LARGEST_EXPONENT = 2000
_LONGEST_SHOWN = 40
_MOST_BITS = int(_LONGEST_TEXT / 0.30103)


def exact(value: object, field: str = "number") -> Fraction:
    """Return the rational that `value` is, without rounding; text may be a decimal, "p/q" or a C hex float.

    >>> exact("0.1"), exact("1/3"), exact("0x1.8p-1"), exact(0.5)
    (Fraction(1, 10), Fraction(1, 3), Fraction(3, 4), Fraction(1, 2))
    """
    if isinstance(value, str | Decimal):
        return _from_text(str(value).strip(), field)
    check_number(value, field)
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float | np.floating | ml_dtypes.bfloat16):  # NumPy does not count bfloat16 among its own
        return _from_float(value)
    if isinstance(value, Integral):  # NumPy's whole numbers
        return Fraction(int(value))
    if hasattr(value, "as_integer_ratio"):  # as a fused weight has it
        check_number(float(cast("Any", value)), field)
        return Fraction(*cast("Any", value).as_integer_ratio())
    raise BadInput(f"{field}: {value!r} is not a single number")


def check_number(value: object, field: str) -> None:
    """Refuse what is plainly no number to run on: text, booleans, containers, nothing, NaN and the infinities.

    Arrays and a solver's terms pass; what they hold is their maker's to check.
    """
    if type(value) is Fraction or (type(value) is float and isfinite(value)):  # the most, and quickly told
        return
    if isinstance(value, str | bytes | bool | np.bool_ | list | tuple | dict | set | complex | Decimal | None):
        raise BadInput(f"{field}: {value!r} is not a number")
    if isinstance(value, Real | ml_dtypes.bfloat16) and not isinstance(value, Rational) and not isfinite(value):
        raise BadInput(f"{field}: {float(value)} is not a finite number")


def _from_float(value: Any) -> Fraction:  # noqa: ANN401 -- a float of any kind
    if value == 0:
        check_mode()  # where subnormal numbers count as zero, this may be one
    return Fraction(*(float(value) if isinstance(value, ml_dtypes.bfloat16) else value).as_integer_ratio())


def _from_text(text: str, field: str) -> Fraction:
    shown = repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")
    if len(text) > _LONGEST_TEXT:
        raise BadInput(f"{field}: {shown} has {len(text)} characters; at most {_LONGEST_TEXT} are read")
    if _RATIO.fullmatch(text):
        numerator, denominator = map(int, text.split("/"))
        if denominator == 0:
            raise BadInput(f"{field}: {shown} divides by zero")
        return Fraction(numerator, denominator)
    found = _DECIMAL.fullmatch(text) or _HEX_FLOAT.fullmatch(text)
    if not found:
        raise BadInput(f'{field}: {shown} is not a number: write 0.25, "1/4" or "0x1p-2"')
    if (
        len(found["exponent"] or "") > len(str(_LARGEST_EXPONENT)) + 1
        or abs(int(found["exponent"] or 0)) > _LARGEST_EXPONENT
    ):
        raise BadInput(f"{field}: {shown} has an exponent beyond ±{_LARGEST_EXPONENT}")
    value = _from_hex(found) if found.re is _HEX_FLOAT else Fraction(text)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise BadInput(f"{field}: {shown} written out as a ratio has more than {_LONGEST_TEXT} digits")
    return value


def _from_hex(found: re.Match[str]) -> Fraction:
    part = found["part"] or ""
    digits = int(found["whole"] + part, 16)
    size = Fraction(digits) * Fraction(2) ** (int(found["exponent"] or 0) - 4 * len(part))
    return -size if found["sign"] == "-" else size


def is_writable(value: Fraction) -> bool:
    """Say whether a number can be written out: Python writes no whole number of more digits than it reads.

    >>> is_writable(Fraction(1, 3)), is_writable(Fraction(10**5000))
    (True, False)
    """
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MOST_BITS_WRITTEN


def exact_number(value: Fraction, field: str = "number") -> object:
    """Return a number as a file holds it exactly: a whole number as it is, anything else as "p/q"; refuse what is too long."""
    if not is_writable(value):
        raise BadInput(f"{field}: a number of more than {LONGEST_NUMBER:,} digits is too long to write")
    return value.numerator if value.denominator == 1 else str(value)


def read_numbers(document: Document, *shape: int) -> Any:  # noqa: ANN401 -- a number, or nested tuples of numbers
    """Read a number, a list of numbers or a list of rows, of a given shape."""
    if not shape:
        return exact(document.value, document.where)
    size, *rest = shape
    found = tuple(read_numbers(entry, *rest) for entry in document.items())
    if len(found) != size:
        what = "row" if rest else "number"
        document.refuse(f"a list of {size} {what}{'' if size == 1 else 's'}")
    return found


def depth_of(document: Document) -> int:
    """Return how many lists stand inside each other, by their first entries."""
    value, found = document.value, 0
    while isinstance(value, list):
        value, found = cast("list[object]", value)[0] if value else None, found + 1
    return found


def write_numbers(values: Any, field: str) -> Any:  # noqa: ANN401
    """Return a number or nested tuples of numbers as a file holds them, each exact."""
    if not isinstance(values, tuple):
        return exact_number(values, field)
    return [write_numbers(value, field) for value in cast("tuple[Any, ...]", values)]


def layer(weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Return W·x + b, row by row: the products are added from the left, the bias last; boxes have a way of their own."""
    return layer_of(inputs[0], weight, bias, inputs)


@singledispatch
def layer_of(first: Number, weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Return W·x + b for the kind of numbers that the first of x is."""
    del first
    return [dot(row, inputs) + term for row, term in zip(weight, bias, strict=True)]


class LayerKey:
    """A layer as a key, for what is kept of its weights: two are equal if their rows are the same objects."""

    def __init__(self, weight: Matrix, bias: Vector) -> None:
        self.weight, self.bias = weight, bias
        self._rows = *weight, *bias
        self._hash = hash(tuple(map(id, self._rows)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LayerKey) or len(self._rows) != len(other._rows):
            return False
        return all(map(is_, self._rows, other._rows))


def add(first: Vector, second: Vector) -> Vector:
    """Add two vectors."""
    return tuple(x + y for x, y in zip(first, second, strict=True))


def map_nested(values: Any, number: Callable[..., Number], field: str) -> Any:  # noqa: ANN401 -- a number, vector or matrix
    """Return number(value, field) for each number of a vector or matrix."""
    if isinstance(values, tuple):
        return tuple(map_nested(value, number, field) for value in cast("Vector", values))
    return number(values, field)


def check_shape(values: object, field: str, rows: int, *columns: int) -> None:
    """Refuse anything but numbers of this shape, a vector where there are no columns, whose entries are finite numbers."""
    if not is_filled(values) or len(cast("tuple[Any, ...]", values)) != rows:
        wanted = " rows of ".join(map(str, (rows, *columns))) + ("" if columns else " numbers")
        raise BadInput(f"{field}: {_shorten(values)} is not a tuple of {wanted}")
    for place, row in enumerate(cast("tuple[object, ...]", values)):
        if columns:
            check_shape(row, f"{field}[{place}]", *columns)
        else:
            check_number(row, f"{field}[{place}]")


def is_filled(values: object) -> bool:
    """Say whether something is a tuple with at least one entry."""
    return isinstance(values, tuple) and bool(cast("tuple[Any, ...]", values))


def dot(row: Vector, inputs: Vector) -> Number:
    """Return the sum of products, added from the left."""
    products = [weight * x for weight, x in zip(row, inputs, strict=True)]
    return products[0] if len(products) == 1 else sum(products[1:], start=products[0])


def _shorten(values: object) -> str:
    text = repr(values)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


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


_FLUSHES = "flushes subnormal numbers to zero", "torch.set_flush_denormal(False)"
_ROUNDS = "fesetround(FE_TONEAREST)"
_CHANGES = (
    _FLUSHES,
    _FLUSHES,
    ("rounds upward", _ROUNDS),
    ("rounds downward", _ROUNDS),
    ("rounds towards zero", _ROUNDS),
)
"""What it means that a sum differs, and how it is undone, in the order of the sums; the first that differs tells."""


class _Sums(NamedTuple):
    """Two arrays to add, and the bits of their sums in the mode that IEEE 754 begins in."""

    left: NDArray[Any]
    right: NDArray[Any]
    kind: type[np.generic]
    bits: NDArray[Any]


def _sums(kind: type[np.generic]) -> _Sums:
    """Return the sums in a format, all written in bits: in a changed mode, constants might be off already.

    A tiny sum of tiny numbers and one of normal numbers; then 1 + u/4, its negative and 1 + 3u/4, for u one unit in the last
    place of 1.
    """
    limits: Any = ml_dtypes.finfo(kind)
    whole = np.dtype(f"u{np.dtype(kind).itemsize}")
    negative, normal = 1 << (limits.bits - 1), 1 << int(limits.nmant)

    def power(exponent: int) -> int:
        return (exponent - int(limits.minexp) + 1) * normal

    one, quarter, quarters = power(0), power(-limits.nmant - 2), power(-limits.nmant - 1) + normal // 2
    left, right, total = np.array(
        [
            (1, 1, 2),
            (normal + normal // 2, negative + normal, normal // 2),
            (one, quarter, one),
            (negative + one, negative + quarter, negative + one),
            (one, quarters, one + 1),
        ],
        whole,
    ).T.copy()
    return _Sums(left.view(kind), right.view(kind), kind, total)


_EVERY = [_sums(kind) for kind in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]
_EVERY.append(_EVERY[-1]._replace(left=_EVERY[-1].left.astype(object), right=_EVERY[-1].right.astype(object)))
"""The sums in every format, and once more as Python's own floats."""


def check_mode() -> None:
    """Refuse to go on in a thread whose floating-point mode is changed; takes some microseconds."""
    with np.errstate(all="ignore"):
        for left, right, kind, bits in _EVERY:
            found = np.asarray(left + right, kind).view(bits.dtype)
            if found.tobytes() != bits.tobytes():
                change, way_out = _CHANGES[int(np.flatnonzero(found != bits)[0])]
                raise BadInput(
                    f"floating point: this thread {change}, so floats do not behave as in IEEE 754 and no verdict is safe; "
                    f"undo it, as with {way_out}, or ask in a new process"
                )


@contextmanager
def standard_floats() -> Iterator[None]:
    """Compute in the mode that IEEE 754 begins in, or not at all; around a block, or as the decorator of a function.

    The mode is looked at before and after, since a library may change it half-way. What overflows, underflows or is not
    a number is part of the answer: NumPy does not warn of it, however the user has set `np.seterr`.
    """
    with np.errstate(all="ignore"):
        check_mode()
        yield
        check_mode()
