"""Sweeps: a grid as one run, its points, its heat maps, and what a setting gained for it."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.reports import drawing
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import ALL, VARIED, Keep, training_job
from tallystick.runs.runner import run_training, run_whole
from tallystick.studies.sweep import AXES, Grid, axes_of, draw_sweep, points_of, sweep_config, sweep_jobs
from tallystick.training.descent import OPTIMISERS
from tallystick.training.ensemble import train
from tallystick.training.fused import processor
from tallystick.training.setting import Setting

BASE = Setting("binary", bias=False, train_length=2)
GRID = Grid(learning_rate=(0.005, 0.02), initial_scale=(0.5, 1), train_length=(2, 4), epochs=(20, 30))
SEEDS = 24


def swept(path, grid=GRID, keep=ALL, **options):
    directory = RunDirectory(path)
    run_whole(sweep_jobs(BASE, grid, SEEDS, 0, keep), sweep_config(BASE, grid, SEEDS, 0, keep), directory, **options)
    return directory


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    before = processor._function.cache_info().currsize
    directory = swept(tmp_path_factory.mktemp("sweep") / "run")
    compiled = processor._function.cache_info().currsize - before
    assert compiled <= len(GRID.train_length), "learning rates, scales and epochs share one program"
    return directory


def test_a_sweep_is_one_run_with_a_row_for_every_model_of_every_point(sweep):
    rows = sweep.models()
    assert len(rows) == 16 * SEEDS
    assert rows.select(AXES).unique().height == 16
    assert rows.group_by(AXES).len()["len"].unique().to_list() == [SEEDS]
    assert rows.equals(rows.sort("train_length", *VARIED, "seed"))
    assert {path.name for path in sweep.path.iterdir()} == {"config.toml", "models.parquet", "record.json", "strings"}
    assert sweep.config()["learning_rate"] == [0.005, 0.02]


def test_a_point_has_the_rows_of_a_training_run_of_its_own(sweep, tmp_path):
    setting = replace(BASE, train_length=4, learning_rate=0.02, initial_scale=0.5, epochs=30)
    alone = RunDirectory(tmp_path / "alone")
    run_training(training_job(setting, SEEDS, 0), 0, alone)
    point = sweep.models().filter(train_length=4, learning_rate=0.02, initial_scale=0.5, epochs=30)
    assert point.drop(VARIED).equals(alone.models())


def test_a_sweep_is_resumed_and_kept_as_any_run(sweep, tmp_path):
    summary = swept(tmp_path / "summary", keep=Keep("summary"))
    exact = ("models", "share_proved", "share_meeting_conditions", "horizon_all_median", "horizon_even_median")
    for from_counts, from_rows in zip(points_of(summary), points_of(sweep), strict=True):
        assert {name: from_counts[name] for name in (*AXES, *exact)} == {
            name: from_rows[name] for name in (*AXES, *exact)
        }
        assert from_counts["ab_ratio_median"] == pytest.approx(from_rows["ab_ratio_median"], abs=0.5)
    before = (sweep.path / "models.parquet").read_bytes()
    swept(sweep.path, resume=True)
    assert (sweep.path / "models.parquet").read_bytes() == before
    with pytest.raises(BadInput, match=r"epochs is \[20, 30\] there and \[100\] now"):
        swept(sweep.path, Grid(), resume=True)


def test_the_points_say_what_the_rows_say(sweep):
    points, rows = points_of(sweep), sweep.models()
    assert [tuple(point[name] for name in AXES) for point in points] == rows.select(AXES).unique(
        maintain_order=True
    ).rows()
    first = rows.filter(**{name: points[0][name] for name in AXES})
    assert points[0]["models"] == SEEDS
    assert points[0]["horizon_all_median"] == first["horizon_all"].quantile(0.5, "lower")
    assert points[0]["recurrent_weight_median"] == pytest.approx(first["recurrent_weight"].median())


def test_the_command_writes_a_table_and_heat_maps(tmp_path, capsys):
    run = tmp_path / "run"
    arguments = ["--train-length", "2", "--learning-rate", "0.005,0.02", "--epochs", "20", "--seeds", "16"]
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "--out", str(run), *arguments, "--json"])
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == ["models.parquet", "sweep.csv", "sweep.png", "sweep.pdf", "sweep.svg"]
    assert [point["learning_rate"] for point in found["points"]] == [0.005, 0.02]
    assert len(list(csv.DictReader((run / "sweep.csv").read_text().splitlines()))) == 2
    assert (run / "sweep.png").read_bytes()[1:4] == b"PNG"
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "--out", str(run), *arguments, "--resume"])  # all is there: it is drawn and shown again
    assert ended.value.code == 0
    shared, *lines, written = capsys.readouterr().out.splitlines()
    assert shared.startswith("all rows: initial scale 1, train length 2, epochs 20")
    assert [line.split()[0] for line in lines][-3:] == ["rate", "0.005", "0.02"]
    assert written == f"{run}: {', '.join(found['files'])}"


def point(**values):
    plain = {"learning_rate": 0.005, "initial_scale": 1.0, "train_length": 8, "epochs": 100, "optimiser": "own"}
    return {**plain, "share_proved": 0.5, "horizon_all_median": 6, **values}


def test_heat_maps_have_a_panel_for_each_combination_of_the_other_axes():
    points = [
        point(learning_rate=rate, initial_scale=scale, epochs=epochs, optimiser=name)
        for rate in (0.1, 0.01)
        for scale in (2.0, 0.5, 1.0)
        for epochs in (10, 100)
        for name in ("sign", "adam", "calm")
    ]
    figure = draw_sweep(points)
    shown = [panel for panel in figure.axes if panel.get_visible()]
    assert len(shown) == 2 * 6
    assert [tick.get_text() for tick in shown[0].get_xticklabels()] == ["0.01", "0.1"]
    assert [tick.get_text() for tick in shown[0].get_yticklabels()] == ["0.5", "1.0", "2.0"]
    assert shown[0].get_title() == "epochs 10\noptimiser sign\nright at every length, %"


def test_heat_maps_show_what_is_no_number():
    points = [point(epochs=10, horizon_all_median="unlimited"), point(epochs=20, horizon_all_median="not worked out")]
    _, horizons = draw_sweep(points).axes
    assert [text.get_text() for text in horizons.texts] == ["∞", "–"]
    assert drawing.files("sweep", lambda: draw_sweep(points)) == drawing.files("sweep", lambda: draw_sweep(points))


def test_the_axes_drawn_are_those_with_several_values_or_those_asked_for():
    points = [point(epochs=epochs, optimiser=name) for epochs in (1, 2) for name in ("adam", "calm")]
    assert axes_of(points) == ("epochs", "optimiser")
    assert axes_of(points, y="epochs") == ("optimiser", "epochs")
    assert axes_of(points, x="train_length") == ("train_length", "epochs")
    assert axes_of([point()]) == ("learning_rate", "initial_scale")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learning-rate", "0.1,fast"], "learning_rate: '0.1,fast' is not one or more numbers with commas between"),
        (["--epochs", "10,"], "epochs: '10,' is not one or more whole numbers"),
        (["--epochs", "10,10"], "epochs: a value stands twice in 10, 10"),
        (["--optimiser", "adam,sgd"], "optimiser: 'sgd' is not one of own, adam, calm, short, rmsprop, sign"),
        (["--cell", "gru"], "cell: 'gru' may have several units; a sweep is over cells with one"),
        (["--initial-scale", "0"], "initial_scale: 0.0 is not above 0"),
        (["--x", "colour"], "x: 'colour' is not one of learning_rate, initial_scale"),
        (["--x", "epochs", "--y", "epochs"], "y: 'epochs' is drawn as x already"),
        (["--seeds", "9000000", "--epochs", "1,2"], "seeds: 18000000 is more than 10,000,000"),
        (["--learning-rate", ",".join(f"0.{n:05d}" for n in range(1, 10_002))], "10,001 points are more than 10,000"),
    ],
)
def test_a_sweep_that_makes_no_sense_gives_one_line(tmp_path, capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "--out", str(tmp_path / "run"), *arguments])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "run").exists()


def test_the_initial_scale_multiplies_the_drawn_weights():
    plain, doubled = (training_job(replace(BASE, initial_scale=scale), 5, 0).initial(np.arange(5)) for scale in (1, 2))
    np.testing.assert_array_equal(doubled.inputs[0], 2 * plain.inputs[0])
    np.testing.assert_array_equal(doubled.readout_weight[0], 2 * plain.readout_weight[0])


def test_sign_moves_every_weight_by_the_learning_rate():
    setting = replace(BASE, optimiser="sign", learning_rate=0.25, epochs=1)
    initial = training_job(setting, 8, 0).initial(np.arange(8))
    moved = train(setting, initial, ["(("]).weights
    for before, after in ((initial.inputs[0], moved.inputs[0]), (initial.recurrent[0], moved.recurrent[0])):
        np.testing.assert_allclose(np.abs(after - before), 0.25, rtol=1e-4)


def test_the_papers_adam_is_the_published_methods_own():
    own, named = (training_job(replace(BASE, optimiser=name, epochs=3), 8, 0) for name in ("own", "adam"))
    results = [train(job.setting, job.initial(np.arange(8)), job.strings).weights.recurrent[0] for job in (own, named)]
    np.testing.assert_array_equal(*results)
    assert all(0 <= momenta.decay < 1 and momenta.epsilon > 0 for momenta in OPTIMISERS.values())
