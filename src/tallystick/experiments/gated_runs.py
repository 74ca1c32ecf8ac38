"""Training GRUs and LSTMs of one setting, into memory or part by part into a run directory of their own columns."""

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput, check_whole
from tallystick.experiments.gated_rows import SCHEMA, rows_of_gated
from tallystick.experiments.parquet_files import read_schema
from tallystick.experiments.reproduction import write_record
from tallystick.experiments.run_directory import MODELS, RunDirectory
from tallystick.experiments.runner import made_by
from tallystick.experiments.workers import THIS_MACHINE, Workers
from tallystick.training.ensemble import silent
from tallystick.training.gated.ensemble import BLOCK, GatedEnsemble, train_gated_weights
from tallystick.training.gated.initial_weights import fresh_gated_weights
from tallystick.training.gated.setting import GatedSetting
from tallystick.training.lessons import lessons_of
from tallystick.training.setting import Setting

MOST_SEEDS = 100_000
_LEFT_ASIDE = ("cell", "strength", "start", "snap")


def train_gated(
    cell: str = "lstm",
    units: int = 1,
    task: str = "binary",
    train_length: int = 8,
    *,
    bias: bool = True,
    seeds: int = 100,
    seed: int = 0,
    **options: object,
) -> GatedEnsemble:
    """Train `seeds` GRUs or LSTMs of one setting on generated strings, and return them.

    Args:
        cell: gru or lstm.
        units: how many units.
        task: binary, ternary or count.
        train_length: the longest training strings.
        bias: whether the gates have biases (and the binary readout).
        seeds: how many networks; seed n starts from the same weights whatever stands beside it.
        seed: decides the order of the training strings.
        options: method, precision, epochs, learning_rate, schedule or gradients, as for any cell.
    """
    unknown = sorted(set(options) - set(Setting.__dataclass_fields__) | set(options) & {"cell"})
    if unknown:
        raise BadInput(f"{unknown[0]}: no such option of a gated cell's training")
    taught = Setting(task, bias, train_length, **options)  # pyright: ignore[reportArgumentType]
    return trained(GatedSetting(cell, units, taught), seeds, seed)


def trained(setting: GatedSetting, seeds: int, seed: int, progress: Callable[[int], object] = silent) -> GatedEnsemble:
    """Train the seeds of a setting."""
    strings = _check_run(setting, seeds, seed)
    return _trained(setting, np.arange(seeds), strings, progress)


def _trained(
    setting: GatedSetting, seeds: np.ndarray, strings: list[str], progress: Callable[[int], object] = silent
) -> GatedEnsemble:
    taught = setting.taught
    initial = fresh_gated_weights(
        setting.kind, setting.units, taught.scored_as, seeds, bias=taught.bias, dtype=taught.dtype
    )
    return train_gated_weights(setting, initial, strings, progress)


def _check_run(setting: GatedSetting, seeds: int, seed: int) -> list[str]:
    """Refuse what cannot be trained; return the training strings."""
    check_whole(seeds, "seeds", least=1, most=MOST_SEEDS)
    check_whole(seed, "seed", least=0)
    strings = training_set(setting.taught.scored_as, setting.taught.train_length, seed)
    lessons_of(setting.taught, strings)
    return strings


def run_gated_training(
    setting: GatedSetting,
    seeds: int,
    seed: int,
    directory: RunDirectory,
    *,
    progress: Callable[[int], object] = silent,
    workers: Workers = THIS_MACHINE,
    resume: bool = False,
    force: bool = False,
) -> pl.DataFrame:
    """Train and measure one setting, part by part, into a run directory; what a killed run has done is not done again."""
    started = time.perf_counter()
    taught = Taught(setting, _check_run(setting, seeds, seed), seed)  # before anything of an earlier run is touched
    with directory.begun(_config(setting, seeds, seed), resume=resume, force=force):
        finished = directory.is_finished()
        if not directory.stands(MODELS):
            _do_parts(directory, taught, seeds, progress, workers)
        if not finished:
            write_record(directory, time.perf_counter() - started, seed)
        directory.drop_parts()
    return directory.table()


def _do_parts(
    directory: RunDirectory, taught: "Taught", seeds: int, progress: Callable[[int], object], workers: Workers
) -> None:
    """Do the parts that are missing, then put all of them together."""
    cell = taught.setting.cell
    parts = {f"{cell}-{first:09d}": range(first, min(first + BLOCK, seeds)) for first in range(0, seeds, BLOCK)}
    missing = [name for name, part in parts.items() if not _is_done(directory, name, part)]
    progress(sum(len(part) for name, part in parts.items() if name not in missing))

    def take(place: int, rows: pl.DataFrame) -> None:
        directory.write_part(missing[place], rows)
        progress(len(rows))

    workers.each(_rows_of_part, [(taught, parts[name]) for name in missing], take)
    directory.gather(list(parts))


class Taught(NamedTuple):
    """What all parts of a run share."""

    setting: GatedSetting
    strings: list[str]
    seed: int


def _rows_of_part(taught: Taught, seeds: range) -> pl.DataFrame:
    """Train and measure a whole block of seeds, be they asked for or not: so a seed's row never depends on how many are."""
    first = seeds[0]
    networks = _trained(taught.setting, np.arange(first, first + BLOCK), taught.strings)
    return rows_of_gated(networks, taught.seed, first).head(len(seeds))


def _is_done(directory: RunDirectory, name: str, seeds: range) -> bool:
    if not directory.has_part(name):
        return False
    _check_columns(directory.part(name))
    return directory.has_part(name, pl.Series(seeds, dtype=SCHEMA["seed"]))


def _check_columns(part: Path) -> None:
    """Refuse a part that another version of this tool has left."""
    if dict(read_schema(part)) != SCHEMA:
        raise BadInput(f"{part}: not of these columns; delete it and go on with --resume")


def _config(setting: GatedSetting, seeds: int, seed: int) -> dict[str, object]:
    taught = {name: value for name, value in asdict(setting.taught).items() if name not in _LEFT_ASIDE}
    asked = {"command": "train", "cell": setting.cell, "units": setting.units, **taught}
    return {**asked, "seeds": seeds, "seed": seed, **made_by()}
