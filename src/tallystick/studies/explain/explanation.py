"""One setting explained.

What its objective says at the exact counter, where its loss is least, where seeds end, and how they get there.
"""

from dataclasses import dataclass, replace

import numpy as np

from tallystick.cells import LinearCell
from tallystick.errors import BadInput
from tallystick.runs.jobs import TRAIN_LENGTHS, training_job
from tallystick.studies.explain.counter import AtCounter, ExactCounter, Profile, at_counter, profile, scored_strings
from tallystick.studies.explain.plane import LOOKED_AT, Least, LossOverPlane, Plane, least_loss, margin_over
from tallystick.studies.explain.pull import Pull, pull_of
from tallystick.training.descent import SQUARED_ERROR
from tallystick.training.ensemble import Ensemble, paths, train
from tallystick.training.methods import UNGATED
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

_NO_MOVE = 1e-6
"""What is smaller than this part of the force comes of sums that cancel."""

PAPERS = (("binary", False, "published"), ("binary", True, "published"), ("ternary", False, "published"))
OTHERS = (("ternary", False, "corrected"), ("count", False, "count"), ("binary", False, "count-calm"))
"""Tasks, biases and methods that are explained where no task is named."""

EVERY = "all"
FOLLOWED = 24
_POINTS = 121
_PADDING = 0.12
_MOST = (0.1, 0.9)


@dataclass(frozen=True)
class Ends:
    """Where seeds end: medians over those with a finite a/b, and shares.

    Attributes:
        seeds: how many.
        step: the median of |a|.
        scale: the median of |v·a|, how far the outputs move with one count.
        threshold: the median of where a readout goes from one class to the next, in steps of the count.
        ratio: the median of a/b.
        recurrent_weight: the median of U.
        ratio_above: the share with a/b above −1.
        recurrent_above: the share with U above 1.
        exact: the share that meets both conditions exactly.
    """

    seeds: int
    step: float
    scale: float
    threshold: float
    ratio: float
    recurrent_weight: float
    ratio_above: float
    recurrent_above: float
    exact: float


def ends_of(networks: Ensemble) -> Ends:
    """Sum up where networks ended."""
    cell = networks.cell()
    assert isinstance(cell, LinearCell)
    a, b, U = (np.asarray(w, np.float64) for w in (cell.open_step, cell.close_step, cell.recurrent_weight))
    spread, shift = _readout(networks.weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, threshold = a / b, shift / (spread * a)
    return Ends(
        seeds=len(a),
        step=float(np.nanmedian(np.abs(a))),
        scale=float(np.nanmedian(np.abs(spread * a))),
        threshold=float(np.nanmedian(threshold)),
        ratio=float(np.nanmedian(ratio)),
        recurrent_weight=float(np.nanmedian(U)),
        ratio_above=float(np.mean(ratio > -1)),
        recurrent_above=float(np.mean(U > 1)),
        exact=float(np.mean((b == -a) & (U == 1) & (a != 0))),
    )


def _readout(weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    """Return for each network the weight v between two neighbouring classes, and v·h where one goes over into the next.

    Three classes have two such places; they are taken as equally far from 0.
    """
    v = np.asarray(weights.readout_weight, np.float64)
    c = np.asarray(weights.readout_bias, np.float64) if weights.readout_bias else np.zeros_like(v)
    if len(v) == 1:
        return v[0], -c[0]
    return (v[2] - v[0]) / 2, c[1] - (c[0] + c[2]) / 2


@dataclass(frozen=True)
class Explanation:
    """What is known of one setting.

    Attributes:
        setting: the setting.
        strings: the profile of what is scored of its training set.
        ends: where seeds end.
        left: where one epoch leads that starts at exact counters, of scale 1.
        counter: the exact counter with the step and the readout that seeds reach.
        at_counter: the objective there.
        pull: what the method makes of it.
        loss_over: the loss of the cells around it.
        least: where that is least; None where no such point is in view.
    """

    setting: Setting
    strings: Profile
    ends: Ends
    left: Ends
    counter: ExactCounter
    at_counter: AtCounter
    pull: Pull
    loss_over: LossOverPlane
    least: Least | None

    @property
    def ratio_moves(self) -> int:
        """Which way a/b goes from −1 as the trained numbers follow the gradient down: 1, 0 or −1."""
        return self._sign(self.counter.step * self.pull.speed.ratio)

    @property
    def recurrent_weight_moves(self) -> int:
        """Which way U goes from 1."""
        return self._sign(self.pull.speed.recurrent_weight)

    @property
    def keeps_conditions(self) -> bool:
        """Whether training that starts at the exact counter goes on along exact counters."""
        return not (self.ratio_moves or self.recurrent_weight_moves)

    @property
    def ends_where_pulled(self) -> bool:
        """Whether the median of the seeds lies on the side that a/b and U are pulled to, for each that is pulled."""
        off = (self.ends.ratio + 1, self.ends.recurrent_weight - 1)
        moves = (self.ratio_moves, self.recurrent_weight_moves)
        return all(move * distance > 0 for move, distance in zip(moves, off, strict=True) if move)

    def _sign(self, speed: float) -> int:
        return int(np.sign(speed)) if abs(speed) > _NO_MOVE * self.at_counter.force else 0


def settings_to_explain(
    task: str | None, method: str, train_length: int | None, *, bias: bool, **finer: str
) -> list[Setting]:
    """Return what is explained: one task by one method or all of them, or the paper's tasks and more where none is named.

    Without a training length the paper's three are taken; `finer` are the gradients and the precision of a `Setting`.
    """
    if task is None and (bias or method != "published"):
        raise BadInput("task: missing; --bias and --method go with --task")
    chosen = PAPERS + OTHERS
    if task is not None:
        chosen = tuple((task, bias, name) for name in (UNGATED if method == EVERY else (method,)))
    return [
        Setting(task, bias, length, method=method, **finer)  # pyright: ignore[reportArgumentType]
        for task, bias, method in chosen
        for length in (TRAIN_LENGTHS if train_length is None else (train_length,))
    ]


def explain(setting: Setting, seeds: int = 1000, seed: int = 0) -> Explanation:
    """Explain a setting of the linear cell; `seeds` networks are trained to see where they end."""
    if setting.cell != "linear":
        raise BadInput(f"cell: {setting.cell!r}; only the linear cell's exact counter is explained")
    strings = training_job(setting, seeds, seed).strings
    leaving = replace(setting, start="exact", epochs=1, snap=False)
    ends, left = (_ends_of_training(one, seeds, seed) for one in (setting, leaving))
    return explanation_of(setting, strings, ends, left)


def _ends_of_training(setting: Setting, seeds: int, seed: int) -> Ends:
    job = training_job(setting, seeds, seed)
    return ends_of(train(setting, job.initial(np.arange(seeds)), job.strings))


def explanation_of(setting: Setting, strings: list[str], ends: Ends, left: Ends) -> Explanation:
    """Explain a setting of which it is known where seeds end, and where an epoch leads from exact counters."""
    counter, found = reached_counter(setting, ends), scored_strings(setting, strings)
    summed = profile(found)
    there = at_counter(setting, summed, counter)
    pull = pull_of(setting, counter, there.slope)
    loss_over = LossOverPlane(setting, found, counter)
    least = least_loss(loss_over, LOOKED_AT.part_within(pull))
    return Explanation(setting, summed, ends, left, counter, there, pull, loss_over, least)


def reached_counter(setting: Setting, ends: Ends) -> ExactCounter:
    """Return the exact counter with the step and the readout that seeds reach; regression asks for one readout, its own."""
    if setting.objective is SQUARED_ERROR:
        return ExactCounter.of_scale(setting, step=ends.step)
    return ExactCounter.of_scale(setting, ends.scale, step=ends.step, threshold=ends.threshold)


@dataclass(frozen=True)
class Landscape:
    """The loss around the exact counter, and some seeds' way through it.

    Attributes:
        explanation: the setting explained.
        plane: the part of the plane that is drawn.
        loss: over U (down) and a/b (across), at the scale that seeds reach.
        margin: by how much the worst string up to the training length is right there.
        ratio_paths: a/b along training, with the axes epoch and seed.
        recurrent_paths: U along training.
    """

    explanation: Explanation
    plane: Plane
    loss: np.ndarray
    margin: np.ndarray
    ratio_paths: np.ndarray
    recurrent_paths: np.ndarray


def landscape(explanation: Explanation, seed: int = 0) -> Landscape:
    """Return the picture of one explained setting."""
    setting = explanation.setting
    job = training_job(setting, FOLLOWED, seed)
    along = paths(setting, job.initial(np.arange(FOLLOWED)), job.strings)
    cell = along.cell(LinearCell)
    assert isinstance(cell, LinearCell)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, U = np.asarray(cell.open_step / cell.close_step), np.asarray(cell.recurrent_weight)
    plane = _view(explanation, ratio[-1], U[-1])
    margin = margin_over(setting, explanation.counter, plane)
    return Landscape(explanation, plane, explanation.loss_over(plane), margin, ratio, U)


def _view(explanation: Explanation, ratios: np.ndarray, recurrent_weights: np.ndarray) -> Plane:
    """Return the part of the plane with the exact counter, the point of least loss, the region and where most seeds end."""
    least = explanation.least
    points = ([-1.0], [1.0]) if least is None else ([-1.0, least.ratio], [1.0, least.recurrent_weight])
    held = [
        [*some, *np.clip(np.nanquantile(ends, _MOST), axis[0], axis[-1])]
        for some, ends, axis in zip(points, (ratios, recurrent_weights), LOOKED_AT, strict=True)
    ]
    view = LOOKED_AT
    for _ in range(2):  # a small region is seen as a few points at first
        down, across = np.nonzero(margin_over(explanation.setting, explanation.counter, view) > 0)
        ratio_span, recurrent_span = map(_span, view, (across, down), held)
        view = Plane.between(ratio_span, recurrent_span, _POINTS, _POINTS)
    return view


def _span(axis: np.ndarray, inside: np.ndarray, points: list[float]) -> tuple[float, float]:
    """Return an interval of the axis that holds the region's places and some points, with a margin around them."""
    held = [*points, *axis[inside]]
    padding = max(_PADDING * (max(held) - min(held)), axis[1] - axis[0])
    return max(min(held) - padding, axis[0]), min(max(held) + padding, axis[-1])
