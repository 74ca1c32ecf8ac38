"""Training one setting of the user's own, into memory or into a run directory."""

import time
from dataclasses import asdict, fields

import numpy as np

from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput, check_whole
from tallystick.experiments.jobs import MOST_SEEDS, Generated, Job, fresh_job
from tallystick.experiments.keeping import ALL, Keep
from tallystick.experiments.reproduction import write_job_strings, write_record
from tallystick.experiments.run_directory import RunDirectory
from tallystick.experiments.runner import Report, made_in, run_jobs
from tallystick.experiments.workers import THIS_MACHINE, Workers
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
        options: any other field of `Setting`: cell, method, precision, epochs, learning_rate, schedule and so on.

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
    keep.check_seeds(seeds)
    check_whole(seed, "seed", least=0, most=MOST_SEEDS)
    lessons_of(
        setting, training_set(setting.scored_as, setting.train_length, seed)
    )  # refuses before anything is written
    return fresh_job("fresh", setting, seeds, Generated(seed))


def run_training(
    job: Job,
    seed: int,
    directory: RunDirectory,
    *,
    report: Report = silent,
    keep: Keep = ALL,
    workers: Workers = THIS_MACHINE,
    resume: bool = False,
    force: bool = False,
) -> None:
    """Train and test one setting, part by part, into a run directory; on this machine, unless other workers are given."""
    started = time.perf_counter()
    options = {"seeds": job.seeds, "seed": seed, "keep": str(keep), **made_in([job])}
    config = {"command": "train", **asdict(job.setting), **options}
    directory.start(config, resume=resume, force=force)
    write_job_strings(directory, [job])
    run_jobs(directory, [job], report, keep=keep, workers=workers)
    write_record(directory, time.perf_counter() - started, seed)
    directory.drop_parts()
