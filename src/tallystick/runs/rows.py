"""Trains parts of jobs, certifies the networks and makes table rows of them; makes networks of rows again."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
import polars as pl

from tallystick.cells import LinearCell, ScalarCell, SelectiveLayer, VectorCell
from tallystick.certificates.boxes.ensemble import box_horizons, has_box_horizons
from tallystick.certificates.linear.ensemble import has_linear_horizons, layer_horizons
from tallystick.certificates.linear.sorting import DEFAULT_LIMIT
from tallystick.certificates.one_unit.ensemble import SEARCHED, Horizons, has_horizons, horizons
from tallystick.errors import BadInput
from tallystick.runs.columns import Trained, columns_of, recurrent_columns
from tallystick.runs.jobs import ALL, DESCRIBED_BY, Job, Keep
from tallystick.runs.parquet_files import as_parquet
from tallystick.runs.summaries import sketch_of
from tallystick.training.engines import NARROWEST, PORTION, WIDE, devices_named, engine_name, on_every_core
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, TensorWeights, Weights, fresh_weights

if TYPE_CHECKING:
    from tallystick.runs.gpu_certifier import GpuCertifier

DESCRIBED = ("edition", *DESCRIBED_BY, "seed")
SORTED_BY = ["edition", "task", "bias", "train_length", "seed"]

PART = WIDE
"""Seeds in a part, at least: one block, less than a second of work, so that little is lost when a run is killed."""

GPU_PART = 2 * PORTION
"""The same on a GPU, which does many more in that time; larger ones would fill memory with rows."""

_IN_MEMORY = BoundedSemaphore(8)
"""Parts of a GPU that are in memory at once; a host with many cores would begin more of them than it has room for."""

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
    if issubclass(jobs[0].setting.kind, VectorCell) and jobs[0].device == "cpu":
        size = NARROWEST
    while size * MOST_PARTS < max(job.seeds for job in jobs):
        size *= 2
    return size


def compile_ahead(job: Job) -> None:
    """Compile for a GPU, side by side, the programs that a part comes to one after the other."""
    setting, size = job.setting, min(job.seeds, seeds_in_a_part([job]))
    sizes: dict[str, Any] = {"bias": setting.bias, "dtype": setting.dtype, "units": setting.units}
    shapes = fresh_weights(setting.kind, setting.goal, np.arange(0), **sizes)
    weights = jax.tree.map(lambda array: np.ones((*array.shape[:-1], size), array.dtype), shapes)
    blank = Ensemble(setting, weights, np.zeros(size), job.device)
    works: list[Callable[[], object]] = [
        partial(train, setting, weights, job.strings, device=job.device, engine=job.engine),
        partial(job.initial, np.arange(size)),
        *(partial(blank.accuracy, strings) for strings in job.tests.values()),
    ]
    if (gpu := _gpu(job.device)) is not None and setting.kind is LinearCell:
        doubles = blank.networks().map_weights(lambda values, _: np.asarray(values, np.float64))
        works.append(lambda: gpu.first_failures(doubles, np.zeros(size, bool)))
    on_every_core(lambda work: work(), works, len(works))


def part_files(keep: Keep, job: Job, seeds: range) -> dict[str, bytes]:
    """Train and test some seeds of a job; return as Parquet what is kept of them: the rows, and the counts of their values."""
    with _IN_MEMORY if job.device == "gpu" else nullcontext():
        rows, trained = _train(job, seeds, keep)
        tables = {"rows": keep.choose(rows, job.seeds)} if keep.rows else {}
        if keep.summary:
            tables["sketch"] = sketch_of(rows, trained)
        return {name: as_parquet(table) for name, table in tables.items()}


def _train(job: Job, seeds: range, keep: Keep) -> tuple[pl.DataFrame, Trained]:
    numbers, units = np.asarray(seeds), len(devices_named(job.device).units)
    engine = engine_name(job.setting, job.strings, job.device, job.engine)
    if engine == "scan" and issubclass(job.setting.kind, VectorCell):
        # Train whole blocks even where fewer seeds are asked for: the number of networks decides in which order the scan
        # rounds their sums.
        numbers = np.arange(seeds[0], seeds[0] + -(-len(seeds) // NARROWEST) * NARROWEST)
    elif job.device == "gpu" and seeds[0] and issubclass(job.setting.kind, ScalarCell):
        # The last part is as long as the others, so that nothing is compiled for it alone. More networks with several units would
        # take longer to certify than that saves.
        numbers = np.arange(seeds[0], seeds[0] + seeds_in_a_part([job]))
    # Parts are done side by side, so a part is one block; several GPUs share it.
    block = None if units == 1 else -(-len(numbers) // units)
    how: dict[str, Any] = {"block": block, "workers": units, "device": job.device, "engine": engine}
    ensemble = train(job.setting, job.initial(numbers), job.strings, **how)
    also = (pl.lit(pl.Series(name, [job.description[name]])).first() for name in job.also)
    rows = rows_of(job, numbers, ensemble, keep).with_columns(*also)
    return rows.head(len(seeds)), Trained(job, numbers, ensemble)


def rows_of(job: Job, seeds: np.ndarray, ensemble: Ensemble, keep: Keep = ALL) -> pl.DataFrame:
    """Return one row for each trained network, tested on the job's strings.

    Rows that are only summed up have the columns that are counted and no others: the lists of weights take most of the memory.
    """
    trained, kind = Trained(job, seeds, ensemble), job.setting.kind
    columns = [column for column in columns_of(kind) if not column.only_counted and (keep.rows or column.counted)]
    schema = {column.name: column.dtype for column in columns}
    # No Python object is made for a single network: there may be millions.
    same = {
        name: pl.Series([value], dtype=schema[name]).new_from_index(0, len(seeds))
        for name, value in job.description.items()
        if name in schema
    }
    found = {column.name: column.find(trained) for column in columns if column.find is not None}
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


# --- Up to which length they are right ------------------------------------------------------------------------------------------


class Certified(NamedTuple):
    """Which networks have a horizon, and the horizons: one entry per network, 0 where there is none."""

    networks: np.ndarray
    horizons: Horizons


def certify_many(networks: Ensemble) -> Certified:
    """Certify trained networks of any cell and task, in real arithmetic.

    Where the count is asked for the zero check answers for the cell: it is right iff h = 0 says that the count is 0. Networks
    with a weight that is not finite have no horizon, and neither has a new cell until the certifier knows it.
    """
    weights, kind = networks.weights, networks.setting.kind
    found = are_finite(networks) & (has_horizons(kind) or has_linear_horizons(kind) or has_box_horizons(kind))
    empty = Horizons(*(np.zeros(len(found), kind) for kind in (np.int64, np.int64, bool, bool)))
    if not found.any():
        return Certified(found, empty)
    chosen = replace(networks, weights=weights.places(found)).networks()
    gpu = _gpu(networks.device)
    if issubclass(kind, ScalarCell):
        decided = horizons(chosen, head_start=gpu and gpu.first_failures)
    elif has_box_horizons(kind):
        decided = box_horizons(chosen, SEARCHED, gpu and gpu.search)
    else:
        # Networks with a matrix for each token are decided one by one, at a cost that grows with the square of the length.
        decided = layer_horizons(chosen, SEARCHED if kind is SelectiveLayer else DEFAULT_LIMIT)
    for whole, part in zip(empty, decided, strict=True):
        whole[found] = part
    return Certified(found, empty)


def are_finite(networks: Ensemble) -> np.ndarray:
    """Say of each network whether all its weights are finite."""
    with np.errstate(all="ignore"):
        leaves = [*jax.tree.leaves(networks.weights), *jax.tree.leaves(networks.cell().tensors())]
    size = len(networks.accuracy_train)
    return np.all([np.isfinite(row) for leaf in leaves for row in np.asarray(leaf).reshape(-1, size)], axis=0)


def _gpu(device: str) -> "GpuCertifier | None":
    """Return the GPU that begins to certify the networks that it trained; processors do as well without."""
    if device != "gpu":
        return None
    from tallystick.runs.gpu_certifier import GpuCertifier  # noqa: PLC0415 -- what only a GPU needs

    return GpuCertifier(devices_named(device).using)
