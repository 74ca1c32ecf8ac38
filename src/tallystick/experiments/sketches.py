"""Sketches: how many models of a part have which values. Those of the parts add up to that of the whole, in any order."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tallystick.certificates.exact_counters import has_theorem, meets_conditions
from tallystick.experiments.bins import COLUMNS, keys_of
from tallystick.experiments.parquet_files import scan
from tallystick.training.ensemble import Ensemble


def sketch_of(rows: pl.DataFrame, ensemble: Ensemble) -> pl.DataFrame:
    """Count the values of trained networks and of their rows, bin by bin; a column without a value is left out."""
    if has_theorem(ensemble.setting.kind):
        rows = rows.with_columns(meets_conditions=pl.Series(meets_conditions(ensemble.cell())))
    present = [name for name in COLUMNS if name in rows.columns and rows[name].null_count() < len(rows)]
    return _added_up(pl.concat([_counted(name, rows[name]) for name in present]).lazy()).collect()


def merged(paths: Iterable[Path]) -> pl.DataFrame:
    """Add up the sketches in files, without holding more than a few of them at a time."""
    return _added_up(scan(*paths)).collect(engine="streaming")


def _counted(name: str, values: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"column": name, "key": keys_of(name, values)}).with_columns(models=pl.lit(1, pl.Int64))


def _added_up(counts: pl.LazyFrame) -> pl.LazyFrame:
    return counts.group_by("column", "key").agg(pl.col("models").sum()).sort("column", "key")
