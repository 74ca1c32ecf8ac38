"""One linear network explained: in words that its numbers bear out, as a picture, and by the command."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tallystick import LinearCell, LinearLayer, Network, Readout, SelectiveLayer, read_network
from tallystick.cli import main
from tallystick.studies.explain.linear import as_record, explain_linear
from tallystick.studies.explain.linear_figure import FILES, draw_linear, write_picture
from tallystick.studies.explain.linear_words import as_text

EXAMPLE = Path(__file__).parents[2] / "examples" / "right_without_counting.json"


def nearly_counting(share, outputs=1):
    """Return a network whose δ_k is 2 − 2·share/4·(1/2)^k, so that Σ|δ_k − 2| is the share."""
    w = Fraction(share) / 4
    cell = LinearLayer(((1, -1), (1, -1)), ((1, 0), (0, Fraction(1, 2))), (0, 0), (0, 0))
    if outputs == 1:
        return Network(cell, Readout(((1, -w),), (Fraction(-1, 2),)))
    half = Fraction(-1, 2)
    return Network(cell, Readout(((-1, w), (0, 0), (1, -w)), (half, 0, half)))


def test_a_network_that_is_right_for_ever_without_counting():
    found = explain_linear(read_network(EXAMPLE))
    text = as_text(found)
    assert "PROVED: right on all strings; " in text
    assert "the readout sees the eigenvalues 1 (weight 2) and 0.5 (weight −0.4)" in text
    assert "adds δ_k = 1.6, 1.8, 1.9, 1.95, … more if it opens than if it closes, and tends to L = 2" in text
    assert "Σ|δ_k − L| = 0.8, and may be at most L/2 = 1: there is room" in text
    assert "so y is no function of the count: () ends at y = −0.4, )( at y = −0.6" in text
    network = found.network
    assert [network.outputs(string) for string in ("()", ")(")] == [[Fraction(-2, 5)], [Fraction(-3, 5)]]


@pytest.mark.parametrize(("share", "horizon"), [("1.02", 12), ("1.1", 8)])
def test_too_much_beside_the_limit_fails(share, horizon):
    found = explain_linear(nearly_counting(share))
    assert found.verdict.horizon == horizon
    assert f"Σ|δ_k − L| = {share}, and may be at most L/2 = 1: so some length must fail" in as_text(found)
    assert "may be at most L = 2: there is room" in as_text(explain_linear(nearly_counting(share), "even"))
    assert f"right on all strings to length {horizon}; {found.verdict.failure.string} is called" in as_text(found)


def test_an_exact_counter():
    text = as_text(explain_linear(Network(LinearCell(1, -1, 1), Readout.binary(2, -1))))
    assert "the readout sees the eigenvalue 1 (weight 4)" in text
    assert "a bracket adds δ_k = 4 more if it opens than if it closes, whatever follows" in text
    assert "so y depends on the count and the length alone" in text


def test_why_others_fail():
    forgets = as_text(explain_linear(Network(LinearCell(1, -1, Fraction(9, 10)), Readout.binary(2, -1))))
    assert "tends to 0: the readout forgets" in forgets
    assert "so some length must fail" in forgets
    grows = as_text(explain_linear(Network(LinearCell(1, -1, Fraction(11, 10)), Readout.binary(2, -1))))
    assert "more if it opens than if it closes, without end" in grows
    drifts = as_text(explain_linear(Network(LinearCell(1, Fraction(-11, 10), 1), Readout.binary(2, -1))))
    assert "each further pair of an opening and a closing bracket adds −0.2, so balanced strings drift away" in drifts
    turning = LinearLayer(((1, -1), (0, 0)), ((0, -1), (1, 0)), (0, 0), (0, 0))
    turns = as_text(explain_linear(Network(turning, Readout(((1, 0),), (0,)))))
    assert "the readout sees the eigenvalue 0 ± 1i of size 1 (weight 2)" in turns
    assert "and never settles" in turns
    nilpotent = LinearLayer(((0, 0), (1, -1)), ((1, 1), (0, 1)), (0, 0), (0, 0))
    assert "too few eigenvectors" in as_text(explain_linear(Network(nilpotent, Readout(((1, 0),), (0,)))))


def test_an_eigenvalue_next_to_one_is_not_one():
    near = Network(LinearCell(1, -1, 1 - Fraction(1, 2**60)), Readout.binary(2, -1))
    text = as_text(explain_linear(near))
    assert "a bracket adds δ_k = 4 more if it opens than if it closes, whatever follows, as far as doubles tell" in text
    assert "it may be a very long one: no eigenvalue that the readout sees is exactly 1" in text


def test_outputs_of_three_classes():
    record = as_record(explain_linear(nearly_counting("0.2", outputs=3)))
    assert [output["name"] for output in record["outputs"]] == [
        "Zero against Neg",
        "Pos against Neg",
        "Pos against Zero",
    ]
    assert [output["room"] for output in record["outputs"]] == [1, 4, 1]
    assert [output["limit_text"] for output in record["outputs"]] == ["2", "4", "2"]
    assert record["outcome"] == "PROVED"
    json.dumps(record, allow_nan=False)


def test_the_picture_shows_the_failure(tmp_path):
    found = explain_linear(nearly_counting("1.1"))
    write_picture(tmp_path, found)
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    _, terms, margins = draw_linear(found).axes
    assert margins.get_title() == "margins; fails at length 9"
    assert "Σ|δ$_k$ − L| = 1.1, at most 1 allowed" in terms.texts[0].get_text()
    proved = draw_linear(explain_linear(nearly_counting("0.9", outputs=3)))
    assert [axes.get_title() for axes in proved.axes[2::3]] == ["margins"] * 3


def test_a_matrix_for_each_token():
    leaky = SelectiveLayer(((1, -1), (1, -1)), ((Fraction(49, 50), 1), (Fraction(1, 2), Fraction(1, 4))), (0, 0))
    found = explain_linear(Network(leaky, Readout(((1, Fraction(1, 20)),), (Fraction(-1, 2),))))
    text = as_text(found)
    assert "the readout sees the factors (P, Q) = (0.98, 1) and (0.5, 0.25): P on the state at (, Q at )" in text
    assert "multiplies what came before it by P·Q = 0.98 and 0.125, where a counter needs 1" in text
    string = found.verdict.failure.string
    y = float(found.network.in_arithmetic("rational").outputs(string)[0])
    assert f"the string that fails, {string}, ends at y = {y:.4g}".replace("-", "−") in text
    plane, _, margins = draw_linear(found).axes
    assert plane.get_title() == "factors on the state"
    assert margins.get_title() == f"margins; fails at length {len(string)}"
    json.dumps(as_record(found), allow_nan=False)
    counter = SelectiveLayer(((1, Fraction(-1, 2)),), ((2, Fraction(1, 2)),), (0,))
    assert "P·Q = 1 throughout" in as_text(explain_linear(Network(counter, Readout(((1,),), (0,)))))


def run(*arguments):
    with pytest.raises(SystemExit) as status:
        main(["explain", *arguments])
    return status.value.code


def test_the_command(capsys, tmp_path):
    assert run(str(EXAMPLE), "--out", str(tmp_path / "out"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["outputs"][0]["deviation"] == pytest.approx(0.8)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(FILES)
    assert run(str(EXAMPLE), "--out", str(tmp_path / "out")) == 2
    assert "exists already; --force overwrites it" in capsys.readouterr().err
    assert run(str(EXAMPLE)) == 0
    assert capsys.readouterr().out.startswith("linear network of 2 units, binary, every length\n  PROVED: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [str(EXAMPLE), "--task", "binary"],
            "a network's file is explained as it is; options of training go without a file",
        ),
        (["--lengths", "even"], "lengths: goes with a network's file"),
        ([str(EXAMPLE), "--lengths", "odd"], "lengths: 'odd' is not one of all, even"),
        (["nothing.json"], "nothing.json: "),
    ],
)
def test_what_it_refuses_in_one_line(arguments, message, capsys):
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_a_network_of_another_kind_is_refused(capsys, tmp_path):
    path = tmp_path / "relu.json"
    readout = {"kind": "binary", "weight": [1]}
    path.write_text(
        json.dumps({"cell": "relu", "open_step": 1, "close_step": -1, "recurrent_weight": 1, "readout": readout})
    )
    assert run(str(path)) == 2
    assert "a relu network with the task 'binary' has no such picture" in capsys.readouterr().err
