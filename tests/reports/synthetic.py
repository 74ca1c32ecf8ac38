"""A small run directory made up on purpose, so that a test knows what the report must say of it."""

import json

import numpy as np
import polars as pl

from tallystick.reports.paper import COLUMNS, MISPRINTS, SETTINGS, printed_table

TRUTHS = {"min": 64.0, "max": 100 * 152 / 225}
EXCESS = {2: 0.6, 4: 0.4, 8: 0.25}  # of a binary a/b over −1, by training length
SPREAD = {2: 0.3, 4: 0.1, 8: 0.02}
ACCURACY = {2: 70.0, 4: 85.0, 8: 95.0}


def models(edition, seeds, change=None):
    """Models that agree with every claim of the paper; `change` may alter one setting's columns."""
    tables = []
    for number, setting in enumerate(SETTINGS):
        generator = np.random.default_rng([number, seeds])
        columns = _columns(setting, seeds, generator)
        if edition == "exact":
            columns |= {f"accuracy_{column}": _ten_runs(setting, column) for column in COLUMNS}
        columns |= change(setting, columns) if change else {}
        tables.append(_table(edition, setting, columns))
    return pl.concat(tables)


def _columns(setting, seeds, generator):
    spread = SPREAD[setting.train_length]
    middle = EXCESS[setting.train_length] if setting.task == "binary" else -0.05 * spread
    ratio = -1 + middle + 0.1 * spread * generator.standard_normal(seeds)
    accuracy = ACCURACY[setting.train_length] + generator.integers(-3, 4, seeds)
    return {
        "ab_ratio": ratio,
        "recurrent_weight": 1 + spread * (1 + 0.2 * generator.standard_normal(seeds)),
        "accuracy_train": np.full(seeds, 100.0),
        "accuracy_20": accuracy,
        "accuracy_50": accuracy - 5.0,
        "horizon_all": generator.integers(2, 9, seeds),
        "horizon_even": generator.integers(3, 12, seeds) * 2,
    }


def _ten_runs(setting, column):
    """Ten accuracies whose average, least and greatest are the printed ones."""
    printed = printed_table()[setting, column]
    found = {which: float(getattr(printed, which)) for which in ("avg", "min", "max")}
    misprint = MISPRINTS.get((setting, column))
    if misprint:
        found[misprint.which] = TRUTHS[misprint.which]
    rest = (10 * found["avg"] - found["min"] - found["max"]) / 8
    return np.array([found["min"], found["max"], *[rest] * 8])


def _table(edition, setting, columns):
    seeds = len(columns["ab_ratio"])
    precision = "float64" if edition == "float64" else "float32"
    same = {**setting._asdict(), "edition": edition, "method": "published", "precision": precision}
    steps = {"close_step": np.full(seeds, -0.5), "open_step": -0.5 * columns["ab_ratio"]}
    readout = {"readout_weight": [[1.0]] * seeds, "readout_bias": [[0.0]] * seeds}
    made = pl.DataFrame({"seed": np.arange(seeds), **steps, **columns, **readout})
    return made.with_columns(**{name: pl.lit(value) for name, value in same.items()}).select(
        sorted({*made.columns, *same})
    )


def replicates(edition, kind, centre, half_width, count=41):
    """Averages spread evenly around `centre(setting, column)`."""
    tables = [
        pl.DataFrame({"average": np.linspace(-half_width, half_width, count) + centre(setting, column)})
        .with_row_index("replicate")
        .with_columns(
            **{name: pl.lit(value) for name, value in setting._asdict().items()},
            edition=pl.lit(edition),
            kind=pl.lit(kind),
            column=pl.lit(column),
        )
        for setting in SETTINGS
        for column in COLUMNS
    ]
    return pl.concat(tables).with_columns(pl.col("average").clip(0, 100))


def paths(seeds=3, epochs=5):
    """Straight lines from (0, 0) to (−1, 1), and one seed whose b changes sign."""
    steps = np.linspace(0, 1, epochs + 1)
    tables = []
    for setting in SETTINGS:
        for seed in range(seeds):
            ratio = -steps if seed else np.where(steps < 0.5, 40.0, -40.0)
            columns = {"epoch": np.arange(epochs + 1), "ab_ratio": ratio, "recurrent_weight": steps}
            same = {**setting._asdict(), "seed": seed}
            tables.append(pl.DataFrame(columns).with_columns(**{n: pl.lit(v) for n, v in same.items()}))
    return pl.concat(tables)


def printed_average(setting, column):
    return float(printed_table()[setting, column].avg)


def write_run(directory, editions=("exact", "fresh", "float64"), seeds=60, change=None):
    """Write a run directory with the editions asked for."""
    directory.mkdir(parents=True, exist_ok=True)
    sizes = {"exact": 10, "fresh": seeds, "float64": seeds // 2}
    kinds = {"exact": "rounding", "fresh": "sampling", "float64": "sampling"}
    pl.concat([models(e, sizes[e], change) for e in editions]).write_parquet(directory / "models.parquet")
    pl.concat([replicates(e, kinds[e], printed_average, 1.0) for e in editions]).write_parquet(
        directory / "replicates.parquet"
    )
    paths().write_parquet(directory / "paths.parquet")
    (directory / "config.toml").write_text('seeds = 60\nauthors_data = "<b>&"\n')
    record = {"versions": {"jax": "0.6"}, "seconds": 12.5, "seed": 0, "command": "x <y> & z", "gradient": "sigmoid"}
    (directory / "record.json").write_text(json.dumps(record))
    return directory
