"""What each scalar cell computes, from its definition; what all cells share is in `test_contract.py`."""

import random
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from strings import all_strings

from tallystick import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.cells import CELLS, ScalarCell
from tallystick.errors import BadInput
from tallystick.numbers import ARITHMETICS

SCALAR = {name: kind for name, kind in CELLS.items() if issubclass(kind, ScalarCell)}
every_cell = pytest.mark.parametrize("kind", SCALAR.values(), ids=SCALAR)
RATIONAL = {name: kind for name, kind in SCALAR.items() if kind.is_rational}
every_rational_cell = pytest.mark.parametrize("kind", RATIONAL.values(), ids=RATIONAL)


def some_cell(kind, generator):
    """A cell whose weights are small multiples of 1/4, so that short strings are exact even in float16."""
    return kind(*(Fraction(generator.randint(-6, 6), 4) for _ in fields(kind)))


def by_hand(cell, string):
    """The recurrence from its definition, without the package's step."""
    h = Fraction(0)
    for token in string:
        step = cell.open_step if token == "(" else cell.close_step
        if isinstance(cell, SelectiveCell):
            h = (cell.open_recurrent_weight if token == "(" else cell.close_recurrent_weight) * h + step
        else:
            h = cell.recurrent_weight * h + step
            h = max(Fraction(0), h) if isinstance(cell, ReluCell) else h
    return h


@every_rational_cell
def test_a_trace_is_the_recurrence(kind):
    generator = random.Random(1)
    for _ in range(20):
        cell = some_cell(kind, generator)
        for string in all_strings(6):
            trace = cell.trace(string)
            assert trace == [by_hand(cell, string[:length]) for length in range(len(string) + 1)]
            assert cell.final_state(string) == trace[-1]


@every_rational_cell
@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_floating_point_is_as_executed(kind, name):
    """Each operation rounds: the trace equals NumPy's own, and differs from the rational one where rounding bites."""
    number = ARITHMETICS[name]
    weights = [Fraction(1, 10), Fraction(-1, 10), Fraction(1), Fraction(1)][: len(fields(kind))]
    executed = kind(*weights).map_weights(number).final_state("((()))")
    scalar = type(number(0))
    h = scalar(0)
    for token in "((()))":
        h = scalar(1) * h + scalar(0.1 if token == "(" else -0.1)
        h = max(h, scalar(0)) if kind is ReluCell else h
    assert executed == h
    assert kind(*weights).final_state("((()))") == 0


def test_tanh_squashes_after_every_token():
    assert TanhCell(0.5, -0.75, 1.25).final_state("()") == np.tanh(1.25 * np.tanh(0.5) - 0.75)


def test_tanh_of_a_rational_is_refused():
    with pytest.raises(BadInput, match="tanh 1: no rational number; bring the cell into floating point first"):
        TanhCell(1, -1, 1).trace("(")


def test_float32_counting_by_a_tenth_drifts():
    """MATH: with U = 1, b = −a and a = 0.1 in float32, `((()))` does not end at zero."""
    assert LinearCell(np.float32(0.1), np.float32(-0.1), np.float32(1)).final_state("((()))") == pytest.approx(
        1.5e-8, rel=0.01
    )


def test_a_network_with_bias_becomes_a_cell():
    cell = LinearCell.from_network(
        open_weight=Fraction(1, 2), close_weight=Fraction(-2), recurrent_weight=1, bias=Fraction(1, 4)
    )
    assert (cell.open_step, cell.close_step) == (Fraction(3, 4), Fraction(-7, 4))
    assert LinearCell.from_network(2, -3, 1) == LinearCell(2, -3, 1)


@every_cell
@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float32("-inf"), "1", None, True, [1.0], 1j])
def test_a_weight_that_is_no_number_is_named(kind, value):
    for field in fields(kind):
        weights = {other.name: 1.0 for other in fields(kind)} | {field.name: value}
        with pytest.raises(BadInput, match=f"^{field.name}: .* is not a (finite )?number$"):
            kind(**weights)
