"""Certificates for any order of operations: what holds is true however the network is executed, and nothing else passes."""

import json
import math
import random
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from forged import issued, sealed, with_example, with_model
from language_networks import random_network, stepwise_network
from vector_networks import counting_gru, counting_lstm, nested, random_model, ternary, with_noise

import tallystick as ts
from tallystick.cells import ONE_HOT, GruCell, LinearCell, LstmCell, ReluCell, SelectiveCell, TanhCell
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.checker import check
from tallystick.checker.any_order import SATURATED, ULPS, AnyOrder
from tallystick.checker.boxes import BoxedNetwork
from tallystick.checker.claims import Operation
from tallystick.checker.floating import FORMATS
from tallystick.checker.forms import claim_of
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout
from tallystick.numbers import ARITHMETICS, standard_floats
from tallystick.numbers import any_order as certifiers
from tallystick.numbers.floats import FORMATS as FLOATS
from tallystick.numbers.floats import nearest
from tallystick.numbers.values import numbers_of

SINGLE = "float32-any-order"
EVERY = [name + "-any-order" for name in FORMATS]


@pytest.fixture(autouse=True)
def _standard_floats():
    with standard_floats():
        yield


def rounded(value, name):
    return Fraction(float(nearest(value, FLOATS[name])))


def in_units(arithmetic, value):
    """A number of the format as the checker has it."""
    found = value * arithmetic.unit
    assert found.denominator == 1
    return int(found)


# --- What is assumed, and what boxes hold ---------------------------------------------------------------------------------


def test_the_checker_assumes_what_the_certifier_does():
    assert ULPS == certifiers.ULPS
    assert SATURATED == certifiers.SATURATED


@pytest.mark.parametrize("name", FORMATS)
def test_a_sum_holds_every_order_fused_or_not(name):
    generator, arithmetic = np.random.default_rng(1), AnyOrder(name + "-any-order")
    for terms, _ in product((1, 2, 3, 4), range(20)):
        drawn = generator.uniform(-1, 1, (2, terms)) * 2.0 ** generator.integers(-6, 6, (2, terms))
        W, x = ([rounded(Fraction(float(one)), name) for one in row] for row in np.round(drawn * 64) / 64)
        boxes = [(in_units(arithmetic, one),) * 2 for one in x]
        ((low, high),) = arithmetic.sums([Operation("sum", tuple(range(terms)), tuple(W))])(boxes)
        for order in permutations(range(terms)):
            for fused in (False, True):
                total = rounded(W[order[0]] * x[order[0]], name)
                for k in order[1:]:
                    total = rounded(total + (W[k] * x[k] if fused else rounded(W[k] * x[k], name)), name)
                assert low <= in_units(arithmetic, total) <= high


@pytest.mark.parametrize("name", FORMATS)
def test_functions_are_bounded_as_far_as_is_assumed(name):
    """The bounds are those of the certifier, found in another way; in float64 its own are wider, as it computes with doubles."""
    arithmetic, form = AnyOrder(name + "-any-order"), FLOATS[name]
    generator = np.random.default_rng(2)
    for x in [0.0, *generator.normal(size=40) * 3, *SATURATED[name], *(-point for point in SATURATED[name])]:
        value = rounded(Fraction(float(x)), name)
        span = certifiers.span_of(value, form)
        for function, act in (
            (certifiers.hyperbolic_tangent, arithmetic.tanh),
            (certifiers.sigmoid, arithmetic.sigmoid),
        ):
            box, found = function(span).box, act((in_units(arithmetic, value),) * 2)
            least, greatest = (Fraction(end, arithmetic.unit) for end in found)
            more = 16 if name == "float64" else 1
            ulp = more * 2 * form.unit * max(abs(least), abs(greatest)) + 2 * form.least
            assert abs(least - Fraction(float(box.low))) <= ulp
            assert abs(greatest - Fraction(float(box.high))) <= ulp


def vector_models(units, seed):
    """Networks of every kind of layer, drawn at random."""
    generator = np.random.default_rng(seed)
    readout = Readout(nested(generator.normal(size=(1, units)).tolist()), (float(generator.normal()),))
    for kind in (LinearLayer, ReluLayer, TanhLayer, GruCell, LstmCell, ts.SelectiveLayer, ts.MatrixLayer):
        tensors = (nested((0.7 * generator.normal(size=shape)).tolist()) for shape in kind.shapes(units).values())
        yield Network(kind(*tensors), readout)


def scalar_models():
    for readout in (Readout.binary(1, -0.5), Readout.ternary((-1, 0, 1), (-0.5, 0, -0.5))):
        yield Network(LinearCell(1, -1, 1), readout)
        yield Network(LinearCell(0.1, -0.1, 0.99), readout)
        yield Network(SelectiveCell(1, -1, 0.9, 1.1), readout)
        yield Network(ReluCell(1, -1, 1), readout)
        yield Network(TanhCell(0.1, -0.1, 1), readout)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_the_state_of_the_networks_own_step_lies_in_the_boxes(name):
    generator, number = np.random.default_rng(3), ARITHMETICS[name]
    for network in [*vector_models(1, 1), *vector_models(3, 2), *scalar_models()]:
        content = issued(network, f"{name}-any-order", limit=2)
        arithmetic, executed = AnyOrder(name + "-any-order"), network.cell.map_weights(number)
        boxed = BoxedNetwork(claim_of(content).model, arithmetic)
        for _ in range(3):
            tokens = generator.integers(0, 2, 12)
            boxes = boxed.start
            for token in tokens:
                boxes = boxed.step(boxes, int(token))
            state = numbers_of(executed.final_state("".join("()"[token] for token in tokens)))
            for found, (low, high) in zip(state, boxes, strict=True):
                assert Fraction(low, arithmetic.unit) <= Fraction(float(found)) <= Fraction(high, arithmetic.unit)
                assert Fraction(high - low, arithmetic.unit) <= 2.0 ** (14 - FLOATS[name].digits) * (
                    1 + abs(float(found))
                )


# --- Certificates that hold -----------------------------------------------------------------------------------------------


def honest():
    """Certificates of cells of all kinds and sizes in every format."""
    for units in (1, 2, 4):
        for network in (counting_lstm(9.0, units), counting_lstm(60.0, units), counting_gru(0.9, units)):
            yield issued(network, SINGLE, limit=14)
        yield issued(with_noise(counting_lstm(9.0, units), 0.02, units), SINGLE, "even", limit=10)
        yield issued(ternary(counting_lstm(60.0, units)), SINGLE, limit=10)
    for network in [*vector_models(2, 5), *scalar_models()]:
        yield issued(network, SINGLE, limit=10)
    for arithmetic in EVERY:
        yield issued(counting_lstm(60.0, 2), arithmetic, limit=12)
        yield issued(Network(LinearCell(0.1, -0.1, 1), Readout.zero()), arithmetic, limit=12)
        yield issued(counting_gru(0.9), arithmetic, limit=12)


HONEST = []


def some_honest():
    HONEST.extend([] if HONEST else honest())
    return HONEST


def test_certificates_hold():
    for content in some_honest():
        answer = check(json.dumps(content))
        assert answer.valid, (answer, content)
    assert {content["verdict"] for content in some_honest()} == {"REFUTED", "BOUNDED"}


def test_certificates_about_languages_hold():
    """The checker's bounds are about as close as the certifier's: all but a few certificates are decided, and none is refused."""
    draws = random.Random(3)
    networks = [random_network(draws, (LinearLayer, ReluLayer, TanhLayer, GruCell, LstmCell)) for _ in range(12)]
    for kind, decision in product((TanhLayer, LstmCell, ReluLayer), ("threshold", "next", "support")):
        networks.append(stepwise_network(draws, kind, decision, draws.choice(("anbn", "dyck1", "anbncn"))))
    answers = []
    for network, arithmetic in product(networks, (SINGLE, "float16-any-order")):
        try:
            content = issued(network, arithmetic, limit=4)
        except BadInput:  # numbers that float16 does not hold
            continue
        answers.append(check(json.dumps(content)).valid)
        assert answers[-1] is not False, (network, arithmetic)
        if content["verdict"] == "REFUTED":
            stride = 1 if content["lengths"] == "all" else 2
            raised = {**content, "verdict": "BOUNDED", "horizon": content["horizon"] + stride, "counterexample": None}
            assert not check(sealed(raised)).valid
    assert answers.count(True) > 0.9 * len(answers) > 20


@pytest.mark.long
def test_certificates_of_32_units_hold():
    for network in (counting_lstm(9.0, 32), with_noise(counting_lstm(60.0, 32), 0.01, 1), counting_gru(0.9, 32)):
        assert check(json.dumps(issued(network, SINGLE, limit=8))).valid


def test_a_certificate_says_what_it_assumes():
    evidence = issued(counting_lstm(60.0), SINGLE, limit=2)["evidence"]
    assert evidence["assumed"] == {"ulps": 8, "tanh_is_1_from": 12, "sigmoid_is_1_from": 20}


def test_a_sum_of_sums_is_one_sum():
    """Four numbers that add up to 1/2 in one order, and to 0 in another: nothing is known of their sign."""
    third = [["sum", [[1, 1], [1, 2]], 0], ["sum", [[1, 3], [1, 4]], 0], ["sum", [[1, 5], [1, 6]], 0]]
    constants = [["sum", [], c] for c in (2**30, "1/2", -(2**30), "1/4")]
    program = {"operations": [*constants, *third], "results": [7]}
    content = issued(Network(LinearCell(1, -1, 1), Readout.binary(1, -0.5)), SINGLE, limit=2)
    model = {
        **{"cell": "own", "start": [0], "step": {"(": program, ")": program}},
        **{"hidden": {"operations": [], "results": [0]}, "task": task(["ZeroNeg", "Pos"], ["Pos", "Pos", "Pos"])},
        "readout": {"kind": "own", "weight": [[1]], "bias": [0], "comparisons": [[[0, None, True]]]},
    }
    claimed = {**content, "model": model, "readout": "own", "verdict": "BOUNDED", "horizon": 1, "counterexample": None}
    claimed["evidence"] = {"method": "any order", "assumed": content["evidence"]["assumed"]}
    assert check(sealed(claimed)).valid is None
    executed = {**claimed, "arithmetic": "float32", "evidence": {"method": "boxes"}}
    assert check(sealed(executed)).valid is False


def task(classes, right):
    return {"name": "own", "machine": "bb", "classes": classes, "right": right}


# --- Certificates that are false ------------------------------------------------------------------------------------------


def forgeries(content):
    """Claims that say more than a certificate, or something else; each with a word for what was done."""
    horizon, arithmetic = content["horizon"], content["arithmetic"]
    form = arithmetic.removesuffix("-any-order")
    evidence = content["evidence"]
    assumed = evidence["assumed"]
    for field, value in assumed.items():
        for other in (value - 1, value + 1, 0, str(value), None):
            yield f"{field} {other}", {**content, "evidence": {**evidence, "assumed": {**assumed, field: other}}}
    yield (
        "nothing assumed",
        {**content, "evidence": {field: evidence[field] for field in evidence if field != "assumed"}},
    )
    yield "other method", {**content, "evidence": {"method": "search"}}
    yield "boxes", {**content, "evidence": {**evidence, "method": "boxes"}}
    yield "renamed", {**content, "arithmetic": form}
    yield "renamed fused", {**content, "arithmetic": f"{form}-fused"}
    for other in FORMATS:
        if SATURATED[other] != SATURATED[form] or (other != form and evidence["method"] == "saturation"):
            yield f"renamed {other}", {**content, "arithmetic": f"{other}-any-order"}
    yield "proved", {**content, "verdict": "PROVED", "horizon": "unlimited", "counterexample": None}
    if content["verdict"] == "REFUTED":
        stride = 1 if content["lengths"] == "all" else 2
        yield "raised", {**content, "verdict": "BOUNDED", "horizon": horizon + stride, "counterexample": None}
        yield "far raised", {**content, "verdict": "BOUNDED", "horizon": 4 * horizon + 1024, "counterexample": None}
        example = content["counterexample"]
        swapped = [["()"[token == "("], size] for token, size in example["runs"]]
        if content["readout"] != "zero" and sum(size * (1, -1)[token == ")"] for token, size in swapped):
            yield "swapped string", with_example(content, runs=swapped)
        yield (
            "swapped classes",
            with_example(content, **{"class": example["right_class"], "right_class": example["class"]}),
        )
        longer = [[example["runs"][0][0], example["runs"][0][1] + stride], *example["runs"][1:]]
        yield "longer string", with_example(content, runs=longer)
        yield "not refuted", {**content, "verdict": "BOUNDED"}
    else:
        yield "refuted", {**content, "verdict": "REFUTED"}
    if evidence["method"] == "saturation":
        yield from forged_invariants(content)
    if "input_weight" in content["model"]:  # the same matrices with tokens swapped: the count turns round
        rows = [row[::-1] for row in content["model"]["input_weight"]]
        yield "swapped tokens", with_model(content, input_weight=rows)


def forged_invariants(content):
    """The same claim with an invariant that does not hold, and the claim that a larger depth would prove."""
    evidence, horizon = content["evidence"], content["horizon"]
    edge, depth, boxes, above = (evidence[field] for field in ("edge", "depth", "boxes", "above"))
    for other in (depth + 1, 2 * depth, 0, edge, str(depth)):
        yield f"depth {other}", {**content, "evidence": {**evidence, "depth": other}}
    for other in (depth + 1, 2 * depth):
        further = {**content, "verdict": "BOUNDED", "horizon": 2 * other, "counterexample": None}
        yield f"further to {other}", {**further, "evidence": {**evidence, "depth": other}}
    yield "edge", {**content, "evidence": {**evidence, "edge": edge - 1}}
    if content["verdict"] == "BOUNDED":
        yield "raised", {**content, "horizon": horizon + (1 if content["lengths"] == "all" else 2)}
    for count in (0, 1, edge, edge + 1, 2 * edge):
        moved = [[[Fraction(end) + 1 for end in box] for box in state] for state in boxes[count : count + 1]]
        nudged = [[[str(end) if end.denominator > 1 else int(end) for end in box] for box in state] for state in moved]
        yield (
            f"box {count}",
            {**content, "evidence": {**evidence, "boxes": [*boxes[:count], *nudged, *boxes[count + 1 :]]}},
        )
    for side in ("above", "below"):
        yield f"no slope {side}", {**content, "evidence": {**evidence, side: [None] * len(above)}}
        for other in (0, 2, "1/3"):
            slopes = [slope if slope is None else other for slope in evidence[side]]
            if slopes != evidence[side]:
                yield f"slope {other} {side}", {**content, "evidence": {**evidence, side: slopes}}
    yield (
        "crossed",
        {**content, "evidence": {**evidence, "boxes": [[box[::-1] for box in state] for state in boxes[::-1]]}},
    )


def test_forgeries_are_refused():
    number = 0
    for content in some_honest():
        for what, forged in forgeries(content):
            if what == "swapped tokens" and content["horizon"] < 1:
                continue
            number += 1
            assert not check(sealed(forged), Fraction(1, 600)).valid, (what, content)
    assert number >= 1000


def test_a_gate_that_does_not_saturate_does_not_count():
    """Below the point from which a library's sigmoid is 1, nothing says that the memory is exact."""
    content = issued(zero_checking_lstm(60.0), SINGLE, limit=40)
    assert content["evidence"]["method"] == "saturation"
    assert content["horizon"] == 2**25
    for gate in (19.0, 17.0, 9.0):
        weights = issued(zero_checking_lstm(gate), SINGLE, limit=2)["model"]["input_weight"]
        assert not check(sealed(with_model(content, input_weight=weights)), Fraction(1, 60)).valid


def zero_checking_lstm(gate):
    """A memory that is the count where the gates are exactly 1, and a readout that sees whether it is 0."""
    network = counting_lstm(gate)
    return Network(network.cell, Readout(((1.0,),), (0.0,), "zero"))


def runs_in(network, longest):
    """The horizon of the network's own step in float32 by NumPy, up to a length: every string is run."""
    number = ARITHMETICS["float32"]
    cell, readout = network.cell.map_weights(number), network.readout.map_weights(number)
    states = [((), cell.initial_state)]
    for length in range(1, longest + 1):
        states = [
            ((*string, token), cell.step(state, ONE_HOT["()"[token]])) for string, state in states for token in (0, 1)
        ]
        for string, state in states:
            count = length - 2 * sum(string)
            if int(readout.class_index(cell.hidden(state))) != network.task.index_of_count(count):
                return length - 1
    return longest


def test_no_claim_that_holds_is_contradicted_by_a_run():
    generator = np.random.default_rng(7)
    held = 0
    for seed in range(40):
        kind = (LstmCell, GruCell)[seed % 2]
        base = counting_lstm(3.0) if kind is LstmCell else counting_gru(0.9)
        network = with_noise(base, 0.5, seed) if seed % 4 else random_model(kind, 2, 1, seed)
        content = issued(network, SINGLE, limit=2)
        horizon = runs_in(network, 6)
        for claimed in {*generator.integers(0, 7, 2).tolist(), horizon, horizon + 1}:
            answer = check(sealed({**content, "verdict": "BOUNDED", "horizon": claimed, "counterexample": None}))
            held += bool(answer.valid)
            assert not answer.valid or claimed <= horizon or horizon == 6, (seed, claimed)
    assert held > math.sqrt(40)
