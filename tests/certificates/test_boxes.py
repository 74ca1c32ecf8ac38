"""Boxes hold what they promise: whatever lies in the boxes handed in, the result lies in the box that comes out."""

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import BadInput
from tallystick.numbers import hyperbolic_tangent, sigmoid, weighted_mean
from tallystick.numbers.balls import digits
from tallystick.numbers.boxes import Box, box_of
from tallystick.numbers.operations import exponential

NUMBERS = st.floats(-1e9, 1e9) | st.floats(-1e-300, 1e-300) | st.floats(-3, 3)
BOXES = st.tuples(NUMBERS, NUMBERS).map(lambda ends: Box(*map(np.array, sorted(ends))))
SHARES = st.floats(0, 1)


def points(box):
    low, high = Fraction(float(box.low)), Fraction(float(box.high))
    return (low, (low + high) / 2, high)


def holds(box, value):
    return Fraction(float(box.low)) <= value <= Fraction(float(box.high))


@given(BOXES, BOXES)
def test_sums_and_products_are_enclosed(x, y):
    assert all(holds(x + y, p + q) and holds(x * y, p * q) and holds(-x, -p) for p in points(x) for q in points(y))


@given(BOXES, NUMBERS)
def test_numbers_are_boxes_too(x, number):
    w = box_of(number)
    assert all(holds(w * x, p * Fraction(number)) and holds(x + w, p + Fraction(number)) for p in points(x))


@given(st.tuples(SHARES, SHARES), BOXES, BOXES)
def test_the_weighted_mean_is_enclosed_and_close(ends, x, y):
    share = Box(*map(np.array, sorted(ends)))
    found = weighted_mean(share, x, y)
    values = [(1 - z) * p + z * q for z in points(share) for p in points(x) for q in points(y)]
    assert all(holds(found, value) for value in values)
    width = float(found.high - found.low) - float(max(values) - min(values))
    assert width <= 1e-14 * max(map(abs, map(float, values))) + 1e-300


def test_tanh_and_sigmoid_are_enclosed_closely():
    generator = np.random.default_rng(0)
    x = np.concatenate([[0.0], *(size * generator.normal(size=200) for size in (1e-12, 1e-3, 1, 10, 40, 700))])
    before, flint.ctx.prec = flint.ctx.prec, 3000
    try:
        for squash, true in ((hyperbolic_tangent, lambda v: v.tanh()), (sigmoid, lambda v: 1 / (1 + (-v).exp()))):
            found = squash(Box(x, x))
            for value, low, high in zip(x, found.low, found.high, strict=True):
                exact = true(flint.arb(float(value)))
                # Where tanh is 1 to three thousand digits, the upper bound is 1 itself.
                assert flint.arb(float(low)) <= exact or low == -1
                assert exact <= flint.arb(float(high)) or high == 1
            usual = np.abs(x) < 600
            assert (found.high - found.low)[usual].max() < 1e-14
    finally:
        flint.ctx.prec = before


def test_the_exponential_is_enclosed_closely():
    x = np.concatenate([np.linspace(-800, 800, 99), np.linspace(-1, 1, 99)])
    with np.errstate(over="ignore"):
        found = exponential(Box(x, x))
    with digits(300):
        for value, low, high in zip(x, found.low, found.high, strict=True):
            assert flint.arb(float(low)) <= flint.arb(float(value)).exp() <= flint.arb(float(high))
    usual = np.abs(x) < 600
    assert (found.high[usual] / found.low[usual]).max() < 1 + 1e-14


def test_a_fraction_lies_between_two_neighbours():
    third = box_of(Fraction(1, 3))
    assert np.nextafter(third.low, 1) == third.high
    assert Fraction(third.low) < Fraction(1, 3) < Fraction(third.high)
    assert box_of(0.1).is_number
    with pytest.raises(BadInput, match="number: more than 2\\^500 is too large to bound"):
        box_of(2**501)


@pytest.mark.parametrize("number", [Fraction(part, 7) for part in range(-6, 7)])
def test_the_least_box_around_a_fraction(number):
    """Outward by one neighbour on the side where the nearest double is not, whichever side that is."""
    box = box_of(number)
    assert Fraction(box.low) <= number <= Fraction(box.high)
    assert box.high in (box.low, np.nextafter(box.low, np.inf))
    assert box.is_number == (number.denominator == 1)


def test_what_cannot_be_a_box_is_named():
    assert box_of(2**500).ends == (2.0**500, 2.0**500)
    for value in ("one", float("nan"), 2**500 + 2**450):
        with pytest.raises(BadInput, match="^input_bias"):
            box_of(value, "input_bias")


def test_nothing_is_rounded_for_zero_and_one():
    x = Box(np.array(0.25), np.array(0.75))
    assert (box_of(0) * x).ends == (0, 0)
    assert (box_of(1) * x).ends == (0.25, 0.75)
    low, high = (box_of(2) * x).ends
    assert low < 0.5
    assert high > 1.5


def test_tanh_may_be_eight_neighbours_off():
    x = np.array(np.arctanh(0.5) + 1e-15)
    value = np.tanh(x)
    found = hyperbolic_tangent(Box(x, x))
    assert 0.5 <= value < 0.5 + 1e-14
    assert found.low <= value - 8 * np.spacing(value)
    assert found.high >= value + 8 * np.spacing(value)


@pytest.mark.parametrize("squash", [hyperbolic_tangent, sigmoid])
def test_large_numbers_stay_within_range(squash):
    for end in (1e5, -1e5, 1e300, -1e300):
        found = squash(Box(np.array(end), np.array(end)))
        assert -1 <= found.low <= found.high <= 1
        assert np.isfinite([found.low, found.high]).all()
