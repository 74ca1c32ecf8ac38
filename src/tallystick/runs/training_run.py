"""Training one setting of the user's own, into memory or into a run directory."""

import platform
import sys
import time
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.cells import VectorCell
from tallystick.datasets.paper import training_set
from tallystick.datasets.strings import write_strings
from tallystick.errors import BadInput, check_whole
from tallystick.files import write_document
from tallystick.runs.jobs import MOST_SEEDS, Generated, Job, fresh_job
from tallystick.runs.keeping import ALL, Keep
from tallystick.runs.run_directory import RECORD, STRINGS, RunDirectory
from tallystick.runs.runner import Report, has_all, made_in, run_jobs
from tallystick.runs.workers import THIS_MACHINE, Workers
from tallystick.training.devices import cores
from tallystick.training.engines import devices_for, engine_text
from tallystick.training.ensemble import Ensemble, silent
from tallystick.training.ensemble import train as train_weights
from tallystick.training.lessons import lessons_of
from tallystick.training.setting import Setting

_OPTIONS = tuple(field.name for field in fields(Setting) if field.name not in ("task", "bias", "train_length"))


def train(
    task: str = "binary",
    train_length: int = 8,
    *,
    bias: bool = False,
    seeds: int = 1000,
    seed: int = 0,
    **options: object,
) -> Ensemble:
    """Train `seeds` networks of one setting on generated strings, and return them.

    Args:
        task: binary, ternary or count.
        train_length: the longest training strings.
        bias: whether the cell has a bias.
        seeds: how many networks; seed n starts from the same weights whatever stands beside it.
        seed: decides the order of the training strings.
        options: any other field of `Setting`: cell, units, method, precision, epochs, learning_rate, schedule and so on.

    >>> networks = train("binary", train_length=2, seeds=8, epochs=5)
    >>> networks.cell().open_step.shape
    (8,)
    """
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise BadInput(f"{unknown[0]}: no such option; the options are {', '.join(_OPTIONS)}")
    job = training_job(Setting(task, bias, train_length, **options), seeds, seed)  # pyright: ignore[reportArgumentType]
    return train_weights(job.setting, job.initial(np.arange(job.seeds)), job.strings)


def training_job(setting: Setting, seeds: int, seed: int, keep: Keep = ALL) -> Job:
    """Return the one job of a training run."""
    check_run(setting, seeds, seed, keep)
    return fresh_job("fresh", setting, seeds, Generated(seed))


def check_run(setting: Setting, seeds: int, seed: int, keep: Keep = ALL) -> None:
    """Refuse what cannot be trained, before anything is written."""
    keep.check_seeds(seeds)
    check_whole(seed, "seed", least=0, most=MOST_SEEDS)
    lessons_of(setting, training_set(setting.scored_as, setting.train_length, seed))


def device_for(setting: Setting, workers: Workers, name: str) -> str:
    """Return the kind of device that trains a setting where the workers are; cells with several units have processors alone."""
    if issubclass(setting.kind, VectorCell):
        return devices_for(setting, name).kind
    return workers.device(name)


def run_training(job: Job, seed: int, directory: RunDirectory, **options: Any) -> None:  # noqa: ANN401 -- as run_whole has them
    """Train and test one setting, part by part, into a run directory; the options are those of `run_whole`."""
    asked = {"command": "train", **asdict(job.setting), "seeds": job.seeds, "seed": seed}
    run_whole([job], asked, directory, **options)


def run_whole(
    jobs: list[Job],
    asked: dict[str, object],
    directory: RunDirectory,
    *,
    report: Report = silent,
    keep: Keep = ALL,
    workers: Workers = THIS_MACHINE,
    resume: bool = False,
    force: bool = False,
) -> None:
    """Do jobs into a run directory from its beginning to its end: what was asked for, strings, rows, and how it was made.

    Args:
        jobs: what is trained and tested.
        asked: what decides it, `seed` among it, for the configuration.
        directory: where everything is written.
        report: told of a job's name and of seeds, as they are done.
        keep: which rows there are at the end.
        workers: who does the work, if not this machine.
        resume: go on with a run of the same configuration.
        force: start a run anew.
    """
    started = time.perf_counter()
    with directory.begun({**asked, "keep": str(keep), **made_in(jobs)}, resume=resume, force=force):
        finished = has_all(directory, keep) and directory.has(RECORD)
        write_job_strings(directory, jobs)
        run_jobs(directory, jobs, report, keep=keep, workers=workers)
        if not finished:  # how it was made is not how it was looked at again
            write_record(directory, time.perf_counter() - started, int(str(asked["seed"])), jobs)
        directory.drop_parts()


def write_job_strings(directory: RunDirectory, jobs: list[Job]) -> None:
    """Write the generated strings as files; the authors' own stay where they are."""
    folder = directory.make_folder(STRINGS)
    sets = {
        (job.setting.scored_as, length): strings
        for job in jobs
        if job.edition == "fresh"
        for length, strings in {job.setting.train_length: job.strings, **job.tests}.items()
    }
    for (task, length), strings in sets.items():
        write_strings(strings, task, folder / f"{task.name}_{length}.txt")


def write_record(directory: RunDirectory, seconds: float, seed: int, jobs: list[Job] | None = None) -> None:
    """Write how the run was made: versions, machine, time, and the form of the gradient, which float32 results depend on."""
    packages = ("tallystick", "jax", "jaxlib", "optax", "numpy", "polars")
    record = {
        "command": " ".join(["tallystick", *sys.argv[1:]])
        if Path(sys.argv[0]).stem.startswith("tallystick")
        else "from Python",
        "seed": seed,
        "seconds": round(seconds, 1),
        "cores": cores(),
        "machine": platform.machine(),
        "trained_by": sorted({engine_text(job.setting, job.strings, job.device) for job in jobs or ()})
        or ["cpu, compiled scan"],
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
        "gradient": "derived by hand: sigmoid(o) − y, softmax(o) − y; Adam with its corrections as scalars",
    }
    write_document(record, directory.path / RECORD)
