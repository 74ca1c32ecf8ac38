"""The paper's experiment, a thousand times larger: three editions of its table, and what chance and rounding do to it."""

from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tallystick.datasets.paper import RUNS
from tallystick.errors import BadInput, check_whole
from tallystick.reports.report import RunReport, write_report
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import MOST_SEEDS, Generated, Job, Published, exact_job, fresh_job, paper_grid
from tallystick.runs.resuming import at_work_in
from tallystick.runs.runner import Report, run_on
from tallystick.studies.replicates import SCHEMA as REPLICATES_SCHEMA
from tallystick.studies.replicates import RedrawnSuites, rounding_replicates, sampling_replicates
from tallystick.training.devices import on_every_core
from tallystick.training.ensemble import paths, silent
from tallystick.training.setting import PRECISIONS

COMPARED_SEEDS = 1000
SUITES = 1000
PATHS = 48


@dataclass(frozen=True)
class Plan:
    """What a reproduction is asked to do.

    Attributes:
        runs: runs behind each printed average, the paper's ten.
        seeds: seeds of each setting in the fresh edition; 0 leaves the runs alone.
        authors_data: the folder with the authors' strings, for the exact edition.
        precision: the arithmetic of the exact and fresh editions.
        seed: decides the generated strings.
        perturb: how far the initial weights are nudged to see what rounding decides.
        replicates: how often they are nudged.
    """

    runs: int = RUNS
    seeds: int = 10_000
    authors_data: Path | None = None
    precision: str = "float32"
    seed: int = 0
    perturb: float = 1e-7
    replicates: int = 30

    def __post_init__(self) -> None:
        """Refuse numbers that make no experiment."""
        limits = {"runs": (1, 10_000), "seeds": (0, MOST_SEEDS), "seed": (0, MOST_SEEDS), "replicates": (0, 10_000)}
        for field, (least, most) in limits.items():
            check_whole(getattr(self, field), field, least, most)
        if self.precision not in PRECISIONS:
            raise BadInput(f"precision: {self.precision!r} is not one of {', '.join(PRECISIONS)}")
        if not isinstance(self.perturb, int | float) or not 0 <= self.perturb < 1:
            raise BadInput(f"perturb: {self.perturb!r} is not between 0 and 1")
        if self.authors_data is not None and not self.authors_data.is_dir():
            raise BadInput(f"authors_data: {self.authors_data} is not a folder")
        if self.authors_data is not None and self.runs != RUNS:
            raise BadInput(f"runs: {self.runs}; the exact edition has the authors' {RUNS}")

    @cached_property
    def jobs(self) -> list[Job]:
        """Every setting of every edition, with its strings: made or read once."""
        fresh = [
            fresh_job("fresh", s, max(self.runs, self.seeds), Generated(self.seed)) for s in paper_grid(self.precision)
        ]
        exact = (
            [] if self.authors_data is None else [exact_job(s, self.authors_data) for s in paper_grid(self.precision)]
        )
        return exact + fresh + self._precision_jobs()

    def _precision_jobs(self) -> list[Job]:
        """Return the float64 edition and its twin in float32: the same strings and seeds, nothing but the precision differs.

        The order of the strings matters even in float64, so the paper's claim is tried on the paper's strings where they
        are given; where not, the fresh edition is the twin.
        """
        seeds = min(self.seeds, COMPARED_SEEDS)
        if not seeds or self.precision == "float64":
            return []
        if self.authors_data is None:
            return [fresh_job("float64", s, seeds, Generated(self.seed)) for s in paper_grid("float64")]
        strings = Published(self.authors_data)
        return [fresh_job(name, s, seeds, strings) for name in ("float32", "float64") for s in paper_grid(name)]

    def config(self) -> dict[str, object]:
        """Return what decides the rows, for the run directory: the options, and the authors' strings by their hash."""
        options = {
            name: getattr(self, name) for name in ("runs", "seeds", "precision", "seed", "perturb", "replicates")
        }
        exact = [
            strings for job in self.jobs if job.edition == "exact" for strings in (job.strings, *job.tests.values())
        ]
        digest = sha256(repr(exact).encode()).hexdigest() if exact else ""
        return {"command": "reproduce", **options, "authors_strings": digest}


def reproduce(
    out: Path | str,
    *,
    progress: Report = silent,
    cluster: str | None = None,
    device: str = "auto",
    resume: bool = False,
    force: bool = False,
    **options: Any,  # noqa: ANN401 -- as the fields of Plan are typed
) -> list[Path]:
    """Run the paper's experiment into the folder `out` and return the files of its report.

    Args:
        out: the run directory.
        progress: told the setting and the number of seeds as they are done.
        cluster: where to train: `local:N`, `tcp://HOST:PORT` or a scheduler's file; the default is this machine.
        device: auto, cpu or gpu.
        resume: go on with a run that was interrupted.
        force: overwrite a run that is there.
        options: the fields of `Plan`: runs, seeds, authors_data, precision, seed, perturb, replicates.
    """
    names = [field.name for field in fields(Plan)]
    unknown = sorted(set(options) - set(names))
    if unknown:
        raise BadInput(f"{unknown[0]}: no such option; the options are {', '.join(names)}")
    if options.get("authors_data") is not None:
        options["authors_data"] = Path(options["authors_data"])
    how = {"cluster": cluster, "device": device, "resume": resume, "force": force}
    return run_and_report(Plan(**options), Path(out), report=progress, **how).files


def run_and_report(plan: Plan, out: Path, **options: Any) -> RunReport:  # noqa: ANN401 -- as run_experiment has them
    """Carry a plan out in a folder, then write its table, figures, claims and page; the options are `run_experiment`'s."""
    directory = RunDirectory(out)
    run_experiment(plan, directory, **options)
    with at_work_in(directory.path):
        return write_report(directory.path)


def run_experiment(
    plan: Plan,
    directory: RunDirectory,
    *,
    cluster: str | None = None,
    device: str = "auto",
    **options: Any,  # noqa: ANN401 -- as run_whole has them
) -> None:
    """Train every setting of every edition, redraw the averages by chance and by rounding, and follow some paths.

    Training is done on the cluster, where one is named; the rest, on this machine. The options are those of `run_whole`.
    """

    def add(jobs: list[Job]) -> None:
        directory.write_table(_replicates(plan, jobs, directory), "replicates.parquet")
        directory.write_table(_paths(jobs), "paths.parquet")

    run_on(cluster, device, plan.jobs, plan.config(), directory, add=add, **options)


def _replicates(plan: Plan, jobs: list[Job], directory: RunDirectory) -> pl.DataFrame:
    suites = RedrawnSuites(SUITES, plan.seed) if plan.seeds > plan.runs else None
    rows = directory.rows() if suites else pl.LazyFrame()
    nudged_edition = "exact" if plan.authors_data else "fresh"

    def of_job(job: Job) -> list[pl.DataFrame]:
        tables = [pl.DataFrame(schema=REPLICATES_SCHEMA)]
        if suites and job.edition != "exact":
            models = directory.collected(rows.filter(**job.described))
            tables.append(sampling_replicates(job, models, suites, plan.runs, plan.seed))
        if job.edition == nudged_edition and plan.replicates and plan.perturb:
            tables.append(rounding_replicates(job, plan.runs, plan.perturb, plan.replicates, plan.seed))
        return tables

    return pl.concat([table for tables in on_every_core(of_job, jobs) for table in tables])


def _paths(jobs: list[Job]) -> pl.DataFrame:
    """Follow the first seeds of every fresh setting: a/b and U after each epoch."""
    fresh = [job for job in jobs if job.edition == "fresh"]
    return pl.concat(on_every_core(lambda job: _paths_of(job, min(PATHS, job.seeds)), fresh))


def _paths_of(job: Job, seeds: int) -> pl.DataFrame:
    along = paths(job.setting, job.initial(np.arange(seeds)), job.strings)
    cell, (weight, *_) = along.cell(job.setting.kind), along.recurrent
    epochs, numbers = np.indices(cell.open_step.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = cell.open_step.astype(np.float64) / cell.close_step
    return pl.DataFrame({"seed": numbers.ravel(), "epoch": epochs.ravel(), "ab_ratio": ratio.ravel()}).with_columns(
        task=pl.lit(job.setting.task),
        bias=pl.lit(job.setting.bias),
        train_length=pl.lit(job.setting.train_length),
        recurrent_weight=pl.Series(weight.astype(np.float64).ravel()),
    )
