"""Counts of right strings against every string, against binomial sums, and floats against whole numbers."""

import random
from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from agreement import count_disagreement, every_string
from brute_force import (
    READOUTS,
    SCALAR_CELLS,
    found_indices,
    right_indices,
    some_cell,
    some_model,
    some_readout,
    states,
)

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.linear import accuracy as linear_accuracy
from tallystick.certificates.linear import subset_sums
from tallystick.certificates.linear.subset_sums import Place, SubsetSums
from tallystick.certificates.one_unit import exact_accuracy as counting
from tallystick.certificates.one_unit.exact_accuracy import exact_accuracy
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout

every_readout = pytest.mark.parametrize("readout", READOUTS)


def counted(model, longest):
    """The right strings of each length and class, one by one."""
    found = Counter()
    for length, h in enumerate(states(model.cell, longest)):
        right = right_indices(model, length)
        found.update((length, int(index)) for index in right[found_indices(model.readout, h) == right])
    return found


@every_readout
def test_the_counts_agree_with_every_string(readout):
    generator = random.Random(f"{readout}")
    for _ in range(80):
        model = some_model(LinearCell, readout, generator)
        expected = counted(model, 9)
        for length in range(1, 10):
            found = exact_accuracy(model, length)
            assert list(found.correct.values()) == [expected[length, i] for i in range(len(found.correct))]
            assert sum(found.strings.values()) == 2**length
            assert found.accuracy == Fraction(sum(expected[length, i] for i in range(3)), 2**length)


def test_a_tie_far_from_the_start_is_decided_exactly():
    """A threshold that is exactly some string's state, in cells whose states lie close together."""
    generator = random.Random(3)
    for _ in range(15):
        cell = some_cell(LinearCell, generator)
        string = "".join(generator.choice("()") for _ in range(11))
        at = cell.final_state(string)
        for readout in (Readout.binary(Fraction(1), -at), Readout.binary(Fraction(-1), at)):
            model = Network(cell, readout)
            expected = counted(model, 11)
            assert list(exact_accuracy(model, 11).correct.values()) == [expected[11, 0], expected[11, 1]]


@pytest.mark.parametrize("distance", ["1/7", "1/1000", "1/16777216", "-1/4503599627370496"])
def test_floats_and_whole_numbers_agree(monkeypatch, distance):
    """Each way alone, on sums that nearly coincide, at places that are sums themselves."""
    generator = random.Random(4)
    for length in (15, 16):
        sums = SubsetSums.of_powers(1 + Fraction(distance), length)
        for _ in range(6):
            openings = generator.randrange(1, length)
            chosen = generator.sample(range(length), openings)
            place = Place(sum(sums.ratio**i for i in chosen), counts=generator.random() < 0.5)
            assert sums.above(openings, place) == sums._by_whole_numbers(openings, place)
    monkeypatch.setattr(subset_sums, "LONGEST_WHOLE", 0)
    sums = SubsetSums.of_powers(1 + Fraction("1/1000"), 16)
    place = Place(sum(sums.ratio**i for i in range(0, 16, 2)))
    assert sums.above(8, place) == sums._by_whole_numbers(8, place)  # by floats alone, a tie included


def test_too_many_close_strings_are_refused_and_not_guessed(monkeypatch):
    monkeypatch.setattr(subset_sums, "LONGEST_WHOLE", 0)
    model = Network(LinearCell(1, -1, 1 + Fraction(1, 2**60)), Readout.binary(1))
    with pytest.raises(BadInput, match="too many strings come closer to a threshold than rounding"):
        exact_accuracy(model, 24)


def test_an_exact_weight_of_one_is_a_binomial_sum():
    for length in (1, 50, 301):
        model = Network(LinearCell(1, Fraction(-4, 5), 1), Readout.binary(1))
        found = exact_accuracy(model, length)
        expected = sum(
            comb(length, n) for n in range(length + 1) if (n - Fraction(4, 5) * (length - n) > 0) == (2 * n > length)
        )
        assert found.total_correct == expected
    assert exact_accuracy(Network(LinearCell(1, -1, 1), Readout.zero()), 100).accuracy == 1


def test_a_longer_length_lies_where_sampling_finds_it():
    model = Network(LinearCell(0.9, -1.0, 0.97), Readout.ternary((-1, 0, 1), (-0.5, 0, -0.5)))
    found, generator, right = exact_accuracy(model, 34), random.Random(6), 0
    for _ in range(4000):
        string = "".join(generator.choice("()") for _ in range(34))
        right += model.class_of(string) == model.right_class(string)
    assert abs(right / 4000 - float(found.accuracy)) < 4 * (0.25 / 4000) ** 0.5


def test_the_mean_over_classes():
    found = exact_accuracy(Network(LinearCell(1, -1, 0.5), Readout.ternary((-1, 0, 1), (-0.5, 0, -0.5))), 2)
    assert list(found.strings.values()) == [1, 2, 1]
    assert found.balanced_accuracy == sum(Fraction(c, s) for c, s in zip(found.correct.values(), (1, 2, 1))) / 3  # noqa: B905


@pytest.mark.parametrize("arithmetic", ["real", "float16", "bfloat16-fused", "float32", "float64-fused"])
@pytest.mark.parametrize("kind", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_every_cell_and_arithmetic_by_listing(kind, arithmetic):
    generator, counts = random.Random(f"{kind}{arithmetic}"), 0
    for _ in range(12):
        model = some_model(kind, generator.choice(READOUTS), generator)
        disagreement, was_counted = count_disagreement(model, arithmetic, every_string(model, arithmetic, 7))
        assert disagreement is None, model
        counts += was_counted
    assert counts >= (3 if kind is TanhCell else 10)


def test_a_counters_few_states_stay_few():
    """Listing goes far where strings share their states."""
    model = Network(LinearCell(1, -1, 1), Readout.binary(1, -0.5))
    assert exact_accuracy(model, 60, "float32").accuracy == 1
    for length in (67, 100):  # where the numbers of strings outgrow 64 bits
        found = exact_accuracy(model, length, "float32")
        assert found.strings == exact_accuracy(model, length).strings
        assert found.accuracy == 1
    drifting = Network(LinearCell(1, -1.25, 1), Readout.binary(1, -0.5))
    assert exact_accuracy(drifting, 50, "float32").correct == exact_accuracy(drifting, 50).correct


@pytest.mark.long
def test_a_linear_cell_at_length_50_lies_where_sampling_finds_it():
    """Half a million random strings of 50 tokens in doubles; the interval is one of four standard errors."""
    a, b, U, v = 0.83, -0.91, 1.013, 1.0
    found = exact_accuracy(Network(LinearCell(a, b, U), Readout.binary(v)), 50)
    generator, right, draws = np.random.default_rng(1), 0, 500_000
    h, count = np.zeros(draws), np.zeros(draws, np.int64)
    for _ in range(50):
        opening = generator.random(draws) < 0.5
        h = U * h + np.where(opening, a, b)
        count += np.where(opening, 1, -1)
    right = np.mean((v * h > 0) == (count > 0))
    share = float(found.accuracy)
    assert 0.5 < share < 0.99
    assert abs(right - share) < 4 * (share * (1 - share) / draws) ** 0.5


def test_bad_arguments_are_named():
    with pytest.raises(BadInput, match="length: 0"):
        exact_accuracy(Network(LinearCell(1, -1, 1), Readout.zero()), 0)
    with pytest.raises(BadInput, match="length: 18 has more than 131072 states to list"):
        exact_accuracy(Network(SelectiveCell(1, -1, 0.9, 1.1), Readout.zero()), 30)
    with pytest.raises(BadInput, match="length: h overflows at length 3"):
        exact_accuracy(Network(LinearCell(1000, -1000, 10), Readout.zero()), 10, "float16")
    with pytest.raises(BadInput, match="length: 80 is too long to count; at most 56"):
        exact_accuracy(Network(LinearCell(1, -1, 0.9), Readout.binary(1)), 80)


def test_some_readout_reaches_every_class():
    """The oracle's readouts are not all trivial."""
    generator = random.Random(8)
    cell = some_cell(LinearCell, generator)
    assert {some_readout("binary", cell, generator).weight > ((0,),) for _ in range(50)} == {True, False}


def test_few_sums_are_counted_at_any_length():
    """U = 0 keeps the last token alone; U = −1 has h = ±(the number of `(` on one half of the places less that on the other)."""
    half, length = 32, 64
    last = exact_accuracy(Network(LinearCell(1, -1, 0), Readout.binary(1)), length)
    assert last.total_correct == sum(comb(length - 1, n - (n > half)) for n in range(length + 1) if n != half) + comb(
        length - 1, half
    )
    turning = exact_accuracy(Network(LinearCell(1, -1, -1), Readout.binary(1)), length)
    # A token that an even number follows counts ±1, the others ∓1: h = 2(j − k), j and k being the `(` among them.
    ways = ((j, k, comb(half, j) * comb(half, k)) for j in range(half + 1) for k in range(half + 1))
    assert turning.total_correct == sum(number for j, k, number in ways if (j > k) == (j + k > half))


@pytest.mark.parametrize(("slope", "correct"), [(1, 1), (-1, 0)])
def test_a_tie_of_all_outputs_is_negative(slope, correct):
    """Zero wins on one side of h = 0 only, and at 0, where every balanced string ends, the lowest class does."""
    model = Network(LinearCell(1, -1, 1), Readout.ternary((0, slope, 0)))
    assert exact_accuracy(model, 2).total_correct == correct


def test_the_longest_length_is_counted_and_no_longer_one(monkeypatch):
    monkeypatch.setattr(linear_accuracy, "LONGEST", 4)
    for U, expected in ((Fraction(1, 2), 11), (2, None)):
        model = Network(LinearCell(1, -1, U), Readout.binary(1))
        found = exact_accuracy(model, 4).total_correct
        assert found == sum(counted(model, 4)[4, index] for index in (0, 1))
        assert expected in (None, found)
        with pytest.raises(BadInput, match="length: 5 is too long to count; at most 4"):
            exact_accuracy(model, 5)


def test_more_strings_than_a_machine_word_counts():
    found = exact_accuracy(Network(ReluCell(1, -1, 1), Readout.zero()), 70)
    assert found.total_correct == sum(found.strings.values()) == 2**70


def test_strings_that_share_a_state_are_listed_once(monkeypatch):
    monkeypatch.setattr(counting, "MOST_FLOATS", 2 * 13)
    model = Network(LinearCell(1, -1, 0), Readout.binary(1))
    assert exact_accuracy(model, 12, "float32").total_correct == exact_accuracy(model, 12).total_correct
