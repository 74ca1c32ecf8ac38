from fractions import Fraction

import pytest

from tallystick import LinearCell, ReluCell, SelectiveCell, conditions, indicators
from tallystick.cells import ScalarCell
from tallystick.errors import BadInput


def failing(cell):
    return [condition.formula for condition in conditions(cell) if not condition.holds]


def test_indicators_are_exact():
    found = indicators(LinearCell(open_step=0.1, close_step=-0.2, recurrent_weight=1.5))
    assert found.ab_ratio == Fraction(0.1) / Fraction(-0.2)
    assert found.ab_distance == found.ab_ratio + 1
    assert found.recurrent_distance == Fraction(1, 2)
    nothing = indicators(LinearCell(1, 0, 1))
    assert nothing.ab_ratio is nothing.ab_distance is None


def test_a_cell_with_two_recurrent_weights_has_no_indicators():
    with pytest.raises(BadInput, match="cell: a SelectiveCell has no single U"):
        indicators(SelectiveCell(1, -2, 0.5, 2))


@pytest.mark.parametrize(
    ("cell", "failed"),
    [
        (LinearCell(0.1, -0.1, 1), []),
        (LinearCell(-3, 3, 1), []),
        (LinearCell(1, -1, -1), ["U = 1"]),
        (LinearCell(0, 0, 1), ["a/b = −1"]),
        (LinearCell(1, -2, 1.5), ["a/b = −1", "U = 1"]),
        (SelectiveCell(1, -2, 0.5, 2), []),
        (SelectiveCell(1, -2, 0.5, 3), ["P·Q = 1", "b = −Q·a"]),
        (SelectiveCell(0, 0, 1, 1), ["a ≠ 0"]),
        (SelectiveCell(1, 1, -1, -1), ["P ≠ −1"]),
        (ReluCell(2, -2, 1), []),
        (ReluCell(-2, 2, 1), ["a > 0"]),
        (ReluCell(2, -3, 0.5), ["b = −a", "U = 1"]),
    ],
)
def test_the_conditions_that_fail_are_named(cell, failed):
    assert failing(cell) == failed


def test_the_distance_is_told():
    ratio, weight = conditions(LinearCell(1, -0.8, 1.25))
    assert weight.finding == "U = 5/4 (1.25), off by 1/4 (0.25)"
    assert ratio.finding == "a/b = about -1.25, off by about -0.25"
    assert conditions(LinearCell(1, 0, 1))[0].finding == "b = 0, so a/b does not exist"
    assert conditions(LinearCell(10**400, 1, 1))[0].finding == "a/b = about 1E+400, off by about 1E+400"


def test_a_cell_without_a_theorem_is_refused():
    class Strange(ScalarCell):
        def step(self, h, token):
            return h

    with pytest.raises(BadInput, match="no counting theorem is known for a Strange"):
        conditions(Strange(1, 1))


def test_numbers_too_long_to_write_out_are_shown_as_decimals():
    """A product of two numbers that a file may hold has more digits than Python writes."""
    long = 10**4000 + 1
    product, *_ = conditions(SelectiveCell(1, -1, long, long))
    assert product.finding == "P·Q = about 1E+8000, off by about 1E+8000"
    assert (product.value, product.as_json()["value"], product.as_json()["distance"]) == (long**2, None, None)
