"""A setting explained as a whole, in words and as a picture; where all strings are right; and the command."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.regions import outline
from tallystick.cli import main
from tallystick.datasets.strings import training_set
from tallystick.errors import BadInput
from tallystick.studies.explain.counter import ExactCounter
from tallystick.studies.explain.explanation import Ends, ends_of, explain, explanation_of, landscape
from tallystick.studies.explain.plane import LOOKED_AT, Plane, counted_lengths, margin_over
from tallystick.studies.explain.words import as_record, as_text, setting_name
from tallystick.training.ensemble import Ensemble
from tallystick.training.methods import UNGATED
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

ENDS = Ends(
    seeds=10,
    step=0.8,
    scale=3.0,
    threshold=0.5,
    ratio=-0.9,
    recurrent_weight=1.05,
    ratio_above=0.9,
    recurrent_above=0.8,
    exact=0.0,
)


def explained_at(setting, ends=ENDS):
    return explanation_of(setting, training_set(setting.goal, setting.train_length, 0), ends, ends)


@pytest.fixture(scope="module")
def binary():
    return explain(Setting("binary", False, 4), seeds=200)


def test_seeds_end_where_the_loss_is_least_and_not_at_the_counter(binary):
    assert not binary.at_counter.is_minimum
    assert abs(binary.least.ratio - binary.ends.ratio) < 0.05
    assert abs(binary.least.recurrent_weight - binary.ends.recurrent_weight) < 0.02
    assert binary.least.loss < binary.at_counter.loss
    assert binary.ends.ratio > -0.7
    assert (binary.ratio_moves, binary.recurrent_weight_moves) == (1, 1)
    assert binary.ends_where_pulled
    assert binary.ends.ratio_above > 0.99


@pytest.mark.long
@pytest.mark.parametrize(
    ("task", "method"), [("binary", "published"), ("ternary", "corrected"), ("binary", "tied"), ("binary", "projected")]
)
def test_training_leaves_exact_counters_in_the_direction_of_the_force(task, method):
    """The closed form is about a gradient's descent, and Adam is another; both go the same way."""
    setting = Setting(task, False, 4, method=method, epochs=1)
    found = explain(setting, seeds=64)
    there = explained_at(setting, replace(ENDS, scale=1.0, threshold=0.5))
    for move, above in (
        (there.ratio_moves, found.left.ratio_above),
        (there.recurrent_weight_moves, found.left.recurrent_above),
    ):
        assert above > 0.95 or move == 0
    assert found.left.exact == (method == "projected")


def test_the_landscape_shows_the_counter_the_least_loss_and_the_paths(binary):
    found = landscape(binary)
    assert found.loss.min() < binary.at_counter.loss
    assert found.ratio_paths.shape == found.recurrent_paths.shape == (101, 24)
    assert found.loss.shape == found.margin.shape == tuple(len(axis) for axis in reversed(found.plane))
    for axis, points in zip(found.plane, ((-1, binary.least.ratio), (1, binary.least.recurrent_weight)), strict=True):
        assert all(axis[0] < point < axis[-1] for point in points)
    assert (found.margin > 0).any()


@pytest.mark.parametrize(
    ("task", "method"),
    [
        *(("binary", method) for method in UNGATED),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in product(("ternary", "count"), ("published", "count-calm", "lagrangian", "tied"))
        ),
    ],
)
def test_every_method_is_explained(task, method):
    setting = Setting(task, False, 4, method=method)
    found = explained_at(setting)
    regression = setting.objective.name == "squared_error"
    assert found.at_counter.is_minimum == regression
    held = (found.pull.holds_steps, found.pull.holds_recurrent)
    counter = found.loss_over(Plane(np.array([-1.0]), np.array([1.0])))
    assert counter[0, 0] == pytest.approx(found.at_counter.loss, rel=1e-12, abs=1e-15)
    assert found.least.loss <= counter[0, 0]
    if regression or all(held):
        assert found.least[1:] == (-1, 1)
        assert found.keeps_conditions
    else:
        assert (found.ratio_moves, found.recurrent_weight_moves) == ((task == "binary") * (not held[0]), not held[1])
    text, record = as_text(found, None), as_record(found, None)
    assert text.startswith(f"{setting_name(setting)}, training length 4\n")
    assert ("a minimum, and a place to stay" in text) == record["at_counter"]["minimum"] == regression
    assert record["method_there"]["keeps_conditions"] == found.keeps_conditions
    assert ("the method holds" in text) == any(held)
    assert ("multipliers of" in text) == (method == "lagrangian")


def test_a_penalty_draws_the_least_loss_to_the_counter():
    free, drawn = (explained_at(Setting("binary", False, 4, method=name)).least for name in ("corrected", "penalty"))
    stronger = explained_at(Setting("binary", False, 4, method="penalty", strength=100.0)).least
    assert free.ratio > drawn.ratio > stronger.ratio > -1
    assert free.loss < drawn.loss < stronger.loss


def test_the_least_loss_is_least():
    found = explained_at(Setting("binary", False, 4))
    around = Plane(
        found.least.ratio + np.linspace(-0.02, 0.02, 9), found.least.recurrent_weight + np.linspace(-0.02, 0.02, 9)
    )
    assert found.loss_over(around).min() >= found.least.loss * (1 - 1e-6)
    edge = explained_at(Setting("binary", False, 2))
    assert edge.least is None
    loss = edge.loss_over(LOOKED_AT)
    assert loss.argmin() % loss.shape[1] == loss.shape[1] - 1
    assert "beyond the part of the plane looked at" in as_text(edge, None)


def test_one_token_says_nothing_about_the_recurrent_weight():
    found = explained_at(Setting("binary", False, 1))
    assert found.keeps_conditions
    assert "nothing pulls off the conditions; strings of one token say nothing of U" in as_text(found, None)
    counted = explained_at(Setting("count", False, 1, method="count"))
    assert "a minimum, and a place to stay; strings of one token say nothing of U" in as_text(counted, None)


def test_ends_against_the_pull_are_said_to_be():
    found = explained_at(Setting("binary", False, 4))
    assert ", on the side they are pulled to" in as_text(found, None)
    other = replace(found, ends=replace(ENDS, recurrent_weight=0.9))
    assert not other.ends_where_pulled
    assert "not on the side they are pulled to" in as_text(other, None)


def test_where_networks_end():
    """The readout's scale and threshold, in steps of the count, for two classes and for three."""
    setting = Setting("binary", True, 4)
    cells = {
        "inputs": (np.array([1.0, -2.0]), np.array([-2.0, 1.0])),
        "recurrent": (np.ones(2),),
        "bias": (np.ones(2),),
    }
    weights = Weights(**cells, readout_weight=(np.array([3.0, -6.0]),), readout_bias=(np.array([-3.0, -3.0]),))
    found = ends_of(Ensemble(setting, weights, np.zeros(2)))
    assert (found.step, found.scale, found.threshold) == (1.5, 6.0, 0.5)
    assert (found.ratio, found.ratio_above, found.exact, found.recurrent_above) == (-1.25, 0.5, 0.0, 0.0)
    ternary = replace(setting, task="ternary", bias=False)
    counter = ExactCounter.of_scale(ternary, 5.0, step=0.5, threshold=0.3)
    assert (counter.scale, counter.threshold) == (5.0, pytest.approx(0.3))
    network = Weights(*([np.atleast_1d(part) for part in parts] for parts in counter.weights(ternary)))
    network = network._replace(readout_bias=[np.array([c]) for c in (-1.0, 0.0, -2.0)])  # 0.2 and 0.4 steps from 0
    found = ends_of(Ensemble(ternary, network, np.zeros(1)))
    assert (found.scale, found.threshold, found.exact) == (5.0, pytest.approx(0.3), 1.0)


def test_only_what_has_an_exact_counter_is_explained():
    with pytest.raises(BadInput, match="cell: 'relu'; only the linear cell's"):
        explain(Setting("count", False, 2, cell="relu"), seeds=2)


PLANE = Plane.between((-1.75, -0.31), (0.63, 1.58), 23, 19)


def is_right(setting, outputs, count):
    if setting.task == "count":
        return np.abs(outputs[0] - count) < 0.5
    right = [count > 0] if setting.task == "binary" else [count < 0, count == 0, count > 0]
    given = (
        [outputs[0] > 0]
        if setting.task == "binary"
        else list(np.argmax(outputs, axis=0) == np.arange(3)[:, None, None])
    )
    return np.all([np.asarray(one) == other for one, other in zip(given, right, strict=True)], axis=0)


@pytest.mark.parametrize("length", [2, 3, 6])
@pytest.mark.parametrize(("task", "bias"), [*product(("binary", "ternary", "count"), (False, True))])
def test_right_on_sorted_strings_is_right_on_all(task, bias, length):
    setting = Setting(task, bias, length, method="corrected")
    counter = ExactCounter.of_scale(setting, 1.0, threshold=0.6)
    sizes = range(1, length + 1) if counted_lengths(setting) == "all" else range(2, length + 1, 2)
    cell = LinearCell(1.0, 1 / PLANE.ratios, PLANE.recurrent_weights[:, None])
    right = np.ones((19, 23), bool)
    for string in ("".join(tokens) for size in sizes for tokens in product("()", repeat=size)):
        h = np.broadcast_to(cell.final_state(string), right.shape)
        outputs = np.array([s * h + t for s, t in zip(counter.slopes, counter.intercepts, strict=True)])
        right &= is_right(setting, outputs, string.count("(") - string.count(")"))
    assert ((margin_over(setting, counter, PLANE) > 0) == right).all()
    assert right.any() or task == "count" or length == 3
    assert not right.all()


@pytest.mark.parametrize("length", [2, 4, 8])
def test_without_bias_it_is_the_region_of_the_certificates(length):
    setting = Setting("binary", False, length)
    inside = margin_over(setting, ExactCounter.of_scale(setting, 3.0), PLANE) > 0
    left, right = outline(PLANE.recurrent_weights, length, "even")
    with np.errstate(invalid="ignore"):
        expected = (PLANE.ratios > left[:, None]) & (PLANE.ratios < right[:, None])
    assert (inside == expected).all()


def test_the_lengths_that_count():
    assert [counted_lengths(Setting("binary", False, length)) for length in (1, 2, 3, 6, 8)] == [
        "all",
        "even",
        "all",
        "even",
        "even",
    ]


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


@pytest.mark.long
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
