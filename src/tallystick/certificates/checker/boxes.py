"""Boxes in whole numbers: a number known between two multiples of a unit, every operation rounded outward."""

from fractions import Fraction
from functools import lru_cache

from .tanh import tanh_above, tanh_below

PLACES = 96
UNIT = 1 << PLACES
"""A box (low, high) holds all numbers from low / UNIT to high / UNIT."""

Box = tuple[int, int]


def box_of(number: Fraction) -> Box:
    """Return the least box around a number."""
    low, rest = divmod(number.numerator << PLACES, number.denominator)
    return low, low + (rest > 0)


def plus(first: Box, second: Box) -> Box:
    """Add: nothing is rounded."""
    return first[0] + second[0], first[1] + second[1]


def times(first: Box, second: Box) -> Box:
    """Multiply: the least and the greatest product are among those of the ends."""
    (a, b), (c, d) = first, second
    products = (a * c, a * d, b * c, b * d)
    return min(products) >> PLACES, -(-max(products) >> PLACES)


# A gate without recurrent weights sees the same two sums again and again.
@lru_cache(maxsize=1024)
def tanh(x: Box) -> Box:
    """Squash: tanh rises."""
    return tanh_below(x[0], UNIT, PLACES), tanh_above(x[1], UNIT, PLACES)


@lru_cache(maxsize=1024)
def sigmoid(x: Box) -> Box:
    """1 / (1 + e^(−x)) = (1 + tanh(x / 2)) / 2."""
    low, high = tanh_below(x[0], 2 * UNIT, PLACES), tanh_above(x[1], 2 * UNIT, PLACES)
    return UNIT + low >> 1, -(-(UNIT + high) >> 1)


def mean(share: Box, first: Box, second: Box) -> Box:
    """(1 − s)·x + s·y for a share s from 0 to 1: it rises with x and with y, and is linear in s, so that the ends decide."""
    ends = [((UNIT - s) * first[0] + s * second[0], (UNIT - s) * first[1] + s * second[1]) for s in share]
    return min(low for low, _ in ends) >> PLACES, -(-max(high for _, high in ends) >> PLACES)


def hull(first: Box, second: Box) -> Box:
    """Return the least box around two."""
    return min(first[0], second[0]), max(first[1], second[1])
