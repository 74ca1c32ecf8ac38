"""Certificates: the checker passes every true one, and nothing that was changed."""

import json
import random
from copy import deepcopy
from fractions import Fraction

import pytest
from brute_force import READOUTS, SCALAR_CELLS, some_model

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import ARITHMETIC_NAMES, Lengths
from tallystick.checker import check
from tallystick.networks import Network, Readout

HALF = Fraction(1, 2)
EXAMPLES = [
    (Network(LinearCell(1, -1, 1), Readout.zero()), "real"),
    (Network(LinearCell(1, -1, 1), Readout.binary(1, -HALF)), "float32"),
    (Network(LinearCell(Fraction(1, 10), Fraction(-1, 10), 1), Readout.zero()), "float32"),
    (Network(LinearCell(1.25, -1.5, 1.01), Readout.binary(0.75, -0.1)), "real"),
    (Network(LinearCell(1, -1, 0.99), Readout.ternary((-1, 0, 1), (-HALF, 0, -HALF))), "real"),
    (Network(LinearCell(1, -1, 0.99), Readout.ternary((-1, 0.25, 1), (-HALF, 0, -HALF))), "float16"),
    (Network(LinearCell(1, -1, 1 + Fraction(1, 2**40)), Readout.binary(1, -HALF)), "real"),
    (Network(LinearCell(1, -1 - Fraction(1, 2**40), 1), Readout.binary(1)), "real"),
    (Network(SelectiveCell(1, -2, HALF, 2), Readout.binary(1, -HALF)), "real"),
    (Network(SelectiveCell(1, -2, HALF, 2.03125), Readout.binary(1, -HALF)), "real"),
    (Network(ReluCell(1, Fraction(-101, 100), 1), Readout.zero()), "real"),
    (Network(ReluCell(1, -1, 1), Readout.zero()), "float64"),
    (Network(ReluCell(0.75, -0.75, 1), Readout.zero()), "bfloat16-fused"),
    (Network(TanhCell(0.125, -0.125, 1), Readout.binary(1, -0.0625)), "real"),
    (Network(TanhCell(0.125, -0.125, 1), Readout.ternary((-1, 0.25, 1), (-0.0625, 0, -0.0625))), "float32"),
]
each = pytest.mark.parametrize(("model", "arithmetic"), EXAMPLES)


def issued(model, arithmetic, lengths="all"):
    return certificate(certify(model, lengths, arithmetic, limit=40))


def resealed(content):
    """A forged certificate whose digest fits."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


@pytest.mark.parametrize("arithmetic", ARITHMETIC_NAMES)
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("cell", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_the_checker_passes_what_the_certifier_issues(cell, readout, arithmetic):
    generator = random.Random(f"{cell}{readout}{arithmetic}")
    for _ in range(8):
        model = some_model(cell, readout, generator)
        for lengths in Lengths:
            finding = check(json.dumps(issued(model, arithmetic, lengths)))
            assert finding.valid, (model, finding)


@each
def test_a_changed_character_fails(model, arithmetic):
    """Every digit and every letter in turn, replaced by another one."""
    text, generator = json.dumps(issued(model, arithmetic)), random.Random(1)
    assert check(text).valid
    for place, character in enumerate(text):
        if character.isalnum():
            pool = "0123456789" if character.isdigit() else "abcdefgnrtuABCDEF"
            other = generator.choice([letter for letter in pool if letter != character])
            assert not check(text[:place] + other + text[place + 1 :]).valid


def lies(content):
    """Claims that differ from a true one, each of them false."""
    generator = random.Random(2)
    stride = 2 if content["lengths"] == "even" else 1

    def changed(**fields):
        return {**deepcopy(content), **fields}

    if content["verdict"] == "PROVED":
        yield changed(verdict="BOUNDED")
        yield changed(arithmetic="float32-fused")
        yield changed(evidence={"method": "search"})
        yield changed(
            counterexample={"runs": [["(", 1]], "class": "rejected", "right_class": "accepted", "trace": None}
        )
    else:
        yield changed(verdict="PROVED", horizon="unlimited", counterexample=None)
        yield changed(verdict="PROVED", horizon="unlimited", counterexample=None, evidence={"method": "theorem"})
        yield changed(horizon=-stride)
        yield changed(horizon=str(content["horizon"]))
        yield changed(horizon=float(content["horizon"]))
    for name in set(content) - {"digest"}:  # which is made anew
        yield {other: value for other, value in content.items() if other != name}
        yield changed(**{name: None if content[name] is not None else 0})
    yield changed(note="")
    yield changed(lengths="odd")
    yield changed(readout="nothing")
    yield changed(evidence={"method": "trust me"})
    yield changed(evidence={**content["evidence"], "more": 1})
    yield changed(evidence={**content["evidence"], "tanh_neighbours": 2})
    if content["verdict"] == "REFUTED":
        for distance in (-2, -1, 1, 2):
            yield changed(horizon=content["horizon"] + distance * stride)
        example = content["counterexample"]
        other = {"class": example["right_class"], "right_class": example["class"]}
        yield changed(counterexample={**example, **other})
        yield changed(counterexample={**example, "class": example["right_class"]})
        for _ in range(10):
            runs = deepcopy(example["runs"])
            runs[generator.randrange(len(runs))][1] += generator.choice([-1, 1])
            yield changed(counterexample={**example, "runs": runs})
        if example["trace"]:
            for _ in range(10):
                trace = list(example["trace"])
                trace[generator.randrange(len(trace))] = generator.choice([7, "1/3", "-22/7"])
                yield changed(counterexample={**example, "trace": trace})


@each
def test_a_false_claim_fails_even_with_a_fitting_digest(model, arithmetic):
    for lengths in Lengths:
        content = issued(model, arithmetic, lengths)
        assert check(resealed(content)).valid
        for lie in lies(content):
            assert not check(resealed(lie)).valid, lie


def test_an_overstated_horizon_fails():
    """A later failing string with a later horizon, true in itself, hides the shorter one."""
    model = Network(LinearCell(1, -1, 0.9), Readout.binary(1, -HALF))
    content = issued(model, "real")
    length = content["horizon"] + 1
    later = next(
        (runs, model.class_of(string), model.right_class(string))
        for string, runs in (
            ("(" * n + ")" * (length + 2 - n), [["(", n], [")", length + 2 - n]]) for n in range(1, length)
        )
        if model.class_of(string) != model.right_class(string)
    )
    example = {"runs": later[0], "class": later[1].value, "right_class": later[2].value, "trace": None}
    for method in ("search", "sorted strings"):
        forged = {**content, "horizon": length + 1, "counterexample": example, "evidence": {"method": method}}
        finding = check(resealed(forged))
        assert not finding.valid
        assert "fails" in finding.reason


def test_an_overstated_bound_fails():
    content = issued(Network(LinearCell(1, -1, 1), Readout.binary(1, -HALF)), "float32")
    assert content["horizon"] == 2**24
    assert not check(resealed({**content, "horizon": 2**24 + 1})).valid
    searched = issued(Network(LinearCell(1, -1, 0.99), Readout.binary(1, -HALF)), "float32")
    assert searched["verdict"] == "REFUTED"
    assert not check(resealed({**searched, "verdict": "BOUNDED", "counterexample": None, "horizon": 39})).valid
