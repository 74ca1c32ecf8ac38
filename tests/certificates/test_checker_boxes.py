"""Certificates of GRUs and LSTMs: true ones hold, false ones do not, and the checker's own boxes hold every state."""

import json
import math
import re
from copy import deepcopy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vector_networks import MODELS, counting_gru, counting_lstm, every_state, mistakes, ternary

from tallystick import certify, write_network
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check, groups
from tallystick.checker.boxes import BoxedNetwork, hull
from tallystick.checker.claims import Operation
from tallystick.checker.effort import Limit
from tallystick.checker.forms import claim_of
from tallystick.checker.reading import parse
from tallystick.checker.rounded import Rounded
from tallystick.cli import main

LIMIT = 9
PLACES = groups._PLACES[0]
REAL = Rounded(PLACES)
UNIT = 1 << PLACES
every_model = pytest.mark.parametrize("name", MODELS)


def issued(model, lengths="all", limit=LIMIT):
    return certificate(certify(model, lengths, limit=limit))


def sealed(content):
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


def cell_of(content):
    return BoxedNetwork(claim_of(parse(sealed(content))).model, REAL)


def holds(content):
    return check(sealed(content)).valid


@every_model
def test_a_true_certificate_holds_and_an_overstated_horizon_does_not(name):
    """A claim of one counted length more is false wherever every string, run one by one, says so."""
    wrong = [surely for surely, _ in mistakes(MODELS[name], LIMIT + 1)]
    for lengths in Lengths:
        content = issued(MODELS[name], lengths)
        assert check(json.dumps(content)).valid
        further = content["horizon"] + lengths.stride
        if further <= LIMIT + 1 and wrong[further - 1]:
            answer = check(sealed({**content, "verdict": "BOUNDED", "horizon": further, "counterexample": None}))
            assert not answer.valid
            assert answer.reason in (
                f"a string of length {further} fails",
                "the boxes around the states do not decide",
            )


def test_a_counterexample_follows_every_verdict_that_has_one():
    found = [issued(model) for model in MODELS.values()]
    assert {content["verdict"] for content in found} == {Outcome.REFUTED, Outcome.BOUNDED}
    assert all((content["counterexample"] is None) == (content["verdict"] == Outcome.BOUNDED) for content in found)


@pytest.mark.parametrize("name", ["noisy LSTM 0", "random gru 3 1", "random lstm 2 3", "count-tokens gru 2 0"])
def test_every_state_lies_in_the_boxes_of_its_group(name):
    """Strings with the same number of `)` share one box; NumPy's states lie in it, up to NumPy's own rounding."""
    model = MODELS[name]
    cell = cell_of(issued(model))
    boxes, slack = {0: cell.start}, 1e-12
    for h, c, counts in every_state(model, 7):
        longer = {}
        for closing, state in boxes.items():
            for token in (0, 1):
                image, target = cell.step(state, token), closing + token
                longer[target] = hull(longer[target], image) if target in longer else image
        boxes = longer
        closings = ((len(boxes) - 1) - counts) // 2
        values = np.concatenate([h, c], axis=1)
        for place in range(len(cell.start)):
            low, high = ([boxes[closing][place][end] / UNIT for closing in closings.tolist()] for end in (0, 1))
            assert (values[:, place] >= [value - slack for value in low]).all()
            assert (values[:, place] <= [value + slack for value in high]).all()


def lies(content):
    """Claims that are false or malformed, about an LSTM of one unit that is right to length 10 and fails at 11."""
    example, model = content["counterexample"], content["model"]
    yield {**content, "verdict": "PROVED", "horizon": "unlimited", "counterexample": None}
    yield {**content, "arithmetic": "float32"}
    yield {**content, "evidence": {"method": "search"}}
    yield {**content, "evidence": {"method": "gated boxes", "suffix": 4}}
    yield {**content, "lengths": "even"}
    yield {**content, "horizon": 9}
    for horizon in (11, 10**5, 10**300, -1, "10"):
        yield {**content, "horizon": horizon}
        yield {**content, "horizon": horizon, "verdict": "BOUNDED", "counterexample": None}
    yield {**content, "counterexample": None}
    yield {**content, "counterexample": {**example, "class": example["right_class"], "right_class": example["class"]}}
    yield {**content, "counterexample": {**example, "class": example["right_class"]}}
    yield {**content, "counterexample": {**example, "runs": [["(", 5], [")", 6]]}}
    yield {**content, "counterexample": {**example, "runs": [["(", 1], [")", 10]]}}
    yield {**content, "counterexample": {**example, "trace": [0] * 12}}
    for field, value in (
        ("cell", "gru"),
        ("recurrent_weight", []),
        ("recurrent_weight", [[0]] * 3),
        ("recurrent_weight", [[0, 0]] * 4),
        ("recurrent_weight", [[0] * 65] * 260),
        ("input_weight", [[4, 4]] * 4),
        ("input_weight", [[4, 4, 4]] * 4),
        ("input_bias", [0] * 5),
        ("recurrent_bias", [0.5, 0, 0, 0]),
        ("recurrent_bias", ["-1/2", 1, 0, 0]),
        ("readout", {"kind": "zero"}),
        ("readout", {"kind": "binary", "weight": [1], "bias": [0]}),
        ("readout", {"kind": "binary", "weight": [[1]], "bias": ["1/2"]}),
        ("readout", {"kind": "ternary", "weight": [[1]], "bias": [0]}),
    ):
        yield {**content, "model": {**model, field: value}}


def test_false_claims_do_not_hold():
    content = issued(counting_lstm(4.0), limit=20)
    assert (content["verdict"], content["horizon"]) == ("REFUTED", 10)
    assert holds(content)
    for lie in lies(deepcopy(content)):
        assert not holds(lie), lie


UNDECIDED = (None, "the boxes around the states do not decide")


def test_what_the_boxes_cannot_decide_is_left_open(monkeypatch):
    content = issued(MODELS["count-tokens gru 2 1"], limit=8)
    assert holds(content)
    monkeypatch.setattr(groups, "_SUFFIXES", (1,))
    assert check(sealed(content)) == UNDECIDED


def test_what_would_take_too_long_is_not_begun(monkeypatch):
    content = issued(counting_lstm(20.0), limit=20)
    assert holds(content)
    monkeypatch.setattr(BoxedNetwork, "step", None)
    answer = check(sealed({**content, "horizon": 50_000}))
    assert answer.valid is None
    assert re.fullmatch(
        "length 50000 would take about .*; the limit is 5 minutes, and --minutes raises it", answer.reason
    )


FAILS_AT_11 = issued(counting_lstm(4.0), limit=12)


def bounded(content, horizon, **model):
    """The same cell, and a horizon in place of what was claimed."""
    content = {**content, "verdict": "BOUNDED", "horizon": horizon, "counterexample": None}
    return {**content, "model": {**content["model"], **model}}


def test_a_counterexample_must_surely_fail():
    """Not a string with the class that it should get, nor one that is right, whatever class is claimed."""
    example = FAILS_AT_11["counterexample"]
    for lie in (
        {**example, "class": example["right_class"]},
        {**example, "runs": [["(", 11]]},
        {**example, "runs": [["(", 1], [")", 10]], "class": "Pos", "right_class": "ZeroNeg"},
    ):
        answer = check(sealed({**FAILS_AT_11, "counterexample": lie}))
        assert answer == (False, "the counterexample does not fail as it is said to")


def test_a_threshold_within_the_bounds_of_a_state_needs_more_digits(monkeypatch):
    cell = cell_of(FAILS_AT_11)
    (low, high), _ = cell.step(cell.start, 0)
    readout = {"kind": "binary", "weight": [[1]], "bias": [str(-Fraction(low + high, 2 * UNIT))]}
    assert low < high
    claim = sealed(bounded(FAILS_AT_11, 1, readout=readout))
    closer = BoxedNetwork(claim_of(parse(claim)).model, Rounded(384))
    assert check(claim).valid is (closer.class_of(closer.step(closer.start, 0)) == 1)
    monkeypatch.setattr(groups, "_PLACES", (PLACES,))
    assert check(claim) == UNDECIDED


def test_states_smaller_than_a_unit_are_told_apart():
    """An LSTM that counts in steps of 2^−120, of which the first boxes tell nothing; a claim of too much still fails."""
    tiny = f"1/{2**120}"
    rows = {"input_weight": [[40, 40], [40, 40], [tiny, "-" + tiny], [40, 40]]}
    for bias, valid in ((f"-1/{2**121}", True), (f"-3/{2**121}", False)):
        readout = {"kind": "binary", "weight": [[1]], "bias": [bias]}
        assert check(sealed(bounded(FAILS_AT_11, 4, readout=readout, **rows))).valid is valid


def test_which_class_a_box_surely_gets():
    """The output is h, in units: from 0 on it may be a tie, from one unit on it is above."""
    readout = {"kind": "binary", "weight": [[1]], "bias": [0]}
    cell = cell_of(bounded(FAILS_AT_11, 1, readout=readout))
    found = {box: cell.class_of((box, (0, 0))) for box in ((0, 0), (0, 5), (1, 1), (1, 5), (-5, 0), (-1, 1))}
    assert found == {(0, 0): 0, (0, 5): None, (1, 1): 1, (1, 5): 1, (-5, 0): 0, (-1, 1): None}


def test_closer_boxes_are_tried_where_wide_ones_do_not_decide(monkeypatch):
    content = issued(MODELS["count-tokens gru 2 1"], limit=4)
    found = []
    for suffixes in ((1,), (1, 4)):
        monkeypatch.setattr(groups, "_SUFFIXES", suffixes)
        found.append(check(sealed(content)).valid)
    assert found == [None, True]


@pytest.mark.parametrize("suffix", [1, 2, 4])
def test_a_check_is_as_long_as_it_is_said_to_be(suffix, monkeypatch):
    """Every step of every group is counted beforehand."""
    horizon, steps, step, counted = 5, [], BoxedNetwork.step, []
    monkeypatch.setattr(groups, "_SUFFIXES", (suffix,))
    monkeypatch.setattr(BoxedNetwork, "step", lambda *args: steps.append(args) or step(*args))
    monkeypatch.setattr(Limit, "allow", lambda _, nanoseconds, __: counted.append(nanoseconds))
    claim = bounded(FAILS_AT_11, horizon)
    assert holds(claim)
    tails = [{(word.count(")"), word[-suffix:]) for word in words(length)} for length in range(horizon)]
    assert len(steps) == 2 * sum(map(len, tails))
    assert counted == [len(steps) * cell_of(claim).time()]


def words(length):
    return ["".join(tokens) for tokens in product("()", repeat=length)]


def ratio(number):
    return f"{Fraction(number).numerator}/{Fraction(number).denominator}"


def test_a_gate_may_be_open_however_wide():
    for size in (2**600, -(2**600), Fraction(1, 3**900)):
        assert holds(bounded(FAILS_AT_11, 0, recurrent_bias=[ratio(size), 0, 0, 0]))


@pytest.mark.parametrize("scale", [Fraction(1, 2**100), Fraction(1, 3**2000), Fraction(2**100), Fraction(3**2000)])
def test_a_readout_may_be_scaled_by_any_positive_number(scale):
    readout = FAILS_AT_11["model"]["readout"]
    (((weight,),), (bias,)) = readout["weight"], readout["bias"]
    scaled = {**readout, "weight": [[ratio(scale * Fraction(weight))]], "bias": [ratio(scale * Fraction(bias))]}
    for horizon, valid in ((10, True), (11, False)):
        assert check(sealed(bounded(FAILS_AT_11, horizon, readout=scaled))).valid is valid


@pytest.mark.parametrize("model", [ternary(counting_gru(0.95)), counting_lstm(5.0)], ids=["gru", "lstm"])
def test_the_command_writes_what_the_checker_verifies(model, tmp_path, capsys):
    path, out = tmp_path / "network.json", tmp_path / "certificate.json"
    write_network(model, path)
    for arguments, code, words in (
        (["certify", path, "--out", out], 1, "REFUTED"),
        (["check", out], 0, "holds: REFUTED: every counted length to"),
    ):
        with pytest.raises(SystemExit) as end:
            main(list(map(str, arguments)))
        assert (end.value.code, words in capsys.readouterr().out) == (code, True)


WHOLE = st.integers(-(2**100), 2**100)
BOXES = st.tuples(WHOLE, WHOLE).map(lambda ends: (min(ends), max(ends)))
SHARES = st.tuples(st.integers(-UNIT, 2 * UNIT), st.integers(-UNIT, 2 * UNIT)).map(lambda ends: (min(ends), max(ends)))


def enclosed(box, values):
    """Whether a box is the least one around some numbers, in units."""
    return (box[0], box[1]) == (math.floor(min(values)), math.ceil(max(values)))


@given(BOXES, BOXES, SHARES)
def test_operations_are_rounded_outward_and_no_further(x, y, share):
    assert enclosed(REAL.product(x, y), [Fraction(p * q, UNIT) for p in x for q in y])
    means = [((UNIT - s) * p + s * q) / Fraction(UNIT) for s in share for p in x for q in y]
    assert enclosed(REAL.mean(share, x, y), means)


def box_of(number):
    return REAL.sums([Operation("sum", (), (), number)])([])[0]


@pytest.mark.parametrize("x", [-800.0, -3.5, -1e-9, 0.0, 0.7, 12.0, 800.0])
def test_squashing_is_closely_enclosed(x):
    at = box_of(Fraction(x))
    for (low, high), true in (
        (REAL.tanh(at), math.tanh(x)),
        (REAL.sigmoid(at), (1 + math.tanh(x / 2)) / 2),
    ):
        assert 0 <= high - low <= 4
        assert abs(Fraction(low, UNIT) - Fraction(true)) < Fraction(1, 2**50)


@pytest.mark.parametrize("number", [Fraction(0), Fraction(1, 3), Fraction(-7, 5), Fraction(123456789, 1000)])
def test_a_box_holds_its_number_closely(number):
    low, high = box_of(number)
    assert Fraction(low, UNIT) <= number <= Fraction(high, UNIT)
    assert high - low == (number.denominator > 1)
