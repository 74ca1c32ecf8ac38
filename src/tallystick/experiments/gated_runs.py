"""Training GRUs and LSTMs of one setting, into memory or part by part into a run directory of their own columns."""

import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput, check_whole
from tallystick.experiments.gated_rows import SCHEMA, rows_of_gated
from tallystick.experiments.reproduction import write_record
from tallystick.experiments.run_directory import MODELS, RunDirectory
from tallystick.training.cores import on_every_core
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
    resume: bool = False,
    force: bool = False,
) -> pl.DataFrame:
    """Train and measure one setting, part by part, into a run directory; what a killed run has done is not done again."""
    started = time.perf_counter()
    strings = _check_run(setting, seeds, seed)  # before anything of an earlier run is touched
    directory.start(_config(setting, seeds, seed), resume=resume, force=force)

    def part(first: int) -> str:
        size, name = min(BLOCK, seeds - first), f"{setting.cell}-{first:09d}"
        if directory.has_part(name):
            _check_columns(directory.part(name))
        else:
            directory.write_part(name, _rows_of_block(setting, first, strings, seed).head(size))
        progress(size)
        return name

    if not directory.is_finished():
        directory.gather(on_every_core(part, range(0, seeds, BLOCK)))
        write_record(directory, time.perf_counter() - started, seed)
    directory.drop_parts()
    return pl.read_parquet(directory.path / MODELS)


def _rows_of_block(setting: GatedSetting, first: int, strings: list[str], seed: int) -> pl.DataFrame:
    """Train and measure a whole block of seeds, be they asked for or not: so a seed's row never depends on how many are."""
    return rows_of_gated(_trained(setting, np.arange(first, first + BLOCK), strings), seed, first)


def _check_columns(part: Path) -> None:
    """Refuse a part that another version of this tool has left."""
    if dict(pl.read_parquet_schema(part)) != SCHEMA:
        raise BadInput(f"{part}: not of these columns; delete it and go on with --resume")


def _config(setting: GatedSetting, seeds: int, seed: int) -> dict[str, object]:
    taught = {name: value for name, value in asdict(setting.taught).items() if name not in _LEFT_ASIDE}
    asked = {"command": "train", "cell": setting.cell, "units": setting.units, **taught}
    return {**asked, "seeds": seeds, "seed": seed, "jax": version("jax")}
