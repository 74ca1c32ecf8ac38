"""Balls hold what they promise, to as many digits as one asks for, and leave everybody else's digits alone."""

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cells import GruCell, LstmCell, ReluLayer
from tallystick.errors import BadInput
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.operations import exponential, hyperbolic_tangent, positive_part, sigmoid, weighted_mean
from tallystick.numbers.values import layer, numbers_of

RATIONALS = st.fractions(-3, 3, max_denominator=1000)
WIDTHS = st.sampled_from([Fraction(0), Fraction(1, 2**20), Fraction(1)])


def around(middle, width):
    """A ball that holds everything from middle − width to middle + width."""
    return ball_of(middle - width).union(ball_of(middle + width))


@given(RATIONALS, WIDTHS, st.integers(-2, 2))
def test_functions_of_a_ball_hold_those_of_its_numbers(middle, width, side):
    x = middle + width * Fraction(side, 2)
    true = {
        positive_part: lambda at: at if at > 0 else flint.arb(0),
        exponential: lambda at: at.exp(),
        hyperbolic_tangent: lambda at: at.tanh(),
        sigmoid: lambda at: at.exp() / (1 + at.exp()),
    }
    with digits(60):
        found = {function: function(around(middle, width)) for function in true}
    with digits(300):
        for function, exact in true.items():
            assert found[function].overlaps(exact(ball_of(x))), function


@given(st.fractions(0, 1, max_denominator=100), RATIONALS, RATIONALS, WIDTHS, st.integers(-2, 2), st.integers(-2, 2))
def test_a_weighted_mean_holds_those_of_the_numbers(share, first, second, width, up, down):
    z, n, h = share + width * Fraction(up, 2), first + width * Fraction(down, 2), second - width * Fraction(up, 2)
    with digits(60):
        found = weighted_mean(around(share, width), around(first, width), around(second, width))
        assert found.overlaps(ball_of((1 - z) * n + z * h))


@given(st.lists(RATIONALS, min_size=15, max_size=15), st.lists(RATIONALS, min_size=5, max_size=5))
def test_a_layer_of_balls_holds_the_rational_one(weights, inputs):
    rows, bias = (tuple(weights[:5]), tuple(weights[5:10])), tuple(weights[10:12])
    for size in (2, 5):
        taken = tuple(row[:size] for row in rows)
        with digits(80):
            balls = [tuple(map(ball_of, row)) for row in taken]
            found = layer(tuple(balls), tuple(map(ball_of, bias)), tuple(map(ball_of, inputs[:size])))
            exact = layer(taken, bias, tuple(inputs[:size]))
            assert all(ball.overlaps(ball_of(value)) for ball, value in zip(found, exact, strict=True))
            assert all(ball.rad() < 2**-70 for ball in found)


def test_few_digits_stay_exact_through_a_layer_of_many_units():
    halves = tuple(tuple(Fraction(row - column, 2) for column in range(6)) for row in range(6))
    cell = ReluLayer(halves, halves, (Fraction(1, 4),) * 6, (Fraction(0),) * 6).map_weights(ball_of)
    alphabet = tuple("abcdef")
    assert all(ball.is_exact() for ball in numbers_of(cell.final_state("abcdef", alphabet)))


@pytest.mark.parametrize(("kind", "gates"), [(GruCell, 3), (LstmCell, 4)])
def test_twice_the_digits_make_balls_that_lie_in_those_of_half(kind, gates):
    weight = tuple((Fraction(row, 3), Fraction(1 - row, 7)) for row in range(2 * gates))
    cell = kind(weight, weight, (Fraction(1, 5),) * 2 * gates, (Fraction(0),) * 2 * gates)
    found = {}
    for bits in (53, 106):
        with digits(bits):
            found[bits] = numbers_of(cell.map_weights(ball_of).final_state("(())()"))
    with digits(200):
        for wide, close in zip(found[53], found[106], strict=True):
            assert wide.contains(close)
            assert close.rad() < 2**-90


def test_digits_hold_in_their_block_alone():
    before = flint.ctx.prec
    with digits(500):
        assert ball_of(Fraction(1, 3)).rad() < 2**-490
    with pytest.raises(BadInput), digits(500):
        ball_of("none")
    assert flint.ctx.prec == before
