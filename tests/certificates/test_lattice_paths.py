"""Verdicts on networks with one matrix per token are what every string says, and what one unit gets from its own deciders."""

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from linear_networks import eighths, readouts
from selective_networks import COMMUTING, DENSE, any_matrices, diagonal, layer_of, some_network, wrong_strings

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.linear import lattice_paths
from tallystick.certificates.linear.affine import affine_network
from tallystick.certificates.linear.path_terms import diagonals
from tallystick.certificates.linear.responses import Precision
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check

HALF = Fraction(1, 2)
DECIDED = {"lattice paths", "matrices", "sorting", "exact states"}


def fault(verdict, longest):
    """What is wrong with a verdict up to a length, or None; the checker has to say the same."""
    first, strings = wrong_strings(verdict.network, longest, verdict.lengths.stride)
    if verdict.outcome is Outcome.BOUNDED and verdict.method == "gated boxes":
        return None if first is None or verdict.horizon < first else f"length {first} is the first to fail"
    if verdict.method not in DECIDED:
        return f"decided by {verdict.method}"
    if (verdict.failure.length if verdict.failure else None) != first:
        return f"length {first} is the first to fail, not {verdict}"
    if verdict.failure and verdict.failure.string not in strings:
        return f"{verdict.failure.string} does not fail"
    if verdict.outcome is Outcome.BOUNDED and verdict.horizon != longest - longest % verdict.lengths.stride:
        return f"bounded to {verdict.horizon}"
    answer = check(json.dumps(certificate(verdict)))
    return None if answer.valid else str(answer)


def compare(kind, seeds, longest):
    seen = Counter()
    for seed in seeds:
        generator = random.Random(f"{kind} {seed}")
        d = 1 + seed % 4 if kind in ("gated", "undone", "mixed", "any_factors") else 2 + seed % 3
        network = some_network(generator, kind, d, start=seed % 3 == 2)
        verdict = certify(network, generator.choice(["all", "all", "even"]), limit=longest)
        assert (found := fault(verdict, longest)) is None, (kind, seed, found)
        seen[verdict.method, verdict.outcome] += 1
    return seen


@pytest.mark.parametrize("kind", COMMUTING)
def test_verdicts_are_those_of_every_string(kind):
    seen = compare(kind, range(40), 8)
    assert seen["lattice paths", Outcome.REFUTED] > 5


@pytest.mark.parametrize("kind", DENSE)
def test_dense_matrices_are_decided_too(kind):
    seen = compare(kind, range(24), 7)
    assert kind == "any_matrices" or seen["matrices", Outcome.PROVED] > 5


@pytest.mark.long
@pytest.mark.parametrize("kind", [*COMMUTING, *DENSE])
def test_many_verdicts_are_those_of_every_string(kind):
    compare(kind, range(1000, 1040), 9)
    compare(kind, range(2000, 2003), 12)


@pytest.mark.parametrize("readout", ["binary", "ternary"])
def test_one_unit_gets_the_horizons_of_the_selective_cell(readout):
    generator, outcomes = random.Random(7), Counter()
    chosen = {
        "binary": ts.Readout.binary(1, -HALF),
        "ternary": ts.Readout.ternary((-1, 0, 1), (-HALF, 0, -HALF)),
    }[readout]
    for _ in range(40):
        P, Q = (1 + Fraction(generator.randint(-8, 8), 2 ** generator.randint(3, 10)) for _ in "()")
        b = -1 + Fraction(generator.randint(-2, 2), 2 ** generator.randint(3, 10))
        cell = certify(ts.Network(ts.SelectiveCell(1, b, P, Q), chosen), limit=40)
        if cell.method == "theorem":
            continue
        layer = certify(ts.Network(ts.SelectiveLayer(((1, b),), ((P, Q),), (0,)), chosen), limit=40)
        assert (layer.outcome, layer.horizon) == (cell.outcome, cell.horizon)
        outcomes[layer.outcome] += 1
    assert len(outcomes) == 2


def test_exact_numbers_find_the_first_of_the_least_paths():
    """Both orders of two tokens give one sum where the matrices are 1: the string with `(` first is taken."""
    counter = ts.SelectiveLayer(((1, -1), (0, 0)), ((1, 1), (1, HALF)), (0, 0))
    verdict = certify(ts.Network(counter, ts.Readout(((1, 0),), (Fraction(-5, 2),))))
    assert (verdict.method, verdict.failure.string) == ("lattice paths", "(")
    late = certify(ts.Network(counter, ts.Readout(((1, 0),), (HALF,))), "even")
    assert (late.method, late.failure.string) == ("lattice paths", "()")


@pytest.mark.parametrize("kind", COMMUTING)
def test_every_arithmetic_gives_the_exact_terms_within_its_bounds(kind):
    for seed in range(4):
        generator = random.Random(f"{kind} {seed}")
        network = affine_network(some_network(generator, kind, 2 + seed % 3, "ternary"))
        network = replace(
            network, constants=(3, 5, -7)[: len(network.outputs)]
        )  # which tell of what the terms are multiples
        for doubles, wide, exact in zip(*(diagonals(network, 24, precision) for precision in Precision), strict=True):
            for found in (doubles, wide):
                unit = Fraction(found.constants[0]) / Fraction(exact.constants[0])
                slack = abs(Fraction(found.constant_error) / Fraction(found.constants[0]))
                for terms, errors, true in zip(found.terms, found.errors, exact.terms, strict=True):
                    room = np.broadcast_to(errors, terms.shape)
                    for approximate, error, whole in zip(terms.flat, room.flat, true.flat, strict=True):
                        value = Fraction(whole) * unit
                        assert abs(Fraction(approximate) - value) <= Fraction(error) + slack * abs(value)


def test_ties_are_decided_exactly():
    """Balanced strings that end with `)` lie on the threshold at every even length, which a strict comparison wants."""
    layer = ts.SelectiveLayer(((1, -1), (1, 0)), ((1, 1), (0, 0)), (0, 0))
    # The second unit sees the last token alone; a factor that differs makes the matrices differ.
    layer = replace(layer, recurrent_weight=((1, 1), (Fraction(0), Fraction(1, 2**60))))
    for threshold, first in ((Fraction(1, 4), None), (Fraction(1, 4) - Fraction(1, 2**80), 2)):
        network = ts.Network(layer, ts.Readout(((1, Fraction(1, 4)),), (-threshold,)))
        verdict = certify(network, limit=24)
        assert verdict.method == "lattice paths"
        assert (verdict.failure.length if verdict.failure else None) == first == wrong_strings(network, 8)[0]


def test_factors_that_grow_are_decided_beyond_what_doubles_hold():
    """P·Q = 1 makes the output a function of the count, which is 2^1200 in size at length 60, with a tie at each even length."""
    large = 2**20
    layer = ts.SelectiveLayer(((1, Fraction(-1, large)), (0, 1)), ((large, Fraction(1, large)), (1, 1)), (0, 0))
    network = ts.Network(layer, ts.Readout(((1, 0),), (0,)))
    assert certify(network).outcome is Outcome.PROVED
    verdict = lattice_paths.decide_by_paths(network, Lengths.ALL, "real", 60)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 60)


def test_an_interrupted_search_says_how_far_it_came(monkeypatch):
    def interrupt(done, *_):
        if done > 100:
            raise KeyboardInterrupt

    monkeypatch.setattr(lattice_paths, "report", interrupt)
    drift = Fraction(1, 2**40)
    layer = ts.SelectiveLayer(((1, drift - 1), (Fraction(1, 8), 0)), ((1, 1), (HALF, -HALF)), (0, 0))
    verdict = certify(ts.Network(layer, ts.Readout(((1, 1),), (-HALF,))), limit=400)
    assert (verdict.outcome, verdict.reason.split(":")[0]) == (Outcome.BOUNDED, "interrupted")
    assert 100 <= verdict.horizon < 400


def test_a_stack_with_a_start_is_read_like_a_layer():
    layer = ts.SelectiveLayer(((1, -1), (Fraction(1, 4), 0)), ((1, 1), (HALF, Fraction(1, 4))), (0, Fraction(1, 16)))
    above = ts.LinearLayer(((1, 0), (1, 1)), ((0, 0), (0, HALF)), (0, 0), (0, 0))
    stack = ts.Stack((layer, above), start=((0, HALF), (0, 0)))
    network = ts.Network(stack, ts.Readout(((1, Fraction(1, 8)),), (-HALF,)))
    verdict = certify(network, limit=8)
    exact = network.in_arithmetic("rational")
    strings = ["".join(tokens) for length in range(1, 9) for tokens in product("()", repeat=length)]
    wrong = [string for string in strings if exact.class_of(string) != exact.right_class(string)]
    assert (verdict.failure.length if verdict.failure else None) == (len(wrong[0]) if wrong else None)
    assert check(json.dumps(certificate(verdict))).valid


# --- Exact counters with any matrices -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["unseen", "unreached"])
def test_counters_with_any_matrices_are_proved(kind):
    for seed in range(20):
        network = some_network(random.Random(f"{kind} {seed}"), kind, 2 + seed % 4, "two outputs")
        proved = replace(network, readout=replace(network.readout, bias=(HALF, 0)))
        verdict = certify(proved)
        assert (verdict.outcome, verdict.method) == (Outcome.PROVED, "matrices")
        assert check(json.dumps(certificate(verdict))).valid
        beyond = replace(network, readout=replace(network.readout, bias=(Fraction(9, 8), 0)))
        assert certify(beyond, limit=6).outcome is Outcome.REFUTED


def test_a_counter_that_one_late_string_gives_away_is_not_proved():
    """A chain of d units: what `(` puts into the last one reaches the output only after d − 1 tokens `)`."""
    for d in range(3, 9):
        shift = [[Fraction(int(j == i + 1 > 1)) for j in range(d)] for i in range(d)]
        stay = diagonal([Fraction(1), *[Fraction(0)] * (d - 1)])
        shift[0][0] = Fraction(1)
        steps = [Fraction(1), *[Fraction(0)] * (d - 2), Fraction(1, 8)], [Fraction(-1), *[Fraction(0)] * (d - 1)]
        v = (Fraction(1), Fraction(1), *[Fraction(0)] * (d - 2))
        verdict = certify(ts.Network(layer_of([stay, shift], steps), ts.Readout((v,), (-HALF,))), limit=4)
        assert verdict.outcome is not Outcome.PROVED
        hidden = (Fraction(1), *[Fraction(0)] * (d - 1))
        verdict = certify(ts.Network(layer_of([stay, shift], steps), ts.Readout((hidden,), (-HALF,))))
        assert (verdict.outcome, verdict.method) == (Outcome.PROVED, "matrices")


def test_matrices_that_do_not_commute_are_searched_in_boxes():
    matrices, steps, v = any_matrices(random.Random(3), 3)
    small = [[[x / 64 for x in row] for row in matrix] for matrix in matrices]
    for matrix in small:
        matrix[0] = [Fraction(1), *matrix[0][1:]]
    steps = [[Fraction(1), *steps[0][1:]], [Fraction(-1), *steps[1][1:]]]
    network = ts.Network(layer_of(small, steps), ts.Readout(((Fraction(1), *(x / 16 for x in v[1:])),), (-HALF,)))
    verdict = certify(network, limit=10)
    assert (verdict.method, verdict.horizon) == ("gated boxes", 10)
    assert wrong_strings(network, 10)[0] is None
    assert check(json.dumps(certificate(verdict))).valid


@pytest.mark.parametrize("lengths", ["all", "even"])
def test_monotone_functions_of_the_count_are_proved(lengths):
    """Theorem 2 with several units: as long as all of them move an output the same way."""
    generator, outcomes = random.Random(4), Counter()
    for _ in range(60):
        d = generator.randint(1, 4)
        factors = [Fraction(generator.choice([1, 2, 3, 4]), generator.choice([1, 2, 3])) for _ in range(d)]
        a = [Fraction(1), *eighths(generator, d - 1, 8)]
        inputs = tuple((x, -x / factor) for x, factor in zip(a, factors, strict=True))
        layer = ts.SelectiveLayer(inputs, tuple((factor, 1 / factor) for factor in factors), (Fraction(0),) * d)
        v = [Fraction(1), *(generator.choice([x, x, abs(x)]) for x in a[1:])]
        readout, task = readouts(v, Fraction(generator.randint(0, 8), 8))[generator.choice(["binary", "ternary"])]
        network = ts.Network(layer, readout, task)
        verdict = certify(network, lengths, limit=8)
        assert fault(verdict, 8) is None
        outcomes[verdict.method, verdict.outcome] += 1
        if d == 1:
            (a, b), (P, Q) = inputs[0], (factors[0], 1 / factors[0])
            cell = replace(network, cell=ts.SelectiveCell(a, b, P, Q))
            assert (certify(cell, lengths).outcome is Outcome.PROVED) == (verdict.outcome is Outcome.PROVED)
    assert outcomes["matrices", Outcome.PROVED] > 10
    assert sum(number for (_, outcome), number in outcomes.items() if outcome is not Outcome.PROVED) > 5


def test_units_that_pull_apart_are_not_proved():
    """Both units are functions of the count, one of which outgrows the other far away."""
    layer = ts.SelectiveLayer(((1, -1), (Fraction(-1, 64), Fraction(1, 128))), ((1, 1), (2, HALF)), (0, 0))
    verdict = certify(ts.Network(layer, ts.Readout(((1, 1),), (-HALF,))), limit=40)
    assert (verdict.method, verdict.outcome) == ("lattice paths", Outcome.REFUTED)


# --- All lengths without counting -----------------------------------------------------------------------------------------------


def fading(rest, threshold, readout="binary"):
    """The output is n − m, and between 0 and about `rest`: a unit that forgets, each token by a factor of its own."""
    layer = ts.SelectiveLayer(((1, -1), (Fraction(rest) / 2, 0)), ((1, 1), (HALF, Fraction(1, 4))), (0, 0))
    chosen, task = readouts((Fraction(1), Fraction(1)), Fraction(threshold))[readout]
    return ts.Network(layer, chosen, task)


@pytest.mark.parametrize("readout", ["binary", "two outputs", "two, the other way round"])
def test_a_selective_network_that_does_not_count_is_right_at_every_length(readout):
    """Its greatest output at n = m is nearly `rest`/2 + `rest`/4 + … for the last half of the string, as all of them open."""
    for rest in ("1/8", "9/10"):
        for threshold, outcome in (
            (Fraction(rest) + Fraction(1, 50), Outcome.PROVED),
            (Fraction(49, 50), Outcome.PROVED),
            (Fraction(rest) - Fraction(1, 50), Outcome.REFUTED),
            (Fraction(51, 50), Outcome.REFUTED),
        ):
            verdict = certify(fading(rest, threshold, readout), limit=60)
            assert (verdict.outcome, verdict.method) == (outcome, "lattice paths")
            assert outcome is Outcome.REFUTED or "does not compute the count" in verdict.reason
            assert check(json.dumps(certificate(verdict))).valid
            first, strings = wrong_strings(verdict.network, 8)
            assert first is None or verdict.failure.string in strings


@pytest.mark.parametrize("lengths", ["all", "even"])
def test_even_lengths_leave_twice_the_room(lengths):
    verdict = certify(fading("19/10", "195/100"), lengths, limit=60)
    assert verdict.outcome is (Outcome.PROVED if lengths == "even" else Outcome.REFUTED)
    assert check(json.dumps(certificate(verdict))).valid


def test_what_neither_counts_nor_fades_is_not_proved():
    """A unit that stays, or turns its sign, adds up what it gets; one that is not seen, or gets nothing, may do what it likes."""
    for factors, proved in (((1, HALF), False), ((HALF, -1), False), ((HALF, HALF / 2), True)):
        layer = ts.SelectiveLayer(
            ((1, -1), (Fraction(1, 64), 0), (1, 1), (0, 0)), ((1, 1), factors, (3, 2), (3, 2)), (0,) * 4
        )
        verdict = certify(ts.Network(layer, ts.Readout(((1, 1, 0, 1),), (-HALF,))), limit=12)
        assert (verdict.method, verdict.outcome is Outcome.PROVED) == ("lattice paths", proved)
    drifting = ts.SelectiveLayer(((1, Fraction(-255, 256)), (Fraction(1, 64), 0)), ((1, 1), (HALF, HALF / 2)), (0, 0))
    assert certify(ts.Network(drifting, ts.Readout(((1, 1),), (-HALF,))), limit=12).outcome is not Outcome.PROVED


def test_random_selective_networks_that_are_proved_are_right():
    generator, outcomes = random.Random(9), Counter()
    for _ in range(60):
        network = some_fading_network(generator)
        verdict = certify(network, generator.choice(["all", "even"]), limit=9)
        assert fault(verdict, 9) is None
        outcomes[verdict.outcome] += 1
    assert outcomes[Outcome.PROVED] > 10
    assert outcomes[Outcome.REFUTED] > 10


def some_fading_network(generator):
    d = generator.randint(2, 4)
    factors = ((1, 1), *(tuple(eighths(generator, 2, 6)) for _ in range(d - 1)))
    inputs = ((1, -1), *(tuple(eighths(generator, 2, 4)) for _ in range(d - 1)))
    made = readouts((Fraction(1), *eighths(generator, d - 1, 6)), Fraction(generator.randint(2, 6), 8))
    readout, task = made[generator.choice(["binary", "ternary", "two outputs", "two, the other way round"])]
    return ts.Network(ts.SelectiveLayer(inputs, factors, (Fraction(0),) * d), readout, task)
