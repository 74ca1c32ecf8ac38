"""Where a comparison first fails along k, against going through k one by one; signs at powers against exact powers."""

import random
from fractions import Fraction
from itertools import product

import pytest
from brute_force import classes, place_of, some_model

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.sorted_strings import Line, Quadratic, _Powers, first_failure, sign_at_power
from tallystick.certificates.verdict import Lengths

FAR = 40
SMALL = [Fraction(n, d) for n in range(-4, 5) for d in (1, 2, 3)]
BASES = [Fraction(1, 2), Fraction(2), Fraction(9, 10), Fraction(10, 9), Fraction(3, 2)]


def holds(value, strict):
    return value > 0 if strict else value >= 0


def first_by_steps(values, strict, first, last):
    """The first k at which the claim fails, among those that are gone through."""
    upto = FAR if last is None else min(last, FAR)
    return next((k for k in range(first, upto + 1) if not holds(values(k), strict)), None)


@pytest.mark.parametrize("last", [None, 1, 2, 3, 8])
@pytest.mark.parametrize("first", [0, 1])
def test_a_line_fails_where_going_along_it_says(first, last):
    for slope, start, strict in product(SMALL, SMALL, (False, True)):
        expected = first_by_steps(lambda k: slope * k + start, strict, first, last)  # noqa: B023 -- used at once
        line = Line(slope, start, strict)
        assert line.first_failing(first, last) == expected
        assert line.fails(3) == (not holds(3 * slope + start, strict))


@pytest.mark.parametrize("last", [None, 1, 2, 3, 8])
@pytest.mark.parametrize("first", [0, 1])
def test_a_quadratic_fails_where_going_along_it_says(first, last):
    """A failure beyond what is gone through is one that x comes to slowly: then none before it may be named."""
    generator, found = random.Random(first), []
    for U in BASES:
        for _ in range(80):
            A, B, C = (generator.choice(SMALL) for _ in range(3))
            if generator.random() < 0.4:  # a zero at U^k itself: a tie
                root, other = U ** generator.randrange(6), generator.choice([*SMALL, U ** generator.randrange(6)])
                A = generator.choice([A, Fraction(1), Fraction(-1)])
                B, C = -A * (root + other), A * root * other
            strict = generator.random() < 0.5
            expected = first_by_steps(lambda k: A * U ** (2 * k) + B * U**k + C, strict, first, last)  # noqa: B023
            answer = Quadratic(A, B, C, U, strict).first_failing(first, last)
            assert answer == expected or (expected is None and last is None and answer > FAR)
            found.append(answer)
    assert len(set(found)) >= min(4, 2 + (last or 4) - first)


@pytest.mark.parametrize("U", [Fraction(1, 3), Fraction(7, 5), 1 + Fraction(1, 2**30)])
@pytest.mark.parametrize("k", [0, 1, 5, 700])
def test_the_sign_of_a_polynomial_at_a_power(U, k):
    """Ties and what lies beside them, at powers short enough to be written out and at longer ones."""
    x = U**k
    assert sign_at_power((-x, Fraction(1)), U, k) == 0
    for sign, beside in ((1, x * Fraction(1, 2**300)), (-1, -x * Fraction(1, 2**300)), (1, x / 2), (-1, -x / 2)):
        assert sign_at_power((beside - x, Fraction(1)), U, k) == sign
        assert sign_at_power((x * x - beside, Fraction(0), Fraction(-1)), U, k) == -sign
        assert sign_at_power((-x * x + x * beside, Fraction(0), Fraction(1)), U, k) == sign
        assert sign_at_power((Fraction(0), x + beside, Fraction(-1)), U, k) == sign
    assert sign_at_power((Fraction(-1),), U, k) == -1
    assert sign_at_power((), U, k) == 0


@pytest.mark.parametrize("U", [Fraction(1, 3), Fraction(2, 3), Fraction(7, 5), Fraction(1, 2), Fraction(3)], ids=str)
def test_powers_lie_between_their_bounds(U):
    """In whatever order they are asked for, and asked for again: each is made from others."""
    for precision in (8, 9, 64):
        powers = _Powers(U, precision)
        for k in (1, 6, 7, 5, 12, 3, 0, 13, 4, 8, 2, 1, 7, 12, 13):
            low, high = powers.at(k)
            assert low <= U**k * 2**precision <= high


def test_the_sign_at_a_power_that_nobody_writes_out():
    k, U = 10**12, 1 + Fraction(1, 10**12)
    assert sign_at_power((Fraction("-2.7182"), Fraction(1)), U, k) == 1
    assert sign_at_power((Fraction("-2.7183"), Fraction(1)), U, k) == -1
    assert sign_at_power((Fraction("-0.3678"), Fraction(1)), 1 / U, k) == 1
    assert sign_at_power((Fraction("-0.3679"), Fraction(1)), 1 / U, k) == -1


@pytest.mark.parametrize("lengths", Lengths)
@pytest.mark.parametrize("readout", ["binary", "ternary"])
def test_the_first_failure_is_that_of_every_string(readout, lengths):
    """From the first counted length on, with the classes that the string gets and should get."""
    generator, longest, seen = random.Random(f"{readout}{lengths}"), 7, set()
    for _ in range(60):
        model = some_model(LinearCell, readout, generator)
        if model.cell.recurrent_weight <= 0:
            continue
        strings = classes(model, longest)
        wrong = [n for n, (found, right) in strings.items() if n % lengths.stride == 0 and (found != right).any()]
        failure = first_failure(model, lengths)
        if not wrong:
            assert failure is None or failure.length > longest
            continue
        assert failure.length == wrong[0]
        seen.add(failure.length)
        found, right = (model.task.classes[array[place_of(failure.string)]] for array in strings[failure.length])
        assert (failure.found, failure.right) == (found, right)
        assert found != right
    assert len(seen) > 1
