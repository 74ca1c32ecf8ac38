"""Certificates of GRUs and LSTMs: true ones hold, false ones do not, and the checker's own boxes hold every state."""

import json
import math
from copy import deepcopy
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vector_networks import MODELS, counting_gru, counting_lstm, every_state, mistakes, ternary

from tallystick import certify, write_network
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.checker import boxes, check, gated
from tallystick.certificates.checker.gated_cell import GatedCell, joined
from tallystick.certificates.checker.reading import read
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.cli import main

LIMIT = 9
every_model = pytest.mark.parametrize("name", MODELS)


def issued(model, lengths="all", limit=LIMIT):
    return certificate(certify(model, lengths, limit=limit))


def sealed(content):
    rest = {name: value for name, value in content.items() if name != "digest"}
    return json.dumps({**rest, "digest": digest(rest)})


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
            finding = check(sealed({**content, "verdict": "BOUNDED", "horizon": further, "counterexample": None}))
            assert not finding.valid
            assert finding.reason in (
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
    cell = GatedCell(read(json.dumps(issued(model))).model)
    groups, slack = {0: cell.start}, 1e-12
    for h, c, counts in every_state(model, 7):
        longer = {}
        for closing, state in groups.items():
            for token in (0, 1):
                image, target = cell.step(state, token), closing + token
                longer[target] = joined(longer[target], image) if target in longer else image
        groups = longer
        closings = ((len(groups) - 1) - counts) // 2
        for values, part in ((h, 0), (c, 1)):
            for unit in range(len(groups[0][part])):
                low, high = (
                    [groups[closing][part][unit][end] / boxes.UNIT for closing in closings.tolist()] for end in (0, 1)
                )
                assert (values[:, unit] >= [value - slack for value in low]).all()
                assert (values[:, unit] <= [value + slack for value in high]).all()


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
        ("input_bias", [2**501, 0, 0, 0]),
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


def test_what_the_boxes_cannot_decide_is_refused(monkeypatch):
    content = issued(MODELS["count-tokens gru 2 1"], limit=8)
    assert holds(content)
    monkeypatch.setattr("tallystick.certificates.checker.gated._SUFFIXES", (1,))
    assert check(sealed(content)).reason == "the boxes around the states do not decide"


def test_what_would_take_too_long_is_not_begun():
    content = issued(counting_lstm(20.0), limit=20)
    assert holds(content)
    assert check(sealed({**content, "horizon": 5000})).reason == "length 5000 would take too long to check"


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
        finding = check(sealed({**FAILS_AT_11, "counterexample": lie}))
        assert finding == (False, "the counterexample does not surely fail")


def test_a_threshold_within_the_bounds_of_a_state_is_left_open():
    cell = GatedCell(read(sealed(FAILS_AT_11)).model)
    (((low, high),), _) = cell.step(cell.start, 0)
    readout = {"kind": "binary", "weight": [[1]], "bias": [str(-Fraction(low + high, 2 * boxes.UNIT))]}
    assert low < high
    found = check(sealed(bounded(FAILS_AT_11, 1, readout=readout)))
    assert found == (False, "the boxes around the states do not decide")


def test_which_class_a_box_surely_gets():
    """The output is h, in units: from 0 on it may be a tie, from one unit on it is above."""
    readout = {"kind": "binary", "weight": [[1]], "bias": [0]}
    cell = GatedCell(read(sealed(bounded(FAILS_AT_11, 1, readout=readout))).model)
    found = {box: cell.class_of(((box,), ())) for box in ((0, 0), (0, 5), (1, 1), (1, 5), (-5, 0), (-1, 1))}
    assert found == {(0, 0): 0, (0, 5): None, (1, 1): 1, (1, 5): 1, (-5, 0): 0, (-1, 1): None}


def test_closer_boxes_are_tried_where_wide_ones_do_not_decide(monkeypatch):
    content = issued(MODELS["count-tokens gru 2 1"], limit=4)
    found = []
    for suffixes in ((1,), (1, 4)):
        monkeypatch.setattr(gated, "_SUFFIXES", suffixes)
        found.append(check(sealed(content)).valid)
    assert found == [False, True]


@pytest.mark.parametrize("suffix", [1, 2, 4])
def test_a_check_is_as_long_as_it_is_said_to_be(suffix, monkeypatch):
    """Every step of every group is counted beforehand, and no step is taken if they are too many."""
    horizon, steps, step = 5, [], GatedCell.step
    monkeypatch.setattr(gated, "_SUFFIXES", (suffix,))
    monkeypatch.setattr(GatedCell, "step", lambda *args: steps.append(args) or step(*args))
    claim = sealed(bounded(FAILS_AT_11, horizon))
    assert check(claim).valid
    tails = [{(word.count(")"), word[-suffix:]) for word in words(length)} for length in range(horizon)]
    assert len(steps) == 2 * sum(map(len, tails))
    most = len(steps) * GatedCell(read(claim).model).nanoseconds()
    for less, valid in ((0, True), (1, False)):
        steps.clear()
        monkeypatch.setattr(gated, "_MOST_NANOSECONDS", most - less)
        finding = check(claim)
        assert (finding.valid, bool(steps)) == (valid, valid)
    assert finding.reason == "length 5 would take too long to check"


def words(length):
    return ["".join(tokens) for tokens in product("()", repeat=length)]


def test_lengths_that_would_take_too_long_are_named(monkeypatch):
    for horizon in (10_000, 10**300):
        reason = f"length {horizon} would take too long to check"[:80]
        assert check(sealed(bounded(FAILS_AT_11, horizon))) == (False, reason)
    monkeypatch.setattr(gated, "_MOST_NANOSECONDS", 1)
    assert check(sealed(FAILS_AT_11)) == (False, "length 11 would take too long to check")


def test_the_largest_number_that_is_bounded():
    for size, valid in ((2**500, True), (-(2**500), True), (2**500 + 1, False)):
        assert holds(bounded(FAILS_AT_11, 0, recurrent_bias=[size, 0, 0, 0])) is valid


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
SHARES = st.tuples(st.integers(0, boxes.UNIT), st.integers(0, boxes.UNIT)).map(lambda ends: (min(ends), max(ends)))


def enclosed(box, values):
    """Whether a box is the least one around some numbers, in units."""
    return (box[0], box[1]) == (math.floor(min(values)), math.ceil(max(values)))


@given(BOXES, BOXES, SHARES)
def test_operations_are_rounded_outward_and_no_further(x, y, share):
    assert enclosed(boxes.times(x, y), [Fraction(p * q, boxes.UNIT) for p in x for q in y])
    means = [((boxes.UNIT - s) * p + s * q) / Fraction(boxes.UNIT) for s in share for p in x for q in y]
    assert enclosed(boxes.mean(share, x, y), means)


@pytest.mark.parametrize("x", [-800.0, -3.5, -1e-9, 0.0, 0.7, 12.0, 800.0])
def test_squashing_is_closely_enclosed(x):
    at = boxes.box_of(Fraction(x))
    for (low, high), true in ((boxes.tanh(at), math.tanh(x)), (boxes.sigmoid(at), (1 + math.tanh(x / 2)) / 2)):
        assert 0 <= high - low <= 4
        assert abs(Fraction(low, boxes.UNIT) - Fraction(true)) < Fraction(1, 2**50)


@pytest.mark.parametrize("number", [Fraction(0), Fraction(1, 3), Fraction(-7, 5), Fraction(123456789, 1000)])
def test_a_box_holds_its_number_closely(number):
    low, high = boxes.box_of(number)
    assert Fraction(low, boxes.UNIT) <= number <= Fraction(high, boxes.UNIT)
    assert high - low == (number.denominator > 1)
