"""Cells and methods side by side: how many seeds meet the conditions, how many are proved, how far the others hold."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from tallystick.cells import LinearCell
from tallystick.certificates.ensemble import UNLIMITED, horizons
from tallystick.certificates.horizon import certify
from tallystick.datasets.long_tests import long_suite
from tallystick.datasets.tasks import COUNT
from tallystick.experiments.evaluation import meets_conditions
from tallystick.experiments.training_run import training_job
from tallystick.models import Model
from tallystick.readouts import BinaryReadout, TernaryReadout, ZeroCheck
from tallystick.training.conditions import CONDITIONS
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.methods import METHODS
from tallystick.training.setting import Setting

TRAIN_LENGTH = 8
LONG = 1000
SAMPLE = 200
"""Of cells that are certified one by one, so many seeds are."""

SEARCHED = 60
"""How far such a cell is searched; one that is right to there counts as having this horizon."""

_TRAINED = 90.0
_QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Comparison:
    """What became of the seeds of one setting.

    Attributes:
        setting: cell, method, task and the rest.
        seeds: how many were trained.
        exact: the share that meets the conditions of its cell's theorem exactly; None for a cell that has none.
        proved: the share that is right at every length, by a theorem, in real arithmetic.
        horizons: the 10 %, 50 % and 90 % quantile and the greatest horizon, every length counted.
        certified: how many seeds the horizons are taken over.
        accuracy_50: the mean accuracy on the paper's kind of test strings of 50 tokens, in percent.
        accuracy_long: the same on strings of 1,000 tokens.
        failed: the share that did not train: below 90 % on its own training strings, or no longer a number.
    """

    setting: Setting
    seeds: int
    exact: float | None
    proved: float
    horizons: tuple[float, float, float, float]
    certified: int
    accuracy_50: float
    accuracy_long: float
    failed: float


def default_settings() -> list[Setting]:
    """Return what is compared unless told otherwise: every method on the linear cell, the telling ones on the others."""
    linear = [Setting("binary", False, TRAIN_LENGTH, method=name) for name in METHODS]
    linear += [
        Setting("binary", False, TRAIN_LENGTH, precision="float64"),
        Setting("binary", False, TRAIN_LENGTH, start="exact"),
        Setting("binary", False, TRAIN_LENGTH, snap=True),
        Setting("binary", False, TRAIN_LENGTH, method="count-calm", snap=True),
        Setting("binary", True, TRAIN_LENGTH),
        Setting("binary", True, TRAIN_LENGTH, method="count-calm"),
        Setting("ternary", False, TRAIN_LENGTH),
        Setting("ternary", False, TRAIN_LENGTH, method="count-calm"),
    ]
    others = [
        Setting("binary", False, TRAIN_LENGTH, "selective", name) for name in ("published", "count-calm", "penalty")
    ]
    others.append(Setting("binary", False, TRAIN_LENGTH, "selective", "count-calm", snap=True))
    # A ReLU cell cannot go below zero: it is asked for the count of semi-Dyck-1.
    others += [Setting("count", False, TRAIN_LENGTH, "relu", name) for name in ("count", "count-calm", "count-penalty")]
    others += [Setting("binary", False, TRAIN_LENGTH, "tanh", name) for name in ("published", "count-calm")]
    return linear + others


def compare(setting: Setting, seeds: int, seed: int = 0) -> Comparison:
    """Train the seeds of a setting and sum up what became of them."""
    job = training_job(setting, seeds, seed)
    return summed_up(train(setting, job.initial(np.arange(seeds)), job.strings), seed)


def summed_up(networks: Ensemble, seed: int = 0) -> Comparison:
    """Say what became of trained networks; `seed` draws the test strings."""
    setting, size = networks.setting, len(networks.accuracy_train)
    exact = meets_conditions(networks) if setting.kind in CONDITIONS else np.zeros(size, bool)
    found, proved = _horizons(networks, exact)
    at_50, at_long = (
        float(networks.accuracy(long_suite(setting.scored_as, length, seed)).mean()) for length in (50, LONG)
    )
    low, middle, high = (float(value) for value in np.quantile(found, _QUANTILES, method="lower"))
    fine = np.all([np.isfinite(array) for array in jax.tree.leaves(networks.weights)], axis=0)
    return Comparison(
        setting,
        size,
        float(exact.mean()) if setting.kind in CONDITIONS else None,
        float(proved.mean()),
        (low, middle, high, float(found.max())),
        len(found),
        at_50,
        at_long,
        float(np.mean((networks.accuracy_train < _TRAINED) | ~fine)),
    )


def _horizons(networks: Ensemble, exact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return horizons, infinite where unlimited, and which networks are proved.

    Linear cells with classes are certified all at once. Of the others those that meet the conditions are put to the
    certifier one by one, and a sample of all of them for the horizons.
    """
    if networks.setting.kind is LinearCell and networks.setting.scored_as is not COUNT:
        found = _linear_horizons(networks)
        return np.where(found == UNLIMITED, np.inf, found.astype(np.float64)), found == UNLIMITED
    verdict = _one_by_one(networks)
    proved = np.zeros(len(exact), bool)
    proved[exact] = [verdict(place) == np.inf for place in np.flatnonzero(exact).tolist()]
    return np.array([verdict(place) for place in range(min(SAMPLE, len(exact)))]), proved


def _linear_horizons(networks: Ensemble) -> np.ndarray:
    weights = jax.tree.map(lambda array: np.nan_to_num(array.astype(np.float64)), networks.weights)
    cell, readout = weights.cell(LinearCell), weights.readout()
    assert isinstance(readout, BinaryReadout | TernaryReadout)
    return horizons(LinearCell(*(np.asarray(weight) for weight in vars(cell).values())), readout).all


def _one_by_one(networks: Ensemble) -> Callable[[int], float]:
    """Return the horizon of one network: the zero check's where the count is asked for, its own readout's elsewhere."""
    kind = networks.setting.kind
    weights = [np.asarray(weight, np.float64) for weight in vars(networks.cell()).values()]
    readout = networks.weights.readout()

    def horizon(place: int) -> float:
        values = [float(weight[place]) for weight in weights]
        if not np.isfinite(values).all():
            return 0.0
        chosen = (
            ZeroCheck()
            if networks.setting.scored_as is COUNT
            else readout.converted(lambda array, _: float(array[place]))
        )
        found = certify(Model(kind(*values), chosen), limit=SEARCHED).horizon  # type: ignore[call-arg]
        return np.inf if found is None else float(found)

    return horizon
