"""The regions R_N against the verdicts on single models."""

import random
from fractions import Fraction

import numpy as np
import pytest
from brute_force import failing_strings, some_weight

from tallystick.cells import LinearCell
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.regions import Slice, outline, reach, slice_at
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout

LENGTHS = pytest.mark.parametrize("lengths", ["all", "even"])
TINY = Fraction(1, 10**30)


def horizon(ratio, U, lengths, a=Fraction(1), v=Fraction(1)):
    """The horizon of the network with this b/a; unlimited is larger than any length asked for here."""
    found = certify(Network(LinearCell(a, ratio * a, U), Readout.binary(v)), lengths).horizon
    return 10**9 if found is None else found


def last_counted(longest, lengths):
    return longest - longest % (2 if lengths == "even" else 1)


def some_ratio(generator):
    return generator.choice(
        [
            Fraction(-1),
            Fraction(generator.gauss(-1.2, 0.5)),
            -generator.choice([1, 2, 3, 4]) * Fraction(1, 2),
            Fraction(0),
        ]
    )


@LENGTHS
def test_a_cell_is_in_the_slice_iff_its_horizon_reaches_the_length(lengths):
    generator = random.Random(lengths)
    seen = {True: 0, False: 0}
    for _ in range(400):
        ratio, U = some_ratio(generator), some_weight(generator)
        if generator.random() < 0.5:
            U = Fraction(generator.gauss(1, 0.02))
        reached = horizon(ratio, U, lengths)
        for longest in (2, 3, 4, 5, 6, 9, 16):
            found = slice_at(U, longest, lengths)
            inside = found is not None and ratio in found
            assert inside == (reached >= last_counted(longest, lengths))
            seen[inside] += 1
    assert min(seen.values()) > 300


@LENGTHS
@pytest.mark.parametrize("longest", [2, 3, 4, 7, 8, 13])
def test_the_ends_are_exact_and_the_lower_one_is_left_out(lengths, longest):
    needed = last_counted(longest, lengths)
    for U in map(Fraction, ("1", "1/2", "99/100", "101/100", "1.01", "1001/1000", "5/4", "3/4")):
        found = slice_at(U, longest, lengths)
        if found is None:
            continue
        assert horizon(found.upto, U, lengths) >= needed > horizon(found.upto + TINY, U, lengths)
        if found.above is not None:
            assert horizon(found.above, U, lengths) < needed <= horizon(found.above + TINY, U, lengths)


def test_an_empty_slice_has_no_cell():
    for U in map(Fraction, ("1/3", "4/5", "13/10", "3")):
        assert slice_at(U, 6) is None
        for ratio in np.linspace(-8, 1, 60):
            assert horizon(Fraction(ratio), U, "all") < 6


def test_a_tip_at_a_rational_weight_is_empty_and_a_little_inside_it_is_not():
    """For N = 3 the ends meet where U³ = U + 1, which no rational is; either side of it can be told apart."""
    tip = Fraction(reach(3))
    assert slice_at(tip - Fraction(1, 10**12), 3) is not None
    assert slice_at(tip + Fraction(1, 10**12), 3) is None


def test_length_one_bounds_only_the_sign_and_any_recurrent_weight_does():
    for U in (-2, 0, 1):
        assert slice_at(U, 1) == Slice(None, Fraction(0))
        assert 0 in slice_at(U, 1)
        assert slice_at(min(U, 0), 2) is slice_at(min(U, 0), 2, "even") is None


@LENGTHS
def test_the_regions_are_nested_and_the_same_for_a_weight_and_its_inverse(lengths):
    for U in map(Fraction, ("1", "9/10", "102/100", "1005/1000", "1/7")):
        before = slice_at(U, 2, lengths)
        for longest in range(3, 40):
            found = slice_at(U, longest, lengths)
            assert found == slice_at(1 / U, longest, lengths)
            if found is None:
                assert slice_at(U, longest + 1, lengths) is None
                break
            assert found.upto <= before.upto
            assert before.above is None or found.above >= before.above
            before = found


@LENGTHS
def test_they_shrink_to_the_exact_counter(lengths):
    for longest in (2, 10, 100, 301):
        found = slice_at(1, longest, lengths)
        assert found.upto == -1
        assert -1 in found
    assert -1 - Fraction(1, 50) not in slice_at(1, 301, lengths)
    assert 1 < reach(256, lengths) < 1 + 1e-4


@LENGTHS
def test_the_left_side_is_a_power_of_the_recurrent_weight(lengths):
    for U in map(Fraction, ("97/100", "51/50")):
        for longest in (2, 3, 5, 8):
            assert slice_at(U, longest, lengths).upto == -(max(U, 1 / U) ** (longest // 2))


def test_only_the_sign_of_the_readout_times_the_opening_step_matters_beside_the_plane():
    generator = random.Random(3)
    for _ in range(60):
        ratio, U = some_ratio(generator), Fraction(generator.gauss(1, 0.1))
        a = Fraction(generator.gauss(0, 2)) or Fraction(1)
        expected = horizon(ratio, U, "all")
        assert horizon(ratio, U, "all", a=a, v=a) == expected
        for lengths in ("all", "even"):
            assert horizon(ratio, U, lengths, a=a, v=-a) == horizon(ratio, U, lengths, a=a, v=Fraction(0)) == 0


def test_a_ternary_readout_without_bias_fails_by_length_two():
    generator = random.Random(5)
    numbers = [Fraction(n, 2) for n in range(-4, 5)]
    for _ in range(400):
        cell = LinearCell(*(generator.choice(numbers) for _ in range(3)))
        readout = Readout.ternary(tuple(generator.choice(numbers) for _ in range(3)))
        assert any(len(string) == 2 for string in failing_strings(Network(cell, readout), 2))


@LENGTHS
def test_floats_follow_the_rationals(lengths):
    weights = np.concatenate([np.linspace(0.3, 3, 41), 1 + np.linspace(-0.01, 0.01, 21), [1.0]])
    for longest in (2, 3, 4, 8, 33, 64):
        found = outline(weights, longest, lengths)
        for U, left, right in zip(weights, *found, strict=True):
            exactly = slice_at(U, longest, lengths)
            if exactly is None:
                assert np.isnan(left)
                assert np.isnan(right)
                continue
            assert left == pytest.approx(float(1 / exactly.upto), rel=1e-12)
            assert right == pytest.approx(float(1 / exactly.above) if exactly.above else 0, rel=1e-12)


@LENGTHS
def test_the_reach_is_where_the_slices_end(lengths):
    for longest in (4, 5, 8, 32):
        tip = reach(longest, lengths)
        for end, inwards in ((tip, -1e-9), (1 / tip, 1e-9)):
            assert slice_at(end + inwards, longest, lengths) is not None
            assert slice_at(end - inwards, longest, lengths) is None
    assert reach(3, "even") == float("inf")


def test_what_is_no_length_is_named():
    with pytest.raises(BadInput, match="longest: 0"):
        slice_at(1, 0)
    with pytest.raises(BadInput, match="longest: 1 is not a whole number from 2 on"):
        slice_at(1, 1, "even")
    with pytest.raises(BadInput, match="lengths: 'odd'"):
        slice_at(1, 4, "odd")
    with pytest.raises(BadInput, match="recurrent_weight"):
        slice_at("one", 4)
    with pytest.raises(BadInput, match="longest: 1"):
        outline(np.ones(1), 1)
