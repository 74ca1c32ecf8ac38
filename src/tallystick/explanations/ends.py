"""Where trained networks end: a/b, U, and the scale and thresholds of their readouts, in the median."""

from dataclasses import dataclass

import numpy as np

from tallystick.cells import LinearCell
from tallystick.training.ensemble import Ensemble
from tallystick.training.weights import Weights


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
