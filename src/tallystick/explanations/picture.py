"""What the figure of reasons shows: the loss over the plane with paths of training in it, and rounding along the way."""

from dataclasses import dataclass

import numpy as np

from tallystick.cells import LinearCell
from tallystick.experiments.training_run import training_job
from tallystick.explanations.explanation import RATIOS, RECURRENT_WEIGHTS, Explanation, lines_of
from tallystick.explanations.resting_place import loss_over_plane
from tallystick.explanations.rounding import Noise, gradient_noise
from tallystick.training.ensemble import paths
from tallystick.training.setting import Setting

SEEDS = 24
NOISE_SEEDS = 64
NOISE_SETTING = Setting("ternary", False, 8)
"""Where single precision decides the paper's result."""


@dataclass(frozen=True)
class Landscape:
    """The loss around the exact counter, and some seeds' way through it.

    Attributes:
        explanation: the setting explained.
        loss: over U (down) and a/b (across), at the scale that seeds reach.
        ratio_paths: a/b along training, with the axes epoch and seed.
        recurrent_paths: U along training.
    """

    explanation: Explanation
    loss: np.ndarray
    ratio_paths: np.ndarray
    recurrent_paths: np.ndarray


def landscape(explanation: Explanation, seed: int = 0) -> Landscape:
    """Return the picture of one explained setting."""
    setting = explanation.setting
    job = training_job(setting, SEEDS, seed)
    loss = loss_over_plane(setting, job.strings, lines_of(setting, explanation.ends), RATIOS, RECURRENT_WEIGHTS)
    along = paths(setting, job.initial(np.arange(SEEDS)), job.strings)
    cell = along.cell(LinearCell)
    assert isinstance(cell, LinearCell)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = cell.open_step / cell.close_step
    return Landscape(explanation, loss, ratio, np.asarray(cell.recurrent_weight))


def noise_along_training(seed: int = 0) -> Noise:
    """Return signal and noise of the gradient where rounding decides."""
    job = training_job(NOISE_SETTING, NOISE_SEEDS, seed)
    return gradient_noise(NOISE_SETTING, job.initial(np.arange(NOISE_SEEDS)), job.strings)
