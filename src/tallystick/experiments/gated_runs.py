"""Training GRUs and LSTMs of one setting, into memory or into a run directory of their own columns."""

import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Outcome
from tallystick.datasets.long_tests import TEST_LENGTHS, long_suite
from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput, check_whole
from tallystick.experiments.gated_measures import (
    accuracy_by_length,
    border_strings,
    counting_units,
    first_failures,
    uniform_strings,
)
from tallystick.experiments.reproduction import write_record
from tallystick.experiments.run_directory import MODELS, RunDirectory
from tallystick.models import GatedModel
from tallystick.training.ensemble import silent
from tallystick.training.gated.ensemble import GatedEnsemble, train_gated_weights
from tallystick.training.gated.initial_weights import fresh_gated_weights
from tallystick.training.gated.setting import GatedSetting
from tallystick.training.gated.weights import GatedWeights
from tallystick.training.lessons import lessons_of
from tallystick.training.setting import Setting

MOST_SEEDS = 100_000
LONG = 1000
_STRINGS = 100
_SHORT = 50
LONGEST_PROOF = 200
"""How far the networks of a run are proved; one by one they may be asked for more."""

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
    taught = setting.taught
    initial = fresh_gated_weights(
        setting.kind, setting.units, taught.scored_as, np.arange(seeds), bias=taught.bias, dtype=taught.dtype
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
    force: bool = False,
) -> pl.DataFrame:
    """Train and measure one setting, and write a run directory."""
    started = time.perf_counter()
    _check_run(setting, seeds, seed)  # before anything of an earlier run is touched
    taught = {name: value for name, value in asdict(setting.taught).items() if name not in _LEFT_ASIDE}
    config = {"command": "train", "cell": setting.cell, "units": setting.units, **taught, "seeds": seeds, "seed": seed}
    directory.start({**config, "jax": version("jax")}, force=force)
    rows = rows_of_gated(trained(setting, seeds, seed, progress), seed)
    directory.write_table(rows, MODELS)
    write_record(directory, time.perf_counter() - started, seed)
    directory.drop_parts()
    return rows


def rows_of_gated(ensemble: GatedEnsemble, seed: int = 0) -> pl.DataFrame:
    """Return one row a network: its weights as PyTorch lays them out, and what was measured of it."""
    setting, size = ensemble.setting, len(ensemble.accuracy_train)
    taught = setting.taught
    tests = {length: long_suite(taught.scored_as, length, seed) for length in TEST_LENGTHS}
    columns = {
        "cell": [setting.cell] * size,
        "units": [setting.units] * size,
        **{name: [getattr(taught, name)] * size for name in ("task", "bias", "train_length", "method", "precision")},
        "seed": np.arange(size),
        **{name: _lists(array, size) for name, array in _tensors(ensemble.weights).items()},
        "accuracy_train": ensemble.accuracy_train,
        **{f"accuracy_{length}": ensemble.accuracy(strings) for length, strings in tests.items()},
        **_measured(ensemble.networks(), seed),
    }
    return pl.DataFrame(columns)


def model_of_row(row: dict[str, object]) -> GatedModel:
    """Return the network of a row of `models.parquet`, for a verdict or a file."""
    units = row["units"]
    shapes = {"input_weight": (-1, 2, 1), "recurrent_weight": (-1, units, 1), "readout_weight": (-1, units, 1)}
    arrays = {name: np.array(row[name], np.float64).reshape(shapes.get(name, (-1, 1))) for name in _NAMES}
    bias = (arrays["input_bias"], arrays["recurrent_bias"]) if arrays["input_bias"].size else ()
    readout_bias = (arrays["readout_bias"],) if arrays["readout_bias"].size else ()
    weights = GatedWeights(
        arrays["input_weight"], arrays["recurrent_weight"], bias, arrays["readout_weight"], readout_bias
    )
    taught = Setting(str(row["task"]), bool(row["bias"]), 1)
    return GatedEnsemble(GatedSetting(str(row["cell"]), int(str(units)), taught), weights, np.zeros(1)).model(0)


def read_gated_run(path: Path) -> pl.DataFrame:
    """Return the rows of a run of gated networks."""
    config = RunDirectory(path).config()
    if "units" not in config:
        raise BadInput(f"{path}: a run of {config.get('cell', 'other')} cells, which have no gates")
    try:
        rows = pl.read_parquet(path / MODELS)
    except (pl.exceptions.PolarsError, OSError):
        raise BadInput(f"{path / MODELS}: cannot be read as the table of a finished run") from None
    missing = [name for name in ("cell", "units", "task", "bias", *_NAMES) if name not in rows.columns]
    if missing or rows.is_empty():
        raise BadInput(f"{path / MODELS}: {f'column {missing[0]!r} is missing' if missing else 'holds no network'}")
    return rows


def horizons_of_gated_run(path: Path) -> list[dict[str, object]]:
    """Return up to which length a run's networks are proved right on all strings, and how many of these horizons are exact."""
    rows = read_gated_run(path)
    verdicts = [certify(model_of_row(row), limit=LONGEST_PROOF) for row in rows.to_dicts()]
    horizons = [verdict.horizon or 0 for verdict in verdicts]
    return [
        {
            **_described(rows),
            "models": len(rows),
            "horizon_all_median": float(np.median(horizons)),
            "horizon_all_max": max(horizons),
            "exact": sum(verdict.outcome is Outcome.REFUTED for verdict in verdicts),
        }
    ]


_NAMES = ("input_weight", "recurrent_weight", "input_bias", "recurrent_bias", "readout_weight", "readout_bias")


def _tensors(weights: GatedWeights) -> dict[str, np.ndarray]:
    none = np.zeros((0, weights.example.shape[-1]))
    input_bias, recurrent_bias = weights.bias or (none, none)
    readout_bias = weights.readout_bias[0] if weights.readout_bias else none
    arrays = (weights.input_weight, weights.recurrent_weight, input_bias, recurrent_bias)
    return dict(zip(_NAMES, (*arrays, weights.readout_weight, readout_bias), strict=True))


def _lists(array: np.ndarray, size: int) -> pl.Series:
    flat = np.asarray(array, np.float64).reshape(-1, size).T
    return pl.Series(flat.tolist(), dtype=pl.List(pl.Float64))


def _measured(networks: GatedModel, seed: int) -> dict[str, object]:
    """Accuracy and first failure on strings of a thousand tokens near the border, and the unit that counts best."""
    failed = first_failures(networks, border_strings(LONG, _STRINGS, seed))
    earliest = np.where(failed > 0, failed, LONG + 1).min(axis=1)
    units = counting_units(networks, uniform_strings(_SHORT, _STRINGS, seed))
    shares = np.stack([unit.r_squared for unit in units])
    best = shares.argmax(axis=0)
    return {
        f"accuracy_{LONG}": accuracy_by_length(networks, (LONG,), strings=_STRINGS, seed=seed)[LONG],
        "first_failure": pl.Series([int(length) if length <= LONG else None for length in earliest], dtype=pl.Int64),
        "counting_unit": [f"{units[place].part} {units[place].unit}" for place in best],
        "counting_slope": np.stack([unit.slope for unit in units])[best, np.arange(len(best))],
        "counting_r_squared": shares.max(axis=0),
    }


def summary_of(rows: pl.DataFrame) -> list[dict[str, object]]:
    """Return what became of the networks in one row: mean accuracies, first failures, the best counting units."""
    means = {name: rows[name].mean() for name in rows.columns if name.startswith("accuracy_")}
    return [
        {
            **_described(rows),
            "models": len(rows),
            **means,
            "first_failure_median": rows["first_failure"].median(),
            "counting_r_squared_median": rows["counting_r_squared"].median(),
        }
    ]


def _described(rows: pl.DataFrame) -> dict[str, object]:
    return rows.select("cell", "units", "task", "bias", "train_length", "method").unique().to_dicts()[0]
