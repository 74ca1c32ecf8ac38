"""Verdicts on GRUs and LSTMs never contradict an exhaustive run over all strings to length 14."""

import doctest
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from vector_networks import MODELS, counting_lstm, every_state, mistakes, trained_models, wrong_verdict

from tallystick import BadInput, GruCell, LinearCell, LstmCell, Network, certify, write_network
from tallystick.certificates.boxes import box_proof
from tallystick.certificates.boxes.box_groups import empty_string
from tallystick.certificates.boxes.suspects import suspects
from tallystick.certificates.verdict import Lengths, Outcome, Verdict
from tallystick.cli import main
from tallystick.networks import Readout
from tallystick.numbers.boxes import box_of

LONGEST = 14
PAGE = Path(__file__).parents[2] / "docs" / "gated.md"
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@every_model
def test_verdicts_agree_with_every_string(model):
    for lengths in Lengths:
        assert wrong_verdict(certify(model, lengths, limit=40), LONGEST) is None


@pytest.mark.parametrize("names", [MODELS, trained_models()], ids=["all", "trained"])
def test_the_models_are_worth_it(names):
    """Some fail soon, some later within fourteen tokens, some not at all; with one unit and with two, of either cell."""
    firsts = {
        name: next((n for n, (surely, _) in enumerate(mistakes(MODELS[name], LONGEST), 1) if surely), None)
        for name in names
    }
    assert min(filter(None, firsts.values())) <= 3
    assert len({first for first in firsts.values() if first is not None and first > 4}) >= 3
    assert None in firsts.values()
    kinds = {(type(MODELS[name].cell), MODELS[name].cell.units) for name, first in firsts.items() if (first or 15) > 4}
    assert {(GruCell, 1), (GruCell, 2), (LstmCell, 1), (LstmCell, 2)} <= kinds


@pytest.mark.parametrize("suffix", [1, 3, 8])
@pytest.mark.parametrize(
    "name", ["noisy LSTM 0", "noisy GRU 0", "random gru 3 1", "random lstm 2 3", "counting LSTM 3.0"]
)
def test_every_state_lies_in_its_group(name, suffix):
    model = MODELS[name]
    cell = model.cell.map_weights(box_of)
    groups = empty_string(cell)
    for h, c, counts in every_state(model, 12):
        groups = groups.longer(cell, suffix)
        rows, place = _places(counts, groups)
        assert (groups.counts[rows, place] == counts).all()
        for values, boxes in ((h, groups.state.hidden), (c, groups.state.memory)):
            for unit, box in enumerate(boxes):
                assert (values[:, unit] >= box.low[rows, place] - 1e-12).all()
                assert (values[:, unit] <= box.high[rows, place] + 1e-12).all()


def _places(counts, groups):
    """The group of each string, strings in the order of the tokens: its last tokens as a binary number, `)` being 1."""
    numbers = np.arange(len(counts))
    suffix = numbers % 2**groups.suffix
    before = np.array([int(number).bit_count() for number in numbers >> groups.suffix])
    return before, suffix


def test_groups_of_whole_strings_are_single_states():
    model = MODELS["noisy LSTM 1"]
    cell = model.cell.map_weights(box_of)
    groups = empty_string(cell)
    for _ in range(6):
        groups = groups.longer(cell, 8)
    assert max(float((box.high - box.low).max()) for box in groups.state.hidden + groups.state.memory) < 1e-12
    assert [groups.example(0, place) for place in (0, 1, 63)] == ["((((((", "((((()", "))))))"]


@pytest.mark.parametrize("saturation", [3.0, 5.0, 7.0, 9.0, 12.0])
def test_the_counting_lstm_has_the_horizon_of_the_linear_cell_that_it_is(saturation):
    """Without recurrent weights c' = σ(w)·c ± σ(w)·tanh w, and h is above its threshold iff c is above one of its own."""
    verdict = certify(counting_lstm(saturation))
    gate = 1 / (1 + math.exp(-saturation))
    step, threshold = gate * math.tanh(saturation), math.atanh(math.tanh(0.5) / gate)
    linear = certify(Network(LinearCell(step, -step, gate), Readout.binary(1.0, -threshold)))
    assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, linear.horizon)
    assert verdict.failure.length == linear.failure.length
    assert verdict.horizon == {3.0: 6, 5.0: 16, 7.0: 46, 9.0: 126, 12.0: 570}[saturation]


def test_a_well_saturated_lstm_is_proved_to_a_thousand_tokens():
    verdict = certify(counting_lstm(20.0))
    assert (verdict.outcome, verdict.horizon, verdict.known_failure) == (Outcome.BOUNDED, 1000, None)
    assert (
        verdict.reason
        == "every counted length to 1000 is right; the search went no further, and no string is known to fail"
    )


def test_what_is_left_open_is_named(monkeypatch):
    """With too little work allowed the proof ends early, and the failing string bounds the horizon from above."""
    monkeypatch.setattr(box_proof, "MOST_WORK", 10**4)
    verdict = certify(counting_lstm(9.0))
    assert verdict.outcome is Outcome.BOUNDED
    assert 5 < verdict.horizon < 126
    assert verdict.known_failure.length == 127
    assert re.fullmatch(
        r"every counted length to \d+ is right; the boxes beyond it are too many, and a string of length 127 fails",
        verdict.reason,
    )


def test_a_known_failure_is_named_beside_what_is_proved(monkeypatch):
    """The quick case of the same: some short lengths are proved, and a string of length 7 fails."""
    monkeypatch.setattr(box_proof, "MOST_WORK", 200)
    verdict = certify(counting_lstm(3.0), limit=20)
    assert verdict.outcome is Outcome.BOUNDED
    assert 0 < verdict.horizon < 6
    assert verdict.known_failure.length == 7
    assert verdict.reason.endswith(", and a string of length 7 fails")


def test_nothing_is_proved_beyond_the_limit():
    verdict = certify(counting_lstm(9.0), limit=4)
    assert (verdict.outcome, verdict.horizon, verdict.known_failure) == (Outcome.BOUNDED, 4, None)
    assert verdict.reason.startswith("every counted length to 4 is right; the search went no further")


def test_boxes_that_do_not_decide_say_so(monkeypatch):
    """One box for all strings with the same count and last token is too wide for a network with recurrent weights."""
    model = MODELS["noisy LSTM 0"]
    closely = certify(model, limit=30)
    monkeypatch.setattr(box_proof, "SUFFIXES", (1,))
    monkeypatch.setattr(box_proof, "suspects", lambda model, limit: [])
    widely = certify(model, limit=30)
    assert (widely.outcome, widely.known_failure) == (Outcome.BOUNDED, None)
    assert widely.horizon <= closely.horizon
    open_length = f"the boxes around the states do not decide length {widely.horizon + 1}"
    assert widely.reason == f"{open_length}, and no string is known to fail"


def test_suspects_fail_in_float64():
    for name in ("counting LSTM 4.0", "noisy GRU 1", "random lstm 2 3"):
        executed = MODELS[name].in_arithmetic("float64")
        found = list(suspects(MODELS[name], 60))
        assert found
        assert [len(string) for string in found] == sorted({len(string) for string in found})
        assert all(executed.class_of(string) != executed.right_class(string) for string in found)


def test_a_verdict_is_the_same_every_time():
    model = MODELS["noisy LSTM 2"]
    assert certify(model) == certify(model)


def test_only_real_arithmetic_is_decided():
    with pytest.raises(BadInput, match="arithmetic: 'float32' is for cells without gates, .* or in float32-any-order"):
        certify(counting_lstm(9.0), arithmetic="float32")
    with pytest.raises(BadInput, match="limit: 1 is not a whole number from 2 on"):
        certify(counting_lstm(9.0), limit=1)


def test_parts_of_a_verdict_that_contradict_each_other_are_refused():
    verdict = certify(counting_lstm(3.0))
    with pytest.raises(BadInput, match="known_failure: .* does not go with BOUNDED to 9"):
        Verdict(verdict.model, verdict.lengths, "real", Outcome.BOUNDED, 9, None, "gated boxes", "", verdict.failure)


def output(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, *capsys.readouterr()


def test_the_command_shows_and_refuses(tmp_path, capsys):
    path = tmp_path / "network.safetensors"
    write_network(counting_lstm(5.0), path)
    code, out, _ = output(["certify", str(path), "--json"], capsys)
    found = json.loads(out)
    assert (code, found["verdict"], found["horizon"], found["fails_at"]) == (1, "REFUTED", 16, 17)
    assert found["counterexample"] == found["failing_string"] == "(" * 9 + ")" * 8
    assert found["model"]["cell"] == "lstm"
    code, out, _ = output(["certify", str(path)], capsys)
    assert out.startswith(
        "Right on every string up to length 16.\n"
        "Fails on `((((((((())))))))` (17 tokens): says 'not positive', should say\n  'positive'.\n"
        "REFUTED, horizon 16, all lengths, real arithmetic\n"
        "h along it: 0, 0.75"
    )
    assert output(["certify", str(path), "--readout", "zero"], capsys)[0] == 2
    assert output(["failures", str(path), "--length", "4"], capsys)[0] == 2


def test_the_command_names_a_failing_string_beyond_the_horizon(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(box_proof, "MOST_WORK", 10**4)
    path = tmp_path / "network.json"
    write_network(counting_lstm(9.0), path)
    code, out, _ = output(["certify", str(path)], capsys)
    assert code == 0
    assert "\nFails on `(^64 )^63` (127 tokens): says 'not positive', should say 'positive'.\nThe lengths " in out
    code, out, _ = output(["certify", str(path), "--json"], capsys)
    found = json.loads(out)
    assert (found["verdict"], found["counterexample"], found["fails_at"]) == ("BOUNDED", None, 127)


def test_the_examples_of_the_page_run():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 4
    assert found.failed == 0
