"""Verdicts on layers without gates: as every string says, and as the checker finds again; forged certificates are refused."""

import json
from copy import deepcopy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check

LONGEST = 8
LAYERS = {kind.name: kind for kind in (ts.LinearLayer, ts.ReluLayer, ts.TanhLayer)}
every_layer = pytest.mark.parametrize("kind", LAYERS.values(), ids=LAYERS)


def counter(kind, units, seed, noise=0.1):
    """A network whose first two units nearly count, one up and one down; those of a ReLU layer hold back each other."""
    generator = np.random.default_rng(seed)
    size = {"linear": 1.0, "relu": 1.0, "tanh": 0.05}[kind.name]
    W, U = np.zeros((units, 2)), np.zeros((units, units))
    W[:2], U[:2, :2] = [[size, -size], [-size, size]], [[1, -1], [-1, 1]] if kind.name == "relu" else [[1, 0], [0, 1]]
    v = np.zeros(units)
    v[:2] = [1, -1]
    tensors = [W, U, np.zeros(units), np.zeros(units)]
    cell = kind(*(nested(part + noise * size * generator.normal(size=part.shape)) for part in tensors))
    return ts.Network(cell, ts.Readout((nested(v),), (-size / 2,)))


def nested(array):
    return tuple(map(nested, array)) if np.ndim(array) else float(array)


def memoryless(kind, seed):
    """A counter below a layer with U = 0, read by three outputs."""
    below = counter(ts.LinearLayer, 2, seed, noise=0.02).cell
    above = kind(((0.5, -0.5), (-0.5, 0.5)), ((0, 0), (0, 0)), (0.125, 0), (0, 0))
    return ts.Network(ts.Stack((below, above)), ts.Readout(((-4, 4), (0, 0), (4, -4)), (-0.5, 0.5, -0.5)))


def first_failure(network):
    """The first length at which a string is wrong: in rationals where states are rational, else in doubles."""
    cell, executed = network.cell, network.in_arithmetic("float64")
    rational = all(layer.is_rational for layer in getattr(cell, "layers", (cell,)))
    executed = network.in_arithmetic("rational") if rational else executed
    states = [("", executed.cell.initial_state)]
    for length in range(1, LONGEST + 1):
        tokens = ts.cells.ONE_HOT.items()
        states = [
            (string + name, executed.cell.step(state, token))
            for (string, state), (name, token) in product(states, tokens)
        ]
        if any(executed.class_of_state(state) != network.right_class(string) for string, state in states):
            return length
    return None


NETWORKS = {
    **{
        f"{name} {units} {seed}": counter(kind, units, seed)
        for name, kind in LAYERS.items()
        for units, seed in ((2, 0), (4, 1), (4, 2))
    },
    **{f"{name}, exact": counter(kind, 2, 0, noise=0) for name, kind in LAYERS.items()},
    **{f"{name} without memory": memoryless(kind, seed) for seed, (name, kind) in enumerate(LAYERS.items())},
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_verdict_is_what_every_string_says_and_the_checker_agrees(name):
    network = NETWORKS[name]
    verdict, first = ts.certify(network, limit=LONGEST), first_failure(network)
    if first is None:
        proved = name == "linear, exact"
        assert (verdict.outcome, verdict.horizon) == ((Outcome.PROVED, None) if proved else (Outcome.BOUNDED, LONGEST))
    else:
        assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, first - 1)
        assert network.in_arithmetic("float64").class_of(verdict.failure.string) == verdict.failure.found
    content = certificate(verdict)
    assert check(json.dumps(content)).valid
    if first is not None:
        false = {**content, "verdict": "BOUNDED", "horizon": first, "counterexample": None}
        assert not check(sealed(false)).valid


def sealed(content):
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


def lies(content):
    """Claims that are false or malformed, about a layer of two units that is refuted."""
    example, model = content["counterexample"], content["model"]
    yield {**content, "verdict": "PROVED", "horizon": "unlimited", "counterexample": None}
    yield {**content, "arithmetic": "float32"}
    yield {**content, "evidence": {"method": "search"}}
    yield {**content, "evidence": {"method": "boxes"}}
    yield {**content, "horizon": content["horizon"] + 1}
    yield {**content, "counterexample": {**example, "class": example["right_class"], "right_class": example["class"]}}
    yield {**content, "counterexample": {**example, "trace": [0] * (content["horizon"] + 2)}}
    for field, value in (
        ("input_weight", [[1], [1]]),
        ("input_weight", [[1, 1, 1]] * 2),
        ("recurrent_weight", [[1]]),
        ("recurrent_weight", [[0] * 65] * 65),
        ("input_bias", [0]),
        ("recurrent_bias", [0, 0.5]),
        ("readout", {**model["readout"], "weight": [1, 1]}),
        ("open_step", 1),
    ):
        changed = deepcopy(content)
        changed["model"][field] = value
        yield changed
    missing = deepcopy(content)
    del missing["model"]["input_weight"]
    yield missing


@every_layer
def test_forged_certificates_are_refused(kind):
    content = certificate(ts.certify(counter(kind, 2, seed=0, noise=0.5), limit=LONGEST))
    assert content["verdict"] == "REFUTED"
    assert check(sealed(content)).valid
    for lie in lies(content):
        assert check(sealed(lie)).valid is False, lie


def test_the_cell_is_part_of_the_claim():
    """The same matrices with another f give another verdict, which the checker tells from the name."""
    exact_counter = counter(ts.LinearLayer, 2, 0, noise=0)
    content = certificate(ts.certify(exact_counter, limit=LONGEST))
    assert (content["verdict"], content["evidence"]) == ("PROVED", {"method": "sorting", "tail": None})
    bounded = {**content, "verdict": "BOUNDED", "horizon": LONGEST, "evidence": {"method": "gated boxes"}}
    assert check(sealed(bounded)).valid
    for claim in (content, bounded):
        changed = deepcopy(claim)
        changed["model"]["cell"] = "relu"
        assert check(sealed(changed)).valid is False


def test_a_zero_check_of_one_unit_is_asked_for_balanced_strings():
    layer = ts.ReluLayer(((1, -1),), ((1,),), (0,), (0,))
    verdict = ts.certify(ts.Network(layer, ts.Readout.zero()), limit=LONGEST)
    assert (verdict.outcome, verdict.failure.string) == (Outcome.REFUTED, ")")
    assert check(json.dumps(certificate(verdict))).valid


def test_weights_that_are_no_doubles_are_read_exactly():
    third = Fraction(1, 3)
    layer = ts.LinearLayer(((third, -third),), ((1,),), (0,), (0,))
    verdict = ts.certify(ts.Network(layer, ts.Readout.binary(6, -1)), limit=12)
    assert verdict.outcome is Outcome.PROVED
    assert check(json.dumps(certificate(verdict))).valid
