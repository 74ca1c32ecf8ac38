"""How many strings have a sum above a place: against all of them, at each sum itself and beside it."""

from fractions import Fraction
from itertools import combinations

import pytest

from tallystick.certificates.linear import subset_sums
from tallystick.certificates.linear.subset_sums import Place, SubsetSums, is_above
from tallystick.errors import BadInput

WEIGHTS = [Fraction(text) for text in ("1/2", "2", "-2", "3/2", "-1/3", "99/100", "-101/100")] + [
    1 + Fraction(1, 2**45)
]
LITTLE = Fraction(1, 2**90)


def sums_of(U, length, openings):
    """Σ U^i over the opening brackets of every string, the token that i others follow having the weight U^i."""
    return sorted(sum(U**i for i in chosen) for chosen in combinations(range(length), openings))


def places(sums):
    """Every sum, what lies just beside it, and places outside of all."""
    yield from (at + beside for at in (sums[0], sums[len(sums) // 2], sums[-1]) for beside in (0, LITTLE, -LITTLE))
    yield from (sums[0] - 1, sums[-1] + 1)


@pytest.mark.parametrize("U", WEIGHTS, ids=str)
@pytest.mark.parametrize("length", [2, 3, 6, 7])
def test_the_count_is_that_of_all_strings(U, length):
    sums = SubsetSums.of_powers(U, length)
    for openings in range(1, length):
        values = sums_of(U, length, openings)
        assert tuple(Fraction(end, sums.scale) for end in sums.extremes()[openings]) == (values[0], values[-1])
        for place in places(values):
            for counts in (False, True):
                expected = sum(value >= place if counts else value > place for value in values)
                assert sums.above(openings, Place(place, counts)) == expected
                assert sums._by_whole_numbers(openings, Place(place, counts)) == expected


@pytest.mark.parametrize("U", [Fraction(1, 2), Fraction(-101, 100)], ids=str)
def test_the_count_is_the_same_however_few_are_looked_up_at_once(U, monkeypatch):
    monkeypatch.setattr(subset_sums, "_CHUNK", 2)
    for openings in (3, 4):
        values = sums_of(U, 9, openings)
        for at in values[:: len(values) // 5]:
            assert SubsetSums.of_powers(U, 9).above(openings, Place(at)) == sum(value > at for value in values)


def test_many_equal_sums_are_counted_in_whole_numbers(monkeypatch):
    """More pairs than may be looked at one by one come close to the place: whole numbers do it, and count the same."""
    U, length, openings = 1 + Fraction(1, 2**60), 8, 4
    values = sums_of(U, length, openings)
    for at in (values[3], values[-2]):
        expected = sum(value > at for value in values)
        assert SubsetSums.of_powers(U, length).above(openings, Place(at)) == expected
        monkeypatch.setattr(subset_sums, "MOST_CLOSE_PAIRS", 2)
        assert SubsetSums.of_powers(U, length).above(openings, Place(at)) == expected
        monkeypatch.undo()


def test_what_floats_cannot_hold_is_counted_in_whole_numbers_or_refused():
    U = Fraction(10**60)
    values = sums_of(U, 6, 3)
    assert SubsetSums.of_powers(U, 6).above(3, Place(values[7])) == len(values) - 8
    with pytest.raises(BadInput) as refusal:
        SubsetSums.of_powers(U, 33).above(3, Place(Fraction(1)))
    assert str(refusal.value) == (
        "length: 33: the powers of U leave the range of floats; at most 32 can be counted for this model"
    )


def test_too_many_close_sums_are_refused_at_long_lengths(monkeypatch):
    monkeypatch.setattr(subset_sums, "MOST_CLOSE_PAIRS", 0)
    at = Place(Fraction(1, 2) ** 5)
    assert SubsetSums.of_powers(Fraction(1, 2), 32).above(1, at) == 5
    with pytest.raises(BadInput) as refusal:
        SubsetSums.of_powers(Fraction(1, 2), 33).above(1, at)
    assert str(refusal.value) == (
        "length: 33: too many strings come closer to a threshold than rounding; at most 32 can be counted for this model"
    )


def test_a_tie_counts_where_it_is_said_to():
    assert [is_above(total, Place(Fraction(3, 2)), 2) for total in (2, 3, 4)] == [False, False, True]
    assert [is_above(total, Place(Fraction(3, 2), counts=True), 2) for total in (2, 3, 4)] == [False, True, True]
