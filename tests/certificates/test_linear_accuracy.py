"""Counts of right strings of linear networks with several units: against every string, and against those of one unit."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from affine_cases import some_case
from affine_cores import COMPLEX, LINEAR
from every_string import rightness

import tallystick as ts
from tallystick.certificates.linear import joint_sums
from tallystick.certificates.linear.subset_sums import Place, SubsetSums
from tallystick.errors import BadInput

HALF = Fraction(1, 2)
KINDS = [*LINEAR, *COMPLEX]


def wrong_counts(case, longest):
    """The lengths at which the number of right strings is not that of all strings."""
    right = [int(found.sum()) for found in rightness(case.affine, longest)]
    return [n for n in range(1, longest + 1) if ts.exact_accuracy(case.network, n).total_correct != right[n - 1]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_counts_are_those_of_all_strings(kind):
    """Stacks, starts, tokens before and after, ties and defective matrices are among them."""
    for seed in range(6):
        assert wrong_counts(some_case(seed, kind), 7) == [], seed


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_counts_are_those_of_all_strings(kind):
    for seed in range(8):
        assert wrong_counts(some_case(f"long {seed}", kind), 10 if seed else 13) == [], seed


def layer(U, a, b):
    return ts.LinearLayer(tuple(zip(a, b, strict=True)), U, (0,) * len(a), (0,) * len(a))


def test_one_unit_counts_as_the_cell_of_the_same_weights():
    for U, threshold in ((0.97, 0.5), (Fraction(-5, 4), 1), (Fraction(1, 2), Fraction(3, 2)), (1, 0), (0, 0), (-1, 1)):
        for readout in (
            ts.Readout.binary(1, -threshold),
            ts.Readout.ternary((-1, 0, 1), (-HALF, 0, -HALF)),
            ts.Readout.zero(),
            ts.Readout(((1,),), (0,), "count"),
        ):
            one = ts.Network(ts.LinearCell(1, -1, U), readout)
            several = ts.Network(layer(((U,),), (1,), (-1,)), readout)
            for length in (1, 6, 19):
                assert ts.exact_accuracy(several, length) == ts.exact_accuracy(one, length)


def test_the_count_itself_is_asked_for():
    """An output of n − m/2 is less than 1/2 away from n − m while there is no closing bracket."""
    network = ts.Network(ts.LinearCell(1, -HALF, 1), ts.Readout(((1,),), (0,), "count"))
    assert [ts.exact_accuracy(network, n).total_correct for n in (1, 2, 5)] == [1, 1, 1]
    with pytest.raises(BadInput, match="task: 'count' asks for a number"):
        ts.exact_accuracy(ts.Network(ts.ReluCell(1, -1, 1), network.readout), 3)


def test_an_exact_counter_is_right_at_any_length():
    """Units that no output sees, and terms with two values, need no list of sums."""
    network = ts.Network(layer(((1, 0), (3, 7)), (1, 5), (-1, 2)), ts.Readout(((1, 0),), (-HALF,)))
    assert ts.exact_accuracy(network, 300).accuracy == 1
    last = layer(((1, 0), (0, 0)), (1, 1), (-1, 0))  # the second unit sees the last token alone
    found = ts.exact_accuracy(ts.Network(last, ts.Readout(((1, 2),), (-HALF,))), 200)
    assert 0.5 < found.accuracy < 1


def test_several_units_at_length_30_lie_where_sampling_finds_them():
    generator = np.random.default_rng(4)
    S = np.linalg.qr(generator.normal(size=(5, 5)))[0]
    U = S @ np.diag([0.97, 0.6, -0.5, 0.3, 0.1]) @ S.T
    a, v = (S @ [1, *(0.4 * generator.normal(size=4))] for _ in range(2))
    network = ts.Network(
        layer(tuple(map(tuple, U.tolist())), tuple(a.tolist()), tuple((-a).tolist())),
        ts.Readout((tuple(v.tolist()),), (-0.4,)),
    )
    draws = 50_000
    h, count = np.zeros((draws, 5)), np.zeros(draws, int)
    for _ in range(30):
        sign = np.where(generator.random(draws) < 0.5, 1, -1)
        h, count = h @ U.T + sign[:, None] * a, count + sign
    right = np.mean((h @ v > 0.4) == (count > 0))
    share = float(ts.exact_accuracy(network, 30).accuracy)
    assert 0.5 < share < 0.99
    assert abs(right - share) < 4 * (share * (1 - share) / draws) ** 0.5


def test_sums_of_any_weights_are_counted_exactly_at_a_tie():
    """Weights of any sign, far apart in size, with equal ones among them."""
    generator = np.random.default_rng(5)
    for _ in range(20):
        weights = [
            int(w) << int(s) for w, s in zip(generator.integers(-9, 9, 12), generator.integers(0, 90, 12), strict=True)
        ]
        sums = SubsetSums(weights, 1 << 60)
        chosen = generator.choice(12, 5, replace=False)
        for value in (sum(weights[i] for i in chosen), sum(weights[i] for i in chosen) + 1):
            for counts in (False, True):
                place = Place(Fraction(value, 1 << 60), counts)
                assert sums.above(5, place) == sums._by_whole_numbers(5, place)


def three_outputs():
    """Three outputs that are no multiples of each other, as training leaves them."""
    cell = layer(((Fraction(19, 20), 0), (0, Fraction(-9, 10))), (1, 1), (-1, Fraction(1, 3)))
    rows, bias = ((-1, 0), (0, 1), (1, Fraction(1, 7))), (-HALF, 0, -HALF)
    return ts.Network(cell, ts.Readout(rows, bias))


def test_classes_of_several_sums_are_counted_together_or_refused():
    network = three_outputs()
    expected = [
        sum(network.class_of(s) == network.right_class(s) for s in map("".join, product("()", repeat=n)))
        for n in (1, 5, 8)
    ]
    assert [ts.exact_accuracy(network, n).total_correct for n in (1, 5, 8)] == expected
    with pytest.raises(
        BadInput, match="length: 40: the classes of this network depend on several sums at once; at most 26"
    ):
        ts.exact_accuracy(network, 40)


def test_long_weights_are_looked_at_in_full_where_they_are_close(monkeypatch):
    """Digits that 64 bits do not hold decide."""
    long = [(1 << 100) + 1, 1 << 100, (1 << 100) - 1, 1 << 99]
    lines = [joint_sums.Line(long, -(1 << 101), strict=True), joint_sums.Line(long[::-1], 0, strict=False)]
    assert joint_sums.strings_above(lines, 4, 2) == 1  # the first two; the first and the third lie on the tie
    monkeypatch.setattr(joint_sums, "_MOST_CLOSE", 0)
    with pytest.raises(BadInput, match="too many strings"):
        joint_sums.strings_above(lines, 4, 2)


def test_what_cannot_be_counted_is_named():
    cell = ts.SelectiveLayer(((1, -1),), ((1, HALF),), (0,))
    with pytest.raises(
        BadInput, match="cell: the strings of a selective network with several units are counted in real arithmetic"
    ):
        ts.exact_accuracy(ts.Network(cell, ts.Readout.binary(1)), 4)
    with pytest.raises(BadInput, match="in real arithmetic, where both tokens have one matrix"):
        ts.exact_accuracy(three_outputs(), 4, "float32")
