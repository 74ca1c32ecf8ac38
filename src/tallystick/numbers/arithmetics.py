"""The named arithmetics: the rationals, each floating-point format, and each format with fused multiply-add.

A fused multiply-add gives w·h + c with a single rounding, as many processors and libraries execute it. A fused weight keeps its
product with h back until a term is added, so that a cell's step and a readout's line, which are written as a product and a sum,
run fused on it as they stand. States and terms are plain floats and arrays. The exact sums and products of doubles that this
needs also give sums and products that are rounded down or up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.numbers.floats import FORMATS, MIXED_FORMATS, FloatFormat, nearest
from tallystick.numbers.values import Number, exact

Doubles = NDArray[np.float64]

_SPLIT = 2.0**27 + 1
_LARGE, _SMALL = 2.0**900, 2.0**-900
"""Between these no part of a double's exact product overflows or loses digits to underflow."""

_WHOLE = {np.dtype(np.float32): np.int32, np.dtype(np.float64): np.int64}
"""The whole numbers that share a float's bits."""


@dataclass(frozen=True, eq=False)
class Fused:
    """A weight whose product is rounded only together with the term that is added to it."""

    value: Any
    form: FloatFormat

    def __mul__(self, h: Number) -> "_Product":
        return _Product(self, h)

    def __rmul__(self, chosen: int) -> "Fused":
        """Take this weight or leave it, as a one-hot token does: `chosen` is 1 or 0."""
        return Fused(self.value * chosen, self.form)

    def __add__(self, other: "Fused") -> "Fused":
        """Join what a token took and what it left, of which one is zero."""
        return Fused(self.value + other.value, self.form)

    def __float__(self) -> float:
        return float(self.value)

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return the weight as a ratio in lowest terms, as a float does."""
        return exact(self.value).as_integer_ratio()


@dataclass(frozen=True)
class _Product:
    """A product that waits for its term."""

    weight: Fused
    h: Number

    def __add__(self, term: Number) -> Number:
        return fused_multiply_add(self.weight.value, self.h, term, self.weight.form)


FUSED = "-fused"
"""What a name ends in where w·h + c is rounded once; otherwise the product is rounded, and then the sum."""

ANY_ORDER = "-any-order"
"""What a name ends in where nothing is said of the order in which a library computes (`any_order`)."""

_TERMS = ("open_step", "close_step", "bias")
"""The weights that are added; all others are multiplied with h."""


def _round(value: object, field: str = "number", *, form: FloatFormat) -> Number:
    return nearest(exact(value, field), form, field)


def _fuse(value: object, field: str = "number", *, form: FloatFormat) -> Number:
    rounded = _round(value, field, form=form)
    return rounded if field in _TERMS else Fused(rounded, form)


ARITHMETICS: dict[str, Callable[..., Number]] = {
    "rational": exact,
    **{name: partial(_round, form=form) for name, form in FORMATS.items()},
    **{name + FUSED: partial(_fuse, form=form) for name, form in FORMATS.items()},
}
"""Each arithmetic by name: the function that brings a weight into it, with the name of its field."""


def float_format(arithmetic: str) -> FloatFormat:
    """Return the format of a floating-point arithmetic, fused, in any order, or neither.

    >>> float_format("float32-fused").digits
    24
    """
    name = arithmetic.removesuffix(FUSED).removesuffix(ANY_ORDER)
    return MIXED_FORMATS[name] if name in MIXED_FORMATS else FORMATS[name]


def fused_multiply_add(weight: Number, h: Number, term: Number, form: FloatFormat) -> Number:
    """Return weight·h + term in a format, rounded once; scalars or arrays.

    >>> a = np.float32(0.1)
    >>> float(fused_multiply_add(a, a, -(a * a), FORMATS["float32"])), float(a * a - a * a)
    (-4.097819306103645e-10, 0.0)
    """
    w, x, c = (np.asarray(value, np.float64) for value in (weight, h, term))
    with np.errstate(all="ignore"):
        found = _in_doubles(w, x, c, form) if form.kind is np.float64 else _rounded_sum(w * x, c, form)
    return found if found.ndim else found[()]


def _rounded_sum(product: Doubles, term: Doubles, form: FloatFormat) -> NDArray[Any]:
    """Add two doubles and round to a narrower format, once: the products of its numbers are doubles.

    The sum is first rounded to odd: where it is not exact, to the neighbour with an odd last digit. A second rounding to
    a format of at least two digits less is then as good as a single one (Boldo and Melquiond, 2008).
    """
    return _narrow(_to_odd(*_two_sum(product, term)), form)


def _narrow(total: Doubles, form: FloatFormat) -> NDArray[Any]:
    """Round doubles to a narrower format, once."""
    if form.kind is not ml_dtypes.bfloat16:
        return total.astype(form.kind)
    # bfloat16 is only reached by way of float32, and to odd once more there.
    single = total.astype(np.float32)
    return _to_odd(single, total - single.astype(np.float64)).astype(form.kind)


def to_format(x: Number, form: FloatFormat) -> Any:  # noqa: ANN401 -- a double or an array of them
    """Round doubles to the nearest numbers of a format, which are doubles too; what is too large becomes infinite."""
    doubles = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        return doubles if form.kind is np.float64 else _narrow(doubles, form).astype(np.float64)


def directed_sum(x: Number, y: Number, side: int) -> Any:  # noqa: ANN401
    """Add doubles, rounded down where the side is −1 and up where it is 1; an exact sum stays exact."""
    return _to_side(*_two_sum(np.asarray(x, np.float64), np.asarray(y, np.float64)), side)


def directed_product(x: Number, y: Number, side: int) -> Any:  # noqa: ANN401
    """Multiply doubles, rounded down where the side is −1 and up where it is 1; an exact product stays exact."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    product, error = _two_product(x, y)
    safe = (_in_range(x) & _in_range(y) & _in_range(product)) & ((product != 0) | (x == 0) | (y == 0))
    return _to_side(product, np.where(safe, error, np.nan), side)


def _to_side(total: Doubles, error: Doubles, side: int) -> Doubles:
    """Move to the neighbour on a side, unless the error is known and does not lie on it."""
    return np.where(error * side <= 0, total, np.nextafter(total, side * np.inf))


def _two_sum(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """Return the rounded sum and its error, exactly (Knuth)."""
    total = np.asarray(x + y)
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _to_odd(total: NDArray[Any], error: Doubles) -> NDArray[Any]:
    """Move an inexact sum with an even last digit to its neighbour on the side of the error."""
    is_odd = (total.view(_WHOLE[total.dtype]) & 1).astype(bool)
    stays = is_odd | (error == 0) | ~np.isfinite(total) | ~np.isfinite(error)
    side = np.copysign(np.inf, error).astype(total.dtype)
    return np.where(stays, total, np.nextafter(total, side))


def _in_doubles(w: Doubles, x: Doubles, c: Doubles, form: FloatFormat) -> Doubles:
    """Doubles have no wider format here: the product as an exact sum of two, and the three terms added with care.

    Boldo and Melquiond, 2008; where a part would overflow or lose digits to underflow, rationals do it.
    """
    high, low = _two_product(w, x)
    middle, rest = _two_sum(c, low)
    total, error = _two_sum(high, middle)
    found = np.asarray(total + _to_odd(*_two_sum(rest, error)))
    safe = _in_range(w) & _in_range(x) & _in_range(high) & _in_range(c) & ((high != 0) | (w == 0) | (x == 0))
    if not safe.all():
        w, x, c, safe = np.broadcast_arrays(w, x, c, safe)
        for place in zip(*np.nonzero(np.atleast_1d(~safe)), strict=True):
            at = place if found.ndim else ()
            found[at] = _in_rationals(float(w[at]), float(x[at]), float(c[at]), form)
    return found


def _in_range(x: Doubles) -> NDArray[np.bool_]:
    size = np.abs(x)
    return (size == 0) | ((size > _SMALL) & (size < _LARGE))


def _two_product(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles]:
    """Return the rounded product and its error, exactly (Dekker, Veltkamp)."""
    product = x * y
    (x1, x2), (y1, y2) = _halves(x), _halves(y)
    return product, x2 * y2 - (((product - x1 * y1) - x2 * y1) - x1 * y2)


def _halves(x: Doubles) -> tuple[Doubles, Doubles]:
    scaled = _SPLIT * x
    high = scaled - (scaled - x)
    return high, x - high


def _in_rationals(w: float, x: float, c: float, form: FloatFormat) -> float:
    if not all(map(np.isfinite, (w, x, c))):
        return w * x + c
    value = Fraction(w) * Fraction(x) + Fraction(c)
    try:
        return float(nearest(value, form))  # type: ignore[arg-type]  # a NumPy number of a real kind
    except BadInput:
        return np.inf if value > 0 else -np.inf
