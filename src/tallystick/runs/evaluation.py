"""The networks of a finished run, setting by setting: their accuracy on a user's strings, and their indicators."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl

from tallystick.certificates.boxes.ensemble import find_horizons, has_box_horizons
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.ensemble import UNLIMITED, has_theorem, meets_conditions
from tallystick.certificates.verdict import Outcome, lengths_of
from tallystick.datasets.strings import read_strings
from tallystick.languages.tasks import task_named
from tallystick.runs.directory import HISTOGRAMS, RunDirectory
from tallystick.runs.jobs import DESCRIBED_BY, VARIED
from tallystick.runs.rows import are_finite, ensemble_of
from tallystick.runs.summaries import (
    check_histograms,
    horizons_of_histograms,
    indicators_of_histograms,
    models_in,
    settings_of,
)
from tallystick.training.engines import on_every_core
from tallystick.training.ensemble import Ensemble, silent
from tallystick.training.setting import Setting

_SETTING = ["edition", *DESCRIBED_BY]
Described = dict[str, object]
Found = TypeVar("Found")

_OPTIONS = {field.name: field.default for field in fields(Setting) if field.name not in _SETTING}
"""The further options of a training run and their defaults: its rows do not say them, its configuration does."""


def _columns(names: Iterable[str]) -> list[str]:
    """Return which columns tell the settings of a table apart; a sweep's has more of them."""
    return [*_SETTING, *(name for name in ("units", *VARIED) if name in names)]


def _pieces(directory: RunDirectory) -> Iterator[tuple[Described, pl.DataFrame]]:
    """Go through the rows of a run, those of one setting in one or more pieces, so that memory stays small."""
    for rows in directory.chunks():
        names = _columns(rows.columns)
        for values, some in rows.group_by(names, maintain_order=True):
            yield dict(zip(names, values, strict=True)), some


def _by_setting(pieces: Iterable[tuple[Described, Found]]) -> list[tuple[Described, list[Found]]]:
    """Put together what was found in the pieces of each setting."""
    found: dict[tuple[tuple[str, object], ...], list[Found]] = {}
    for described, piece in pieces:
        found.setdefault(tuple(described.items()), []).append(piece)
    return [(dict(described), pieces) for described, pieces in found.items()]


def measure(
    directory: RunDirectory, numbers_of: Callable[[Ensemble], dict[str, np.ndarray]]
) -> list[tuple[Described, dict[str, np.ndarray]]]:
    """Measure every network of a run; return the numbers of each setting, one entry per network."""
    pieces = ((described, numbers_of(_ensemble(directory, described, rows))) for described, rows in _pieces(directory))
    return [
        (described, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        for described, parts in _by_setting(pieces)
    ]


def evaluate_run(directory: RunDirectory, path: Path) -> list[Described]:
    """Return the accuracy of each setting's networks on a file of strings, whose labels may be those of any task of the run."""
    tasks = directory.collect(directory.rows().select("task").unique(maintain_order=True))["task"]
    with directory.naming_table():
        known = [task_named(name) for name in tasks]
    strings = read_strings(path, *known)
    found = measure(directory, lambda networks: {"accuracy": networks.accuracy(strings)})
    return _with_options(
        directory,
        [
            {**described, "models": len(numbers["accuracy"]), **spread("accuracy", numbers["accuracy"])}
            for described, numbers in found
        ],
    )


def _with_options(directory: RunDirectory, found: list[Described]) -> list[Described]:
    """Say what the run was asked for beside its setting, such as snapping or a start at exact counters."""
    config = directory.config()
    asked = {
        name: config[name]
        for name, plain in _OPTIONS.items()
        if config.get("command") == "train" and config.get(name, plain) != plain
    }
    return [
        {name: row[name] for name in _SETTING} | asked | {k: v for k, v in row.items() if k not in _SETTING}
        for row in found
    ]


def indicators_of_run(directory: RunDirectory) -> list[Described]:
    """Return where each setting's cells lie: a/b and U, and the share that meets the conditions of its cell's theorem exactly."""
    if directory.is_summed_up():
        return _with_options(directory, indicators_of_histograms(_histograms(directory)))
    return _with_options(directory, [_indicators(described, found) for described, found in measure(directory, _places)])


def horizons_of_run(directory: RunDirectory) -> list[Described]:
    """Return up to which length each setting's networks are right on all strings: in the median, and the best of them.

    `proved` are right at every length; `exact` is how many horizons, every length counted, are exact rather than lower bounds.
    """
    found = horizons_of_histograms(_histograms(directory)) if directory.is_summed_up() else _horizons(directory)
    return _with_options(
        directory,
        [
            {name: _horizon(value) if name.startswith("horizon") else value for name, value in row.items()}
            for row in found
        ],
    )


def accuracies_of_run(directory: RunDirectory) -> list[Described]:
    """Return the mean accuracy of each setting's networks, on their training strings and on longer ones."""
    if directory.has(HISTOGRAMS):
        return [
            {
                **described,
                "models": models_in(columns),
                **{name: columns[name].mean for name in columns if name.startswith("accuracy_")},
            }
            for described, columns in settings_of(_histograms(directory))
        ]
    return [{**described, **_mean_accuracies(pl.concat(parts))} for described, parts in _by_setting(_pieces(directory))]


def _mean_accuracies(rows: pl.DataFrame) -> Described:
    return {
        "models": len(rows),
        **{name: rows[name].mean() for name in rows.columns if name.startswith("accuracy_")},
    }


LONGEST_PROOF = 200
"""How far the networks of a run are proved one by one by default; a single one is asked for more."""

_COUNTS_CLEARLY = 0.99
"""A unit is like a counter, for a summary, where the count explains this much of how its state varies."""


def measures_of_run(directory: RunDirectory) -> list[Described]:
    """Return what became of networks with several units: accuracies, first failures, horizons, and the units that count best."""
    if directory.has(HISTOGRAMS):
        return accuracies_of_run(directory)
    found = _by_setting(_pieces(directory))
    return _with_options(directory, [{**described, **_measures(pl.concat(parts))} for described, parts in found])


def _measures(rows: pl.DataFrame) -> Described:
    failures = rows["first_failure"].cast(pl.Float64).fill_null(float("inf"))
    return {
        **_mean_accuracies(rows),
        "first_failure_min": rows["first_failure"].min(),
        "first_failure_median": failures.median(),
        "counting_unit": rows["counting_unit"].mode().sort()[0],
        "counting_r_squared_median": rows["counting_r_squared"].median(),
        "counter_like": int((rows["counting_r_squared"] >= _COUNTS_CLEARLY).sum()),
        **(_horizons_in(rows) if "horizon_all" in rows.columns else {}),
    }


def _horizons_in(rows: pl.DataFrame) -> Described:
    found = rows["horizon_all"]
    return {
        "horizon_all_median": _horizon(found.quantile(0.5, "lower")),
        "horizon_all_max": _horizon(found.max()),
        "horizons_exact": int(rows["horizon_all_exact"].sum()),
    }


def prove_run(
    directory: RunDirectory,
    lengths: str = "all",
    limit: int | None = None,
    *,
    report: Callable[[], object] = silent,
) -> list[Described]:
    """Certify the networks of a run; return how far they are proved, and how many horizons are exact.

    `failing` networks have a string that is known to fail; `fails_at_max` is the length of the longest of these. `report` is
    called after every network.
    """
    lengths_of(lengths)
    found = []
    for described, networks in ensembles_of_run(directory):
        proofs = proofs_on(networks, lengths, LONGEST_PROOF if limit is None else limit, report)
        horizons = [0 if proof is None else proof.horizon for proof in proofs]
        failing = [proof.fails_at for proof in proofs if proof is not None and proof.fails_at is not None]
        row: Described = {
            **described,
            "models": len(proofs),
            f"horizon_{lengths}_median": float(np.median(horizons)),
            f"horizon_{lengths}_max": max(horizons),
            "exact": exact_horizons(proofs),
            "failing": len(failing),
            "fails_at_max": max(failing, default=None),
        }
        found.append(row)
    return _with_options(directory, found)


def size_of_run(directory: RunDirectory) -> int:
    """Return how many networks a run keeps."""
    return directory.collect(directory.rows().select(pl.len())).item()


class Proof(NamedTuple):
    """How far a network is proved, whether that is exact, and the length of a string that is known to fail."""

    horizon: int
    is_exact: bool
    fails_at: int | None


def proofs_on(
    networks: Ensemble, lengths: str, limit: int, report: Callable[[], object] = silent
) -> list[Proof | None]:
    """Certify networks, many at once where boxes decide them and else one by one; none has a weight that is not finite."""
    counted, fine = lengths_of(lengths), are_finite(networks)
    proofs: list[Proof | None] = [None] * len(fine)
    if has_box_horizons(networks.setting.kind) and fine.any():
        some = replace(networks, weights=networks.weights.places(fine)).networks()
        (found,) = find_horizons(some, limit, (counted,)).values()
        for place, horizon, is_exact, is_open in zip(np.flatnonzero(fine).tolist(), *found, strict=True):
            if not is_open:
                fails_at = int(horizon) + counted.stride if is_exact else None
                proofs[place] = Proof(int(horizon), bool(is_exact), fails_at)

    def prove(place: int) -> Proof | None:
        found = proofs[place]
        if found is None and fine[place]:
            verdict = certify(networks.network(place), lengths, limit=limit)
            failure = verdict.failure or verdict.known_failure
            is_exact = verdict.outcome is not Outcome.BOUNDED
            found = Proof(verdict.horizon or 0, is_exact, None if failure is None else failure.length)
        report()
        return found

    return on_every_core(prove, range(len(fine)))


def exact_horizons(proofs: Iterable[Proof | None]) -> int:
    """Count the horizons that are exact: nothing longer is right on all strings."""
    return sum(proof is not None and proof.is_exact for proof in proofs)


def ensembles_of_run(directory: RunDirectory) -> Iterator[tuple[Described, Ensemble]]:
    """Go through the settings of a run, all networks of each in memory."""
    for described, parts in _by_setting(_pieces(directory)):
        yield described, _ensemble(directory, described, pl.concat(parts))


def _ensemble(directory: RunDirectory, described: Described, rows: pl.DataFrame) -> Ensemble:
    with directory.naming_table():
        setting = Setting(**{name: value for name, value in described.items() if name != "edition"})  # pyright: ignore[reportArgumentType]
        return ensemble_of(rows, setting)


def _histograms(directory: RunDirectory) -> pl.DataFrame:
    table = directory.histograms()
    with directory.naming_table(HISTOGRAMS):
        check_histograms(table)
    return table


def _horizons(directory: RunDirectory) -> list[Described]:
    parts = {
        f"horizon_{lengths}_{name}": expression(pl.col(f"horizon_{lengths}"))
        for lengths in ("all", "even")
        for name, expression in (("median", _lower_median), ("max", pl.Expr.max))
    }
    counts = {"proved": pl.col("horizon_all").eq(UNLIMITED).sum(), "exact": pl.col("horizon_all_exact").sum()}
    columns = ("horizon_all", "horizon_even", "horizon_all_exact")
    pieces = ((described, rows.select(columns)) for described, rows in _pieces(directory))
    return [
        {**described, **pl.concat(tables).select(models=pl.len(), **counts, **parts).to_dicts()[0]}
        for described, tables in _by_setting(pieces)
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


def _places(networks: Ensemble) -> dict[str, np.ndarray]:
    """Return where cells lie, and which meet the conditions, where their kind has any."""
    cell, recurrent = networks.cell(), networks.weights.recurrent
    a, b = (np.asarray(step, np.float64) for step in (cell.open_step, cell.close_step))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {"ab_ratio": a / b}
    if recurrent:  # U, or P of a selective cell; a new cell may have none
        found["recurrent_weight"] = recurrent[0].astype(np.float64)
    return {**found, "meets_conditions": meets_conditions(cell)} if has_theorem(type(cell)) else found


def _indicators(described: Described, numbers: dict[str, np.ndarray]) -> Described:
    found = {**described, "models": len(numbers["ab_ratio"])}
    for name in ("ab_ratio", "recurrent_weight"):
        found |= spread(name, numbers[name]) if name in numbers else {}
    if "meets_conditions" in numbers:
        found["share_meeting_conditions"] = float(numbers["meets_conditions"].mean())
    return found


def spread(name: str, values: np.ndarray) -> dict[str, object]:
    """Sum numbers up: their mean, their median and their ends."""
    parts = {"mean": values.mean(), "median": np.median(values), "min": values.min(), "max": values.max()}
    return {f"{name}_{part}": float(value) for part, value in parts.items()}
