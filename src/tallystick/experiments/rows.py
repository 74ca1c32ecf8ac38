"""Trained networks as table rows, and rows as networks again."""

import jax
import numpy as np
import polars as pl

from tallystick.cells import LinearCell, SelectiveCell
from tallystick.certificates.ensemble import horizons
from tallystick.datasets.tasks import COUNT
from tallystick.experiments.jobs import Job
from tallystick.readouts import BinaryReadout, TernaryReadout
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
    "ab_ratio": pl.Float64,
    "readout_weight": pl.List(pl.Float64),
    "readout_bias": pl.List(pl.Float64),
    "accuracy_train": pl.Float64,
    "accuracy_20": pl.Float64,
    "accuracy_50": pl.Float64,
    "horizon_all": pl.Int64,
    "horizon_even": pl.Int64,
}
"""One row a model. A float32 weight is stored as the double that it equals; a selective cell has its Q beside its P.

A horizon is exact, in real arithmetic; 9223372036854775807 is unlimited, and null stands where none is worked out (other
cells than the linear one, the count task)."""

SORTED_BY = ["edition", "task", "bias", "train_length", "seed"]


def rows_of(job: Job, seeds: np.ndarray, ensemble: Ensemble) -> pl.DataFrame:
    """Return one row for each trained network, tested on the job's strings."""
    setting, weights, cell = job.setting, ensemble.weights, ensemble.cell()
    a, b = (np.asarray(step, np.float64) for step in (cell.open_step, cell.close_step))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
    columns = {
        "edition": [job.edition] * len(seeds),
        "cell": [setting.cell] * len(seeds),
        "task": [setting.task] * len(seeds),
        "bias": [setting.bias] * len(seeds),
        "train_length": [setting.train_length] * len(seeds),
        "method": [setting.method] * len(seeds),
        "precision": [setting.precision] * len(seeds),
        "seed": seeds,
        "open_step": a,
        "close_step": b,
        "recurrent_weight": weights.recurrent[0].astype(np.float64),
        "close_recurrent_weight": weights.recurrent[1].astype(np.float64) if setting.kind is SelectiveCell else None,
        "ab_ratio": ratio,
        "readout_weight": _lists(weights.readout_weight, len(seeds)),
        "readout_bias": _lists(weights.readout_bias, len(seeds)),
        "accuracy_train": ensemble.accuracy_train,
        **{f"accuracy_{length}": ensemble.accuracy(strings) for length, strings in job.tests.items()},
        **_horizons(ensemble, a, b),
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def _horizons(ensemble: Ensemble, a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray | None]:
    """Up to which length each network is right on all strings: the linear ones with a class for every state."""
    finite = bool(np.isfinite(a).all() and np.isfinite(b).all())
    if ensemble.setting.kind is not LinearCell or ensemble.setting.scored_as is COUNT or not finite:
        return {"horizon_all": None, "horizon_even": None}
    weights = jax.tree.map(lambda array: array.astype(np.float64), ensemble.weights)
    readout = weights.readout()
    assert isinstance(readout, BinaryReadout | TernaryReadout)
    found = horizons(LinearCell(a, b, weights.recurrent[0]), readout)
    return {"horizon_all": found.all, "horizon_even": found.even}


def ensemble_of(rows: pl.DataFrame, setting: Setting) -> Ensemble:
    """Return the networks of rows that share a setting; a and b hold the bias already."""

    def column(name: str) -> np.ndarray:
        return rows[name].to_numpy().astype(setting.dtype)

    recurrent = [column("recurrent_weight")]
    if setting.kind is SelectiveCell:
        recurrent.append(column("close_recurrent_weight"))
    weights = Weights(
        inputs=(column("open_step"), column("close_step")),
        recurrent=tuple(recurrent),
        bias=(),
        readout_weight=_columns(rows["readout_weight"], setting),
        readout_bias=_columns(rows["readout_bias"], setting),
    )
    return Ensemble(setting, weights, rows["accuracy_train"].to_numpy())


def _lists(arrays: tuple[np.ndarray, ...], size: int) -> list[list[float]]:
    return np.stack(arrays, axis=1).astype(np.float64).tolist() if arrays else [[] for _ in range(size)]


def _columns(lists: pl.Series, setting: Setting) -> tuple[np.ndarray, ...]:
    table = np.array(lists.to_list(), dtype=setting.dtype).reshape(len(lists), -1)
    return tuple(np.ascontiguousarray(column) for column in table.T)
