"""The networks of a finished run of GRUs or LSTMs: on a user's strings, on long ones, and up to which length they are proved."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import polars as pl

from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Outcome, Verdict, lengths_of
from tallystick.datasets.string_files import read_strings
from tallystick.errors import BadInput
from tallystick.experiments.evaluation import spread
from tallystick.experiments.gated_rows import SCHEMA, described, ensemble_of_gated
from tallystick.experiments.run_directory import CONFIG, MODELS, RunDirectory
from tallystick.training.cores import on_every_core
from tallystick.training.gated.ensemble import GatedEnsemble

LONGEST_PROOF = 200
"""How far the networks of a run are proved unless told otherwise; a single one is asked for more."""


def is_gated_run(path: Path) -> bool:
    """Say whether a folder is a run of GRUs or LSTMs: the configuration of others has no units."""
    return (path / CONFIG).exists() and "units" in RunDirectory(path).config()


class GatedRun(NamedTuple):
    """A finished run: its rows, and the networks that these are."""

    rows: pl.DataFrame
    networks: GatedEnsemble


def read_gated_run(path: Path) -> GatedRun:
    """Read a finished run of gated networks."""
    rows = _read_rows(path)
    try:
        networks = ensemble_of_gated(rows)
        networks.networks()  # refuses weights that are not as many as they should be
        return GatedRun(rows, networks)
    except (ValueError, TypeError):
        raise BadInput(
            f"{path / MODELS}: the weights do not fit a {rows['cell'][0]} of {rows['units'][0]} units"
        ) from None


def _read_rows(path: Path) -> pl.DataFrame:
    config, table = RunDirectory(path).config(), path / MODELS
    if not is_gated_run(path):
        raise BadInput(f"{path}: a run of {config.get('cell', 'linear')} cells; this is for runs of gru and lstm")
    rows = RunDirectory(path).table()
    for name, kind in SCHEMA.items():
        if name not in rows.columns:
            raise BadInput(f"{table}: column {name!r} is missing; train --force makes the run anew")
        if rows.schema[name] != kind:
            raise BadInput(f"{table}: column {name!r} holds {rows.schema[name]}, where {kind} is expected")
    if rows.is_empty():
        raise BadInput(f"{table}: holds no network; at least one row is needed")
    return rows


def evaluate_gated_run(path: Path, strings: Path) -> dict[str, object]:
    """Return the accuracy of a run's networks on a file of strings."""
    networks = read_gated_run(path).networks
    found = networks.accuracy(read_strings(strings, networks.setting.taught.scored_as))
    return {**described(networks.setting), "models": len(found), **spread("accuracy", found)}


def horizons_of_gated_run(path: Path, lengths: str = "all", limit: int | None = None) -> dict[str, object]:
    """Return up to which length a run's networks are proved right on all strings, and how many of these horizons are exact.

    `failing` networks have a string that is known to fail; `fails_at_max` is the length of the longest of these.
    """
    lengths_of(lengths)
    networks = read_gated_run(path).networks
    verdicts = verdicts_on(networks, lengths, LONGEST_PROOF if limit is None else limit)
    horizons = [0 if verdict is None else verdict.horizon or 0 for verdict in verdicts]
    failures = (verdict.failure or verdict.known_failure for verdict in verdicts if verdict is not None)
    failing = [failure.length for failure in failures if failure is not None]
    return {
        **described(networks.setting),
        "models": len(verdicts),
        f"horizon_{lengths}_median": float(np.median(horizons)),
        f"horizon_{lengths}_max": max(horizons),
        "exact": exact_horizons(verdicts),
        "failing": len(failing),
        "fails_at_max": max(failing, default=None),
    }


def verdicts_on(networks: GatedEnsemble, lengths: str, limit: int) -> list[Verdict | None]:
    """Certify networks one by one; there is no verdict on one whose weights are no longer numbers."""
    fine = np.all([np.isfinite(leaf).all(axis=tuple(range(leaf.ndim - 1))) for leaf in _leaves(networks)], axis=0)
    return on_every_core(
        lambda place: certify(networks.model(place), lengths, limit=limit) if fine[place] else None, range(len(fine))
    )


def exact_horizons(verdicts: Iterable[Verdict | None]) -> int:
    """Count the verdicts whose horizon is exact: nothing longer is right on all strings. BOUNDED leaves that open."""
    return sum(verdict is not None and verdict.outcome is not Outcome.BOUNDED for verdict in verdicts)


def _leaves(networks: GatedEnsemble) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(networks.weights)]
