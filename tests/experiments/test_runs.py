"""The run directory, resuming, and the reproduction as a whole."""

import csv
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tallystick.cells import TanhCell
from tallystick.certificates.horizon import certify
from tallystick.errors import BadInput
from tallystick.experiments.evaluation import evaluate_run, horizons_of_run, indicators_of_run
from tallystick.experiments.jobs import Published, exact_job, fresh_job, paper_grid
from tallystick.experiments.reproduction import Plan, run_experiment
from tallystick.experiments.rows import ensemble_of, rows_of
from tallystick.experiments.run_directory import RunDirectory
from tallystick.experiments.runner import PART, parts_of, train_part
from tallystick.experiments.training_run import run_training, training_job
from tallystick.models import Model
from tallystick.readouts import BinaryReadout
from tallystick.reproduction import reproduce
from tallystick.training.ensemble import Ensemble
from tallystick.training.setting import Setting

AUTHORS = Path(__file__).parents[3] / "shared" / "authors-data"
PAPER = Path(__file__).parents[2] / "src" / "tallystick" / "reports" / "paper_table2.csv"
MISPRINTS = {("binary", "false", "2", "20", "min"): 64.0, ("ternary", "true", "2", "50", "max"): 67.6}


def small_run(path, seeds=40, **options):
    directory = RunDirectory(path)
    job = training_job(Setting("ternary", bias=True, train_length=2), seeds, seed=0)
    run_training(job, 0, directory, **options)
    return directory


@pytest.mark.skipif(not AUTHORS.is_dir(), reason="the authors' data lies beside the checkout, and is not here")
@pytest.mark.parametrize("setting", [s for s in paper_grid("float32") if s.train_length < 8], ids=str)
def test_the_exact_edition_equals_the_paper_to_the_printed_digit(setting):
    rows = train_part(parts_of([exact_job(setting, AUTHORS)])[0])
    for printed in csv.DictReader(PAPER.read_text().splitlines()):
        key = (printed["classification"], printed["bias"], printed["train_length"], printed["column"])
        if key[:3] != (setting.task, str(setting.bias).lower(), str(setting.train_length)):
            continue
        values = rows[f"accuracy_{printed['column']}"]
        for name, value in (("avg", values.mean()), ("min", values.min()), ("max", values.max())):
            expected = MISPRINTS.get((*key, name), float(printed[name]))
            assert abs(value - expected) <= 0.05 + 1e-9, (*key, name)


EXPECTED = [
    # task, length, precision, seeds: mean a/b and U, and accuracy at 20 and 50 tokens, of thousands of seeds on these strings
    ("binary", 8, "float32", 512, (-0.726, 1.007, 96.9, 92.9)),
    ("binary", 4, "float32", 512, (-0.56, 1.046, None, None)),
    ("ternary", 8, "float32", 512, (-0.99, 1.002, None, None)),
    ("ternary", 8, "float64", 128, (None, None, 100.0, 100.0)),
]


@pytest.mark.skipif(not AUTHORS.is_dir(), reason="the authors' data lies beside the checkout, and is not here")
@pytest.mark.parametrize(("task", "length", "precision", "seeds", "expected"), EXPECTED)
def test_means_over_many_seeds_are_those_expected(task, length, precision, seeds, expected):
    job = fresh_job(
        "fresh", Setting(task, bias=False, train_length=length, precision=precision), seeds, Published(AUTHORS)
    )
    rows = train_part(parts_of([job])[0])
    columns = ("ab_ratio", "recurrent_weight", "accuracy_20", "accuracy_50")
    for column, value, printed_to in zip(columns, expected, (0.005, 0.0005, 0.05, 0.05), strict=True):
        if value is not None:
            spread = rows[column].std() / seeds**0.5
            assert abs(rows[column].mean() - value) <= printed_to + 4 * spread, column


def test_a_run_holds_what_the_interface_names(tmp_path):
    directory = small_run(tmp_path / "run")
    rows = directory.models()
    assert rows["seed"].to_list() == list(range(40))
    assert rows["edition"].unique().to_list() == ["fresh"]
    np.testing.assert_array_equal(rows["ab_ratio"], rows["open_step"] / rows["close_step"])
    assert rows["readout_weight"].list.len().unique().to_list() == [3]
    assert tomllib.loads((tmp_path / "run" / "config.toml").read_text())["task"] == "ternary"
    assert {"config.toml", "models.parquet", "record.json", "strings"} == {
        path.name for path in (tmp_path / "run").iterdir()
    }
    assert {path.name for path in (tmp_path / "run" / "strings").iterdir()} == {
        "ternary_2.txt",
        "ternary_20.txt",
        "ternary_50.txt",
    }


@pytest.mark.parametrize(
    ("cell", "task"), [("linear", "count"), ("selective", "binary"), ("relu", "count"), ("tanh", "binary")]
)
def test_every_cell_is_certified(tmp_path, cell, task):
    """Snapped or not, with classes or the count; a horizon in the rows is the certifier's."""
    counts = {} if cell == "tanh" else {"method": "count-calm", "start": "exact", "snap": True}
    setting = Setting(task, bias=False, train_length=2, cell=cell, epochs=2, **counts)
    directory = RunDirectory(tmp_path / "run")
    run_training(training_job(setting, 20, seed=0), 0, directory)
    (found,) = horizons_of_run(directory)
    assert (found["models"], found["exact"]) == (20, 20)
    if counts:
        assert (found["proved"], found["horizon_all_median"], found["horizon_even_max"]) == (
            20,
            "unlimited",
            "unlimited",
        )
    else:
        rows = directory.models().head(3)
        networks = ensemble_of(rows, setting)
        for place, row in enumerate(rows.iter_rows(named=True)):
            model = Model(
                TanhCell(*(float(weight[place]) for weight in vars(networks.cell()).values())),
                BinaryReadout(row["readout_weight"][0]),
            )
            assert certify(model).horizon == row["horizon_all"]
            assert certify(model, "even").horizon == row["horizon_even"]


def test_what_a_run_was_asked_for_is_said(tmp_path):
    """Rows do not tell a penalty of one strength from that of another, or what was rounded; the configuration does."""
    setting = Setting("binary", bias=False, train_length=2, epochs=2, method="penalty", strength=3.0, snap=True)
    directory = RunDirectory(tmp_path / "run")
    run_training(training_job(setting, 3, seed=0), 0, directory)
    strings = tmp_path / "run" / "strings" / "binary_20.txt"
    for (found,) in (horizons_of_run(directory), indicators_of_run(directory), evaluate_run(directory, strings)):
        assert {"method": "penalty", "strength": 3.0, "snap": True, "epochs": 2}.items() <= found.items()
        assert "schedule" not in found


def test_a_network_that_is_no_number_has_no_horizon():
    setting = Setting("binary", bias=False, train_length=2)
    job = training_job(setting, 3, seed=0)
    weights = job.initial(np.arange(3))
    weights.inputs[0][1] = np.inf
    rows = rows_of(job, np.arange(3), Ensemble(setting, weights, np.zeros(3)))
    for name in ("horizon_all", "horizon_even", "horizon_all_exact", "horizon_even_exact"):
        assert rows[name].is_null().to_list() == [False, True, False]


def test_rows_become_the_same_networks_again(tmp_path):
    directory = small_run(tmp_path / "run")
    rows = directory.models()
    again = ensemble_of(rows, Setting("ternary", bias=True, train_length=2))
    strings = (tmp_path / "run" / "strings" / "ternary_20.txt").read_text().split()
    np.testing.assert_array_equal(again.accuracy([line.split(",")[0] for line in strings]), rows["accuracy_20"])
    (found,) = evaluate_run(directory, tmp_path / "run" / "strings" / "ternary_20.txt")
    assert found["accuracy_mean"] == pytest.approx(rows["accuracy_20"].mean())
    (found,) = indicators_of_run(directory)
    assert found["recurrent_weight_median"] == pytest.approx(rows["recurrent_weight"].median())
    assert found["share_meeting_conditions"] == 0.0


def test_a_run_is_not_overwritten_unasked(tmp_path):
    small_run(tmp_path / "run", seeds=5)
    with pytest.raises(BadInput, match="exists already; --resume goes on with it, --force starts it anew"):
        small_run(tmp_path / "run", seeds=6)
    with pytest.raises(BadInput, match="seeds is 5 there and 6 now; resume with the same options"):
        small_run(tmp_path / "run", seeds=6, resume=True)
    assert len(RunDirectory(tmp_path / "run").models()) == 5
    assert len(small_run(tmp_path / "run", seeds=6, force=True).models()) == 6


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("keep me")
    for options in ({}, {"force": True}, {"resume": True}):
        with pytest.raises(BadInput, match="letters: "):
            small_run(tmp_path / "letters", **options)
    assert (tmp_path / "letters" / "dear.txt").read_text() == "keep me"
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is not a folder; a run needs one"):
        small_run(tmp_path / "file")


def test_force_removes_what_a_run_writes_and_nothing_else(tmp_path):
    site = tmp_path / "site"
    (site / "strings").mkdir(parents=True)
    (site / "config.toml").write_text('baseURL = "x"\n')
    (site / "strings" / "notes.txt").write_text("keep me")
    with pytest.raises(BadInput, match="is not a run directory"):
        small_run(site, force=True)
    assert (site / "strings" / "notes.txt").read_text() == "keep me"
    small_run(tmp_path / "run", seeds=5)
    (tmp_path / "run" / "thesis.tex").write_text("keep me")
    (tmp_path / "run" / "strings" / "notes.txt").write_text("keep me")
    assert len(small_run(tmp_path / "run", seeds=4, force=True).models()) == 4
    assert (tmp_path / "run" / "thesis.tex").read_text() == "keep me"
    assert (tmp_path / "run" / "strings" / "notes.txt").read_text() == "keep me"


def test_a_run_killed_before_it_began_can_be_started_again(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".config.toml.x.partial").write_text("")
    assert len(small_run(tmp_path / "run", seeds=3, resume=True).models()) == 3


def test_resuming_a_finished_run_changes_nothing(tmp_path):
    directory = small_run(tmp_path / "run", seeds=3)
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.parquet")}
    small_run(tmp_path / "run", seeds=3, resume=True)
    assert {path: path.read_bytes() for path in before} == before
    assert len(directory.models()) == 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda rows: rows.drop("cell"), "column 'cell' is missing"),
        (lambda rows: rows.clear(), "holds no model"),
        (lambda rows: rows.with_columns(pl.col("open_step").cast(pl.String)), "column 'open_step' holds String"),
    ],
)
def test_a_table_that_is_not_a_runs_is_refused(tmp_path, damage, message):
    directory = small_run(tmp_path / "run", seeds=3)
    directory.write_table(damage(directory.models()), "models.parquet")
    with pytest.raises(BadInput, match=message):
        indicators_of_run(directory)


def test_labels_of_any_task_of_the_run_are_welcome(tmp_path):
    directory = small_run(tmp_path / "run", seeds=3)
    rows = directory.models()
    both = pl.concat([rows, rows.with_columns(task=pl.lit("binary"), readout_weight=[1.0], readout_bias=[0.0])])
    directory.write_table(both, "models.parquet")
    (tmp_path / "strings.txt").write_text("(),Zero\n(),ZeroNeg\n((,Pos\n")
    assert len(evaluate_run(directory, tmp_path / "strings.txt")) == 2


def test_a_damaged_part_is_named_and_nothing_is_lost(tmp_path):
    directory = small_run(tmp_path / "run", seeds=PART + 8)
    expected = directory.models()
    job = training_job(Setting("ternary", bias=True, train_length=2), PART + 8, seed=0)
    parts = parts_of([job])
    (tmp_path / "run" / "models.parquet").unlink()
    (tmp_path / "run" / "parts").mkdir()
    directory.write_part(parts[0].name, train_part(parts[0]))
    damaged = tmp_path / "run" / "parts" / f"{parts[1].name}.parquet"
    damaged.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(BadInput, match=f"{damaged.name}: damaged .*; delete it and go on with --resume") as refusal:
        run_training(job, 0, directory, resume=True)
    assert "\n" not in str(refusal.value)
    assert directory.has_part(parts[0].name)
    damaged.unlink()
    run_training(job, 0, directory, resume=True)
    assert directory.models().equals(expected)


@pytest.mark.long
def test_the_whole_experiment_on_a_few_seeds(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    told = []
    run_experiment(Plan(seeds=20), directory, progress=lambda job, seeds: told.append((job, seeds)))
    rows = directory.models()
    assert rows.group_by("edition").len().sort("edition").rows() == [("float64", 240), ("fresh", 240)]
    assert len({job for job, _ in told}) == 24
    replicates = pl.read_parquet(tmp_path / "run" / "replicates.parquet")
    assert replicates.group_by("edition", "kind").len().sort("edition", "kind").rows() == [
        ("float64", "sampling", 36_000),
        ("fresh", "rounding", 1_080),
        ("fresh", "sampling", 36_000),
    ]
    averages = replicates.filter(edition="fresh", kind="sampling", column="train").group_by(
        "task", "bias", "train_length"
    )
    means = averages.agg(pl.col("average").mean()).join(
        rows.filter(edition="fresh").group_by("task", "bias", "train_length").agg(pl.col("accuracy_train").mean()),
        on=["task", "bias", "train_length"],
    )
    assert (means["average"] - means["accuracy_train"]).abs().max() < 1
    paths = pl.read_parquet(tmp_path / "run" / "paths.parquet")
    assert len(paths) == 12 * 20 * 101
    last = paths.filter(epoch=100).sort("task", "bias", "train_length", "seed")["recurrent_weight"].to_numpy()
    trained = rows.filter(edition="fresh").sort("task", "bias", "train_length", "seed")["recurrent_weight"].to_numpy()
    short = paths.filter(epoch=100).sort("task", "bias", "train_length", "seed")["train_length"].to_numpy() < 8
    np.testing.assert_allclose(last[short], trained[short], rtol=1e-3)
    assert not (tmp_path / "run" / "parts").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 0}, "runs: 0 is not a whole number from 1 on"),
        ({"seeds": -1}, "seeds: -1 is not a whole number from 0 on"),
        ({"precision": "float16"}, "precision: 'float16' is not one of"),
        ({"perturb": 2.0}, "perturb: 2.0 is not between 0 and 1"),
        ({"perturb": float("nan")}, "perturb: nan is not between 0 and 1"),
        ({"perturb": "x"}, "perturb: 'x' is not between 0 and 1"),
        ({"seeds": 10**12}, "seeds: 1000000000000 is more than 10,000,000"),
        ({"runs": 10**9}, "runs: 1000000000 is more than 10,000"),
        ({"replicates": 10**9}, "replicates: 1000000000 is more than 10,000"),
        ({"replicates": -1}, "replicates: -1 is not a whole number"),
        ({"authors_data": Path("nowhere")}, "authors_data: nowhere is not a folder"),
        ({"authors_data": Path(), "runs": 5}, "runs: 5; the exact edition has the authors' 10"),
    ],
)
def test_a_plan_that_makes_no_experiment_is_refused(options, message):
    with pytest.raises(BadInput, match=message):
        Plan(**options)


def test_an_option_that_a_reproduction_does_not_have_is_named(tmp_path):
    with pytest.raises(BadInput, match="sedes: no such option; the options are runs, seeds"):
        reproduce(tmp_path / "run", sedes=3)
    assert not (tmp_path / "run").exists()
