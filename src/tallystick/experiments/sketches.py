"""Sketches: how many models of a part have which values. Those of the parts add up to that of the whole, in any order."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from tallystick.experiments.bins import keys_of
from tallystick.experiments.columns import Trained, columns_of


def sketch_of(rows: pl.DataFrame, trained: Trained) -> pl.DataFrame:
    """Count the values of trained networks and of their rows, bin by bin; a column without a value is left out."""
    counted = [column for column in columns_of(trained.job.setting.kind) if column.counted]
    values = {column.name: column.find(trained) for column in counted if column.only_counted and column.find}
    values |= {column.name: rows[column.name] for column in counted if not column.only_counted}
    present = {
        name: found
        for name, found in values.items()
        if isinstance(found, pl.Series) and found.null_count() < len(found)
    }
    return _added_up(pl.concat([_counted(name, found) for name, found in present.items()]).lazy()).collect()


def merged(paths: Iterable[Path]) -> pl.DataFrame:
    """Add up the sketches in files, without holding more than a few of them at a time."""
    return _added_up(pl.scan_parquet(list(paths))).collect(engine="streaming")


def _counted(name: str, values: pl.Series) -> pl.DataFrame:
    return pl.DataFrame({"column": name, "key": keys_of(name, values)}).with_columns(models=pl.lit(1, pl.Int64))


def _added_up(counts: pl.LazyFrame) -> pl.LazyFrame:
    return counts.group_by("column", "key").agg(pl.col("models").sum()).sort("column", "key")
