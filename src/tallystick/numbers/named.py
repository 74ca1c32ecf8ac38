"""Every arithmetic by name: the rationals, each floating-point format, and each format with fused multiply-add."""

from collections.abc import Callable
from functools import partial

from tallystick.numbers.floats import FORMATS, FloatFormat, nearest
from tallystick.numbers.fused import Fused
from tallystick.numbers.kinds import Number
from tallystick.numbers.reading import exact

FUSED = "-fused"
"""What a name ends in where w·h + c is rounded once; otherwise the product is rounded, and then the sum."""

_TERMS = ("open_step", "close_step", "bias")
"""The weights that are added; all others are multiplied with h."""


def _rounded(value: object, field: str = "number", *, form: FloatFormat) -> Number:
    return nearest(exact(value, field), form, field)


def _fused(value: object, field: str = "number", *, form: FloatFormat) -> Number:
    rounded = _rounded(value, field, form=form)
    return rounded if field in _TERMS else Fused(rounded, form)


ARITHMETICS: dict[str, Callable[..., Number]] = {
    "rational": exact,
    **{name: partial(_rounded, form=form) for name, form in FORMATS.items()},
    **{name + FUSED: partial(_fused, form=form) for name, form in FORMATS.items()},
}
"""Each arithmetic by name: the function that brings a weight into it, with the name of its field."""


def float_format(arithmetic: str) -> FloatFormat:
    """Return the format of a floating-point arithmetic, fused or not.

    >>> float_format("float32-fused").digits
    24
    """
    return FORMATS[arithmetic.removesuffix(FUSED)]
