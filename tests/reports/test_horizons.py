"""The horizons beside the sampled accuracy."""

import io
import shutil

import polars as pl
import pytest
from rich.console import Console

from tallystick.certificates.ensemble import UNLIMITED
from tallystick.reports.horizons import LEGEND, Horizon, horizons_of
from tallystick.reports.reading import read_run
from tallystick.reports.report import write_report
from tallystick.reports.table_text import table_text


def shown(directory) -> str:
    console = Console(width=110, file=io.StringIO())
    console.print(table_text(directory))
    return console.file.getvalue()


def test_median_and_greatest_are_those_of_the_models(run_directory):
    run = read_run(run_directory)
    for setting, models in run.of_edition("fresh").items():
        found = horizons_of(run, "fresh", setting)
        assert found["even"] == Horizon(models["horizon_even"].median(), models["horizon_even"].max())
        assert found["all"].greatest == models["horizon_all"].max()
        assert f"{found['even']}" in shown(run_directory)


def test_the_legend_stands_only_where_horizons_are_shown(report):
    assert LEGEND in (report / "report.html").read_text()
    assert "Horizon" not in (report / "table2.md").read_text()


@pytest.fixture
def copied(run_directory, tmp_path):
    """A run directory that a test may change."""
    return shutil.copytree(run_directory, tmp_path / "run")


def test_a_network_that_counts_is_unlimited(copied):
    path = copied / "models.parquet"
    pl.read_parquet(path).with_columns(horizon_even=pl.lit(UNLIMITED), horizon_all=pl.lit(UNLIMITED)).write_parquet(
        path
    )
    assert "unlimited, at most unlimited" in shown(copied)


def test_a_run_without_horizons_is_reported_without_them(copied):
    path = copied / "models.parquet"
    pl.read_parquet(path).drop("horizon_all", "horizon_even").write_parquet(path)
    write_report(copied)
    assert "Horizon" not in shown(copied)
    assert "Horizon" not in (copied / "report.html").read_text()
