"""Certificates of unusual verdicts: each holds, or the checker says that it cannot decide."""

import json

import pytest

from tallystick import certify
from tallystick.certificates.certificate import write_certificate
from tallystick.certificates.verdict import Outcome
from tallystick.checker.checking import answer_file
from tallystick.errors import BadInput
from tallystick.networks import read_network

NOTHING_BUT_THE_EMPTY_STRING = {
    "alphabet": ["a", "b"],
    "counters": 1,
    "states": ["q", "r"],
    "initial_state": "q",
    "cases": [{"update": ["+0"], "next_state": "r"}],
    "accepting": [{"state": "q"}],
}
REJECTS_EVERY_TOKEN = {
    "tokens": {"a": [1], "b": [-1]},
    "layers": [{"cell": "linear", "input_weight": [[1]], "recurrent_weight": [[0]]}],
    "readout": {"weight": [[0], [0], [0]], "bias": [0, 0, 10]},
    "answer": {"kind": "threshold", "outputs": ["a", "b", "#"], "end": "#", "threshold": "1/10"},
    "task": NOTHING_BUT_THE_EMPTY_STRING,
}
DOUBLING = {"cell": "relu", "open_step": 1, "close_step": -1, "recurrent_weight": 2, "readout": {"kind": "zero"}}
FAILS_AT_ODD_LENGTHS_FIRST = {
    "layers": [{"cell": "linear", "input_weight": [[1, -1], [0, 1]], "recurrent_weight": [[1, 0], [0, 1]]}],
    "readout": {"weight": [[0, -1], [1, 0], [-300, 1]], "bias": ["1/2", 0, "1/2"]},
    "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
    "task": "anbn",
}
OVERFLOWS = {
    "layers": [
        {
            "cell": "linear",
            "input_weight": [[1, -1], [0, 1], [1, 1]],
            "recurrent_weight": [[1, 0, 0], [0, 1, 0], [0, 0, 4]],
        }
    ],
    "readout": {"weight": [[0, -1, 0], [1, 0, 0], [-1, 0, 0]], "bias": ["1/2", 0, "1/2"]},
    "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
    "task": "anbn",
}


def test_a_proof_that_the_checker_cannot_repeat_gets_no_certificate(tmp_path):
    network, written = tmp_path / "network.json", tmp_path / "certificate.json"
    layer = REJECTS_EVERY_TOKEN["layers"][0] | {"cell": "tanh"}
    network.write_text(json.dumps(REJECTS_EVERY_TOKEN | {"layers": [layer]}))
    verdict = certify(read_network(network))
    assert verdict.outcome is Outcome.PROVED
    with pytest.raises(BadInput, match="so no certificate is written; ask for the verdict alone"):
        write_certificate(verdict, written)
    assert not written.exists()


@pytest.mark.parametrize(
    ("content", "question", "outcome", "horizon", "valid"),
    [
        # After the first token every string is rejected for good, so that no prefix is left to follow.
        (REJECTS_EVERY_TOKEN, {}, Outcome.PROVED, None, True),
        (DOUBLING | {"empty": True}, {"first": 1}, Outcome.REFUTED, 1, True),
        # The checker's families hold strings of odd length, of which some fail sooner.
        (FAILS_AT_ODD_LENGTHS_FIRST, {}, Outcome.REFUTED, 602, True),
        (FAILS_AT_ODD_LENGTHS_FIRST, {"lengths": "even"}, Outcome.REFUTED, 1204, None),
        # The third unit becomes infinite, and the bounds of the outputs with it.
        (OVERFLOWS, {"arithmetic": "float16"}, Outcome.REFUTED, 8, None),
    ],
)
def test_a_true_certificate_is_never_said_not_to_hold(content, question, outcome, horizon, valid, tmp_path):
    network, written = tmp_path / "network.json", tmp_path / "certificate.json"
    network.write_text(json.dumps(content))
    verdict = certify(read_network(network), **question)
    assert (verdict.outcome, verdict.horizon) == (outcome, horizon)
    write_certificate(verdict, written)
    assert answer_file(written).valid is valid
