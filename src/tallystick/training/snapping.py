"""Snapping: trained weights rounded to the exact counter they are near, with a readout that fits it.

U becomes 1, b becomes −a, |a| a power of two, whose multiples are exact in every arithmetic, and the readout is fitted to that
step. A selective cell's P becomes a power of two and Q its inverse. Weights that are not near a counter stay as they are: there
is nothing to round them to. `is_near_a_counter` says what is near; whether the result counts is for a certificate to say.
Layers are snapped in `layer_snapping`.
"""

import jax
import numpy as np
from jaxtyping import Bool

from tallystick.cells import Cell, SelectiveCell
from tallystick.languages.tasks import COUNT, Task
from tallystick.training.layer_snapping import LEAST_STEP, counters_in_units, power_of_two, snap_layers
from tallystick.training.lessons import output_lines
from tallystick.training.weights import AnyWeights, TensorWeights, Weights


def snap(weights: AnyWeights, kind: type[Cell], task: Task) -> AnyWeights:
    """Round every network that is near an exact counter to it."""
    if isinstance(weights, TensorWeights):
        return snap_layers(weights, kind, task)
    near = is_near_a_counter(weights, kind)
    # A selective cell gives the count itself only with P = Q = 1; for a class any power of two will do.
    factor = _nearest_factor(weights) if kind is SelectiveCell and task is not COUNT else None
    counters = exact_counters(weights, kind, task, factor)
    return jax.tree.map(lambda counter, trained: np.where(near, counter, trained), counters, weights)


def is_near_a_counter(weights: Weights, kind: type[Cell]) -> Bool[np.ndarray, " seed"]:
    """Say where U lies between ½ and 3⁄2, and a and b have opposite signs with neither more than twice the other.

    For a selective cell P·Q takes U's place, and −Q·a that of −a; for a ReLU cell a must be positive.
    """
    a, b = _steps(weights)
    recurrent = tuple(array.astype(np.float64) for array in weights.recurrent)
    selective = kind is SelectiveCell
    with np.errstate(all="ignore"):  # a weight that overflows or is not a number is near nothing
        factor = recurrent[0] * recurrent[1] if selective else recurrent[0]
        ratio = -b / (recurrent[1] * a if selective else a)
        near = (np.abs(factor - 1) < 0.5) & (ratio > 0.5) & (ratio < 2) & np.isfinite(a) & (np.abs(a) > LEAST_STEP)  # noqa: PLR2004
    if selective:
        near &= (recurrent[0] > 0.5) & (recurrent[0] < 2)  # noqa: PLR2004 -- the same bounds for P alone
    return near & (a > 0) if _only_counts_up(kind) else near


def exact_counters(weights: AnyWeights, kind: type[Cell], task: Task, factor: np.ndarray | None = None) -> AnyWeights:
    """Return exact counters, their step the power of two nearest in proportion to a and b, with the sign of a.

    The factor is a selective cell's P; the default is 1. In a layer the first unit counts.
    """
    if isinstance(weights, TensorWeights):
        return counters_in_units(weights, kind, task, np.zeros(len(weights.example), np.int64))
    a, b = _steps(weights)
    size = np.sqrt(np.clip(np.abs(a), LEAST_STEP, 1 / LEAST_STEP) * np.clip(np.abs(b), LEAST_STEP, 1 / LEAST_STEP))
    falling = (a < 0) & (not _only_counts_up(kind))
    step = np.where(falling, -1, 1) * power_of_two(size)
    return counter_of_step(kind, task, step.astype(weights.inputs[0].dtype), weights, factor)


def counter_of_step(kind: type[Cell], task: Task, a: np.ndarray, like: Weights, P: np.ndarray | None = None) -> Weights:
    """Return exact counters with the steps a, in the shape of other weights; a selective cell has the factors P and 1/P."""
    one = np.ones_like(a)
    P = one if P is None else P
    Q = one / P
    slopes, intercepts = output_lines(task, readout_bias=bool(like.readout_bias))
    # A selective counter's states next to zero are a and −Q·a: the band of the class zero must fit between them.
    band = np.minimum(one, Q)
    return Weights(
        inputs=(a, -Q * a),
        recurrent=(P, Q) if kind is SelectiveCell else (one,),
        bias=tuple(np.zeros_like(a) for _ in like.bias),
        readout_weight=tuple((slope / a).astype(a.dtype) for slope in slopes),
        readout_bias=tuple((t * band).astype(a.dtype) for t in intercepts) if like.readout_bias else (),
    )


def _steps(weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    a, b = weights.steps
    return np.nan_to_num(a.astype(np.float64)), np.nan_to_num(b.astype(np.float64))


def _nearest_factor(weights: Weights) -> np.ndarray:
    P = weights.recurrent[0]
    return power_of_two(np.clip(np.nan_to_num(np.abs(P.astype(np.float64))), 0.5, 2)).astype(P.dtype)


def _only_counts_up(kind: type[Cell]) -> bool:
    return kind.counting is not None and kind.counting.only_counts_up
