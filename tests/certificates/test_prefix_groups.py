"""Networks that answer after every token, their prefixes in groups: long horizons, every string, and forged certificates."""

import json

import pytest
from language_cases import some_network
from language_verdicts import disagreement, disagreement_of

import tallystick as ts
from tallystick.certificates.certificate import certificate, digest
from tallystick.certificates.languages import live_prefixes
from tallystick.certificates.progress import listen
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check
from tallystick.files import Document
from tallystick.networks import network_from_json

GROUPED = "grouped prefixes"


def dyck1(size, threshold=None):
    """An LSTM that counts brackets, as Suzgun et al. publish them: the larger it is, the less its gates forget."""
    same, answer = [size, size], {"outputs": ["(", ")", "#"], "end": "#"}
    layer = {"cell": "lstm", "input_weight": [same, same, [size, -size], same], "recurrent_weight": [[0]] * 4}
    readout = {"weight": [[0], [1], [-1]], "bias": [1, "-1/2", "1/2"]}
    answer |= {"kind": "support"} if threshold is None else {"kind": "threshold", "threshold": threshold}
    if threshold is not None:
        readout = {"weight": [[0], [20], [-20]], "bias": [5, -10, 10]}
    return network({"layers": [layer], "readout": readout, "answer": answer, "task": "dyck1"})


def shuffle2(size):
    """The same for two kinds of brackets."""
    same = [size] * 4
    weight = [*[same] * 4, [size, -size, 0, 0], [0, 0, size, -size], same, same]
    document = {
        "layers": [{"cell": "lstm", "input_weight": weight, "recurrent_weight": [[0, 0]] * 8}],
        "readout": {"weight": [[0, 0], [1, 0], [0, 0], [0, 1], [-1, -1]], "bias": [1, "-1/2", 1, "-1/2", "1/2"]},
        "answer": {"kind": "support", "outputs": ["(", ")", "[", "]", "#"], "end": "#"},
        "task": "shuffle2",
    }
    return network(document)


def network(document):
    return network_from_json(Document(json.loads(json.dumps(document)), "network.json"))


def checked(content):
    content = {name: value for name, value in content.items() if name != "digest"}
    return check(json.dumps({**content, "digest": digest(content)}))


@pytest.mark.parametrize(("size", "horizon"), [(6, 26), (8, 72)])
def test_horizons_beyond_what_is_followed_prefix_by_prefix(size, horizon):
    verdict = ts.certify(dyck1(size))
    assert (verdict.method, verdict.outcome, verdict.horizon) == (GROUPED, Outcome.REFUTED, horizon)
    assert verdict.failure.length == horizon + 1
    assert check(json.dumps(certificate(verdict))).valid


@pytest.mark.parametrize("arithmetic", ["real", "float32-any-order"])
@pytest.mark.parametrize(
    ("one", "limit"),
    [(dyck1(127), 40), (dyck1(127, "1/1000"), 40), (shuffle2(127), 18)],
    ids=["support", "threshold", "two"],
)
def test_a_saturated_counter_is_right_as_far_as_is_asked(one, limit, arithmetic):
    verdict = ts.certify(one, arithmetic=arithmetic, limit=limit)
    assert (verdict.method, verdict.outcome, verdict.horizon) == (GROUPED, Outcome.BOUNDED, limit)
    assert check(json.dumps(certificate(verdict))).valid


@pytest.mark.long
def test_what_groups_leave_open_names_the_string_that_fails():
    """Each counter is as low as it can be, but not after the same prefix, so that a box holds more than is reached."""
    verdict = ts.certify(shuffle2(6))
    assert (verdict.method, verdict.outcome, verdict.horizon) == (GROUPED, Outcome.BOUNDED, 18)
    assert verdict.known_failure.length == 21
    assert "a string of length 21 fails" in verdict.reason


def test_forged_horizons_are_refused(monkeypatch):
    monkeypatch.setattr(live_prefixes, "_MANY", 0)
    verdict = ts.certify(dyck1(5))
    content = certificate(verdict)
    assert (verdict.method, verdict.outcome, checked(content).valid) == (GROUPED, Outcome.REFUTED, True)
    for more in (-1, 1):
        assert checked({**content, "horizon": verdict.horizon + more}).valid is False
    further = {"verdict": "BOUNDED", "counterexample": None, "horizon": verdict.failure.length}
    assert checked({**content, **further}).valid is False
    assert checked({**content, "verdict": "PROVED", "counterexample": None, "horizon": "unlimited"}).valid is False
    for length in (verdict.failure.length, verdict.horizon):
        example = {**content["counterexample"], "runs": [["(", length - 1], [")", 1]]}
        assert checked({**content, "counterexample": example, "horizon": length - 1}).valid is False


@pytest.mark.parametrize("answer", ["support", "threshold", "next"])
@pytest.mark.parametrize("cell", ["lstm", "gru", "tanh"])
def test_groups_agree_with_every_string(cell, answer, monkeypatch):
    monkeypatch.setattr(live_prefixes, "_MANY", 0)
    found = [disagreement_of(cell, answer, seed)[:2] for seed in range(3)]
    assert [wrong for wrong, _ in found if wrong] == []
    assert all(about.startswith(GROUPED) for _, about in found)


@pytest.mark.long
@pytest.mark.parametrize("answer", ["support", "threshold", "next"])
@pytest.mark.parametrize("cell", ["lstm", "gru", "gru-before", "gru-without", "tanh"])
def test_many_groups_agree_with_every_string(cell, answer, monkeypatch):
    monkeypatch.setattr(live_prefixes, "_MANY", 0)
    assert [wrong for seed in range(3, 13) if (wrong := disagreement_of(cell, answer, seed)[0])] == []


def test_last_tokens_are_told_apart_where_one_box_for_a_configuration_does_not_decide(monkeypatch):
    monkeypatch.setattr(live_prefixes, "_MANY", 0)
    document, lengths, first = some_network(41, "lstm", "threshold")
    assert disagreement(document, lengths, first)[0] is None
    assert "the same last" in ts.certify(network(document), lengths, first=first, limit=10).reason


def test_interrupted_groups_say_what_they_know():
    def interrupt(done, _, text):
        if "groups" in text and done == 30:
            raise KeyboardInterrupt

    with listen(interrupt):
        verdict = ts.certify(dyck1(127))
    assert (verdict.method, verdict.outcome, verdict.horizon) == (GROUPED, Outcome.BOUNDED, 29)
    assert "interrupted" in verdict.reason
