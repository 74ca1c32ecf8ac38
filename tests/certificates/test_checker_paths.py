"""Certificates of networks with one matrix per token: the checker finds them again, and refuses those of a forger."""

import json
import random
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from forged import sealed
from selective_networks import COMMUTING, some_network
from test_checker_sorting import another_class, another_horizon, another_string

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check

LIMIT = 16
HALF = Fraction(1, 2)
FORGERIES = 300


def nearly_counting(rest=Fraction(1, 8), *, drift=Fraction(0)):
    """A unit that counts, or drifts, and one that forgets, by a factor of its own for each token."""
    layer = ts.SelectiveLayer(((1, drift - 1), (rest, -rest)), ((1, 1), (HALF, Fraction(-1, 4))), (0, 0))
    return ts.Network(layer, ts.Readout(((1, 1),), (-HALF,)))


def drifting():
    """Right for very long, but not for ever."""
    return nearly_counting(drift=Fraction(1, 2**40))


def growing_with_the_count(P):
    """A monotone function of the count, and no multiple of it."""
    layer = ts.SelectiveLayer(((1, -1), (1, Fraction(-1, P))), ((1, 1), (P, Fraction(1, P))), (0, 0))
    return ts.Network(layer, ts.Readout(((1, 1),), (-HALF,)))


def counter():
    """An exact counter with matrices that do not commute, of which the output sees nothing."""
    matrices = ((1, 0, 0), (1, 2, 3), (0, 1, 0)), ((1, 0, 0), (0, 1, 0), (2, 1, 1))
    layer = ts.MatrixLayer(((1, -1), (1, 0), (0, 1)), matrices, (0, 0, 0))
    return ts.Network(layer, ts.Readout(((1, 0, 0),), (-HALF,)))


@pytest.fixture(scope="module")
def verdicts():
    found = [certify(nearly_counting(), lengths, limit=LIMIT) for lengths in ("all", "even")] + [certify(counter())]
    found += [certify(drifting(), limit=LIMIT), *(certify(growing_with_the_count(P)) for P in (2, 4))]
    found += [certify(nearly_counting(Fraction(size, 16)), limit=LIMIT) for size in range(1, 9)]
    for kind in COMMUTING:
        for seed in range(16):
            generator = random.Random(f"{kind} {seed} forged")
            network = some_network(generator, kind, 2 + seed % 3, start=seed % 3 == 2)
            found.append(certify(network, "even" if seed % 4 == 3 else "all", limit=LIMIT))
    found = [one for one in found if one.horizon != 0 and one.method in ("lattice paths", "matrices")]
    assert {one.outcome for one in found} == set(Outcome)
    assert all(check(json.dumps(certificate(one))).valid for one in found)
    return found


def another_verdict(verdict, content, stride, generator):
    if verdict.outcome is Outcome.PROVED:
        return None
    evidence = generator.choice(
        [{"method": "matrices"}, {"method": "sorting", "tail": None}, {"method": "lattice paths"}]
    )
    return {**content, "verdict": "PROVED", "horizon": "unlimited", "counterexample": None, "evidence": evidence}


def another_start(verdict, content, stride, generator):
    """A start that is none, or a proof that says nothing of where it starts."""
    if "start" not in content["evidence"]:
        return None
    start = generator.choice([0, -2, "2", True, None, 2.5, 2**40])
    return {**content, "evidence": {"method": "lattice paths", **generator.choice([{"start": start}, {}])}}


def another_method(verdict, content, stride, generator):
    """Sorting needs one matrix for both tokens, and these networks have two."""
    evidence = {"method": "sorting"} if verdict.outcome is not Outcome.PROVED else {"method": "sorting", "tail": None}
    return {**content, "evidence": evidence}


def another_factor(verdict, content, stride, generator):
    """A network with another weight, whose own verdict is another one."""
    cell = verdict.network.cell
    if not isinstance(cell, ts.SelectiveLayer):
        return None
    field = generator.choice(["recurrent_weight", "input_weight"])
    rows = [list(row) for row in getattr(cell, field)]
    row = generator.choice(rows)
    row[generator.randrange(2)] += generator.choice([-1, 1]) * Fraction(generator.randint(1, 8), 16)
    changed = replace(verdict.network, cell=replace(cell, **{field: tuple(map(tuple, rows))}))
    other = certify(changed, verdict.lengths, limit=LIMIT)
    reached = verdict.outcome is Outcome.BOUNDED and (other.horizon is None or other.horizon >= verdict.horizon)
    if reached or other.horizon == verdict.horizon:
        return None
    return {**content, "model": certificate(other)["model"]}


FORGERS = [
    another_horizon,
    another_verdict,
    another_string,
    another_class,
    another_method,
    another_start,
    another_factor,
]


def test_forged_certificates_are_refused(verdicts):
    generator, forged = random.Random(5), Counter()
    while forged.total() < FORGERIES:
        verdict, forge = generator.choice(verdicts), generator.choice(FORGERS)
        content = forge(verdict, deepcopy(certificate(verdict)), verdict.lengths.stride, generator)
        if content is not None:
            assert not check(sealed(content)).valid, (forge.__name__, content)
            forged[forge.__name__] += 1
    assert min(forged[forge.__name__] for forge in FORGERS) > 5


def test_the_reasons_of_refusals_name_what_is_wrong():
    apart = ts.MatrixLayer(((1, -1), (0, 0)), (((1, 1), (0, 1)), ((1, 0), (1, 1))), (0, 0))
    bounded = certificate(certify(ts.Network(apart, ts.Readout(((1, 0),), (-HALF,))), limit=4))
    right, counting = certificate(certify(drifting(), limit=8)), certificate(certify(counter()))
    for content, changed, reason in (
        (bounded, {"evidence": {"method": "lattice paths"}}, "lattice paths decide only for matrices that commute"),
        (right, {"arithmetic": "float64"}, "lattice paths decide in real numbers only"),
        (right, {"evidence": {"method": "matrices"}}, "not one of boxes, lattice paths"),
        (right, {"evidence": {"method": "lattice paths", "start": 2}}, "the fields are not method"),
        (counting, {"evidence": {"method": "lattice paths"}}, "the fields are not method start"),
        (counting, {"evidence": {"method": "lattice paths", "start": 0}}, "a start is not 1 to 65536"),
    ):
        answer = check(sealed({**content, **changed}))
        assert (answer.valid, answer.reason) == (False, reason)
    for content, evidence, reason in (
        (right, {"method": "matrices"}, "no exact counter"),
        (right, {"method": "lattice paths", "start": 2}, "the drift has no end"),
        (counting, {"method": "lattice paths", "start": 2}, "only units with factors of their own are known to fade"),
        (growing(), {"method": "lattice paths", "start": 2}, "a unit does not fade"),
        (
            barely(),
            {"method": "lattice paths", "start": 2},
            "some string may fail beyond the lengths that were looked at",
        ),
    ):
        answer = check(sealed({**content, "verdict": "PROVED", "horizon": "unlimited", "evidence": evidence}))
        assert (answer.valid, answer.reason) == (False, reason)


def growing():
    layer = ts.SelectiveLayer(((1, -1), (Fraction(1, 64), 0)), ((1, 1), (1, HALF)), (0, 0))
    return certificate(certify(ts.Network(layer, ts.Readout(((1, 1),), (-HALF,))), limit=4))


def barely():
    """Right at every length, which two tokens do not show."""
    layer = ts.SelectiveLayer(((1, -1), (Fraction(9, 20), 0)), ((1, 1), (HALF, Fraction(1, 4))), (0, 0))
    content = certificate(certify(ts.Network(layer, ts.Readout(((1, 1),), (Fraction(-95, 100),)))))
    assert content["verdict"] == "PROVED"
    assert content["evidence"]["start"] > 2
    return content


def test_what_takes_too_long_is_not_begun():
    content = certificate(certify(drifting(), limit=8))
    for horizon in (10**6, 10**9, 10**30, 10**4000):
        far = {**content, "horizon": horizon}
        assert check(sealed(far), minutes=1).valid is None
        failing = {"runs": [["(", horizon + 1]], "class": "ZeroNeg", "right_class": "Pos", "trace": None}
        assert check(sealed({**far, "verdict": "REFUTED", "counterexample": failing}), minutes=1).valid is None


def test_ties_are_checked_exactly():
    """Every balanced string has the output 0, which is not above 0; with 2^−200 more, it is."""
    layer = ts.SelectiveLayer(((1, -1), (0, 0)), ((1, 1), (1, HALF)), (0, 0))
    for bias, length in ((Fraction(0), None), (Fraction(1, 2**200), 2)):
        network = ts.Network(layer, ts.Readout(((1, 1),), (bias,)))
        content = certificate(certify(network, limit=12))
        claimed = {**content, "verdict": "BOUNDED", "horizon": 12, "counterexample": None}
        claimed["evidence"] = {"method": "lattice paths"}
        answer = check(sealed(claimed))
        assert answer.valid is (length is None)
        assert length is None or answer.reason == f"a string of length {length} fails"
