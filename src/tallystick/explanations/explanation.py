"""A setting explained: what its objective says at the exact counter, where its loss is least, and where seeds end."""

from dataclasses import dataclass

import numpy as np

from tallystick.cells import LinearCell
from tallystick.datasets.tasks import BINARY
from tallystick.errors import BadInput
from tallystick.experiments.training_run import training_job
from tallystick.explanations.exact_counter import AtCounter, Lines, at_counter
from tallystick.explanations.profile import Profile, profile
from tallystick.explanations.resting_place import least_loss_point, loss_over_plane
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.objectives import SQUARED_ERROR
from tallystick.training.setting import Setting

RATIOS = np.linspace(-1.1, -0.2, 181)
RECURRENT_WEIGHTS = np.linspace(0.7, 1.7, 201)
"""Where the least loss is looked for: around the exact counter, and where trained networks are found."""


@dataclass(frozen=True)
class Ends:
    """Where seeds end: medians over those with a finite a/b, and shares.

    Attributes:
        seeds: how many.
        scale: the median of v·a, how far the outputs move with one count.
        threshold: the median of −c/(v·a), where a binary readout with bias has its threshold, in steps of the count.
        ratio: the median of a/b.
        recurrent_weight: the median of U.
        above: the share with a/b above −1.
        exact: the share that meets both conditions exactly.
    """

    seeds: int
    scale: float
    threshold: float
    ratio: float
    recurrent_weight: float
    above: float
    exact: float


@dataclass(frozen=True)
class Explanation:
    """What is known of one setting.

    Attributes:
        setting: the setting.
        strings: the profile of its training set.
        at_counter: its objective at the exact counter, with the readout at the scale that seeds reach.
        least: the a/b and U where the loss at that scale is least.
        ends: where seeds end.
    """

    setting: Setting
    strings: Profile
    at_counter: AtCounter
    least: tuple[float, float]
    ends: Ends

    @property
    def least_is_inside(self) -> bool:
        """Whether the least loss lies inside the part of the plane that was looked at, and not on its edge."""
        ratio, U = self.least
        return bool(RATIOS[0] < ratio < RATIOS[-1] and RECURRENT_WEIGHTS[0] < U < RECURRENT_WEIGHTS[-1])

    @property
    def scale(self) -> float:
        """The scale at which the exact counter's loss and force are worked out."""
        return scale_of(self.setting, self.ends)


def explain(setting: Setting, seeds: int = 1000, seed: int = 0) -> Explanation:
    """Explain a setting of the linear cell; `seeds` networks are trained to see where they end."""
    if setting.cell != "linear":
        raise BadInput(f"cell: {setting.cell!r}; only the linear cell's exact counter is explained")
    if setting.procedure.every_token:
        raise BadInput(
            f"method: {setting.method!r} scores every token; the methods that score the last one are explained"
        )
    if setting.procedure.uses_conditions:
        raise BadInput(
            f"method: {setting.method!r} holds weights to the conditions; the methods that leave them free are explained"
        )
    job = training_job(setting, seeds, seed)
    networks = train(setting, job.initial(np.arange(seeds)), job.strings)
    ends = ends_of(networks)
    lines = lines_of(setting, ends)
    strings = profile(job.strings)
    loss = loss_over_plane(setting, job.strings, lines, RATIOS, RECURRENT_WEIGHTS)
    return Explanation(
        setting,
        strings,
        at_counter(setting, strings, lines),
        least_loss_point(loss, RATIOS, RECURRENT_WEIGHTS),
        ends,
    )


def lines_of(setting: Setting, ends: Ends) -> Lines:
    """Return the exact counter's readout at the scale and threshold that seeds reach."""
    at = ends.threshold if setting.scored_as is BINARY and setting.objective is not SQUARED_ERROR else 0.5
    return Lines.of_scale(setting.scored_as, scale_of(setting, ends), readout_bias=setting.readout_bias, threshold=at)


def scale_of(setting: Setting, ends: Ends) -> float:
    """Return the scale that seeds reach; regression asks for one of its own, 1."""
    return 1.0 if setting.objective is SQUARED_ERROR else ends.scale


def ends_of(networks: Ensemble) -> Ends:
    """Sum up where networks ended."""
    cell = networks.cell()
    assert isinstance(cell, LinearCell)
    a, b, U = (np.asarray(w, np.float64) for w in (cell.open_step, cell.close_step, cell.recurrent_weight))
    v = [np.asarray(weight, np.float64) for weight in networks.weights.readout_weight]
    spread = v[0] if len(v) == 1 else (v[-1] - v[0]) / 2
    c = networks.weights.readout_bias
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / b
        threshold = -np.asarray(c[0], np.float64) / (spread * a) if len(c) == 1 else np.full(len(a), 0.5)
    return Ends(
        seeds=len(a),
        scale=float(np.nanmedian(spread * a)),
        threshold=float(np.nanmedian(threshold)),
        ratio=float(np.nanmedian(ratio)),
        recurrent_weight=float(np.median(U)),
        above=float(np.mean(ratio > -1)),
        exact=float(np.mean((b == -a) & (U == 1) & (a != 0))),
    )
