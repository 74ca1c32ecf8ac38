"""Memory stays bounded: rows are put together and read in pieces, or only their counts or a sample of them are kept."""

import json
import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.ensemble import UNLIMITED
from tallystick.errors import BadInput
from tallystick.runs import directory as run_directory
from tallystick.runs.columns import columns_of
from tallystick.runs.directory import RunDirectory
from tallystick.runs.evaluation import evaluate_run, horizons_of_run, indicators_of_run
from tallystick.runs.jobs import ALL, MOST_SUMMED_UP, Keep
from tallystick.runs.rows import GPU_PART, MOST_PARTS, PART
from tallystick.runs.runner import part_files, parts_of, run_training, seeds_in_a_part, training_job
from tallystick.runs.summaries import Histogram, add_up_files, edges_of, keys_of, settings_of
from tallystick.training.setting import Setting

SEEDS = PART + 150
SETTING = Setting("binary", bias=False, train_length=2)
SUMMARY = Keep("summary")

COUNTED = {column.name: column for column in columns_of(LinearCell) if column.counted}
CENTRES = {name: column.centre for name, column in COUNTED.items() if column.centre is not None}
ACCURACIES = [name for name in COUNTED if name.startswith("accuracy")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same run, kept in three ways."""
    folder = tmp_path_factory.mktemp("runs")
    for keep in ("all", "summary", "sample:60"):
        run_training(training_job(SETTING, SEEDS, seed=0), 0, RunDirectory(folder / keep), keep=Keep.read(keep))
    return {keep: RunDirectory(folder / keep) for keep in ("all", "summary", "sample:60")}


def histograms(directory):
    ((_, columns),) = settings_of(directory.histograms())
    return columns


def test_all_parts_are_put_together_in_order(runs):
    assert runs["all"].models()["seed"].to_list() == list(range(SEEDS))
    assert {path.name for path in runs["all"].path.iterdir()} == {
        "config.toml",
        "models.parquet",
        "record.json",
        "strings",
    }


def test_a_summary_holds_no_rows_and_says_so(runs):
    assert {path.name for path in runs["summary"].path.iterdir()} == {
        "config.toml",
        "histograms.parquet",
        "summary.json",
        "record.json",
        "strings",
    }
    with pytest.raises(BadInput, match="kept the summary of its models alone"):
        evaluate_run(runs["summary"], runs["summary"].path / "strings" / "binary_20.txt")


def test_values_that_are_counted_one_by_one_are_exact(runs):
    rows, found = runs["all"].models(), histograms(runs["summary"])
    assert ACCURACIES == ["accuracy_train", "accuracy_20", "accuracy_50"]
    for name in (*ACCURACIES, "horizon_all", "horizon_even"):
        values, counts = np.unique(rows[name].to_numpy().astype(np.float64), return_counts=True)
        np.testing.assert_array_equal(found[name].least, values)
        np.testing.assert_array_equal(found[name].models, counts)
    assert found["accuracy_50"].mean == pytest.approx(rows["accuracy_50"].mean())


@pytest.mark.parametrize("name", ["ab_ratio", "recurrent_weight"])
def test_quantiles_lie_in_their_bins_and_bins_are_as_narrow_as_is_said(runs, name):
    rows, histogram = runs["all"].models(), histograms(runs["summary"])[name]
    for share in (0, 0.001, 0.25, 0.5, 0.9, 1):
        least, following = histogram.quantile(share)
        true = float(np.quantile(rows[name].to_numpy(), share, method="lower"))
        assert least <= true < following
        assert following - least <= (abs(true - CENTRES[name])) / 1024
    assert histogram.models.sum() == SEEDS


def test_the_summary_says_what_the_rows_say(runs):
    (setting,) = json.loads((runs["summary"].path / "summary.json").read_text())["settings"]
    rows = runs["all"].models()
    assert setting["models"] == SEEDS
    assert setting["accuracy_20"]["quantiles"]["0.5"] == pytest.approx(
        np.quantile(rows["accuracy_20"].to_numpy(), 0.5, method="lower")
    )
    assert setting["horizon_all"]["quantiles"]["1.0"] == rows["horizon_all"].max()
    assert setting["share_proved"] == (rows["horizon_all"] == UNLIMITED).mean()
    assert horizons_of_run(runs["summary"]) == horizons_of_run(runs["all"])
    (from_counts,), (from_rows,) = indicators_of_run(runs["summary"]), indicators_of_run(runs["all"])
    assert from_counts["ab_ratio_median"] == pytest.approx(from_rows["ab_ratio_median"], rel=1e-2)
    assert from_counts["share_meeting_conditions"] == from_rows["share_meeting_conditions"]


def test_a_sample_has_the_rows_of_its_seeds_and_the_summary_of_all(runs):
    rows, sample = runs["all"].models(), runs["sample:60"].models()
    assert len(sample) == 60
    assert sample.equals(rows.filter(pl.col("seed").is_in(sample["seed"].to_list())))
    assert runs["sample:60"].histograms().equals(runs["summary"].histograms())
    assert evaluate_run(runs["sample:60"], runs["all"].path / "strings" / "binary_20.txt")


@given(st.integers(1, 2000), st.integers(1, 2000))
def test_a_sample_is_as_large_as_was_asked_and_evenly_spread(size, seeds):
    rows = pl.DataFrame({"seed": np.arange(seeds)})
    chosen = Keep("sample", size).choose(rows, seeds)["seed"]
    assert len(chosen) == min(size, seeds)
    assert set(chosen.diff().drop_nulls()) <= {seeds // size, seeds // size + 1, 1}


@pytest.mark.long
def test_sketches_of_any_parts_in_any_order_add_up_to_the_same(tmp_path, runs):
    job = training_job(SETTING, 300, seed=0)
    for folder, cuts in (("one", [0, 300]), ("three", [130, 300, 0, 50, 50, 130])):
        (tmp_path / folder).mkdir()
        for place, (first, last) in enumerate(zip(cuts[::2], cuts[1::2], strict=True)):
            content = part_files(SUMMARY, job, range(first, last))["sketch"]
            (tmp_path / folder / f"{place}.parquet").write_bytes(content)
    one, three = (add_up_files(sorted((tmp_path / folder).iterdir())) for folder in ("one", "three"))
    assert one.equals(three)
    assert set(one["column"]) == set(COUNTED) - {"close_recurrent_weight"}


def test_a_part_that_lacks_one_of_its_files_is_done_again(tmp_path):
    keep = Keep("sample", 20)
    job = training_job(SETTING, 40, seed=0)
    run_training(job, 0, RunDirectory(tmp_path / "whole"), keep=keep)
    directory = RunDirectory(tmp_path / "run")
    directory.start(RunDirectory(tmp_path / "whole").config())
    (part,) = parts_of([job])
    directory.store_part(part.name, part_files(keep, job, part.seeds)["rows"])
    run_training(job, 0, directory, keep=keep, resume=True)
    assert directory.histograms().equals(RunDirectory(tmp_path / "whole").histograms())
    with pytest.raises(BadInput, match="keep is 'sample:20' there and 'all' now"):
        run_training(job, 0, directory, keep=ALL, resume=True)


def test_a_finished_table_is_read_in_pieces(runs, monkeypatch):
    strings = runs["all"].path / "strings" / "binary_20.txt"
    whole = indicators_of_run(runs["all"]), evaluate_run(runs["all"], strings), runs["all"].models()
    monkeypatch.setattr(run_directory, "ROWS_AT_A_TIME", 1000)
    assert [len(rows) for rows in runs["all"].chunks()] == [1000, 1000, SEEDS - 2000]
    pieces = indicators_of_run(runs["all"]), evaluate_run(runs["all"], strings), runs["all"].models()
    assert pieces[:2] == whole[:2]
    assert pieces[2].equals(whole[2])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_parts_stay_few_and_small_runs_have_small_ones(device):
    def size(seeds):
        return seeds_in_a_part([replace(training_job(SETTING, seeds, 0, SUMMARY), device=device)])

    least = {"cpu": PART, "gpu": GPU_PART}[device]
    assert size(1) == size(least * MOST_PARTS) == least
    assert size(least * MOST_PARTS + 1) == 2 * least
    assert MOST_SUMMED_UP / size(MOST_SUMMED_UP) <= MOST_PARTS


def test_a_job_is_plain_data():
    job = training_job(SETTING, 5, seed=0)
    again = pickle.loads(pickle.dumps(job))
    assert again == job
    np.testing.assert_array_equal(again.initial(np.arange(5)).inputs[0], job.initial(np.arange(5)).inputs[0])


@given(st.floats(allow_nan=False))
def test_a_value_lies_in_its_bin(value):
    for name, centre in CENTRES.items():
        keys = keys_of(COUNTED[name], pl.Series([value])).to_numpy()
        (least,), (following,) = edges_of(COUNTED[name], keys)
        assert least <= (value - centre) + centre <= following


def test_what_is_no_number_is_counted_apart():
    assert keys_of(COUNTED["ab_ratio"], pl.Series([float("nan"), -1.0])).to_list() == [None, 0]
    assert np.isnan(Histogram(np.array([]), np.array([]), np.array([], int), 3).middle(0.5))


@pytest.mark.parametrize("text", ["none", "all:3", "summary:", "sample:", "sample:x", "sample:-1", "sample:0", ""])
def test_what_cannot_be_kept_is_refused(text):
    with pytest.raises(BadInput, match="keep: "):
        Keep.read(text)


def test_more_seeds_than_rows_are_kept_for_are_refused():
    with pytest.raises(BadInput, match="seeds: 10000001 is more than 10,000,000, the most rows .* --keep summary"):
        training_job(SETTING, 10_000_001, seed=0)
    assert training_job(SETTING, 10_000_001, 0, SUMMARY).seeds == 10_000_001
    with pytest.raises(BadInput, match="seeds: 1000000001 is more than 1,000,000,000"):
        training_job(SETTING, 1_000_000_001, 0, SUMMARY)
