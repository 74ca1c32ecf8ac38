"""Trained networks as table rows, and rows as networks again."""

from math import prod

import numpy as np
import polars as pl

from tallystick.cells import ScalarCell
from tallystick.errors import BadInput
from tallystick.runs.columns import Trained, columns_of, recurrent_columns, schema_of
from tallystick.runs.jobs import DESCRIBED_BY, Job
from tallystick.training.ensemble import Ensemble
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, TensorWeights, Weights

DESCRIBED = ("edition", *DESCRIBED_BY, "seed")
SORTED_BY = ["edition", "task", "bias", "train_length", "seed"]


def rows_of(job: Job, seeds: np.ndarray, ensemble: Ensemble) -> pl.DataFrame:
    """Return one row for each trained network, tested on the job's strings."""
    trained, schema = Trained(job, seeds, ensemble), schema_of(job.setting.kind)
    # No Python object is made for a single network: there may be millions.
    same = {
        name: pl.Series([value], dtype=schema[name]).new_from_index(0, len(seeds))
        for name, value in job.description.items()
        if name in schema
    }
    found = {
        column.name: column.find(trained)
        for column in columns_of(job.setting.kind)
        if column.find is not None and column.name in schema
    }
    return pl.DataFrame({name: {**same, **found}[name] for name in schema}, schema=schema)


def check_rows(rows: pl.DataFrame) -> None:
    """Refuse rows that do not say of which setting they are."""
    for name in DESCRIBED:
        if rows[name].null_count():
            raise BadInput(f"column {name!r}: {rows[name].null_count():,} rows have no value; every row needs one")


def ensemble_of(rows: pl.DataFrame, setting: Setting) -> Ensemble:
    """Return the networks of rows that share a setting; a and b hold the bias already."""
    weights = _scalar_weights(rows, setting) if issubclass(setting.kind, ScalarCell) else _tensor_weights(rows, setting)
    return Ensemble(setting, weights, rows["accuracy_train"].to_numpy())


def _scalar_weights(rows: pl.DataFrame, setting: Setting) -> Weights:
    assert issubclass(setting.kind, ScalarCell)
    names, outputs = recurrent_columns(setting.kind), setting.scored_as.outputs
    further = iter(_arrays(rows, "further_weights", names.count("further_weights"), setting))

    def column(name: str) -> np.ndarray:
        with np.errstate(over="ignore"):  # a weight beyond its precision is not finite
            return rows[name].to_numpy().astype(setting.dtype)

    return Weights(
        inputs=(column("open_step"), column("close_step")),
        recurrent=tuple(next(further) if name == "further_weights" else column(name) for name in names),
        bias=(),
        readout_weight=_arrays(rows, "readout_weight", outputs, setting),
        readout_bias=_arrays(rows, "readout_bias", outputs if setting.readout_bias else 0, setting),
    )


def _tensor_weights(rows: pl.DataFrame, setting: Setting) -> AnyWeights:
    """Cut the numbers of a row into tensors, in the order of the cell's shapes."""
    named = setting.kind.shapes(setting.units)
    shapes = [shape for name, shape in named.items() if setting.bias or not name.endswith("bias")]
    sizes = [prod(shape) for shape in shapes]
    table = np.array(_arrays(rows, "tensors", sum(sizes), setting))
    parts = np.split(table, np.cumsum(sizes)[:-1])
    W, U, *bias = (part.reshape(*shape, len(rows)) for part, shape in zip(parts, shapes, strict=True))
    outputs = setting.scored_as.outputs
    V = np.array(_arrays(rows, "readout_weight", outputs * setting.units, setting))
    c = _arrays(rows, "readout_bias", outputs if setting.readout_bias else 0, setting)
    return TensorWeights(
        W, U, tuple(bias), V.reshape(outputs, setting.units, len(rows)), (np.array(c),) if len(c) else ()
    )


def _arrays(rows: pl.DataFrame, name: str, width: int, setting: Setting) -> tuple[np.ndarray, ...]:
    lists = rows[name]
    if not lists.list.len().eq_missing(width).all():
        raise BadInput(f"column {name!r}: a row has not the {width} numbers of a {setting.cell} {setting.task} network")
    with np.errstate(over="ignore"):
        table = lists.list.to_array(width).to_numpy().reshape(len(lists), -1).astype(setting.dtype)
    return tuple(np.ascontiguousarray(column) for column in table.T)
