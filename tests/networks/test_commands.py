"""Every command that takes a MODEL takes a safetensors file as it takes a JSON file."""

import json
from pathlib import Path

import pytest
from language_documents import STACK

from tallystick import LinearCell, Network, write_network
from tallystick.cli import main
from tallystick.networks import Readout

MODEL = Network(LinearCell(1, -1, 0.5), Readout.binary(2.0, -0.25))


def output(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return end.value.code, capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["certify", "MODEL"],
        ["certify", "MODEL", "--arithmetic", "float32"],
        ["accuracy", "MODEL", "--length", "12"],
        ["indicators", "MODEL"],
        ["evaluate", "MODEL", "--strings", "strings.txt"],
    ],
    ids=" ".join,
)
def test_both_kinds_of_file_give_the_same_answer(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("strings.txt").write_text("()\n(((\n")
    results = []
    for name in ("network.json", "network.safetensors"):
        write_network(MODEL, name)
        results.append(output([name if part == "MODEL" else part for part in command], capsys))
    assert results[0] == results[1]
    assert results[0][0] in (0, 1)
    assert results[0][1]


@pytest.mark.parametrize("command", [["certify"], ["accuracy", "--length", "4"], ["indicators"]], ids=" ".join)
def test_a_bad_file_ends_with_two_and_one_line(command, tmp_path, capsys):
    path = tmp_path / "network.safetensors"
    path.write_bytes(b"\xff" * 100)
    with pytest.raises(SystemExit) as end:
        main([*command, str(path)])
    assert end.value.code == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "not a safetensors file: header too large" in shown.err
    assert len(shown.err.splitlines()) == 1


OPEN_ENDED = {
    "tokens": {"push": [1], "pop": [-1]},
    "layers": [{"cell": "linear", "input_weight": [[1]], "recurrent_weight": [[1]]}],
    "readout": {"weight": [[1]]},
    "answer": {"kind": "zero"},
}


def test_tokens_with_longer_names_are_words(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("stack.json").write_text(json.dumps(STACK))
    Path("network.json").write_text(json.dumps(OPEN_ENDED))
    assert output(["accepts", "stack.json", "push pop"], capsys) == (0, "stack.json accepts push pop\n")
    assert output(["accepts", "stack.json", " pop  push "], capsys)[0] == 1
    assert '"token": "push"' in output(["accepts", "stack.json", "push", "--json", "--trace"], capsys)[1]
    status, shown = output(["certify", "network.json", "--task", "stack.json"], capsys)
    assert status == 1
    assert "Fails on `pop push` (2 tokens): " in shown  # which ends at zero, but popped an empty stack
    _, shown = output(["certify", "network.json", "--task", "stack.json", "--json"], capsys)
    found = json.loads(shown)
    assert (found["horizon"], found["counterexample"]) == (1, ["pop", "push"])
    assert found["model"]["task"]["name"] == "stack"


def test_the_least_length_and_the_empty_string_are_said_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("stack.json").write_text(json.dumps(STACK))
    Path("network.json").write_text(json.dumps(OPEN_ENDED))
    arguments = ["certify", "network.json", "--task", "stack.json"]
    status, shown = output([*arguments, "--no-empty"], capsys)
    assert (status, shown.splitlines()[1]) == (1, "REFUTED, horizon -1, all lengths from 0 on, real arithmetic")
    assert shown.startswith("Fails already on the empty string: accepts it, should reject it.\n")
    status, shown = output([*arguments, "--empty", "--json"], capsys)
    assert (status, json.loads(shown)["horizon"], json.loads(shown)["first"]) == (1, 1, 0)
    status, shown = output([*arguments, "--from", "3", "--lengths", "even", "--json"], capsys)
    found = json.loads(shown)
    assert (status, found["horizon"], found["first"], len(found["counterexample"])) == (1, 2, 3, 4)


def test_certify_asks_what_two_outputs_mean_and_follows_what_is_said(tmp_path, capsys):
    path = tmp_path / "two.json"
    path.write_text(
        '{"cell": "linear", "open_step": 1, "close_step": -1, "recurrent_weight": 1,'
        ' "readout": {"weight": [[2], [0]], "bias": [-1, 0]}, "answer": {"kind": "class"}}'
    )
    for options, expected in (
        ([], "task: missing; a readout of 2 outputs may answer several tasks; say task="),
        (["--task", "binary"], "classes: missing; say which output is which"),
        (["--task", "binary", "--classes", "Pos"], "classes: ['Pos'] is not a list of the classes"),
        (["--task", "sorting"], "task: 'sorting' is not one of binary, ternary"),
        (["--task", "anbn", "--classes", "accepted,rejected"], "task: 'anbn' has the tokens a, b"),
        (
            ["--tokens", "()"],
            "tokens and nonlinearity are for tensors of PyTorch's; a JSON file has both in its own fields",
        ),
        (["--tokens", "{"], "tokens: line 1: not JSON"),
        (["--nonlinearity", "tanh"], "tokens and nonlinearity are for tensors of PyTorch's"),
        (["--task", "binary", "--readout", "zero"], "--task and --classes are for a model's own readout"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["certify", str(path), *options])
        shown = capsys.readouterr()
        assert (end.value.code, shown.out, len(shown.err.splitlines())) == (2, "", 1)
        assert expected in shown.err
    status, shown = output(["certify", str(path), "--task", "binary", "--classes", "Pos,ZeroNeg"], capsys)
    assert (status, shown.splitlines()[1]) == (0, "PROVED, horizon unlimited, all lengths, real arithmetic")
    status, _ = output(["certify", str(path), "--task", "binary", "--classes", "ZeroNeg,Pos"], capsys)
    assert status == 1
    status, shown = output(["certify", str(path), "--task", "bb", "--classes", "rejected,accepted", "--json"], capsys)
    assert status == 1
    assert '"readout": "class"' in shown
