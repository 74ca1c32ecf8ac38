"""Runs jobs part by part into a run directory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from tallystick.experiments.jobs import Job
from tallystick.experiments.rows import rows_of
from tallystick.experiments.run_directory import RunDirectory
from tallystick.training.cores import on_every_core
from tallystick.training.ensemble import WIDE, silent, train

Report = Callable[[str, int], object]

PART = WIDE
"""Seeds in a part: one block, less than a second of work, so that little is lost when a run is killed."""


@dataclass(frozen=True)
class Part:
    """Some of the seeds of a job: the unit of work, of loss and of resuming."""

    job: Job
    seeds: np.ndarray

    @property
    def name(self) -> str:
        """The job's name and the first seed."""
        return f"{self.job.name}-{self.seeds[0]:09d}"


def parts_of(jobs: list[Job]) -> list[Part]:
    """Cut every job into parts; the first of each job come first, so that their programs are compiled side by side."""
    starts = range(0, max(job.seeds for job in jobs), PART)
    return [
        Part(job, np.arange(start, min(start + PART, job.seeds)))
        for start in starts
        for job in jobs
        if start < job.seeds
    ]


def run_jobs(directory: RunDirectory, jobs: list[Job], report: Report) -> pl.DataFrame:
    """Do the parts that are missing, one a core, then put all of them together; `report` is told of seeds done."""
    if directory.is_finished():
        return directory.models()
    parts = parts_of(jobs)
    on_every_core(lambda part: _do_part(directory, part, report), parts)
    return directory.gather([part.name for part in parts])


def train_part(part: Part, progress: Callable[[int], object] = silent) -> pl.DataFrame:
    """Train and test the seeds of one part."""
    job = part.job
    ensemble = train(job.setting, job.initial(part.seeds), job.strings, workers=1, progress=progress)
    return rows_of(job, part.seeds, ensemble)


def _do_part(directory: RunDirectory, part: Part, report: Report) -> None:
    if directory.has_part(part.name):
        report(part.job.name, len(part.seeds))
    else:
        directory.write_part(part.name, train_part(part, lambda seeds: report(part.job.name, seeds)))
