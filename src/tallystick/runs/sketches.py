"""Sketches: how many models of a part have which values. Those of the parts add up to that of the whole, in any order."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tallystick.runs.bins import keys_of
from tallystick.runs.columns import Trained, columns_of
from tallystick.runs.parquet_files import scan


def sketch_of(rows: pl.DataFrame, trained: Trained) -> pl.DataFrame:
    """Count the values of trained networks and of their rows, bin by bin; a column without a value is left out."""
    counted = [column for column in columns_of(trained.job.setting.kind) if column.counted]
    tables = []
    for column in counted:
        values = (
            column.find(trained) if column.only_counted and column.find else rows.get_column(column.name, default=None)
        )
        if isinstance(values, pl.Series) and values.null_count() < len(values):
            keys = pl.DataFrame({"column": column.name, "key": keys_of(column, values)})
            tables.append(keys.with_columns(models=pl.lit(1, pl.Int64)))
    return _added_up(pl.concat(tables).lazy()).collect()


def merged(paths: Iterable[Path]) -> pl.DataFrame:
    """Add up the sketches in files, without holding more than a few of them at a time."""
    return _added_up(scan(*paths)).collect(engine="streaming")


def _added_up(counts: pl.LazyFrame) -> pl.LazyFrame:
    return counts.group_by("column", "key").agg(pl.col("models").sum()).sort("column", "key")
