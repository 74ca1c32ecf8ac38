"""Certificates of linear networks: the checker finds them again by its own terms, and refuses those of a forger."""

import json
import random
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from forged import sealed
from linear_networks import KINDS, some_network
from test_sorting import hidden_scalar_cell, nearly_counting

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check

LIMIT = 24
HALF = Fraction(1, 2)
FORGERIES = 400


def sources():
    """Verdicts of every outcome, on layers and stacks."""
    found = [
        (nearly_counting("9/10", "95/100"), "all"),
        (nearly_counting("9/10", "1/2"), "all"),
        (nearly_counting("19/10", "195/100"), "even"),
        (nearly_counting("1/8", "1/2", "two outputs"), "all"),
        (hidden_scalar_cell(1, 3, 1), "all"),
        (hidden_scalar_cell(1 - Fraction(1, 2**10), 3, 1), "all"),
        (hidden_scalar_cell(1 + Fraction(1, 2**12), 2, 1), "even"),
    ]
    for kind in KINDS:
        for seed in range(12):
            network = some_network(random.Random(f"{kind} {seed} forged"), kind, 2 + seed % 3, start=seed % 3 == 2)
            found.append((network, "even" if seed % 4 == 3 else "all"))
    return [certify(network, lengths, limit=LIMIT) for network, lengths in found]


@pytest.fixture(scope="module")
def verdicts():
    found = [verdict for verdict in sources() if verdict.horizon != 0]
    assert {verdict.outcome for verdict in found} == set(Outcome)
    assert {verdict.method for verdict in found} == {"sorting"}
    assert all(check(json.dumps(certificate(verdict))).valid for verdict in found)
    return found


def lie(verdict, generator):
    """A certificate that says something false, and what was forged; None where this forgery would be true."""
    content, stride = deepcopy(certificate(verdict)), verdict.lengths.stride
    forge = generator.choice(
        [another_horizon, another_verdict, another_string, another_class, another_weight, another_tail]
    )
    return forge(verdict, content, stride, generator), forge.__name__


def another_horizon(verdict, content, stride, generator):
    if verdict.outcome is not Outcome.REFUTED:
        return None
    content["horizon"] += generator.choice([-stride, stride, 1, -1])
    if content["horizon"] < 0:
        return None
    if generator.random() < 0.5:  # the counterexample dropped, a horizon that is too far
        content.update(
            verdict="BOUNDED", horizon=verdict.horizon + stride * generator.randint(1, 4), counterexample=None
        )
    return content


def another_verdict(verdict, content, stride, generator):
    if verdict.outcome is Outcome.PROVED:
        return None
    tail = generator.choice([None, {"limit": identity(content), "power": 1, "start": 1}, projection(content)])
    content.update(
        verdict="PROVED", horizon="unlimited", counterexample=None, evidence={"method": "sorting", "tail": tail}
    )
    # What is BOUNDED may be right for ever, but that is not what these prove.
    return content


def size_of(content):
    return len(content["model"].get("start") or content["model"]["recurrent_weight"])


def identity(content):
    return [[int(i == j) for j in range(size_of(content))] for i in range(size_of(content))]


def projection(content):
    size = size_of(content)
    limit = [[int(i == j == 0) for j in range(size)] for i in range(size)]
    return {"limit": limit, "power": 4, "start": 16}


def another_string(verdict, content, stride, generator):
    """Another string of the same length; only one that is right is a lie."""
    if verdict.outcome is not Outcome.REFUTED:
        return None
    string = "".join(generator.choice("()") for _ in range(verdict.failure.length))
    exact = verdict.network.in_arithmetic("rational")
    if exact.class_of(string) == verdict.failure.found and exact.right_class(string) == verdict.failure.right:
        return None
    runs = []
    for token in string:
        if runs and runs[-1][0] == token:
            runs[-1][1] += 1
        else:
            runs.append([token, 1])
    content["counterexample"]["runs"] = runs
    return content


def another_class(verdict, content, stride, generator):
    if verdict.outcome is not Outcome.REFUTED:
        return None
    example, classes = content["counterexample"], [name.value for name in verdict.network.task.classes]
    field = generator.choice(["class", "right_class"])
    example[field] = generator.choice([name for name in classes if name != example[field]])
    return content


def another_weight(verdict, content, stride, generator):
    """A network with another weight, whose own verdict is another one."""
    cell = verdict.network.cell
    if not isinstance(cell, ts.LinearLayer):
        return None
    field = generator.choice(["recurrent_weight", "input_weight"])
    rows = [list(row) for row in getattr(cell, field)]
    row = generator.choice(rows)
    row[generator.randrange(len(row))] += generator.choice([-1, 1]) * Fraction(generator.randint(1, 8), 16)
    changed = replace(verdict.network, cell=replace(cell, **{field: tuple(map(tuple, rows))}))
    other = certify(changed, verdict.lengths, limit=LIMIT)
    content["model"] = certificate(other)["model"]
    same = (other.outcome, other.horizon) == (verdict.outcome, verdict.horizon)
    reached = verdict.outcome is Outcome.BOUNDED and (other.horizon is None or other.horizon >= verdict.horizon)
    return None if same or reached else content


def another_tail(verdict, content, stride, generator):
    if verdict.outcome is not Outcome.PROVED or content["evidence"]["tail"] is None:
        return None
    tail = content["evidence"]["tail"]
    how = generator.randrange(5)
    if how == 0:
        row = generator.choice(tail["limit"])
        row[generator.randrange(len(row))] = str(Fraction(generator.randint(5, 40), 3))
    elif how == 1:
        tail["limit"] = identity(content)
    elif how == 2:
        tail["start"] = generator.choice([0, -1, 2**20, "1", None, True])
    elif how == 3:
        tail["power"] = generator.choice([0, -1, 2**20, "1", None, 1.5])
    else:
        content["evidence"]["tail"] = generator.choice([None, {}, {**tail, "more": 1}, [tail]])
    return content


def test_forged_certificates_are_refused(verdicts):
    generator, forged = random.Random(11), {}
    while sum(forged.values()) < FORGERIES:
        verdict = generator.choice(verdicts)
        content, how = lie(verdict, generator)
        if content is not None:
            assert not check(sealed(content)).valid, (how, content)
            forged[how] = forged.get(how, 0) + 1
    assert len(forged) == 6
    assert min(forged.values()) > 10


def test_the_reasons_of_refusals_name_what_is_wrong():
    content = certificate(certify(nearly_counting("9/10", "95/100")))
    tail = content["evidence"]["tail"]
    for changed, reason in (
        ({"tail": None}, "no exact counter"),
        ({"tail": {**tail, "limit": [[1, 0], [0, 1]]}}, "the limit is not one of the powers of U"),
        ({"tail": {**tail, "limit": [[0, 0], [0, 0]]}}, "the power does not shrink what it is applied to"),
        ({"tail": {**tail, "limit": [[1, 0]]}}, "a list has not 2 entries"),
        ({"tail": {**tail, "start": 1}}, "some string may fail beyond the lengths that were looked at"),
        ({"tail": {**tail, "start": 0}}, "a power or a start is not 1 to 65536"),
        ({}, "the fields are not method tail"),
    ):
        answer = check(sealed({**content, "evidence": {"method": "sorting", **changed}}))
        assert (answer.valid, answer.reason) == (False, reason)


def test_only_linear_networks_are_sorted():
    relu = ts.Network(ts.ReluLayer(((1, -1),), ((1,),), (0,), (0,)), ts.Readout.binary(1, -HALF))
    content = certificate(certify(relu, limit=6))
    answer = check(sealed({**content, "evidence": {"method": "sorting"}}))
    assert (answer.valid, answer.reason) == (
        False,
        "sorting decides only for a step that adds up multiples of the state",
    )
    zero = certificate(certify(ts.Network(ts.LinearLayer(((1, -1),), ((1,),), (0,), (0,)), ts.Readout.zero()), limit=6))
    assert check(sealed(zero)).valid
    assert check(sealed({**zero, "evidence": {"method": "sorting"}})).valid is False
    for arithmetic in ("float64", "float64-fused"):
        counter = certificate(certify(hidden_scalar_cell(1, 2, 0)))
        assert check(sealed({**counter, "arithmetic": arithmetic})).reason == "sorting decides in real numbers only"


def test_what_takes_too_long_is_not_begun():
    """The rounding of a matrix whose sizes grow is never bounded for so many tokens."""
    network = ts.Network(
        ts.LinearLayer(((1, -1), (0, 0)), ((1, 0), (0, Fraction(3, 2))), (0, 0), (0, 0)),
        ts.Readout(((1, 0),), (-HALF,)),
    )
    content = certificate(certify(network))
    assert check(sealed(content)).valid
    for horizon in (10**6, 10**9, 10**30, 10**4000):
        far = {**content, "verdict": "BOUNDED", "horizon": horizon, "evidence": {"method": "sorting"}}
        assert check(sealed(far), minutes=1).valid is None
        failing = {"runs": [["(", horizon + 1]], "class": "ZeroNeg", "right_class": "Pos", "trace": None}
        assert check(sealed({**far, "verdict": "REFUTED", "counterexample": failing}), minutes=1).valid is None


@pytest.mark.parametrize("lengths", Lengths)
def test_a_long_horizon_is_found_again(lengths):
    verdict = certify(hidden_scalar_cell(1 - Fraction(1, 2**16), 4, 3), lengths)
    assert verdict.outcome is Outcome.REFUTED
    content = certificate(verdict)
    assert check(json.dumps(content)).valid
    assert not check(
        sealed(
            {
                **content,
                "verdict": "BOUNDED",
                "horizon": verdict.horizon + verdict.lengths.stride,
                "counterexample": None,
            }
        )
    ).valid
