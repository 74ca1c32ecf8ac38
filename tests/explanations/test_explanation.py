"""A setting explained as a whole, its picture, and rounding along training."""

import json

import numpy as np
import pytest

from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.experiments.training_run import training_job
from tallystick.explanations.explanation import explain
from tallystick.explanations.picture import landscape
from tallystick.explanations.rounding import gradient_noise
from tallystick.training.setting import Setting


@pytest.fixture(scope="module")
def binary():
    return explain(Setting("binary", False, 4), seeds=200)


def test_seeds_end_where_the_loss_is_least_and_not_at_the_counter(binary):
    ratio, U = binary.least
    assert binary.least_is_inside
    assert not binary.at_counter.is_minimum
    assert abs(ratio - binary.ends.ratio) < 0.05
    assert abs(U - binary.ends.recurrent_weight) < 0.02
    assert binary.ends.ratio > -0.7
    assert binary.at_counter.ratio_moves > 0
    assert binary.ends.above > 0.99


def test_the_landscape_is_least_where_the_explanation_says(binary):
    found = landscape(binary)
    assert found.loss.min() < binary.at_counter.loss
    assert found.ratio_paths.shape == found.recurrent_paths.shape == (101, 24)


def test_only_what_has_an_exact_counter_is_explained():
    with pytest.raises(BadInput, match="cell: 'relu'; only the linear cell's"):
        explain(Setting("count", False, 2, cell="relu"), seeds=2)
    with pytest.raises(BadInput, match="method: 'count-tokens' scores every token"):
        explain(Setting("count", False, 2, method="count-tokens"), seeds=2)
    with pytest.raises(BadInput, match="method: 'tied' holds weights to the conditions"):
        explain(Setting("binary", False, 2, method="tied"), seeds=2)


def test_rounding_takes_over_where_the_gradient_fades():
    """Ternary, length 8: towards the end of training the gradient's rounding is as large as the gradient."""
    setting = Setting("ternary", False, 8)
    job = training_job(setting, 8, 0)
    found = gradient_noise(setting, job.initial(np.arange(8)), job.strings)
    assert found.signal.shape == found.noise.shape == (101, 8)
    assert (found.noise[0] < 1e-5 * found.signal[0]).all()
    taken = found.taken_over()
    assert (taken > 40).all()
    short = Setting("ternary", False, 2)
    job = training_job(short, 8, 0)
    assert (gradient_noise(short, job.initial(np.arange(8)), job.strings).taken_over() == -1).all()


def test_the_command(capsys, tmp_path):
    with pytest.raises(SystemExit) as status:
        main(["explain", "--task", "count", "--method", "count", "--train-length", "2", "--seeds", "20", "--json"])
    assert status.value.code == 0
    (found,) = json.loads(capsys.readouterr().out)["explanations"]
    assert found["at_counter"]["minimum"] is True
    with pytest.raises(SystemExit):
        main(["explain", "--train-length", "2", "--seeds", "20", "--out", str(tmp_path)])
    assert "no minimum; training leaves it, a/b rises and U rises" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"reasons.png", "reasons.pdf", "reasons.svg"}
    for arguments, message in (
        (["--method", "count"], "task: missing"),
        (["--out", str(tmp_path)], "exists already"),
        (["--task", "binary", "--out", str(tmp_path)], "out: the figure is of the paper's binary settings"),
        (["--task", "nothing"], "task: 'nothing' is not one of"),
    ):
        with pytest.raises(SystemExit) as status:
            main(["explain", *arguments])
        captured = capsys.readouterr()
        assert (status.value.code, captured.err.count("\n")) == (2, 1)
        assert message in captured.err
