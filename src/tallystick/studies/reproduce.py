"""The paper's experiment, a thousand times larger: three editions of its table, and what chance and rounding do to it.

How far a ten-run average can move by chance is seen from other seeds and test strings; what rounding decides, from the same runs
with their initial weights nudged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import jax
import numpy as np
import polars as pl

from tallystick.datasets.strings import RUNS, SUITE_SIZE, TEST_LENGTHS, draw_suites, suite_places
from tallystick.errors import BadInput, check_whole
from tallystick.reports.report import RunReport, write_report
from tallystick.runs.directory import RunDirectory
from tallystick.runs.jobs import MOST_SEEDS, Generated, Job, Published, exact_job, fresh_job, paper_grid
from tallystick.runs.resuming import at_work_in
from tallystick.runs.rows import ensemble_of
from tallystick.runs.runner import Report, run_on
from tallystick.training.engines import devices_named, on_every_core
from tallystick.training.ensemble import paths, precision_context, right_answers, silent, train
from tallystick.training.setting import PRECISIONS
from tallystick.training.weights import Weights, nudge_weights

COMPARED_SEEDS = 1000
SUITES = 1000
PATHS = 48
REPLICATES_SCHEMA = {
    "edition": pl.String,
    "kind": pl.String,
    "task": pl.String,
    "bias": pl.Boolean,
    "train_length": pl.Int64,
    "column": pl.String,
    "replicate": pl.Int64,
    "average": pl.Float64,
}
SUITES_AT_ONCE = 50
_SUITES, _CHOICE = 1, 2
"""Names of random streams, so that none is drawn from twice."""


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
    engine: str = "auto",
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
        engine: auto, fused or scan.
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
    how = {"cluster": cluster, "device": device, "engine": engine, "resume": resume, "force": force}
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
            models = directory.collect(rows.filter(**job.description))
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


class RedrawnSuites:
    """Many redrawn test suites of each length, the same for every setting."""

    def __init__(self, number: int, seed: int) -> None:
        """Draw the suites."""
        generator = np.random.default_rng([seed, _SUITES, number])
        self.number = number
        self.tokens = {n: draw_suites(n, number, generator).reshape(number, SUITE_SIZE, n) for n in TEST_LENGTHS}


def sampling_replicates(job: Job, rows: pl.DataFrame, suites: RedrawnSuites, runs: int, seed: int) -> pl.DataFrame:
    """Return ten-run averages of the setting, each with its own ten seeds of the ensemble and its own test strings."""
    # Every setting has draws of its own: sharing them would make all averages of a table lean the same way.
    generator = np.random.default_rng([seed, _CHOICE, crc32(job.name.encode())])
    chosen = generator.integers(len(rows), size=(suites.number, runs))
    averages = {"train": rows["accuracy_train"].to_numpy()[chosen].mean(axis=1)}
    weights = ensemble_of(rows, job.setting).weights.places(chosen)
    for length in TEST_LENGTHS:
        averages[str(length)] = _suite_averages(job, weights, suites.tokens[length], generator)
    return _table(job, "sampling", averages)


def rounding_replicates(job: Job, runs: int, size: float, replicates: int, seed: int) -> pl.DataFrame:
    """Return ten-run averages of the same runs, their initial weights nudged by a relative `size`: what rounding decides."""
    start = job.initial(np.arange(runs))
    nudges = [nudge_weights(start, size, seed=seed * 1_000_003 + replicate) for replicate in range(replicates)]
    initial = jax.tree.map(lambda *arrays: np.concatenate(arrays), *nudges)
    ensemble = train(job.setting, initial, job.strings, workers=1, device=job.device, engine=job.engine)
    columns = {
        "train": ensemble.accuracy_train,
        **{str(n): ensemble.accuracy(strings) for n, strings in job.tests.items()},
    }
    averages = {column: values.reshape(replicates, runs).mean(axis=1) for column, values in columns.items()}
    return _table(job, "rounding", averages)


def _suite_averages(job: Job, weights: Weights, tokens: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Score each replicate's runs on its own suite, a few suites at a time."""
    task = job.setting.goal
    places = np.stack([suite_places(task, generator) for _ in range(len(tokens))])
    right = np.concatenate(list(_right_answers(job, weights, tokens)))
    return 100 * np.take_along_axis(right, places[:, None, :], axis=2).mean(axis=(1, 2))


def _right_answers(job: Job, weights: Weights, tokens: np.ndarray) -> Iterator[np.ndarray]:
    setting = job.setting
    for start in range(0, len(tokens), SUITES_AT_ONCE):
        part = slice(start, start + SUITES_AT_ONCE)
        # Tokens first, then suite, run, string: the scan runs over the first axis, the rest is one array of states.
        opening = np.moveaxis(tokens[part], -1, 0)[:, :, None, :]
        counts = 2 * tokens[part].sum(axis=-1) - tokens.shape[-1]
        with devices_named(job.device).using(), precision_context(setting.precision):
            yield np.asarray(
                right_answers(
                    weights.places(part),
                    opening.astype(setting.dtype),
                    (~opening).astype(setting.dtype),
                    setting.goal.targets_of_counts(counts)[:, None].astype(setting.dtype),
                    kind=setting.kind,
                    task=setting.goal,
                )
            )


def _table(job: Job, kind: str, averages: dict[str, np.ndarray]) -> pl.DataFrame:
    setting = job.setting
    same = {"edition": job.edition, "kind": kind, "task": setting.task, "bias": setting.bias}
    same["train_length"] = setting.train_length
    parts = [
        pl.DataFrame(
            {**same, "column": column, "replicate": np.arange(len(values)), "average": values},
            schema=REPLICATES_SCHEMA,
        )
        for column, values in averages.items()
    ]
    return pl.concat(parts)
