"""Verdicts on linear networks of several units are what every string says, and what one unit gets from its own deciders."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest
from linear_networks import KINDS, first_wrong_length, readouts, seen_from_another_basis, some_network

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.linear import sorting
from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.responses import Precision, ResponseMaker
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check

HALF = Fraction(1, 2)


def wrong_verdict(network, lengths, longest):
    """What is wrong with the verdict up to a length, or None; the checker has to say the same."""
    verdict = certify(network, lengths, limit=longest)
    first = first_wrong_length(network, longest, Lengths(lengths).stride)
    if verdict.method != "sorting":
        return "decided by something else"
    if (verdict.failure.length if verdict.failure else None) != first:
        return f"length {first} is the first to fail"
    if verdict.failure:
        string, exact = verdict.failure.string, network.in_arithmetic("rational")
        if not exact.class_of(string) == verdict.failure.found != verdict.failure.right == exact.right_class(string):
            return "the string does not fail as it is said to"
    if verdict.outcome is Outcome.BOUNDED and verdict.horizon != longest - longest % Lengths(lengths).stride:
        return f"left open at {verdict.horizon}"
    answer = check(json.dumps(certificate(verdict)))
    return None if answer.valid else str(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_a_verdict_is_what_every_string_says(kind):
    for seed in range(36):
        generator = random.Random(f"{kind} {seed}")
        network = some_network(generator, kind, 1 + seed % 4 + (kind != "anything"), start=seed % 3 == 0)
        assert wrong_verdict(network, "even" if seed % 4 == 1 else "all", 8) is None, (seed, network)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_verdicts_are_what_every_string_says(kind):
    for seed in range(200):
        generator = random.Random(f"{kind} {seed} long")
        network = some_network(generator, kind, 1 + seed % 6 + (kind != "anything"), start=seed % 2 == 0)
        longest = 12 if seed % 50 == 0 else 9
        assert wrong_verdict(network, "even" if seed % 4 == 1 else "all", longest) is None, (seed, network)


def test_some_networks_of_every_kind_are_proved_or_refuted():
    for kind in KINDS:
        networks = (some_network(random.Random(f"{kind} {seed}"), kind, 3, "binary") for seed in range(12))
        outcomes = {certify(network, limit=12).outcome for network in networks}
        assert (Outcome.PROVED in outcomes, Outcome.REFUTED in outcomes) == (kind != "anything", kind != "unseen")


@pytest.mark.parametrize("seed", range(8))
def test_weights_may_be_any_doubles(seed):
    generator = np.random.default_rng(seed)
    for _ in range(6):
        d, noise = int(generator.integers(1, 7)), 10.0 ** -generator.uniform(0.5, 4)
        Q = np.linalg.qr(generator.normal(size=(d, d)))[0]
        U = Q @ np.diag([1, *generator.uniform(-0.6, 0.6, d - 1)]) @ Q.T + noise * generator.normal(size=(d, d))
        a, v = (Q @ [1, *(size * generator.normal(size=d - 1))] for size in (0.2, 0.3))
        layer = ts.LinearLayer(rows_of(np.stack([a, noise - a], axis=1)), rows_of(U), (0.0,) * d, (0.0,) * d)
        readout, task = random.Random(seed).choice(list(readouts(map(Fraction, v.tolist()), HALF).values()))
        assert wrong_verdict(ts.Network(layer, readout, task), "all", 8) is None


def rows_of(matrix):
    return tuple(map(tuple, matrix.tolist()))


# --- One unit -----------------------------------------------------------------------------------------------------------------


def scalar_networks():
    generator = random.Random(5)
    near = [(1, -1, 1 + sign * Fraction(1, 2**power)) for power in (4, 9, 14) for sign in (-1, 1)]
    some = [
        (
            Fraction(generator.randint(1, 9), 8),
            -Fraction(generator.randint(1, 9), 8),
            Fraction(generator.randint(-9, 12), 8),
        )
        for _ in range(12)
    ]
    return [
        (cell, threshold) for cell in [(1, -1, 1), *near, *some] for threshold in (HALF, Fraction(1, 8), Fraction(0))
    ]


@pytest.mark.parametrize("lengths", Lengths)
def test_one_unit_gets_the_verdict_of_the_scalar_cell(lengths):
    for (a, b, U), threshold in scalar_networks():
        layer = ts.LinearLayer(((Fraction(a), Fraction(b)),), ((Fraction(U),),), (0,), (0,))
        for readout, task in list(readouts((Fraction(1),), threshold).values())[:4]:
            scalar = certify(ts.Network(ts.LinearCell(a, b, U), readout, task), lengths)
            vector = certify(ts.Network(layer, readout, task), lengths)
            assert (vector.outcome, vector.horizon) == (scalar.outcome, scalar.horizon)
            if scalar.failure:
                assert (vector.failure.found, vector.failure.right) in {
                    (found, right) for found in task.classes for right in task.classes if found != right
                }


def hidden_scalar_cell(U, units, seed):
    """A cell of one unit among others that forget, of which the output sees nothing, from another basis."""
    generator = random.Random(seed)
    diagonal = [Fraction(U), *(Fraction(generator.randint(-7, 7), 8) for _ in range(units - 1))]
    matrix = [[diagonal[i] if i == j else Fraction(0) for j in range(units)] for i in range(units)]
    steps = [Fraction(1), *(Fraction(generator.randint(-8, 8), 8) for _ in range(units - 1))]
    first = [Fraction(int(place == 0)) for place in range(units)]
    U, a, b, v = seen_from_another_basis(generator, matrix, steps, [-step for step in steps], first)
    layer = ts.LinearLayer(tuple(zip(a, b, strict=True)), tuple(map(tuple, U)), (0,) * units, (0,) * units)
    return ts.Network(layer, ts.Readout((tuple(v),), (-HALF,)))


@pytest.mark.parametrize(("power", "units"), [(14, 3), (18, 5), (21, 2)])
def test_long_horizons_are_those_of_the_scalar_cell(power, units):
    U = 1 - Fraction(1, 2**power)
    scalar = certify(ts.Network(ts.LinearCell(1, -1, U), ts.Readout.binary(1, -HALF)))
    verdict = certify(hidden_scalar_cell(U, units, power), limit=10**5)
    assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, scalar.horizon)
    assert verdict.horizon > 100


# --- All lengths --------------------------------------------------------------------------------------------------------------


def nearly_counting(excess, threshold, readout="binary"):
    """What a bracket adds is 2 + `excess`/2^(k+1) for `(`, 2 less for `)`: so y is n − m, and something from 0 to `excess`."""
    half = Fraction(excess) / 2
    layer = ts.LinearLayer(((1, -1), (half, 0)), ((1, 0), (0, HALF)), (0, 0), (0, 0))
    chosen, task = readouts((Fraction(1), Fraction(1)), Fraction(threshold))[readout]
    return ts.Network(layer, chosen, task)


@pytest.mark.parametrize("readout", ["binary", "two outputs", "two, the other way round"])
def test_a_network_that_does_not_count_is_right_at_every_length(readout):
    """The output is at most `excess` for n ≤ m and above 1 for n > m: each threshold between the two is right."""
    for excess in ("1/8", "9/10", "98/100"):
        for threshold in (Fraction(excess) + Fraction(1, 500), Fraction(499, 500), (Fraction(excess) + 1) / 2):
            verdict = certify(nearly_counting(excess, threshold, readout))
            assert (verdict.outcome, verdict.method) == (Outcome.PROVED, "sorting")
            assert "does not compute the count" in verdict.reason
            assert check(json.dumps(certificate(verdict))).valid
            assert first_wrong_length(verdict.network, 10) is None
        for threshold in (Fraction(excess) - Fraction(1, 500), Fraction(501, 500)):
            assert certify(nearly_counting(excess, threshold, readout)).outcome is Outcome.REFUTED


@pytest.mark.parametrize("lengths", Lengths)
def test_even_lengths_leave_twice_the_room(lengths):
    network = nearly_counting("19/10", Fraction(195, 100))
    verdict = certify(network, lengths)
    assert verdict.outcome is (Outcome.PROVED if lengths is Lengths.EVEN else Outcome.REFUTED)
    assert check(json.dumps(certificate(verdict))).valid


def test_what_takes_all_the_room_stays_open():
    """The outputs come as near to the threshold as one likes: every length is right, but no bound on the tail says so."""
    verdict = certify(nearly_counting("9/10", "9/10"), limit=120)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 120)
    assert check(json.dumps(certificate(verdict))).valid


def test_three_classes_may_be_right_at_every_length():
    layer = ts.LinearLayer(((1, -1), (Fraction(1, 8), Fraction(-1, 8))), ((1, 0), (0, Fraction(-1, 2))), (0, 0), (0, 0))
    readout, task = readouts((Fraction(1), Fraction(1)), HALF)["ternary"]
    verdict = certify(ts.Network(layer, readout, task))
    assert verdict.outcome is Outcome.PROVED
    assert check(json.dumps(certificate(verdict))).valid
    assert first_wrong_length(verdict.network, 10) is None


def test_two_layers_are_one_with_a_matrix_of_blocks():
    below = ts.LinearLayer(((1, -1),), ((1,),), (0,), (0,))
    above = ts.LinearLayer(((Fraction(1, 4),),), ((HALF,),), (Fraction(1, 8),), (0,))
    stack = ts.Network(ts.Stack((below, above), start=((Fraction(1, 3),), (0,))), ts.Readout.binary(1, Fraction(-1, 4)))
    block = ts.LinearLayer(
        ((1, -1), (Fraction(1, 4), Fraction(-1, 4))), ((1, 0), (Fraction(1, 4), HALF)), (0, Fraction(1, 8)), (0, 0)
    )
    single = ts.Stack((block,), start=((Fraction(1, 3), Fraction(0)),))
    as_one = certify(ts.Network(single, ts.Readout(((0, 1),), (Fraction(-1, 4),))))
    verdict = certify(stack)
    assert (verdict.outcome, verdict.horizon, verdict.failure) == (as_one.outcome, as_one.horizon, as_one.failure)
    assert verdict.method == "sorting"
    assert check(json.dumps(certificate(verdict))).valid


def test_what_is_read_before_and_after_every_string_is_part_of_the_network():
    layer = ts.LinearLayer(((1, -1, Fraction(1, 4)),), ((1,),), (0,), (0,))
    tokens, end = ((1, 0, 0), (0, 1, 0)), (0, 0, 1)
    for first, last, threshold, outcome in (
        ((end,) * 2, (), HALF, Outcome.PROVED),
        ((), (end,), Fraction(1, 4), Outcome.PROVED),
        ((end,), (end,), Fraction(1, 4), Outcome.REFUTED),
    ):
        cell = ts.Stack((layer,), tokens=tokens, first=first, last=last)
        verdict = certify(ts.Network(cell, ts.Readout.binary(1, -threshold)))
        assert (verdict.outcome, verdict.method) == (outcome, "sorting")
        assert check(json.dumps(certificate(verdict))).valid


# --- What decides -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_arithmetic_gives_the_exact_terms_within_its_bounds(kind):
    for seed in range(6):
        network = affine_network(
            some_network(random.Random(f"{kind} {seed}"), kind, 1 + seed % 4 + (kind != "anything"))
        )
        maker = ResponseMaker(network)
        exact = maker.upto(40, Precision.EXACT)
        for precision in (Precision.DOUBLE, Precision.WIDE):
            found = maker.upto(40, precision)
            assert [len(part[0]) for part in (found.openings, found.drifts, found.errors)] == [40, 40, 41]
            for output, constant in enumerate(network.constants):
                ratio = Fraction(exact.constants[output], constant) if constant else None
                if not constant:
                    continue
                # Both are multiples of the true terms; the constants tell of how many.
                unit = Fraction(found.constants[output]) / constant
                room = [Fraction(x) for x in found.errors[output]]
                slack = abs(Fraction(found.constant_error) / Fraction(found.constants[output]))
                for k in range(40):
                    for of_found, of_exact in ((found.openings, exact.openings), (found.drifts, exact.drifts)):
                        true = Fraction(of_exact[output, k]) / ratio * unit
                        assert abs(Fraction(of_found[output, k]) - true) <= room[k + 1] - room[k] + slack * abs(true)


def test_ties_are_decided_exactly():
    """Balanced strings lie on the threshold at every even length: `)` of a strict comparison is right, `(` of one is not."""
    layer = ts.LinearLayer(
        ((1, -1), (1, 0)), ((1, 0), (0, 0)), (0, 0), (0, 0)
    )  # the second unit sees the last token alone
    for threshold, first in ((Fraction(1, 4), None), (Fraction(1, 4) - Fraction(1, 2**80), 2)):
        network = ts.Network(layer, ts.Readout(((1, Fraction(1, 4)),), (-threshold,)))
        verdict = certify(network, limit=60)
        assert (verdict.failure.length if verdict.failure else None) == first


def test_an_interrupted_search_says_how_far_it_came(monkeypatch):
    def interrupt(done, *_):
        if done > 100:
            raise KeyboardInterrupt

    monkeypatch.setattr(sorting, "report", interrupt)
    verdict = certify(hidden_scalar_cell(1 - Fraction(1, 2**20), 2, 0), limit=1500)
    assert (verdict.outcome, verdict.reason.split(":")[0]) == (Outcome.BOUNDED, "interrupted")
    assert 100 < verdict.horizon < 1500


def test_what_is_not_asked_for_the_sign_is_left_to_others():
    layer = ts.LinearLayer(((1, -1),), ((1,),), (0,), (0,))
    assert certify(ts.Network(layer, ts.Readout.zero()), limit=6).method == "zero check"
    assert (
        affine_network(ts.Network(ts.Stack((ts.ReluLayer(((1, -1),), ((1,),), (0,), (0,)),)), ts.Readout.binary(1)))
        is None
    )
