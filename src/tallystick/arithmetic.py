"""The numbers that a cell can run on.

A cell's step uses only +, ×, max(0, ·) and tanh, so it runs on whatever numbers it is handed: rationals, Python floats,
NumPy and JAX arrays, a solver's terms. This module reads numbers exactly, rounds them to a named arithmetic once and
correctly, and gives max(0, ·) and tanh for each kind.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial, singledispatch
from math import isfinite
from numbers import Integral, Rational, Real
from typing import Any, TypeAlias, cast

import numpy as np

from tallystick.errors import BadInput

Number: TypeAlias = Any
"""An int, Fraction, float, NumPy or JAX array, or a solver's term: anything with + and ×."""

_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e(?P<exponent>[+-]?\d+))?", re.ASCII | re.IGNORECASE)
_HEX_FLOAT = re.compile(
    r"(?P<sign>[+-]?)0x(?P<whole>[0-9a-f]+)(\.(?P<part>[0-9a-f]*))?(p(?P<exponent>[+-]?\d+))?",
    re.ASCII | re.IGNORECASE,
)

# Enough for every float64 (2^-1074 to 2^1024), and a hostile number cannot fill the memory.
_LONGEST_TEXT = 4200
_LARGEST_EXPONENT = 2000


@singledispatch
def positive_part(x: Number) -> Number:
    """max(0, x), of the same kind as x.

    >>> positive_part(Fraction(-1, 2)), positive_part(1.5)
    (Fraction(0, 1), 1.5)
    """
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().maximum(x, 0)
    return x if x > 0 else type(x)(0)


@singledispatch
def hyperbolic_tangent(x: Number) -> Number:
    """Tanh of x, of the same kind as x; a rational has none but tanh 0 = 0.

    >>> round(hyperbolic_tangent(0.5), 9), hyperbolic_tangent(Fraction(0))
    (0.462117157, Fraction(0, 1))
    """
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__().tanh(x)
    if isinstance(x, Rational):
        if x == 0:
            return x
        raise BadInput(f"tanh {x}: no rational number; bring the cell into floating point first, as with float32")
    return x.tanh() if hasattr(x, "tanh") else type(x)(np.tanh(x))


def exact(value: object, field: str = "number") -> Fraction:
    """Return the rational that `value` is, without rounding; text may be a decimal, "p/q" or a C hex float.

    >>> exact("0.1"), exact("1/3"), exact("0x1.8p-1"), exact(0.5)
    (Fraction(1, 10), Fraction(1, 3), Fraction(3, 4), Fraction(1, 2))
    """
    if isinstance(value, str | Decimal):
        return _from_text(str(value).strip(), field)
    check_number(value, field)
    if isinstance(value, int | float | Fraction):
        return Fraction(value)
    if isinstance(value, Integral):  # NumPy's whole numbers
        return Fraction(int(value))
    if isinstance(value, np.floating):
        return Fraction(*cast("np.floating[Any]", value).as_integer_ratio())
    raise BadInput(f"{field}: {value!r} is not a single number")


def check_number(value: object, field: str) -> None:
    """Refuse what is plainly no number to run on: text, booleans, containers, nothing, NaN and the infinities.

    Arrays and a solver's terms pass; what they hold is their maker's to check.
    """
    if isinstance(value, str | bytes | bool | np.bool_ | list | tuple | dict | set | complex | Decimal | None):
        raise BadInput(f"{field}: {value!r} is not a number")
    if isinstance(value, Real) and not isinstance(value, Rational) and not isfinite(value):
        raise BadInput(f"{field}: {float(value)} is not a finite number")


def nearest(value: Fraction, kind: type[np.floating[Any]], field: str = "number") -> np.floating[Any]:
    """Round a rational to the nearest number of a floating-point kind, ties to even, in one rounding.

    Going through a double would round twice: 1 + 2⁻²⁴ + 2⁻⁶⁰ lies above the middle of two neighbouring float32, but the
    double nearest to it is that middle, and the middle goes to the even neighbour.

    >>> float(nearest(1 + Fraction(1, 2**24) + Fraction(1, 2**60), np.float32)) > 1
    True
    """
    limits = np.finfo(kind)
    last_place = Fraction(2) ** (max(_exponent(value), int(limits.minexp)) - int(limits.nmant))
    rounded = round(value / last_place) * last_place  # Python rounds a tie to the even whole number
    if abs(rounded) > Fraction(float(limits.max)):
        raise BadInput(f"{field}: about 2^{_exponent(value)} is too large for {kind.__name__}")
    return kind(float(rounded))


def _rounded(value: object, field: str = "number", *, kind: type[np.floating[Any]]) -> np.floating[Any]:
    return nearest(exact(value, field), kind, field)


ARITHMETICS: dict[str, Callable[..., Number]] = {
    "rational": exact,
    "float16": partial(_rounded, kind=np.float16),
    "float32": partial(_rounded, kind=np.float32),
    "float64": partial(_rounded, kind=np.float64),
}
"""Each arithmetic by name: the function that brings a number into it, with an optional name of the field."""


def _exponent(value: Fraction) -> int:
    """⌊log₂|value|⌋, and 0 for zero."""
    if value == 0:
        return 0
    guess = abs(value.numerator).bit_length() - value.denominator.bit_length()
    return guess if abs(value) >= Fraction(2) ** guess else guess - 1


def _from_text(text: str, field: str) -> Fraction:
    shown = repr(text if len(text) <= 40 else text[:37] + "...")  # noqa: PLR2004 -- a readable line
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
    return _from_hex(found) if found.re is _HEX_FLOAT else Fraction(text)


def _from_hex(found: re.Match[str]) -> Fraction:
    part = found["part"] or ""
    digits = int(found["whole"] + part, 16)
    size = Fraction(digits) * Fraction(2) ** (int(found["exponent"] or 0) - 4 * len(part))
    return -size if found["sign"] == "-" else size
