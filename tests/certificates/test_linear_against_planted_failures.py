"""Affine networks that are made to fail first at a length known beforehand, far beyond the strings that can be run."""

import json
import random
from fractions import Fraction

import pytest
from affine_cores import Core, from_another_basis, parts

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def layer_of(core, name):
    """The core as a layer; the matrices of a `linear` one are equal."""
    inputs, size = tuple(zip(*core.added, strict=True)), len(core.row)
    matrices = [tuple(map(tuple, matrix)) for matrix in core.matrices]
    if name == "linear":
        return ts.LinearLayer(inputs, matrices[0], (ZERO,) * size, (ZERO,) * size)
    if name == "matrices":
        return ts.MatrixLayer(inputs, tuple(matrices), (ZERO,) * size)
    factors = zip(*([matrix[i][i] for i in range(size)] for matrix in matrices), strict=True)
    return ts.SelectiveLayer(inputs, tuple(factors), (ZERO,) * size)


def drifting(name, power, unseen):
    """A count that loses 2^−power with every `)`: y = n − m − m/2^power, among units that the output does not see."""
    generator = random.Random(f"{name} {power} {unseen}")
    generator.factor = ONE
    a, b = ([step, *parts(generator, unseen, 4)] for step in (ONE, -ONE - Fraction(1, 2**power)))
    factors = [[ONE, *parts(generator, unseen, 6)] for _ in range(2)]
    if name == "linear":
        factors[1] = factors[0]
    matrices = tuple([[x if i == j else ZERO for j in range(1 + unseen)] for i, x in enumerate(row)] for row in factors)
    core = Core(matrices, (a, b), [ONE, *[ZERO] * unseen])
    core = core if name == "selective" else from_another_basis(generator, core)
    return layer_of(core, name), tuple(core.row)


def certify_and_check(network, lengths, limit):
    verdict = certify(network, lengths, limit=limit)
    assert check(json.dumps(certificate(verdict))).valid
    return verdict


NAMES = ("linear", "selective", "matrices")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lengths", ["all", "even"])
def test_a_drift_fails_when_it_reaches_the_threshold(name, lengths):
    """The first wrong string has one bracket too many, or two, and the drift has made up for all of it but a half."""
    for power in (3, 5):
        layer, row = drifting(name, power, unseen=2)
        first = 2**power + 1 if lengths == "all" else 3 * 2**power + 2
        verdict = certify_and_check(ts.Network(layer, ts.Readout((row,), (-HALF,))), lengths, 4 * 2**power)
        assert (verdict.outcome, verdict.failure.length) == (Outcome.REFUTED, first)


@pytest.mark.parametrize("name", NAMES)
def test_a_drift_is_off_the_count_when_it_reaches_a_half(name):
    for power in (3, 6):
        layer, row = drifting(name, power, unseen=1)
        verdict = certify_and_check(ts.Network(layer, ts.Readout((row,), (ZERO,), "count")), "all", 2**power)
        assert (verdict.failure.length, set(verdict.failure.string)) == (2 ** (power - 1), {")"})


# --- The zero check -----------------------------------------------------------------------------------------------------------


def with_an_echo(factor, echo):
    """A count beside two units that swap places: at odd lengths 2j + 1 the output is n − m plus `echo`·`factor`^j."""
    layer = ts.LinearLayer(
        ((1, -1), (0, 0), (0, 0)), ((1, 0, 0), (0, 0, 1), (0, Fraction(factor), 0)), (0, 0, 0), (0, 0, 0)
    )
    stack = ts.Stack((layer,), start=((ZERO, ZERO, Fraction(echo)),))
    return ts.Network(stack, ts.Readout(((1, 1, 0),), (0,), "zero"))


def first_odd_whole(factor, echo, longest):
    """The first odd length at which the echo is an odd whole number that a count of this length makes up for."""
    value = Fraction(echo)
    for length in range(1, longest + 1, 2):
        if value.denominator == 1 and value % 2 and abs(value) <= length:
            return length
        value *= Fraction(factor)
    return None


@pytest.mark.parametrize("factor", [HALF, -HALF, Fraction(2), Fraction(-2), Fraction(3, 2), Fraction(1, 3), ONE, -ONE])
def test_an_echo_fails_the_zero_check_where_it_is_an_odd_whole_number(factor):
    for echo in (1, 2, 64, 96, 2**20, 3**7, Fraction(1, 8), Fraction(3, 64), Fraction(5, 3), Fraction(81), HALF, -4):
        first = first_odd_whole(factor, echo, 61)
        verdict = certify_and_check(with_an_echo(factor, echo), "all", 61)
        assert (verdict.failure.length if verdict.failure else None) == first, (factor, echo)
        assert first is not None or verdict.horizon is None or verdict.horizon == 61
        assert certify_and_check(with_an_echo(factor, echo), "even", 61).outcome is Outcome.PROVED


@pytest.mark.parametrize(("factor", "echo"), [(HALF, Fraction(2, 3)), (Fraction(1, 4), HALF), (HALF, Fraction(7, 3))])
def test_an_echo_that_fades_without_being_whole_is_right_for_ever(factor, echo):
    assert certify_and_check(with_an_echo(factor, echo), "all", 41).outcome is Outcome.PROVED
