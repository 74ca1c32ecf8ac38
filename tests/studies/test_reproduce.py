"""The paper's experiment in one call: what it writes, what it refuses, and that nothing is made or read twice."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic import write_run

from tallystick.cli import main
from tallystick.errors import BadInput
from tallystick.reports import report
from tallystick.runs import runner
from tallystick.runs.directory import RunDirectory
from tallystick.studies import reproduce as study
from tallystick.studies.reproduce import Plan, reproduce, run_experiment


@pytest.mark.long
def test_the_whole_experiment_on_a_few_seeds(tmp_path):
    directory = RunDirectory(tmp_path / "run")
    told = []
    run_experiment(Plan(seeds=20), directory, report=lambda job, seeds: told.append((job, seeds)))
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


@pytest.mark.long
@pytest.mark.usefixtures("rendered_once")
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_the_plan_is_made_once_and_the_run_read_once(tmp_path, monkeypatch, capsys, form):
    made, read = [], []

    def fresh_job(*given, original=study.fresh_job):
        made.append(given)
        return original(*given)

    def read_run(directory, original=report.read_run):
        read.append(directory)
        return original(directory)

    # What takes long is left out: a run that is made up takes the place of the trained one.
    monkeypatch.setattr(study, "fresh_job", fresh_job)
    monkeypatch.setattr(report, "read_run", read_run)
    monkeypatch.setattr(runner, "run_jobs", lambda directory, *_, **__: write_run(directory.path))
    monkeypatch.setattr(study, "_replicates", lambda *_: pl.read_parquet(tmp_path / "run" / "replicates.parquet"))
    monkeypatch.setattr(study, "_paths", lambda _: pl.read_parquet(tmp_path / "run" / "paths.parquet"))
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "--seeds", "60", "--out", str(tmp_path / "run"), *form])
    assert ended.value.code == 0
    assert "report.html" in capsys.readouterr().out
    assert len(made) == 24  # twelve settings in float32, and in float64
    assert read == [tmp_path / "run"]
