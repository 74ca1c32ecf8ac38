"""Runs jobs part by part into a run directory, on this machine or by other workers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

from tallystick.cells import VectorCell
from tallystick.files import write_document
from tallystick.runs.columns import Trained, schema_of
from tallystick.runs.jobs import Job
from tallystick.runs.keeping import ALL, Keep
from tallystick.runs.parquet_files import as_parquet
from tallystick.runs.rows import SORTED_BY, rows_of
from tallystick.runs.run_directory import HISTOGRAMS, MODELS, SUMMARY, RunDirectory
from tallystick.runs.sketches import merged, sketch_of
from tallystick.runs.summaries import histograms_of, summary_document
from tallystick.runs.workers import THIS_MACHINE, Workers
from tallystick.training.devices import devices_named, on_every_core
from tallystick.training.engines import NARROWEST, WIDE
from tallystick.training.ensemble import train

Report = Callable[[str, int], object]

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


def made_in(jobs: list[Job]) -> dict[str, object]:
    """Return what a run must be resumed with beside its options: what else decides its bits, and the size of its parts."""
    return {"device": jobs[0].device, "part": seeds_in_a_part(jobs), **made_by()}


def made_by() -> dict[str, object]:
    """Return the versions that decide the bits of a row."""
    return {name: version(name) for name in ("tallystick", "jax")}


def run_jobs(
    directory: RunDirectory, jobs: list[Job], report: Report, *, keep: Keep = ALL, workers: Workers = THIS_MACHINE
) -> None:
    """Do the parts that are missing, then put all of them together; `report` is told of seeds done."""
    if has_all(directory, keep):
        return
    parts = parts_of(jobs)
    missing = []
    for part, done in zip(parts, on_every_core(lambda part: _is_done(directory, part, keep), parts), strict=True):
        if done:
            report(part.job.name, len(part.seeds))
        else:
            missing.append(part)

    def take(place: int, contents: dict[str, bytes]) -> None:
        part = missing[place]
        for name, file in part.files(keep).items():
            directory.store_part(file, contents[name])
        report(part.job.name, len(part.seeds))

    workers.each(partial(part_files, keep), [(part.job, part.seeds) for part in missing], take)
    _put_together(directory, jobs, parts, keep)


def has_all(directory: RunDirectory, keep: Keep) -> bool:
    """Say whether all that is kept stands."""
    wanted = [MODELS] * keep.rows + [HISTOGRAMS, SUMMARY] * keep.summary
    return directory.stands(*wanted)


def part_files(keep: Keep, job: Job, seeds: range) -> dict[str, bytes]:
    """Train and test some seeds of a job; return as Parquet what is kept of them: the rows, and the counts of their values."""
    rows, trained = _train(job, seeds)
    tables = {"rows": keep.chosen(rows, job.seeds)} if keep.rows else {}
    if keep.summary:
        tables["sketch"] = sketch_of(rows, trained)
    return {name: as_parquet(table) for name, table in tables.items()}


def train_part(part: Part) -> pl.DataFrame:
    """Train and test the seeds of one part; return all rows."""
    return _train(part.job, part.seeds)[0]


def _train(job: Job, seeds: range) -> tuple[pl.DataFrame, Trained]:
    numbers, units = np.asarray(seeds), len(devices_named(job.device).units)
    if issubclass(job.setting.kind, VectorCell):
        # Whole blocks, be all of them asked for or not: sums over many networks are rounded in an order that hangs on their
        # number.
        numbers = np.arange(seeds[0], seeds[0] + -(-len(seeds) // NARROWEST) * NARROWEST)
    # Parts are done side by side, so a part is one block; several GPUs share it.
    block = None if units == 1 else -(-len(numbers) // units)
    ensemble = train(job.setting, job.initial(numbers), job.strings, block=block, workers=units, device=job.device)
    also = (pl.lit(pl.Series(name, [job.described[name]])).first() for name in job.also)
    rows = rows_of(job, numbers, ensemble).with_columns(*also)
    return rows.head(len(seeds)), Trained(job, numbers, ensemble)


def _is_done(directory: RunDirectory, part: Part, keep: Keep) -> bool:
    kept = keep.chosen(
        pl.DataFrame({"seed": np.asarray(part.seeds)}, schema={"seed": schema_of(part.job.setting.kind)["seed"]}),
        part.job.seeds,
    )["seed"]
    seeds = {"rows": kept}  # a sketch has none
    return all(directory.has_part(file, seeds.get(name)) for name, file in part.files(keep).items())


def _put_together(directory: RunDirectory, jobs: list[Job], parts: list[Part], keep: Keep) -> None:
    if keep.rows:
        in_order = sorted(parts, key=lambda part: (*_order(part.job), part.seeds[0]))
        directory.gather([part.name for part in in_order])
    if keep.summary:
        sketches: dict[str, list[Path]] = {job.name: [] for job in jobs}
        for part in parts:
            sketches[part.job.name].append(directory.part(part.files(keep)["sketch"]))
        tables = [histograms_of(job, merged(sketches[job.name])) for job in sorted(jobs, key=_order)]
        directory.write_table(pl.concat(tables), HISTOGRAMS)
        write_document(summary_document(pl.concat(tables)), directory.path / SUMMARY)


def _order(job: Job) -> tuple[object, ...]:
    """The order of rows.SORTED_BY, but for seeds, and of what a sweep varies."""
    return tuple(job.described[name] for name in (*SORTED_BY[:-1], *job.also))
