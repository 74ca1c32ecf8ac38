"""Gated networks as rows of a run: their weights as PyTorch lays them out, what was measured of them, and back again."""

import numpy as np
import polars as pl

from tallystick.datasets.long_tests import TEST_LENGTHS, long_suite
from tallystick.experiments.gated_measures import border_strings, counting_units, earliest, judged, uniform_strings
from tallystick.models import GatedModel
from tallystick.training.gated.ensemble import GatedEnsemble
from tallystick.training.gated.setting import GatedSetting
from tallystick.training.gated.weights import GatedWeights
from tallystick.training.setting import Setting

LONG = 1000
LONGEST = 10_000
"""The lengths of the strings that networks are tried on beside the paper's; first failures are looked for in the shorter ones."""

SHORT = 50
"""The length of the strings along which units are compared with the count."""

STRINGS = 100
"""How many strings of each of these lengths."""

COUNTS_CLEARLY = 0.99
"""A unit is like a counter, for a summary, where the count explains this much of how its state varies."""

TENSORS = ("input_weight", "recurrent_weight", "input_bias", "recurrent_bias", "readout_weight", "readout_bias")
_TAUGHT = ("task", "bias", "train_length", "method", "precision")
_SETTING = ("cell", "units", *_TAUGHT)

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "cell": pl.String,
    "units": pl.Int64,
    "task": pl.String,
    "bias": pl.Boolean,
    "train_length": pl.Int64,
    "method": pl.String,
    "precision": pl.String,
    "seed": pl.Int64,
    **dict.fromkeys(TENSORS, pl.List(pl.Float64)),
    "accuracy_train": pl.Float64,
    **{f"accuracy_{length}": pl.Float64 for length in (*TEST_LENGTHS, LONG, LONGEST)},
    "first_failure": pl.Int64,
    "counting_unit": pl.String,
    "counting_slope": pl.Float64,
    "counting_r_squared": pl.Float64,
}
"""One row a network. A tensor stands row after row, as PyTorch has it; a missing bias is empty. `first_failure` is null where
no beginning of the strings fails."""


def rows_of_gated(ensemble: GatedEnsemble, seed: int = 0, first: int = 0) -> pl.DataFrame:
    """Return one row a network, whose seeds go on from the first; `seed` draws the strings that they are tested on."""
    setting, size = ensemble.setting, len(ensemble.accuracy_train)
    tests = {length: long_suite(setting.taught.scored_as, length, seed) for length in TEST_LENGTHS}
    columns = {
        **{name: [value] * size for name, value in described(setting).items()},
        "seed": np.arange(first, first + size),
        **{name: _lists(array, size) for name, array in _tensors(ensemble.weights).items()},
        "accuracy_train": ensemble.accuracy_train,
        **{f"accuracy_{length}": ensemble.accuracy(strings) for length, strings in tests.items()},
        **_measured(ensemble.networks(), seed),
    }
    return pl.DataFrame(columns, schema=SCHEMA)


def ensemble_of_gated(rows: pl.DataFrame) -> GatedEnsemble:
    """Return the networks of rows of one setting, in the precision they were trained in."""
    first = rows.row(0, named=True)
    setting = GatedSetting(first["cell"], first["units"], Setting(**{name: first[name] for name in _TAUGHT}))
    units, dtype = setting.units, setting.taught.dtype
    shapes = {"input_weight": (-1, 2), "recurrent_weight": (-1, units), "readout_weight": (-1, units)}
    with np.errstate(over="ignore"):  # a weight beyond its precision is no finite number
        arrays = {
            name: np.array(rows[name].to_list(), dtype).T.reshape(*shapes.get(name, (-1,)), len(rows))
            for name in TENSORS
        }
    bias = (arrays["input_bias"], arrays["recurrent_bias"]) if arrays["input_bias"].size else ()
    readout_bias = (arrays["readout_bias"],) if arrays["readout_bias"].size else ()
    weights = GatedWeights(
        arrays["input_weight"], arrays["recurrent_weight"], bias, arrays["readout_weight"], readout_bias
    )
    return GatedEnsemble(setting, weights, rows["accuracy_train"].to_numpy())


def summary_of(rows: pl.DataFrame) -> dict[str, object]:
    """Return what became of the networks: mean accuracies, the first failures, and the units that count best."""
    means = {name: rows[name].mean() for name in rows.columns if name.startswith("accuracy_")}
    failures = rows["first_failure"].cast(pl.Float64).fill_null(float("inf"))
    return {
        **rows.select(_SETTING).row(0, named=True),
        "models": len(rows),
        **means,
        "first_failure_min": rows["first_failure"].min(),
        "first_failure_median": failures.median(),
        "counting_unit": rows["counting_unit"].mode().sort()[0],
        "counting_r_squared_median": rows["counting_r_squared"].median(),
        "counter_like": int((rows["counting_r_squared"] >= COUNTS_CLEARLY).sum()),
    }


def described(setting: GatedSetting) -> dict[str, object]:
    """Return what a setting is, by the names of the columns."""
    taught = {name: getattr(setting.taught, name) for name in _TAUGHT}
    return {"cell": setting.cell, "units": setting.units, **taught}


def _tensors(weights: GatedWeights) -> dict[str, np.ndarray]:
    none = np.zeros((0, weights.example.shape[-1]))
    input_bias, recurrent_bias = weights.bias or (none, none)
    readout_bias = weights.readout_bias[0] if weights.readout_bias else none
    arrays = (weights.input_weight, weights.recurrent_weight, input_bias, recurrent_bias)
    return dict(zip(TENSORS, (*arrays, weights.readout_weight, readout_bias), strict=True))


def _lists(array: np.ndarray, size: int) -> list[list[float]]:
    return np.asarray(array, np.float64).reshape(-1, size).T.tolist()


def _measured(networks: GatedModel, seed: int) -> dict[str, object]:
    """Accuracy and first failure on long strings near the border, and the unit that counts best."""
    right, failed = judged(networks, border_strings(LONG, STRINGS, seed))
    longest, _ = judged(networks, border_strings(LONGEST, STRINGS, seed))
    units = counting_units(networks, uniform_strings(SHORT, STRINGS, seed))
    shares = np.stack([unit.r_squared for unit in units])
    best = shares.argmax(axis=0)
    return {
        f"accuracy_{LONG}": 100 * right.mean(axis=1),
        f"accuracy_{LONGEST}": 100 * longest.mean(axis=1),
        "first_failure": [int(length) or None for length in earliest(failed)],
        "counting_unit": [f"{units[place].part} {units[place].unit}" for place in best],
        "counting_slope": np.stack([unit.slope for unit in units])[best, np.arange(len(best))],
        "counting_r_squared": shares.max(axis=0),
    }
