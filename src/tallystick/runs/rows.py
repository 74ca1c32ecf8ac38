"""Trains parts of jobs, certifies the networks and makes table rows of them; makes networks of rows again.

Networks that a GPU trained begin to be certified there: it fails most of them in the time that the host needs for a few. The
bounds are those of `linear_ensemble`, in float64, and the host decides what the GPU leaves open.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from threading import BoundedSemaphore
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl

from tallystick.cells import LinearCell, ScalarCell, SelectiveLayer, VectorCell
from tallystick.certificates.boxes.ensemble import box_horizons, has_box_horizons
from tallystick.certificates.linear.ensemble import has_linear_horizons, layer_horizons
from tallystick.certificates.linear.sorting import DEFAULT_LIMIT
from tallystick.certificates.one_unit.ensemble import SEARCHED, Horizons, has_horizons, horizons
from tallystick.certificates.one_unit.linear_ensemble import FirstFailures, HeadStart, Mask, Powers, decide_length
from tallystick.certificates.one_unit.sorted_strings import critical_strings
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout
from tallystick.runs.columns import Trained, columns_of, recurrent_columns
from tallystick.runs.jobs import ALL, DESCRIBED_BY, Job, Keep
from tallystick.runs.parquet_files import as_parquet
from tallystick.runs.summaries import sketch_of
from tallystick.training.engines import NARROWEST, PORTION, WIDE, devices_named, engine_name, on_every_core
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.setting import Setting
from tallystick.training.weights import AnyWeights, TensorWeights, Weights, compile_once, fresh_weights

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
    head_start = _head_start(job.device)
    if head_start is not None and setting.kind is LinearCell:
        doubles = blank.networks().map_weights(lambda values, _: np.asarray(values, np.float64))
        works.append(lambda: head_start(doubles, np.zeros(size, bool)))
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
        # The last part is as long as the others, for which everything is compiled. More units take too long to certify for that.
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

LONGEST = 4096
"""Lengths that a device goes through; the few cells that last longer are left to the host."""

_PAIRS = 16
"""Pairs of lengths between two looks at whether a model is left: the host has to wait for the device before it can look."""


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
    if issubclass(kind, ScalarCell):
        decided = horizons(chosen, head_start=_head_start(networks.device))
    elif has_box_horizons(kind):
        decided = box_horizons(chosen, SEARCHED)
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


def _head_start(device: str) -> HeadStart | None:
    """Networks that a GPU trained begin to be certified there; processors do as well without."""
    return head_start_on(devices_named(device).using()) if device == "gpu" else None


def head_start_on(device: AbstractContextManager[object]) -> HeadStart:
    """Return a head start on the device that a context chooses."""

    def run(models: Network, chosen: Mask) -> FirstFailures:
        arrays = (tuple(vars(models.cell).values()), (models.readout.weight, models.readout.bias))
        with device, jax.enable_x64(True):
            found = _first_failures(*arrays, chosen)
            return FirstFailures(*(np.asarray(part) for part in found))

    return run


@compile_once
@jax.jit
def _first_failures(cell: Any, readout: Any, chosen: Any) -> FirstFailures:  # noqa: ANN401 -- trees
    """Go through the lengths in pairs, an odd and an even one, while a model is left."""
    models = Network(LinearCell(*cell), Readout(*readout))
    strings = [critical_strings(models.task, parity) for parity in (0, 1)]

    open_yet = jnp.full(chosen.shape, -1)

    def two_lengths(state: tuple[Any, ...]) -> tuple[Any, ...]:
        length, powers, active, found_all, found_even = state
        powers = powers.longer(even=False)
        passes, fails = decide_length(models, powers, strings[1], length + 1)
        waiting = found_all < 0
        found_all = jnp.where(active & fails & waiting, length, found_all)
        active = active & (passes | fails | ~waiting)
        powers = powers.longer(even=True)
        passes, fails = decide_length(models, powers, strings[0], length + 2)
        found_all = jnp.where(active & fails & (found_all < 0), length + 1, found_all)
        found_even = jnp.where(active & fails, length, found_even)
        return length + 2, powers, active & passes, found_all, found_even

    def some_lengths(state: tuple[Any, ...]) -> tuple[Any, ...]:
        return jax.lax.fori_loop(0, _PAIRS, lambda _, state: two_lengths(state), state)

    start = (jnp.int32(0), Powers.at_zero(cell[2]), chosen, open_yet, open_yet)
    _, _, _, found_all, found_even = jax.lax.while_loop(
        lambda state: (state[0] < LONGEST) & state[2].any(), some_lengths, start
    )
    return FirstFailures(found_all, found_even)
