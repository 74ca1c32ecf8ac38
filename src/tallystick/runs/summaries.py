"""What is kept of models that are not: histograms of their values, and the quantiles that follow from them.

A part of a run is counted into a sketch: how many of its models fall into which bin. The bins are fixed beforehand, so that the
sketches of the parts add up to that of the whole, in any order. Horizons and accuracies are counted value by value. a/b and U are
counted by how far they lie from −1 and 1, where the theorems want them: a bin is at most 1/1024 of that distance wide. The models
nearest to an exact counter, the rarest, are told apart as well as any others, and one that is exactly there has a bin to itself.
A bin has a whole number for a key: the bits of a double, in the order of the doubles, without the last 42.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from tallystick.cells import Cell
from tallystick.certificates.one_unit.ensemble import UNLIMITED
from tallystick.errors import BadInput
from tallystick.runs.columns import Column, Trained, columns_of, counted_columns, schema_of
from tallystick.runs.jobs import DESCRIBED_BY, Job
from tallystick.runs.parquet_files import scan

QUANTILES = (0.0, 0.0001, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0)
MANTISSA = 10
_CUT = 52 - MANTISSA
_ALL_BUT_SIGN = np.int64(2**63 - 1)

RESOLUTION = (
    "a quantile of ab_ratio or of a recurrent weight lies from the first number up to the second, which differ by "
    f"1/{2**MANTISSA} of its distance from -1 or 1, at most; accuracies, horizons and counts are exact"
)
_EVERY = "accuracy_train"
"""The column that every network has a value in."""

_BINS = {"column": pl.String, "least": pl.Float64, "next": pl.Float64, "models": pl.Int64}
_SCHEMA = {name: schema_of(Cell)[name] for name in ("edition", *DESCRIBED_BY)} | _BINS


@dataclass(frozen=True)
class Histogram:
    """How many models have which values of one column.

    Attributes:
        least: the least value of each bin, ascending.
        next: the value that is beyond it, or the least itself where the bin holds that one alone.
        models: how many there are.
        not_numbers: how many have no number there.
    """

    least: np.ndarray
    next: np.ndarray
    models: np.ndarray
    not_numbers: int

    def quantile(self, share: float) -> tuple[float, float]:
        """Return the bin that holds the quantile, which is one of the values; NaN where there are no values."""
        if not len(self.models):
            return nan, nan
        place = int(share * (self.models.sum() - 1))
        found = int(np.searchsorted(np.cumsum(self.models), place, side="right"))
        return float(self.least[found]), float(self.next[found])

    def middle(self, share: float) -> float:
        """Return the quantile as one number: the middle of its bin."""
        return sum(self.quantile(share)) / 2

    @property
    def mean(self) -> float:
        """The mean, of values that are counted one by one."""
        return float(self.least @ self.models / self.models.sum()) if len(self.models) else nan


def check_histograms(table: pl.DataFrame) -> None:
    """Refuse a table that holds no histograms, or none of the column that every network has a value in."""
    for name, kind in _SCHEMA.items():
        if name not in table.columns:
            raise BadInput(f"column {name!r} is missing; the columns are {', '.join(_SCHEMA)}")
        if table.schema[name] != kind:
            raise BadInput(f"column {name!r} holds {table.schema[name]}, where {kind} is expected")
        if name not in ("least", "next") and table[name].null_count():
            raise BadInput(f"column {name!r}: {table[name].null_count():,} rows have no value; every row needs one")
    if not (table["models"] > 0).all():
        raise BadInput("column 'models': a bin is listed only where it holds a model")
    for described, columns in settings_of(table):
        if _EVERY not in columns:
            raise BadInput(f"column 'column': no row counts {_EVERY} of {', '.join(map(str, described.values()))}")
    if table.is_empty():
        raise BadInput("holds no histogram; at least one is needed")


def histograms_of(job: Job, sketch: pl.DataFrame) -> pl.DataFrame:
    """Return the counts of a job as histograms: how many models lie from `least` up to `next`, null for NaN."""
    tables = [_with_edges(column, sketch.filter(column=column.name)) for column in counted_columns()]
    return pl.DataFrame([job.description]).join(pl.concat(tables), how="cross")


def settings_of(histograms: pl.DataFrame) -> Iterator[tuple[dict[str, object], dict[str, Histogram]]]:
    """Go through the settings, with the histogram of each column."""
    names = [name for name in histograms.columns if name not in _BINS]
    for values, bins in histograms.group_by(names, maintain_order=True):
        columns = {str(name): _histogram(table) for (name,), table in bins.group_by("column", maintain_order=True)}
        yield dict(zip(names, values, strict=True)), columns


def summary_document(histograms: pl.DataFrame) -> dict[str, object]:
    """Return the quantiles, means and shares of every setting, as a JSON document."""
    settings = [{**described, **_summary(columns)} for described, columns in settings_of(histograms)]
    return {"resolution": RESOLUTION, "settings": settings}


def indicators_of_histograms(histograms: pl.DataFrame) -> list[dict[str, object]]:
    """Return where each setting's cells lie, as far as the histograms tell: a/b and U, and the share meeting the conditions."""
    found = []
    for described, columns in settings_of(histograms):
        row = {**described, "models": models_in(columns)}
        for name in ("ab_ratio", "recurrent_weight"):
            if name in columns:
                parts = (("median", 0.5), ("min", 0), ("max", 1))
                row |= {f"{name}_{part}": columns[name].middle(share) for part, share in parts}
        if "meets_conditions" in columns:
            row["share_meeting_conditions"] = columns["meets_conditions"].mean
        found.append(row)
    return found


def horizons_of_histograms(histograms: pl.DataFrame) -> list[dict[str, object]]:
    """Return each setting's horizons: how many are unlimited and exact, the median, the greatest; None where there is none."""
    return [
        {
            **described,
            "models": models_in(columns),
            "proved": _unlimited(columns["horizon_all"]) if "horizon_all" in columns else 0,
            "exact": _true(columns, "horizon_all_exact"),
            **{
                f"{name}_{part}": _whole(columns[name].quantile(q)[0]) if name in columns else None
                for name in ("horizon_all", "horizon_even")
                for part, q in (("median", 0.5), ("max", 1))
            },
        }
        for described, columns in settings_of(histograms)
    ]


def _with_edges(column: Column, counts: pl.DataFrame) -> pl.DataFrame:
    numbers = counts.drop_nulls("key").sort("key")
    least, following = edges_of(column, numbers["key"].to_numpy())
    table = pl.DataFrame({"least": least, "next": following, "models": numbers["models"]})
    rest = counts.filter(pl.col("key").is_null()).select(
        pl.lit(None, pl.Float64).alias("least"), pl.lit(None, pl.Float64).alias("next"), "models"
    )
    return pl.concat([table, rest]).select(pl.lit(column.name).alias("column"), "least", "next", "models")


def _histogram(bins: pl.DataFrame) -> Histogram:
    numbers = bins.drop_nulls("least")
    lost = int(bins.filter(pl.col("least").is_null())["models"].sum())
    least, following, models = (numbers[name].to_numpy() for name in ("least", "next", "models"))
    return Histogram(least, following, models, lost)


def models_in(columns: dict[str, Histogram]) -> int:
    """Return how many models the histograms of a setting count."""
    first = columns[_EVERY]
    return int(first.models.sum()) + first.not_numbers


def _unlimited(horizons: Histogram) -> int:
    return int(horizons.models[horizons.least >= UNLIMITED].sum())


def _true(columns: dict[str, Histogram], name: str) -> int:
    return int(columns[name].least @ columns[name].models) if name in columns else 0


def _summary(columns: dict[str, Histogram]) -> dict[str, object]:
    models = models_in(columns)
    found: dict[str, object] = {"models": models}
    if "meets_conditions" in columns:
        found["share_meeting_conditions"] = columns["meets_conditions"].mean
    if "horizon_all" in columns:
        found["share_proved"] = _unlimited(columns["horizon_all"]) / models
        found["share_with_exact_horizon"] = _true(columns, "horizon_all_exact") / models
    shown = [column for column in counted_columns() if column.title and column.name in columns]
    return {**found, **{column.name: _values(column, columns[column.name]) for column in shown}}


def _values(column: Column, histogram: Histogram) -> dict[str, object]:
    found: dict[str, object] = {"not_numbers": histogram.not_numbers} if histogram.not_numbers else {}
    if _is_share(column):
        found["mean"] = histogram.mean
    return {**found, "quantiles": {str(q): _plain(column, *histogram.quantile(q)) for q in QUANTILES}}


def _is_share(column: Column) -> bool:
    """Say whether a column holds numbers that are counted one by one, as accuracies are."""
    return column.centre is None and column.dtype == pl.Float64


def _plain(column: Column, least: float, following: float) -> object:
    if column.centre is not None:
        return least, following
    if _is_share(column):
        return least
    return "unlimited" if least >= UNLIMITED else _whole(least)


def _whole(value: float) -> int | None:
    return int(value) if isfinite(value) else None


class Edges(NamedTuple):
    """A bin holds the values from the least up to the next; both are the same where it holds one value alone."""

    least: np.ndarray
    next: np.ndarray


def keys_of(column: Column, values: pl.Series) -> pl.Series:
    """Return the keys of the bins that values fall into; null for what is not a number.

    >>> keys_of(Column("horizon_all", pl.Int64), pl.Series([6, 16])).to_list()
    [6, 16]
    """
    if column.dtype != pl.Float64:
        return values.cast(pl.Int64)
    numbers = values.to_numpy().astype(np.float64)
    keys = _order_of(numbers) if column.centre is None else _order_of(numbers - column.centre) >> _CUT
    table = pl.DataFrame({"key": keys, "is_number": ~np.isnan(numbers)})
    return table.select(pl.when("is_number").then("key")).to_series()


def edges_of(column: Column, keys: np.ndarray) -> Edges:
    """Return the edges of bins.

    >>> weight = Column("recurrent_weight", pl.Float64, centre=1.0)
    >>> bin = keys_of(weight, pl.Series([1.25])).to_numpy()
    >>> [float(edge[0]) for edge in edges_of(weight, bin)]
    [1.25, 1.250244140625]
    """
    if column.centre is not None:
        with np.errstate(invalid="ignore"):  # the keys beyond the infinities are NaN
            least, following = (column.centre + _double(key << _CUT) for key in (keys, keys + 1))
        return Edges(np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(following), np.inf, following))
    values = _double(keys) if column.dtype == pl.Float64 else keys.astype(np.float64)
    return Edges(values, values)


def _order_of(numbers: np.ndarray) -> np.ndarray:
    """Return whole numbers in the order of the doubles, negative ones for negative doubles; both zeros are 0."""
    bits = numbers.view(np.int64)
    return np.where(bits < 0, -(bits & _ALL_BUT_SIGN), bits)


def _double(ordered: np.ndarray) -> np.ndarray:
    return np.copysign(np.abs(ordered).view(np.float64), ordered)


def sketch_of(rows: pl.DataFrame, trained: Trained) -> pl.DataFrame:
    """Count the values of trained networks and of their rows, bin by bin; a column without a value is left out."""
    counted = [column for column in columns_of(trained.job.setting.kind) if column.counted]
    tables = []
    for column in counted:
        values = (
            column.find(trained) if column.only_counted and column.find else rows.get_column(column.name, default=None)
        )
        if isinstance(values, pl.Series):  # more networks may have been trained than are asked for
            values = values.head(len(rows))
        if isinstance(values, pl.Series) and values.null_count() < len(values):
            keys = keys_of(column, values).alias("key").value_counts(name="models")
            tables.append(keys.select(column=pl.lit(column.name), key="key", models=pl.col("models").cast(pl.Int64)))
    return pl.concat(tables).sort("column", "key")


def add_up_files(paths: Iterable[Path]) -> pl.DataFrame:
    """Add up the sketches in files, without holding more than a few of them at a time."""
    return _sums(scan(*paths)).collect(engine="streaming")


def _sums(counts: pl.LazyFrame) -> pl.LazyFrame:
    return counts.group_by("column", "key").agg(pl.col("models").sum()).sort("column", "key")
