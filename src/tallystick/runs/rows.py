"""Trains parts of jobs and makes table rows of the networks; makes networks of rows again."""

from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl

from tallystick.cells import ScalarCell, VectorCell
from tallystick.errors import BadInput
from tallystick.runs.columns import Trained, columns_of, recurrent_columns, schema_of
from tallystick.runs.jobs import DESCRIBED_BY, Job, Keep
from tallystick.runs.parquet_files import as_parquet
from tallystick.runs.summaries import sketch_of
from tallystick.training.engines import NARROWEST, WIDE, devices_named
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, TensorWeights, Weights

DESCRIBED = ("edition", *DESCRIBED_BY, "seed")
SORTED_BY = ["edition", "task", "bias", "train_length", "seed"]

PART = WIDE
"""Seeds in a part, at least: one block, less than a second of work, so that little is lost when a run is killed."""

GPU_PART = 2**16
"""The same on a GPU, which does many more in that time; larger ones would fill memory with rows."""

MOST_PARTS = 4096
"""Parts of a job; where there are more seeds, the parts are larger."""


@dataclass(frozen=True)
class Part:
    """Some of the seeds of a job: the unit of work, of loss and of resuming."""

    job: Job
    seeds: range

    @property
    def name(self) -> str:
        """The job's name and the first seed."""
        return f"{self.job.name}-{self.seeds[0]:09d}"

    def files(self, keep: Keep) -> dict[str, str]:
        """Return the names of its files by what is in them."""
        names = {"rows": self.name} if keep.rows else {}
        return {**names, "sketch": f"{self.name}-sketch"} if keep.summary else names


def parts_of(jobs: list[Job]) -> list[Part]:
    """Cut every job into parts; the first of each job come first, so that their programs are compiled side by side."""
    size = seeds_in_a_part(jobs)
    starts = range(0, max(job.seeds for job in jobs), size)
    return [
        Part(job, range(start, min(start + size, job.seeds))) for start in starts for job in jobs if start < job.seeds
    ]


def seeds_in_a_part(jobs: list[Job]) -> int:
    """Return how many seeds a part of the jobs has: what suits the device, times a power of two where there are very many."""
    size = PART if jobs[0].device == "cpu" else GPU_PART
    if issubclass(jobs[0].setting.kind, VectorCell):
        size = NARROWEST
    while size * MOST_PARTS < max(job.seeds for job in jobs):
        size *= 2
    return size


def part_files(keep: Keep, job: Job, seeds: range) -> dict[str, bytes]:
    """Train and test some seeds of a job; return as Parquet what is kept of them: the rows, and the counts of their values."""
    rows, trained = _train(job, seeds)
    tables = {"rows": keep.choose(rows, job.seeds)} if keep.rows else {}
    if keep.summary:
        tables["sketch"] = sketch_of(rows, trained)
    return {name: as_parquet(table) for name, table in tables.items()}


def _train(job: Job, seeds: range) -> tuple[pl.DataFrame, Trained]:
    numbers, units = np.asarray(seeds), len(devices_named(job.device).units)
    if issubclass(job.setting.kind, VectorCell):
        # Train whole blocks even where fewer seeds are asked for: the number of networks decides in which order their sums
        # are rounded.
        numbers = np.arange(seeds[0], seeds[0] + -(-len(seeds) // NARROWEST) * NARROWEST)
    # Parts are done side by side, so a part is one block; several GPUs share it.
    block = None if units == 1 else -(-len(numbers) // units)
    ensemble = train(job.setting, job.initial(numbers), job.strings, block=block, workers=units, device=job.device)
    also = (pl.lit(pl.Series(name, [job.description[name]])).first() for name in job.also)
    rows = rows_of(job, numbers, ensemble).with_columns(*also)
    return rows.head(len(seeds)), Trained(job, numbers, ensemble)


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
    names, outputs = recurrent_columns(setting.kind), setting.goal.outputs
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
    outputs = setting.goal.outputs
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
