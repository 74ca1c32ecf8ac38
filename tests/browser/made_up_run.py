"""A large run directory made up on purpose: rows of the true format, so many that a page could not hold them all."""

import json

import numpy as np
import polars as pl

from tallystick.cells import LinearCell
from tallystick.reports.paper import COLUMNS, SETTINGS
from tallystick.runs.columns import schema_of

EDITION, METHOD, PRECISION = "fresh", "published", "float32"
EPOCHS, FOLLOWED = 30, 6
SPREAD = {2: 0.30, 4: 0.12, 8: 0.04}


def write_run(directory, cells=100_000):
    """Write a run of so many cells over the paper's twelve settings, with replicates and training paths."""
    sizes = [len(part) for part in np.array_split(np.arange(cells), len(SETTINGS))]
    tables = [
        _models(setting, size, number) for number, (setting, size) in enumerate(zip(SETTINGS, sizes, strict=True))
    ]
    pl.concat(tables).write_parquet(directory / "models.parquet")
    pl.concat([_replicates(setting, column) for setting in SETTINGS for column in COLUMNS]).write_parquet(
        directory / "replicates.parquet"
    )
    pl.concat([_path(setting, seed) for setting in SETTINGS for seed in range(FOLLOWED)]).write_parquet(
        directory / "paths.parquet"
    )
    (directory / "config.toml").write_text(f'command = "reproduce"\nseeds = {max(sizes)}\nruns = 10\n')
    (directory / "record.json").write_text(json.dumps({"seconds": 1.5, "seed": 0}))
    return directory


def _models(setting, size, number):
    generator = np.random.default_rng(number)
    spread = SPREAD[setting.train_length]
    ratio = _float32(-1 + spread * np.abs(1 + 0.5 * generator.standard_normal(size)))
    recurrent = _float32(1 + spread * 0.4 * generator.standard_normal(size))
    outputs = 1 if setting.task == "binary" else 3
    weight, bias = ([1.0], [-0.3 * setting.bias]) if outputs == 1 else ([-1.0, 0.0, 1.0], [-0.5, 0.0, -0.5])
    accuracy = np.clip(95 - 60 * spread + 2 * generator.standard_normal(size), 0, 100)
    columns = {
        "edition": [EDITION] * size,
        "cell": ["linear"] * size,
        **{name: [value] * size for name, value in setting._asdict().items()},
        "method": [METHOD] * size,
        "precision": [PRECISION] * size,
        "seed": np.arange(size),
        "open_step": -ratio,
        "close_step": np.full(size, -1.0),
        "recurrent_weight": recurrent,
        "close_recurrent_weight": [None] * size,
        "further_weights": [[]] * size,
        "ab_ratio": ratio,
        "readout_weight": [weight] * size,
        "readout_bias": [bias if setting.bias or outputs == 3 else []] * size,
        "accuracy_train": np.full(size, 100.0),
        "accuracy_20": accuracy,
        "accuracy_50": accuracy - 4,
        "horizon_all": generator.integers(2, 12, size),
        "horizon_even": 2 * generator.integers(1, 12, size),
        "horizon_all_exact": [True] * size,
        "horizon_even_exact": [True] * size,
    }
    return pl.DataFrame(columns, schema=schema_of(LinearCell))


def _float32(numbers):
    """The doubles that float32 weights equal, as a run stores them."""
    return numbers.astype(np.float32).astype(np.float64)


def _replicates(setting, column):
    middle = 95 - 60 * SPREAD[setting.train_length] - 4 * (column == "50") if column != "train" else 100.0
    averages = np.clip(middle + np.linspace(-3, 3, 41), 0, 100)
    same = {**setting._asdict(), "edition": EDITION, "kind": "sampling", "column": column}
    return pl.DataFrame({"replicate": np.arange(len(averages)), "average": averages}).with_columns(
        **{name: pl.lit(value) for name, value in same.items()}
    )


def _path(setting, seed):
    """A seed's way from somewhere towards the exact counter, and not quite to it."""
    generator = np.random.default_rng([seed, setting.train_length])
    start, end = generator.normal(0, 1, 2), np.array([-1, 1]) + SPREAD[setting.train_length] * generator.random(2)
    share = 1 - np.exp(-np.linspace(0, 5, EPOCHS + 1))[:, None]
    ratio, recurrent = (start + share * (end - start)).T
    columns = {"epoch": np.arange(EPOCHS + 1), "ab_ratio": ratio, "recurrent_weight": recurrent}
    same = {**setting._asdict(), "seed": seed}
    return pl.DataFrame(columns).with_columns(**{name: pl.lit(value) for name, value in same.items()})
