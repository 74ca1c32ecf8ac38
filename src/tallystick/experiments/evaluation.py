"""The networks of a finished run, setting by setting: their accuracy on a user's strings, and their indicators."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from tallystick.certificates.ensemble import UNLIMITED
from tallystick.certificates.exact_counters import has_theorem, meets_conditions
from tallystick.datasets.string_files import read_strings
from tallystick.experiments.rows import ensemble_of
from tallystick.experiments.run_directory import RunDirectory
from tallystick.training.ensemble import Ensemble
from tallystick.training.setting import Setting

_SETTING = ["edition", "task", "bias", "train_length", "cell", "method", "precision"]


def settings_of(directory: RunDirectory) -> Iterator[tuple[dict[str, object], Ensemble]]:
    """Go through the settings of a run with their networks."""
    for values, rows in directory.models().group_by(_SETTING, maintain_order=True):
        described = dict(zip(_SETTING, values, strict=True))
        setting = Setting(**{name: value for name, value in described.items() if name != "edition"})
        yield described, ensemble_of(rows, setting)


def evaluate_run(directory: RunDirectory, path: Path) -> list[dict[str, object]]:
    """Return the accuracy of each setting's networks on a file of strings, whose labels may be those of any task of the run."""
    found = list(settings_of(directory))
    strings = read_strings(path, *dict.fromkeys(ensemble.setting.scored_as for _, ensemble in found))
    return [{**described, **spread("accuracy", ensemble.accuracy(strings))} for described, ensemble in found]


def indicators_of_run(directory: RunDirectory) -> list[dict[str, object]]:
    """Return where each setting's cells lie: a/b and U, and the share that meets the conditions of its cell's theorem exactly."""
    return [_indicators(described, ensemble) for described, ensemble in settings_of(directory)]


def horizons_of_run(directory: RunDirectory) -> list[dict[str, object]]:
    """Return up to which length each setting's networks are right on all strings: in the median, and the best of them.

    `proved` are right at every length; `exact` is how many horizons, every length counted, are no mere lower bounds.
    """
    table = (
        directory.models()
        .group_by(_SETTING, maintain_order=True)
        .agg(
            models=pl.len(),
            proved=pl.col("horizon_all").eq(UNLIMITED).sum(),
            exact=pl.col("horizon_all_exact").sum(),
            **{
                f"horizon_{lengths}_{name}": expression(pl.col(f"horizon_{lengths}"))
                for lengths in ("all", "even")
                for name, expression in (("median", _lower_median), ("max", pl.Expr.max))
            },
        )
    )
    return [
        {name: _horizon(value) if name.startswith("horizon") else value for name, value in row.items()}
        for row in table.to_dicts()
    ]


def _lower_median(column: pl.Expr) -> pl.Expr:
    """The median that is one of the values, so that no unlimited horizon is averaged with a number."""
    return column.quantile(0.5, "lower")


def _horizon(value: object) -> object:
    """Write a horizon as it is, unlimited, or as missing: that of a cell which the certifier does not know."""
    if value is None:
        return "not worked out"
    assert isinstance(value, int | float)
    return "unlimited" if value >= UNLIMITED else int(value)


def _indicators(described: dict[str, object], ensemble: Ensemble) -> dict[str, object]:
    cell = ensemble.cell()
    a, b = (np.asarray(step, np.float64) for step in (cell.open_step, cell.close_step))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
    found = {**described, "models": len(a), **spread("ab_ratio", ratio)}
    if ensemble.weights.recurrent:  # U, or P of a selective cell; a new cell may have none
        found |= spread("recurrent_weight", ensemble.weights.recurrent[0].astype(np.float64))
    if has_theorem(type(cell)):
        found["share_meeting_conditions"] = float(np.mean(meets_conditions(cell)))
    return found


def spread(name: str, values: np.ndarray) -> dict[str, object]:
    """Sum numbers up: their mean, their median and their ends."""
    parts = {"mean": values.mean(), "median": np.median(values), "min": values.min(), "max": values.max()}
    return {f"{name}_{part}": float(value) for part, value in parts.items()}
