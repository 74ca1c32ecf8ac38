"""The command of reasons."""

import json

import pytest

from tallystick.cli import main


def run(*arguments):
    with pytest.raises(SystemExit) as status:
        main(["explain", *arguments])
    return status.value.code


def test_it_explains_a_setting_and_draws_it(capsys, tmp_path):
    asked = ("--task", "binary", "--method", "count-calm", "--train-length", "2", "--seeds", "20")
    assert run(*asked, "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["explanations"]
    assert found["at_counter"]["minimum"] is True
    assert found["every_token"] is True
    assert found["rounding"]["takes_over"][0] == {
        "share_of_gradient": 0.5,
        "share_of_seeds": 0.0,
        "step": None,
        "epoch": None,
        "gradient": None,
    }
    assert run(*asked, "--out", str(tmp_path)) == 0
    printed = capsys.readouterr().out
    assert "a minimum, and a place to stay" in printed
    assert "rounding of float32 gradients, 64 seeds: never half the gradient" in printed
    assert {path.name for path in tmp_path.iterdir()} == {"reasons.png", "reasons.pdf", "reasons.svg"}
    assert run(*asked, "--out", str(tmp_path)) == 2
    assert "exists already; --force overwrites it" in capsys.readouterr().err


def test_float64_has_nothing_finer_beside_it(capsys, tmp_path):
    asked = (
        "--task",
        "ternary",
        "--train-length",
        "2",
        "--seeds",
        "20",
        "--precision",
        "float64",
        "--out",
        str(tmp_path),
    )
    assert run(*asked) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("ternary, no bias, published, float64, training length 2\n")
    assert "float64 has no finer arithmetic beside it" in printed
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "count"], "task: missing; --bias and --method go with --task"),
        (["--bias"], "task: missing; --bias and --method go with --task"),
        (["--task", "nothing"], "task: 'nothing' is not one of binary, ternary, count"),
        (["--task", "binary", "--method", "none"], "method: 'none' is not one of published, "),
        (["--task", "binary", "--train-length", "0"], "train_length: 0 is not a whole number from 1 on"),
        (["--task", "binary", "--train-length", "15"], "train_length: 15 is more than 14"),
        (["--train-length", "1"], "train_length: 1 has no string of the class Zero; the ternary task needs 2 or more"),
        (["--task", "binary", "--train-length", "x"], "Invalid value for '--train-length'"),
        (["--task", "binary", "--seeds", "0"], "seeds: 0 is not a whole number from 1 on"),
        (["--task", "binary", "--seed", "-1"], "seed: -1 is not a whole number from 0 on"),
        (["--gradients", "float16"], "gradients: 'float16' is not one of own, float32, float64"),
        (["--precision", "float64", "--gradients", "float32"], "gradients: 'float32' is coarser than the float64"),
    ],
)
def test_what_cannot_be_explained_is_said_in_one_line(arguments, message, capsys):
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err
