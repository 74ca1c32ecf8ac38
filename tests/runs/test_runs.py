"""The run directory, resuming, and the reproduction as a whole."""

import csv
import tomllib
from pathlib import Path

import jax
import numpy as np
import polars as pl
import pytest

from tallystick.cells import TanhCell
from tallystick.certificates.certify import certify
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout
from tallystick.runs import rows
from tallystick.runs.directory import RunDirectory
from tallystick.runs.evaluation import evaluate_run, horizons_of_run, indicators_of_run
from tallystick.runs.gpu_certifier import GpuCertifier
from tallystick.runs.jobs import ALL, Keep, Published, exact_job, fresh_job, paper_grid, training_job
from tallystick.runs.rows import PART, ensemble_of, part_files, parts_of, rows_of
from tallystick.runs.runner import run_training
from tallystick.training.engines import devices_named
from tallystick.training.ensemble import Ensemble
from tallystick.training.setting import Setting

AUTHORS = Path(__file__).parents[3] / "shared" / "authors-data"
PAPER = Path(__file__).parents[2] / "src" / "tallystick" / "reports" / "paper_table2.csv"
MISPRINTS = {("binary", "false", "2", "20", "min"): 64.0, ("ternary", "true", "2", "50", "max"): 67.6}


def rows_of_part(part):
    return pl.read_parquet(part_files(ALL, part.job, part.seeds)["rows"])


def small_run(path, seeds=40, **options):
    directory = RunDirectory(path)
    job = training_job(Setting("ternary", bias=True, train_length=2), seeds, seed=0)
    run_training(job, 0, directory, **options)
    return directory


@pytest.mark.skipif(not AUTHORS.is_dir(), reason="the authors' data lies beside the checkout, and is not here")
@pytest.mark.parametrize("setting", [s for s in paper_grid("float32") if s.train_length < 8], ids=str)
def test_the_exact_edition_equals_the_paper_to_the_printed_digit(setting):
    rows = rows_of_part(parts_of([exact_job(setting, AUTHORS)])[0])
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
    rows = rows_of_part(parts_of([job])[0])
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
            model = Network(
                TanhCell(*(float(weight[place]) for weight in vars(networks.cell()).values())),
                Readout.binary(row["readout_weight"][0]),
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
    directory.store_part(parts[0].name, part_files(ALL, parts[0].job, parts[0].seeds)["rows"])
    damaged = tmp_path / "run" / "parts" / f"{parts[1].name}.parquet"
    damaged.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(BadInput, match=f"{damaged.name}: damaged .*; delete it and go on with --resume") as refusal:
        run_training(job, 0, directory, resume=True)
    assert "\n" not in str(refusal.value)
    assert directory.has_part(parts[0].name)
    damaged.unlink()
    run_training(job, 0, directory, resume=True)
    assert directory.models().equals(expected)


@pytest.mark.parametrize("bias", [False, True])
def test_a_part_needs_only_programs_that_were_compiled_ahead(bias, monkeypatch, caplog):
    monkeypatch.setattr(rows, "_gpu", lambda _: GpuCertifier(devices_named("cpu").using))
    job = training_job(Setting("ternary", bias=bias, train_length=3, epochs=2), seeds=300, seed=7)
    rows.compile_ahead(job)
    with jax.log_compiles(), caplog.at_level("WARNING"):
        assert rows.part_files(Keep("summary"), job, range(300))
        assert not [line for line in caplog.messages if "Compiling" in line]
        jax.jit(lambda x: x * 17)(np.arange(3))  # what would be seen
    assert [line for line in caplog.messages if "Compiling" in line]
