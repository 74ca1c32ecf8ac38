"""What a verdict carries and what its file holds, field by field, up to the lengths where a string or a trace is left out."""

import hashlib
import json
from fractions import Fraction

import numpy as np
import pytest
from forged import issued, sealed

from tallystick.cells import LinearCell, LstmCell, SelectiveCell, TanhCell
from tallystick.certificates.certificate import certificate, exact_trace, write_certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Failure, Lengths, Outcome, Verdict, runs_of
from tallystick.checker import check
from tallystick.languages.brackets import BinaryClass
from tallystick.languages.tasks import MembershipClass
from tallystick.networks import Network, Readout

HALF = Fraction(1, 2)
REFUTED = certify(Network(LinearCell(1, -1, HALF), Readout.zero()))


def test_a_file_holds_the_verdict_and_its_digest(tmp_path):
    content = {
        "format": "tallystick certificate 1",
        "model": {
            "cell": "linear",
            "open_step": 1,
            "close_step": -1,
            "recurrent_weight": "1/2",
            "readout": {"kind": "zero"},
        },
        "readout": "zero",
        "lengths": "all",
        "arithmetic": "real",
        "verdict": "REFUTED",
        "horizon": 1,
        "counterexample": {
            "runs": [["(", 1], [")", 1]],
            "class": "rejected",
            "right_class": "accepted",
            "trace": [0, 1, "-1/2"],
        },
        "evidence": {"method": "search"},
    }
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"))
    expected = {**content, "digest": hashlib.sha256(spelled.encode()).hexdigest()}
    assert certificate(REFUTED) == expected
    write_certificate(REFUTED, str(tmp_path / "certificate.json"))
    assert json.loads((tmp_path / "certificate.json").read_text()) == expected


def test_what_is_proved_has_an_unlimited_horizon_and_no_counterexample():
    content = issued(Network(LinearCell(1, -1, 1), Readout.zero()), lengths="even")
    assert (content["verdict"], content["horizon"], content["counterexample"]) == ("PROVED", "unlimited", None)
    assert (content["lengths"], content["evidence"]) == ("even", {"method": "theorem"})


@pytest.mark.parametrize(
    ("arithmetic", "neighbours"),
    [("real", None), ("float16", 1), ("bfloat16-fused", 1), ("float32", 4), ("float64", 4)],
)
def test_evidence_names_what_is_assumed_of_tanh(arithmetic, neighbours):
    content = issued(Network(TanhCell(HALF, -HALF, 1), Readout.binary(1, -HALF / 2)), arithmetic, limit=2)
    assert content["evidence"] == {"method": "enclosures", "tanh_neighbours": neighbours}


def by_hand(model, string, method="search", arithmetic="real"):
    """A verdict with a failing string that nobody looked for."""
    failure = Failure(runs_of(string), MembershipClass.REJECTED, MembershipClass.ACCEPTED)
    horizon = len(string) - 1
    return Verdict(model, Lengths.ALL, arithmetic, Outcome.REFUTED, horizon, failure, method, "because")


def test_a_trace_is_written_to_64_tokens_and_while_states_are_short():
    counter = Network(LinearCell(1, -1, 1), Readout.zero())
    assert exact_trace(by_hand(counter, "()" * 32)) == [0, *[1, 0] * 32]
    assert exact_trace(by_hand(counter, "()" * 32 + "(")) is None
    assert exact_trace(by_hand(counter, "(", "sorted strings")) == [0, 1]
    assert exact_trace(by_hand(counter, "(", "enclosures")) is None
    assert exact_trace(certify(counter)) is None
    for bits, kept in ((8192, True), (8193, False)):
        for number in (Fraction(2 ** (bits - 1)), Fraction(1, 2 ** (bits - 1))):
            found = exact_trace(by_hand(Network(LinearCell(number, -1, 1), Readout.zero()), "("))
            assert (found is not None) == kept


def test_the_trace_of_a_verdict_runs_in_its_arithmetic():
    assert REFUTED.trace() == [0, 1, -HALF]
    assert certify(Network(LinearCell(1, -1, 1), Readout.zero())).trace() == []
    tenth = by_hand(Network(LinearCell(Fraction(1, 10), -1, 1), Readout.zero()), "((", arithmetic="float32")
    assert tenth.trace()[1:] == [np.float32(0.1), np.float32(0.1) + np.float32(0.1)]
    assert tenth.executed.cell.open_step == np.float32(0.1)
    tanh = Network(TanhCell(HALF, -HALF, 1), Readout.zero())
    assert by_hand(tanh, "((").trace() == [0, np.tanh(0.5), np.tanh(np.tanh(0.5) + 0.5)]
    single = by_hand(tanh, "(", arithmetic="float32").trace()
    assert isinstance(single[1], np.float32)
    assert by_hand(Network(TanhCell(2**1100, -1, 1), Readout.zero()), "(").trace() == []
    lstm = Network(LstmCell(((0, 0), (0, 0), (1, -1), (0, 0)), ((0,),) * 4, (0,) * 4, (0,) * 4), Readout(((1,),), (0,)))
    first = 0.5 * np.tanh(0.5 * np.tanh(1.0))
    assert by_hand(lstm, "(").trace() == [(0,), (pytest.approx(first, rel=1e-15),)]


def test_a_string_is_written_out_to_a_million_tokens():
    failure = Failure((("(", 10**6 - 1), (")", 1)), BinaryClass.POSITIVE, BinaryClass.NOT_POSITIVE)
    assert failure.length == len(failure.string) == 10**6
    assert failure.string.endswith("()")


def test_a_failure_beyond_a_bound_may_lie_at_the_next_length():
    counter, known = Network(LinearCell(1, -1, 1), Readout.zero()), by_hand(REFUTED.model, "(").failure
    for horizon in (0, 3):
        beyond = Failure((("(", horizon + 1),), known.found, known.right)
        verdict = Verdict(counter, Lengths.ALL, "real", Outcome.BOUNDED, horizon, None, "search", "because", beyond)
        assert verdict.known_failure.length == horizon + 1


def test_lengths_that_count():
    assert (Lengths.ALL.stride, Lengths.EVEN.stride) == (1, 2)
    assert [list(Lengths.ALL.upto(limit)) for limit in (0, 1, 3)] == [[], [1], [1, 2, 3]]
    assert [list(Lengths.EVEN.upto(limit)) for limit in (1, 2, 5)] == [[], [2], [2, 4]]


@pytest.mark.parametrize(
    "cell",
    [LinearCell(40000, -1, 1), LinearCell(1, -40000, 1), SelectiveCell(30000, -1, 1, 3)],
    ids=["above", "below", "at one end of a group"],
)
def test_a_search_stops_where_h_overflows_on_either_side(cell):
    verdict = certify(Network(cell, Readout.binary(1)), arithmetic="float16")
    assert (verdict.outcome, verdict.horizon, verdict.reason) == (Outcome.BOUNDED, 1, "h overflows at length 2")


def test_issued_certificates_hold():
    assert check(sealed(certificate(REFUTED))).valid
