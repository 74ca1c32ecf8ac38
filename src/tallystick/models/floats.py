"""Rationals as doubles, exactly or not at all."""

from fractions import Fraction

from tallystick.documents import is_writable
from tallystick.errors import BadInput

_LONGEST_TEXT = 40


def as_float(value: Fraction, field: str) -> float:
    """Return the double that a rational is; one that is no double is refused, naming the field."""
    try:
        rounded = float(value)
    except OverflowError:
        rounded = None
    if rounded is None or Fraction(rounded) != value:
        text = str(value) if is_writable(value) else "a very long number"
        shown = text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."
        raise BadInput(f"{field}: {shown} is not exactly a float64; a JSON file keeps it as it is")
    return rounded
