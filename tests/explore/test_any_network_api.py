"""What the explorer says of a network of any kind is what the library says of it."""

import json
from base64 import b64encode

import pytest
from language_documents import SATURATING

from tallystick import certify
from tallystick.certificates.words import answer
from tallystick.explore.opening import opened_network
from tallystick.files import Document
from tallystick.networks import network_from_json, write_network

COUNTER = {
    "tokens": {"a": [1, 0], "b": [0, 1]},
    "layers": [{"cell": "relu", "input_weight": [[1, -1]], "recurrent_weight": [[1]]}],
    "readout": {"weight": [[-1], [1], [-1]], "bias": ["3/2", 0, "1/2"]},
    "answer": {"kind": "next", "outputs": ["a", "b", "#"], "end": "#"},
    "task": "anbn",
}
"""Counts as ReLU units do, and says what comes next by how much is left: with one left, b; with none, # or a."""

BINARY = {"kind": "binary", "weight": [[1, "-1/5"]], "bias": ["-1/2"]}
LSTM = {
    "cell": "lstm",
    "input_weight": [[3, 3], [2, 2], [3, 3], [4, 4], [3, -3], [1, -1], [3, 3], [2, 2]],
    "recurrent_weight": [["1/8", 0]] * 8,
    "readout": BINARY,
}
GRU = {
    "cell": "gru",
    "input_weight": [[1, -1]] * 6,
    "recurrent_weight": [["1/2", 0]] * 6,
    "readout": {"kind": "ternary", "weight": [[-1, 0], [0, 0], [1, 0]], "bias": ["-1/4", 0, "-1/4"]},
}
STACK = {
    "tokens": {"(": ["1/4", -1], ")": [1, 0]},
    "layers": [{name: LSTM[name] for name in ("cell", "input_weight", "recurrent_weight")}, {**GRU, "readout": None}],
    "readout": {"weight": [[1, 1]], "bias": [0]},
    "answer": {"kind": "sign"},
    "task": "binary",
}
del STACK["layers"][1]["readout"]
LINEAR = {"cell": "linear", "input_weight": [[1, -1], [1, -1]], "recurrent_weight": [[1, 0], [0, "1/2"]]}
ZERO = {"cell": "linear", "open_step": "0.1", "close_step": "-0.1", "recurrent_weight": 1, "readout": {"kind": "zero"}}
COUNT = {**LINEAR, "readout": {"kind": "count", "weight": [[1, "1/20"]], "bias": [0]}}
PER_TOKEN = {
    **LINEAR,
    "cell": "selective",
    "recurrent_weight": {"(": [[1, 0], [0, "1/2"]], ")": [[1, 0], [0, "1/3"]]},
    "readout": BINARY,
}
EVERY = {
    "next": COUNTER,
    "threshold": SATURATING,
    "lstm": LSTM,
    "gru": GRU,
    "stack": STACK,
    "zero check": ZERO,
    "count": COUNT,
    "a matrix per token": PER_TOKEN,
    "linear": {**LINEAR, "readout": BINARY},
}


def model_of(document):
    return network_from_json(Document(document, "network"))


def ask(client, path, **question):
    found = client.post(f"/api/{path}", json=question)
    assert found.status_code == 200, found.text
    return found.json()


@pytest.mark.parametrize("document", EVERY.values(), ids=EVERY)
def test_the_verdict_is_the_librarys_and_its_failing_string_is_read_token_by_token(document, client):
    network = model_of(document)
    described = ask(client, "network", network=document)
    assert (described["units"], described["task"]) == (network.cell.units, network.task.name)
    assert described["has_picture"] == (document is EVERY["linear"])
    verdict, said = certify(network), ask(client, "judgement", network=document)
    assert (said["outcome"], said["answer"]) == (verdict.outcome, answer(verdict))
    tokens = list(verdict.failure.tokens) if verdict.failure else described["tokens"]
    assert said["failing_tokens"] == (tokens if verdict.failure else None)
    read = ask(client, "reading", network=document, tokens=tokens)
    prefixes = [tuple(tokens[:length]) for length in range(len(tokens) + 1)]
    executed = network.in_arithmetic(read["arithmetic"])
    words = network.task.in_words
    assert read["says"] == [words(executed.class_of(prefix)) for prefix in prefixes]
    right = [network.right_class(prefix) for prefix in prefixes]
    assert read["right"] == [None if one is None else words(one) for one in right]
    assert read["units"] == [[float(h) for h in executed.cell.hidden(state)] for state in executed.trace(prefixes[-1])]
    if verdict.failure:
        assert (read["says"][-1], read["right"][-1]) == (words(verdict.failure.found), words(verdict.failure.right))


def test_exact_states_are_shown_where_there_are_some(client):
    read = ask(client, "reading", network=ZERO, tokens=list("((()))"))
    assert (read["arithmetic"], read["says"][-1]) == ("rational", "accepted")
    assert ask(client, "reading", network=LSTM, tokens=["("])["arithmetic"] == "float64"


def test_gates_and_memory_make_the_next_state(client):
    read = ask(client, "reading", network=LSTM, tokens=list("(())("))
    gates = {gate["letter"]: gate["values"] for gate in read["gates"]}
    assert list(gates) == ["i", "f", "g", "o"]
    for step, (before, after) in enumerate(zip(read["memory"], read["memory"][1:], strict=False)):
        i, f, g = (gates[letter][step] for letter in "ifg")
        assert after == pytest.approx([f[k] * before[k] + i[k] * g[k] for k in range(2)], abs=1e-3)
    read = ask(client, "reading", network=GRU, tokens=list("(()"))
    assert read["memory"] is None
    gates = {gate["letter"]: gate["values"] for gate in read["gates"]}
    for step, (before, after) in enumerate(zip(read["units"], read["units"][1:], strict=False)):
        z, n = (gates[letter][step] for letter in "zn")
        assert after == pytest.approx([(1 - z[k]) * n[k] + z[k] * before[k] for k in range(2)], abs=1e-3)


def test_each_layer_of_a_stack_is_shown(client):
    described = ask(client, "network", network=STACK)
    assert [layer["cell"] for layer in described["layers"]] == ["lstm", "gru"]
    lower, upper = (ask(client, "reading", network=STACK, tokens=list("()("), layer=layer) for layer in (0, 1))
    assert [gate["letter"] for gate in lower["gates"]] == ["i", "f", "g", "o"]
    assert lower["memory"] is not None
    assert [gate["letter"] for gate in upper["gates"]] == ["r", "z", "n"]
    assert upper == ask(client, "reading", network=STACK, tokens=list("()("))
    states = model_of(STACK).in_arithmetic("float64").trace("()(")
    assert lower["units"] == [list(map(float, state[0].hidden)) for state in states]
    refused = client.post("/api/reading", json={"network": STACK, "tokens": ["("], "layer": 2})
    assert refused.json()["error"] == "layer: 3 is not one of the 2 layers"


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


@pytest.mark.parametrize(
    ("tokens", "said"),
    [(["a", "x"], "x"), (["a"] * 601, "600"), ("ab", "tokens")],
)
def test_tokens_that_cannot_be_read_are_refused_in_one_line(tokens, said, client):
    refused = client.post("/api/reading", json={"network": COUNTER, "tokens": tokens})
    assert refused.status_code == 422
    assert said in refused.json()["error"]
    assert "\n" not in refused.json()["error"]


def test_an_opened_file_is_offered_first_as_it_is_written(tmp_path):
    path = tmp_path / "counter.json"
    text = json.dumps({"about": {"source": "a repository", "claim": "counts"}, **COUNTER}).replace(
        '"3/2"', "1.50000000000000000000001"
    )
    path.write_text(text)
    preset = opened_network(path)
    assert preset["file"] == text
    assert (preset["title"], preset["text"]) == ("counter.json", "counts. a repository")


def test_a_safetensors_file_is_opened_as_a_document(client, tmp_path):
    path = tmp_path / "gru.safetensors"
    write_network(model_of(GRU), path)
    found = ask(client, "open", name="my gru.safetensors", content=b64encode(path.read_bytes()).decode())
    assert found["title"] == "my gru.safetensors"
    assert model_of(json.loads(found["file"])) == model_of(GRU)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.pt", "", "x.pt: a network is opened from a file that ends in .json or .safetensors"),
        ("x.safetensors", "%", "x.safetensors: its content did not arrive as base64"),
        ("../x.safetensors", "AAAA", "x.safetensors: "),
        ("y.json", b64encode(b'{"cell": "gru"}').decode(), "y.json: "),
    ],
)
def test_a_file_that_is_no_network_is_refused_by_its_own_name(name, content, said, client):
    refused = client.post("/api/open", json={"name": name, "content": content})
    assert refused.status_code == 422
    assert refused.json()["error"].startswith(said)
    assert "/tmp" not in refused.json()["error"]
