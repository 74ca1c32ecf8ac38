"""What the explorer says of a network over any alphabet is what the library says of it."""

import json

import pytest
from language_documents import SATURATING

from tallystick import certify
from tallystick.explore.choices import opened_network
from tallystick.files import Document
from tallystick.networks import network_from_json

COUNTER = {
    "tokens": {"a": [1, 0], "b": [0, 1]},
    "layers": [{"cell": "relu", "input_weight": [[1, -1]], "recurrent_weight": [[1]]}],
    "readout": {"weight": [[-1], [1], [-1]], "bias": ["3/2", 0, "1/2"]},
    "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
    "task": "anbn",
}
"""Counts as ReLU units do, and says what comes next by how much is left: with one left, b; with none, # or a."""


def ask(client, path, **question):
    answer = client.post(f"/api/{path}", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("document", [COUNTER, SATURATING], ids=["next", "threshold"])
def test_the_verdict_is_the_librarys_and_its_failing_string_is_read_token_by_token(document, client):
    network = network_from_json(Document(document, "network"))
    found, verdict = ask(client, "network", network=document), certify(network)
    assert found["kind"] == "language"
    assert found["all"]["outcome"] == verdict.outcome == "REFUTED"
    assert found["tokens"] == list(verdict.failure.tokens)
    read = ask(client, "reading", network=document, tokens=found["tokens"])
    assert (read["says"][-1], read["right"][-1]) == (verdict.failure.found, verdict.failure.right)
    executed = network.in_arithmetic("float64")
    prefixes = [tuple(found["tokens"][:length]) for length in range(len(found["tokens"]) + 1)]
    assert read["says"] == [str(executed.class_of(prefix)) for prefix in prefixes]
    assert read["units"] == [[float(h) for h in executed.cell.hidden(state)] for state in executed.trace(prefixes[-1])]


def test_live_prefixes_are_counted_by_length(client):
    counts = ask(client, "live", network=COUNTER)["counts"]
    assert counts[:2] == [1, 1]
    refused = client.post("/api/live", json={"network": {**COUNTER, **AT_THE_END}})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("answer: sign is given at the end alone")


AT_THE_END = {"readout": {"weight": [[1]], "bias": ["-1/2"]}, "answer": {"kind": "accept"}}


def test_a_network_that_answers_at_the_end_is_read_too(client):
    found = ask(client, "network", network={**COUNTER, **AT_THE_END})
    assert not found["has_steps"]
    read = ask(client, "reading", network={**COUNTER, **AT_THE_END}, tokens=["a", "a", "b"])
    assert read["says"] == ["rejected", "accepted", "accepted", "accepted"]
    assert read["right"] == ["accepted", "rejected", "rejected", "rejected"]


def test_a_linear_network_of_brackets_is_drawn_as_before(client):
    network = client.get("/api/linear-presets").json()[0]["network"]
    assert ask(client, "network", network=network) == ask(client, "linear", network=network)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [(["a", "x"], "x"), (["a"] * 601, "600"), ("ab", "tokens")],
)
def test_tokens_that_cannot_be_read_are_refused_in_one_line(tokens, said, client):
    answer = client.post("/api/reading", json={"network": COUNTER, "tokens": tokens})
    assert answer.status_code == 422
    assert said in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


def test_an_opened_file_is_offered_first_as_it_is_written(tmp_path):
    path = tmp_path / "counter.json"
    text = json.dumps({"about": {"source": "a repository", "claim": "counts"}, **COUNTER}).replace(
        '"3/2"', "1.50000000000000000000001"
    )
    path.write_text(text)
    preset = opened_network(path)
    assert preset["file"] == text
    assert (preset["title"], preset["text"]) == ("counter.json", "counts. a repository")
