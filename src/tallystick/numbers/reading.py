"""Numbers from outside, read exactly: whole numbers, floats, decimals, "p/q" and C hex floats."""

import re
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Rational, Real
from typing import Any

import ml_dtypes
import numpy as np

from tallystick.errors import BadInput
from tallystick.numbers.fused import Fused
from tallystick.numbers.mode import check_mode

_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e(?P<exponent>[+-]?\d+))?", re.ASCII | re.IGNORECASE)
_HEX_FLOAT = re.compile(
    r"(?P<sign>[+-]?)0x(?P<whole>[0-9a-f]+)(\.(?P<part>[0-9a-f]*))?(p(?P<exponent>[+-]?\d+))?",
    re.ASCII | re.IGNORECASE,
)

# Enough for every float64 (2^-1074 to 2^1024), and a hostile number cannot fill the memory.
_LONGEST_TEXT = 4200
_LARGEST_EXPONENT = 2000
# Python writes and reads no whole number of more than 4,300 decimal digits.
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
    if isinstance(value, Fused):
        return exact(value.value, field)
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
    value = _from_hex(found) if found.re is _HEX_FLOAT else Fraction(text)
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MOST_BITS:
        raise BadInput(f"{field}: {shown} written out as a ratio has more than {_LONGEST_TEXT} digits")
    return value


def _from_hex(found: re.Match[str]) -> Fraction:
    part = found["part"] or ""
    digits = int(found["whole"] + part, 16)
    size = Fraction(digits) * Fraction(2) ** (int(found["exponent"] or 0) - 4 * len(part))
    return -size if found["sign"] == "-" else size
