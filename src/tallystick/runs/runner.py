"""Runs jobs: one setting into memory, or any number of them into a run directory, part by part.

Every command that trains many networks goes through `run_whole`. It does the parts that are missing, on this machine or by the
workers of a cluster, and puts them together, so that a run which was killed ends as if it had not been.
"""

import platform
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import polars as pl

from tallystick.cells import VectorCell
from tallystick.datasets.strings import write_strings
from tallystick.errors import BadInput
from tallystick.files import write_document
from tallystick.runs.columns import schema_of
from tallystick.runs.directory import HISTOGRAMS, MODELS, RECORD, STRINGS, SUMMARY, RunDirectory
from tallystick.runs.jobs import ALL, Job, Keep, training_job
from tallystick.runs.resuming import THIS_MACHINE, Workers, do_missing, workers_named
from tallystick.runs.rows import SORTED_BY, Part, compile_ahead, part_files, parts_of, seeds_in_a_part
from tallystick.runs.summaries import add_up_files, histograms_of, summary_document
from tallystick.training.engines import cores, devices_for, engine_name, engine_text, on_every_core
from tallystick.training.ensemble import Ensemble, silent
from tallystick.training.ensemble import train as train_weights
from tallystick.training.setting import Setting

Report = Callable[[str, int], object]
"""Told of a job's name and a number of seeds, as they are done."""

_OPTIONS = tuple(field.name for field in fields(Setting) if field.name not in ("task", "bias", "train_length"))


def train(
    task: str = "binary",
    train_length: int = 8,
    *,
    bias: bool = False,
    seeds: int = 1000,
    seed: int = 0,
    engine: str = "auto",
    **options: object,
) -> Ensemble:
    """Train `seeds` networks of one setting on generated strings, and return them.

    Args:
        task: binary, ternary or count.
        train_length: the longest training strings.
        bias: whether the cell has a bias.
        seeds: how many networks; seed n starts from the same weights whatever stands beside it.
        seed: decides the order of the training strings.
        engine: auto, fused or scan; auto is the fused kernel for what it can train, and the compiled scan for the rest. The
            two round differently.
        options: any other field of `Setting`: cell, units, method, precision, epochs, learning_rate, schedule and so on.

    >>> networks = train("binary", train_length=2, seeds=8, epochs=5)
    >>> networks.cell().open_step.shape
    (8,)
    """
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise BadInput(f"{unknown[0]}: no such option; the options are {', '.join(_OPTIONS)}")
    job = training_job(Setting(task, bias, train_length, **options), seeds, seed)  # pyright: ignore[reportArgumentType]
    return train_weights(job.setting, job.initial(np.arange(job.seeds)), job.strings, engine=engine)


def run_training(
    job: Job,
    seed: int,
    directory: RunDirectory,
    keep: Keep = ALL,
    **options: Any,  # noqa: ANN401 -- as run_whole has them
) -> None:
    """Train and test one setting, part by part, into a run directory; the options are those of `run_whole`."""
    run_whole([job], training_config(job, seed, keep), directory, **options)


def training_config(job: Job, seed: int, keep: Keep = ALL) -> dict[str, object]:
    """Return what a training run of one setting was asked for."""
    return {"command": "train", **asdict(job.setting), "seeds": job.seeds, "seed": seed, "keep": str(keep)}


def run_on(
    cluster: str | None,
    device: str,
    jobs: list[Job],
    asked: dict[str, object],
    directory: RunDirectory,
    *,
    engine: str = "auto",
    tell: Callable[[list[Job]], object] = silent,
    **options: Any,  # noqa: ANN401 -- as run_whole has them
) -> None:
    """Do jobs into a run directory as `run_whole` does, on the cluster named, or on this machine where the name is None.

    `device` is auto, cpu or gpu, and `engine` auto, fused or scan. `tell` is told of the jobs once it is known which kind of
    device does each of them.
    """
    with workers_named(cluster) as workers:
        placed = [replace(job, device=_device_for(job.setting, workers, device), engine=engine) for job in jobs]
        tell(placed)
        run_whole(placed, asked, directory, workers=workers, **options)


def run_whole(
    jobs: list[Job],
    asked: dict[str, object],
    directory: RunDirectory,
    *,
    report: Report = silent,
    workers: Workers = THIS_MACHINE,
    resume: bool = False,
    force: bool = False,
    add: Callable[[list[Job]], object] = silent,
) -> None:
    """Do jobs into a run directory from its beginning to its end: what was asked for, strings, rows, and how it was made.

    Args:
        jobs: what is trained and tested.
        asked: what decides it, for the configuration: `seed` among it, and `keep` where not all rows are kept.
        directory: where everything is written.
        report: told of a job's name and of seeds, as they are done.
        workers: who does the work; the default is this machine.
        resume: go on with a run of the same configuration.
        force: start a run anew.
        add: called with the jobs once the rows stand, to write what else belongs to the run.
    """
    started, keep = time.perf_counter(), Keep.read(str(asked.get("keep", ALL)))
    with directory.begin({**asked, **circumstances(jobs)}, resume=resume, force=force):
        finished = has_all(directory, keep) and directory.has(RECORD)
        write_job_strings(directory, jobs)
        run_jobs(directory, jobs, report, keep=keep, workers=workers)
        add(jobs)
        if not finished:  # how it was made is not how it was looked at again
            write_record(directory, time.perf_counter() - started, int(str(asked["seed"])), jobs)
        directory.drop_parts()


def run_jobs(
    directory: RunDirectory, jobs: list[Job], report: Report, *, keep: Keep = ALL, workers: Workers = THIS_MACHINE
) -> None:
    """Do the parts that are missing, then put all of them together; `report` is told of seeds done."""
    if has_all(directory, keep):
        return
    parts = parts_of(jobs)
    are_done = on_every_core(lambda part: _is_done(directory, part, keep), parts)
    done = {place for place, is_done in enumerate(are_done) if is_done}
    for place in done:
        report(parts[place].job.name, len(parts[place].seeds))

    def store(place: int, contents: dict[str, bytes]) -> None:
        part = parts[place]
        for name, file in part.files(keep).items():
            directory.store_part(file, contents[name])
        report(part.job.name, len(part.seeds))

    if workers is THIS_MACHINE and len(done) < len(parts):
        Thread(target=_compile_ahead, args=(jobs,), daemon=True).start()
    do_missing([(part.job, part.seeds) for part in parts], done, partial(part_files, keep), store, workers)
    _put_together(directory, jobs, parts, keep)


def _compile_ahead(jobs: list[Job]) -> None:
    with suppress(Exception):  # what fails here fails where it is needed as well, and is told there
        for job in jobs:
            if job.device == "gpu":
                compile_ahead(job)


def circumstances(jobs: list[Job]) -> dict[str, object]:
    """Return what a run must be resumed with beside its options: what else decides its bits, and the size of its parts."""
    engines = {engine_name(job.setting, job.strings, job.device, job.engine) for job in jobs}
    found = {
        "device": jobs[0].device,
        "engine": " and ".join(sorted(engines)),
        "part": seeds_in_a_part(jobs),
        **versions(),
    }
    return {**found, "llvmlite": version("llvmlite")} if "fused" in engines and jobs[0].device == "cpu" else found


def versions() -> dict[str, object]:
    """Return the versions that decide the bits of a row."""
    return {name: version(name) for name in ("tallystick", "jax")}


def has_all(directory: RunDirectory, keep: Keep) -> bool:
    """Say whether all that is kept stands."""
    wanted = [MODELS] * keep.rows + [HISTOGRAMS, SUMMARY] * keep.summary
    return directory.stands(*wanted)


def _is_done(directory: RunDirectory, part: Part, keep: Keep) -> bool:
    kept = keep.choose(
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
        tables = [histograms_of(job, add_up_files(sketches[job.name])) for job in sorted(jobs, key=_order)]
        directory.write_table(pl.concat(tables), HISTOGRAMS)
        write_document(summary_document(pl.concat(tables)), directory.path / SUMMARY)


def _order(job: Job) -> tuple[object, ...]:
    """The order of rows.SORTED_BY, but for seeds, and of what a sweep varies."""
    return tuple(job.description[name] for name in (*SORTED_BY[:-1], *job.also))


def write_job_strings(directory: RunDirectory, jobs: list[Job]) -> None:
    """Write the generated strings as files; the authors' own stay where they are."""
    folder = directory.make_folder(STRINGS)
    sets = {
        (job.setting.goal, length): strings
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
        "trained_by": sorted({engine_text(job.setting, job.strings, job.device, job.engine) for job in jobs or ()})
        or ["cpu, compiled scan"],
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
        "gradient": "derived by hand: sigmoid(o) − y, softmax(o) − y; Adam with its corrections as scalars",
    }
    write_document(record, directory.path / RECORD)


def _device_for(setting: Setting, workers: Workers, name: str) -> str:
    """Return the kind of device that trains a setting where the workers are; cells with several units have processors alone."""
    if issubclass(setting.kind, VectorCell):
        return devices_for(setting, name).kind
    return workers.device(name)
