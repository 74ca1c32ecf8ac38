"""Trained networks as table rows, and rows as networks again."""

import numpy as np
import polars as pl

from tallystick.cells import Cell
from tallystick.errors import BadInput
from tallystick.experiments.jobs import DESCRIBED_BY, Job
from tallystick.experiments.network_horizons import certified
from tallystick.training.ensemble import Ensemble
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "edition": pl.String,
    "cell": pl.String,
    "task": pl.String,
    "bias": pl.Boolean,
    "train_length": pl.Int64,
    "method": pl.String,
    "precision": pl.String,
    "seed": pl.Int64,
    "open_step": pl.Float64,
    "close_step": pl.Float64,
    "recurrent_weight": pl.Float64,
    "close_recurrent_weight": pl.Float64,
    "further_weights": pl.List(pl.Float64),
    "ab_ratio": pl.Float64,
    "readout_weight": pl.List(pl.Float64),
    "readout_bias": pl.List(pl.Float64),
    "accuracy_train": pl.Float64,
    "accuracy_20": pl.Float64,
    "accuracy_50": pl.Float64,
    "horizon_all": pl.Int64,
    "horizon_even": pl.Int64,
    "horizon_all_exact": pl.Boolean,
    "horizon_even_exact": pl.Boolean,
}
"""One row a model. A float32 weight is stored as the double that it equals.

A cell's first recurrent weight is `recurrent_weight`: U, or P of a selective cell, whose Q has a column of its own. Whatever
weights a new cell has beyond that stand in `further_weights`, in the order of its fields.

A horizon is in real arithmetic, and exact or a lower bound, as its other column says; 9223372036854775807 is unlimited. Null
stands where there is none: a weight is no finite number, or the cell is not one that can be certified."""

DESCRIBED = ("edition", *DESCRIBED_BY, "seed")
SORTED_BY = ["edition", "task", "bias", "train_length", "seed"]


def rows_of(job: Job, seeds: np.ndarray, ensemble: Ensemble) -> pl.DataFrame:
    """Return one row for each trained network, tested on the job's strings."""
    setting, weights, cell = job.setting, ensemble.weights, ensemble.cell()
    a, b = (np.asarray(step, np.float64) for step in (cell.open_step, cell.close_step))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
    # No Python object is made for a single network: there may be millions.
    same = {name: job.described[name] for name in SCHEMA if name in job.described}
    columns = {
        **{name: pl.Series([value], dtype=SCHEMA[name]).new_from_index(0, len(seeds)) for name, value in same.items()},
        "seed": seeds,
        "open_step": a,
        "close_step": b,
        **_recurrent_columns(setting.kind, weights),
        "ab_ratio": ratio,
        "readout_weight": _lists(weights.readout_weight, len(seeds)),
        "readout_bias": _lists(weights.readout_bias, len(seeds)),
        "accuracy_train": ensemble.accuracy_train,
        **{f"accuracy_{length}": ensemble.accuracy(strings) for length, strings in job.tests.items()},
        **_horizons(ensemble),
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def _columns_of(kind: type[Cell]) -> list[str]:
    """Return the column of each recurrent weight of a cell."""
    names = kind.recurrent_fields()
    return ["recurrent_weight", *(name if name in SCHEMA else "further_weights" for name in names[1:])][: len(names)]


def _recurrent_columns(kind: type[Cell], weights: Weights) -> dict[str, object]:
    columns = list(zip(_columns_of(kind), weights.recurrent, strict=True))
    own = {name: array.astype(np.float64) for name, array in columns if name != "further_weights"}
    further = tuple(array for name, array in columns if name == "further_weights")
    none = {"recurrent_weight": None, "close_recurrent_weight": None}
    return {**none, **own, "further_weights": _lists(further, len(weights.example))}


def _horizons(ensemble: Ensemble) -> dict[str, pl.Series]:
    """Up to which length each network is right on all strings, and whether it is known to fail beyond."""
    found = certified(ensemble)
    columns = ("horizon_all", "horizon_even", "horizon_all_exact", "horizon_even_exact")
    none = pl.Series(~found.networks)
    return {name: pl.Series(values).set(none, None) for name, values in zip(columns, found.horizons, strict=True)}


def check_rows(rows: pl.DataFrame) -> None:
    """Refuse rows that do not say of which setting they are."""
    for name in DESCRIBED:
        if rows[name].null_count():
            raise BadInput(f"column {name!r}: {rows[name].null_count():,} rows have no value; every row needs one")


def ensemble_of(rows: pl.DataFrame, setting: Setting) -> Ensemble:
    """Return the networks of rows that share a setting; a and b hold the bias already."""

    def column(name: str) -> np.ndarray:
        with np.errstate(over="ignore"):  # a weight beyond its precision is no finite number
            return rows[name].to_numpy().astype(setting.dtype)

    names, outputs = _columns_of(setting.kind), setting.scored_as.outputs
    further = iter(_arrays(rows, "further_weights", names.count("further_weights"), setting))
    weights = Weights(
        inputs=(column("open_step"), column("close_step")),
        recurrent=tuple(next(further) if name == "further_weights" else column(name) for name in names),
        bias=(),
        readout_weight=_arrays(rows, "readout_weight", outputs, setting),
        readout_bias=_arrays(rows, "readout_bias", outputs if setting.readout_bias else 0, setting),
    )
    return Ensemble(setting, weights, rows["accuracy_train"].to_numpy())


def _lists(arrays: tuple[np.ndarray, ...], size: int) -> pl.Series:
    table = np.stack(arrays, axis=1).astype(np.float64) if arrays else np.zeros((size, 0))
    return pl.Series(table, dtype=pl.Array(pl.Float64, len(arrays))).arr.to_list()


def _arrays(rows: pl.DataFrame, name: str, width: int, setting: Setting) -> tuple[np.ndarray, ...]:
    lists = rows[name]
    if not lists.list.len().eq_missing(width).all():
        raise BadInput(f"column {name!r}: a row has not the {width} numbers of a {setting.cell} {setting.task} network")
    with np.errstate(over="ignore"):
        table = lists.list.to_array(width).to_numpy().reshape(len(lists), -1).astype(setting.dtype)
    return tuple(np.ascontiguousarray(column) for column in table.T)
