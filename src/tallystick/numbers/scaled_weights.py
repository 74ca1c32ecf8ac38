"""Weights that are kept as whole numbers times a scale, as after quantisation to int8, and used in any order.

A library may multiply such a weight q·s out and round it, or multiply q with x, add up, and multiply by the scale s at the end.
In both cases a term of a sum of n goes through at most n + 2 roundings, so it counts as three terms of a `Span`, whose weight
is the exact q·s. A weight of 1 or −1 is a product of two powers of two, which rounds nothing, and counts as one.

Sums of q·x are larger or smaller than those of q·s·x by the scale, which may move what overflows or is flushed to zero. So scales
lie between `LEAST_SCALE` and `MOST_SCALE`, the bounds leave room for what is flushed, and nothing is known of products with
numbers beyond `MOST_FACTOR`.
"""

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import final

import numpy as np

from tallystick.errors import BadInput
from tallystick.numbers.any_order import MOST_FACTOR, MOST_SCALE, Span, flushed_by_scales, span_between, to_span
from tallystick.numbers.arithmetics import directed_product, to_format
from tallystick.numbers.boxes import Box
from tallystick.numbers.floats import FORMATS, FloatFormat, nearest
from tallystick.numbers.values import Vector, exact

LEAST_SCALE = Fraction(1, 2**125)
LEAST_WHOLE, MOST_WHOLE = -128, 127
_TERMS = 3
"""As how many terms a weight counts."""


@final
class ScaledWeight(Span):
    """A weight q·s, exact."""

    products = _TERMS

    @property
    def box(self) -> Box:
        """The weight multiplied out, and rounded once."""
        number = float(to_format(self.low, self.form))
        return Box(number, number)

    @property
    def is_number(self) -> bool:
        """True."""
        return True

    def __mul__(self, other: "Span | int") -> Span:
        if isinstance(other, int) and other == 1:  # of a one-hot token
            return self.settled
        factor = to_span(other, self.form).settled
        if factor.is_zero:
            return factor * self.settled
        ends = [directed_product(self.low, end, side) for end in (factor.low, factor.high) for side in (-1, 1)]
        low, high, flushed = np.minimum.reduce(ends), np.maximum.reduce(ends), flushed_by_scales(self.form)
        size = np.where(factor.size <= MOST_FACTOR, np.maximum(np.abs(low), np.abs(high)), np.nan)
        return Span(low - flushed, high + flushed, size, _TERMS, False, self.form)

    __rmul__ = __mul__


def scaled_weight(value: object, form: FloatFormat, field: str) -> Span:
    """Return a weight that is a whole number times a scale."""
    number = exact(value, field)
    if number in (0, 1, -1):
        return span_between(Box(float(number), float(number)), form)
    return ScaledWeight(float(number), float(number), abs(float(number)), _TERMS, False, form)


def check_row(row: Vector, field: str) -> None:
    """Refuse a row that is not whole numbers of eight binary digits, times one scale that is a float32."""
    numbers = [exact(weight, field) for weight in row if weight]
    if numbers and not any(map(_is_scale, _scales(numbers))):
        raise BadInput(
            f"{field}: a row is not made of whole numbers from {LEAST_WHOLE} to {MOST_WHOLE} times one float32 scale; quantise "
            "the network, as with ts.quantise(network), or certify it in float32-any-order"
        )


def _scales(numbers: list[Fraction]) -> Iterator[Fraction]:
    """Go through the scales of which all numbers are multiples by whole numbers of eight binary digits."""
    common = lcm(*(number.denominator for number in numbers))
    greatest = Fraction(gcd(*(int(number * common) for number in numbers)), common)
    least, most = min(numbers) / greatest, max(numbers) / greatest
    for part in range(1, MOST_WHOLE + 2):
        if least * part < LEAST_WHOLE or most * part > MOST_WHOLE:
            return
        yield greatest / part


def _is_scale(scale: Fraction) -> bool:
    """Say whether a scale is a float32, and neither too small nor too large."""
    if not LEAST_SCALE <= scale <= MOST_SCALE:
        return False
    return Fraction(float(nearest(scale, FORMATS["float32"]))) == scale  # type: ignore[arg-type]  # a NumPy number
