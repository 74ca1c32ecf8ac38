"""What the figure of reasons shows of a setting: the loss over the plane, where all strings are right, and paths of training."""

from dataclasses import dataclass

import numpy as np

from tallystick.cells import LinearCell
from tallystick.experiments.training_run import training_job
from tallystick.explanations.explanation import Explanation
from tallystick.explanations.region import margin_over
from tallystick.explanations.resting_place import LOOKED_AT, Plane
from tallystick.training.ensemble import paths

SEEDS = 24
_POINTS = 121
_PADDING = 0.12
_MOST = (0.1, 0.9)


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
    job = training_job(setting, SEEDS, seed)
    along = paths(setting, job.initial(np.arange(SEEDS)), job.strings)
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
