"""Bounds of W·x + b by products of matrices hold every value in rationals, and are nearly as close as weight by weight."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.numbers import exact
from tallystick.numbers.boxes import Box, box_of
from tallystick.numbers.products import Weights
from tallystick.numbers.values import dot, layer

SIZES = st.sampled_from([1e-200, 1e-30, 1e-8, 1.0, 1e8, 1e30, 1e150])
NUMBERS = st.integers(4, 9)
SEEDS = st.integers(0, 2**32 - 1)


def drawn(seed, rows, columns, size, width):
    """Weights of one size with a few zeros, and boxes of numbers from tiny to large, some of them single numbers."""
    generator = np.random.default_rng(seed)
    weights = size * generator.normal(size=(rows, columns)) * generator.integers(0, 4, (rows, columns)).clip(max=1)
    middle = generator.normal(size=(columns, 5)) * 10.0 ** generator.integers(-12, 3, (columns, 5))
    half = width * np.abs(middle) * generator.integers(0, 2, (columns, 5))
    return weights, generator.normal(size=rows), middle - half, middle + half


def corners(row, bias, low, high):
    """The least and the greatest of w·x + b in rationals: each x at the end that the sign of its weight asks for."""
    ends = [(Fraction(a), Fraction(b)) for a, b in zip(low, high, strict=True)]
    least = sum(w * (a if w > 0 else b) for w, (a, b) in zip(row, ends, strict=True))
    most = sum(w * (b if w > 0 else a) for w, (a, b) in zip(row, ends, strict=True))
    return least + bias, most + bias


@given(SEEDS, NUMBERS, SIZES, st.sampled_from([0.0, 1e-15, 1e-3, 2.0]))
def test_every_value_is_enclosed(seed, columns, size, width):
    weights, bias, low, high = drawn(seed, 3, columns, size, width)
    boxed = [tuple(map(box_of, row)) for row in weights], tuple(map(box_of, bias))
    found = layer(*boxed, tuple(Box(*ends) for ends in zip(low, high, strict=True)))
    for box, row, term in zip(found, weights.tolist(), bias.tolist(), strict=True):
        for place in range(low.shape[1]):
            least, most = corners(
                [*map(Fraction, row)], Fraction(term), low[:, place].tolist(), high[:, place].tolist()
            )
            assert Fraction(float(box.low[place])) <= least <= most <= Fraction(float(box.high[place]))
            reach = sum(
                abs(w) * max(abs(a), abs(b)) for w, a, b in zip(row, low[:, place], high[:, place], strict=True)
            )
            slack = 2 * (columns + 10) * 2.0**-52 * (reach + abs(term)) + 2.0**-500
            assert float(box.high[place]) - float(most) <= slack
            assert float(least) - float(box.low[place]) <= slack


@given(SEEDS, st.integers(1, 6), SIZES, st.sampled_from([0.0, 1e-15, 1e-3, 2.0]))
def test_every_value_is_enclosed_where_each_box_has_weights_of_its_own(seed, columns, size, width):
    drawings = [drawn(seed + place, 3, columns, size, width) for place in range(4)]
    weights, bias, low, high = (np.stack([one[part] for one in drawings], axis=-1) for part in range(4))
    low, high = low[:, 0], high[:, 0]
    boxed = [tuple(Box(entry, entry) for entry in row) for row in weights], tuple(Box(entry, entry) for entry in bias)
    found = layer(*boxed, tuple(Box(*ends) for ends in zip(low, high, strict=True)))
    for box, row, term in zip(found, weights, bias, strict=True):
        for place in range(4):
            own = [Fraction(w) for w in row[:, place].tolist()]
            least, most = corners(own, Fraction(term[place]), low[:, place].tolist(), high[:, place].tolist())
            assert Fraction(float(box.low[place])) <= least <= most <= Fraction(float(box.high[place]))


@given(SEEDS)
def test_weights_that_are_no_doubles_are_enclosed(seed):
    generator = np.random.default_rng(seed)
    weight = tuple(tuple(Fraction(int(n), 7) for n in row) for row in generator.integers(-9, 9, (2, 5)))
    inputs = [Fraction(int(n), 3) for n in generator.integers(-9, 9, 5)]
    found = layer(
        [tuple(map(box_of, row)) for row in weight],
        (box_of(Fraction(1, 3)), box_of(0)),
        tuple(Box(np.array(box_of(x).low), np.array(box_of(x).high)) for x in inputs),
    )
    for box, row, bias in zip(found, weight, (Fraction(1, 3), 0), strict=True):
        value = dot(row, inputs) + bias
        assert exact(float(box.low)) <= value <= exact(float(box.high))
        assert box.high - box.low < 1e-13


def test_the_bound_holds_for_any_order_of_the_sum():
    """Terms that cancel: whatever order they are added in, the computed sum lies well within the reach."""
    generator = np.random.default_rng(0)
    row = generator.normal(size=64) * 10.0 ** generator.integers(-8, 8, 64)
    weights = Weights.between(np.append(row, 0.0)[None], np.append(row, 0.0)[None])
    x = generator.normal(size=(64, 1))
    (low,), (high,) = (end[:, 0] for end in weights.bounds(x, x))
    for _ in range(200):
        order = generator.permutation(64)
        total = 0.0
        for place in order:
            total += row[place] * x[place, 0]
        assert low < total < high


@pytest.mark.parametrize("weight", [2.0**-401, 2.0**501, 1e-310])
def test_weights_of_extreme_size_are_left_to_single_operations(weight):
    column = np.array([[weight, 1.0]])
    assert Weights.between(column, column) is None
    boxes = tuple(Box(np.array([1.0]), np.array([1.0])) for _ in range(4))
    (found,) = layer([tuple(Box(weight, weight) for _ in range(4))], (box_of(0),), boxes)
    assert found.low[0] <= 4 * weight <= found.high[0]


def test_wide_weights_are_left_to_single_operations():
    assert Weights.between(np.array([[1.0]]), np.array([[1.5]])) is None


def test_what_overflows_is_never_sure():
    large = tuple(Box(np.array([-1e308, 1.0]), np.array([1e308, 1.0])) for _ in range(4))
    with np.errstate(all="ignore"):
        (found,) = layer([tuple(box_of(2.0**400) for _ in range(4))], (box_of(0),), large)
    assert not found.low[0] > 0
    assert not found.high[0] < 0
    assert found.low[1] <= 4 * 2.0**400 <= found.high[1]


def test_one_box_for_all_stands_beside_boxes_for_each():
    """What a layer without memory gives is a single box; the others are arrays."""
    inputs = (Box(1.0, 2.0), *(Box(np.zeros((2, 3)), np.ones((2, 3))) for _ in range(3)))
    (found,) = layer([tuple(map(box_of, (1, 1, -1, 0)))], (box_of(0.5),), inputs)
    assert found.low.shape == found.high.shape == (2, 3)
    np.testing.assert_allclose(found.low, 0.5)
    np.testing.assert_allclose(found.high, 3.5)
