"""Snapping: trained weights rounded to the exact counter they are near, with a readout that fits it.

U becomes 1, b becomes −a, |a| a power of two, whose multiples are exact in every arithmetic, and the readout is fitted to that
step. A selective cell's P becomes a power of two and Q its inverse. Weights that are not near a counter stay as they are: there
is nothing to round them to. `is_near_a_counter` says what is near; whether the result counts is for a certificate to say.

A linear layer counts with the eigenvalue of U next to 1. Let q be its left eigenvector: the number q·h follows a recurrence of
its own, (q·h)' = λ·(q·h) + q·s(x). Snapping puts that number into a unit, which changes no output, and rounds there: λ to 1, q·a
to the power of two that it is scaled to, and q·b to its negative. All other numbers stay as trained, so the rest of the state
decays as it did. Such a network may be right at every length without computing the count; a certificate says whether it is.

A selective layer has a unit that is near a counter, or none. That unit gets P = Q = 1 and steps ±a, and the readout sees it
alone, since the others need not fade. They get no input: one that grows would overflow, and 0·∞ is not a number.
"""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from tallystick.cells import Cell, SelectiveCell, SelectiveLayer
from tallystick.languages.tasks import COUNT, Task
from tallystick.training.lessons import output_lines
from tallystick.training.weights import AnyWeights, TensorWeights, Weights

Rows = Float[np.ndarray, "seed unit"]

LEAST_STEP = 2.0**-60
"""A step below this counts as zero, since its readout would overflow."""


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


def power_of_two(size: np.ndarray) -> np.ndarray:
    """Return the power of two that is nearest in proportion."""
    return np.exp2(np.round(np.log2(size)))


def _steps(weights: Weights) -> tuple[np.ndarray, np.ndarray]:
    a, b = weights.steps
    return np.nan_to_num(a.astype(np.float64)), np.nan_to_num(b.astype(np.float64))


def _nearest_factor(weights: Weights) -> np.ndarray:
    P = weights.recurrent[0]
    return power_of_two(np.clip(np.nan_to_num(np.abs(P.astype(np.float64))), 0.5, 2)).astype(P.dtype)


def _only_counts_up(kind: type[Cell]) -> bool:
    return kind.counting is not None and kind.counting.only_counts_up


def snap_layers(weights: TensorWeights, kind: type[Cell], task: Task) -> TensorWeights:
    """Round every layer that is near a counter."""
    if kind is SelectiveLayer:
        unit, near = _counting_units(weights)
        snapped = _silence_others(counters_in_units(weights, kind, task, unit), unit)
    else:
        count = _count(weights)
        near, snapped = count.is_near, _count_in_a_unit(weights, count)
    return _choose(near, snapped, weights)


def counters_in_units(
    weights: TensorWeights, kind: type[Cell], task: Task, unit: Int[np.ndarray, " seed"]
) -> TensorWeights:
    """Return the networks with an exact counter in one unit each, which alone the readout sees; the others stay as they are."""
    W, U, dtype = weights.inputs.copy(), weights.recurrent.copy(), weights.inputs.dtype
    seeds = np.arange(len(unit))
    a, b = (_doubles(step)[seeds, unit] for step in weights.steps)
    size = np.sqrt(np.clip(np.abs(a), LEAST_STEP, 1 / LEAST_STEP) * np.clip(np.abs(b), LEAST_STEP, 1 / LEAST_STEP))
    step = (np.where(a < 0, -1, 1) * power_of_two(size)).astype(dtype)
    for place, bracket in enumerate((step, -step)):
        W[unit, place, seeds] = bracket
    U[unit, :, seeds] = 1 if kind is SelectiveLayer else np.eye(U.shape[0])[unit]
    V = np.zeros_like(weights.readout_weight)
    slopes, intercepts = output_lines(task, readout_bias=bool(weights.readout_bias))
    V[:, unit, seeds] = np.array(slopes)[:, None] / step
    bias = []
    for trained in weights.bias:
        others = trained.copy()
        others[unit, seeds] = 0
        bias.append(others)
    c = tuple(np.repeat(np.array(intercepts, dtype)[:, None], len(unit), axis=1) for _ in weights.readout_bias)
    return TensorWeights(W, U, tuple(bias), V, c)


def _silence_others(weights: TensorWeights, unit: Int[np.ndarray, " seed"]) -> TensorWeights:
    """Let nothing into the other units, which then stay at 0."""
    kept = np.arange(len(weights.inputs))[:, None] == unit
    bias = tuple(np.where(kept, array, 0) for array in weights.bias)
    return weights._replace(inputs=np.where(kept[:, None], weights.inputs, 0), bias=bias)


class _Count(NamedTuple):
    """The direction of the state that counts, one per network: q, with 1 in its unit, q·a and q·b, and who is near a counter."""

    q: Rows
    unit: Int[np.ndarray, " seed"]
    opening: Float[np.ndarray, " seed"]
    closing: Float[np.ndarray, " seed"]
    is_near: Bool[np.ndarray, " seed"]


def _count(weights: TensorWeights) -> _Count:
    """Find the left eigenvector of the eigenvalue next to 1: it lies between ½ and 3⁄2, and neither step is twice the other."""
    U = np.nan_to_num(np.moveaxis(weights.recurrent, -1, 0).astype(np.float64))
    values, vectors = np.linalg.eig(np.swapaxes(U, 1, 2))
    away = np.where(np.imag(values) == 0, np.abs(values - 1), np.inf)
    seeds, place = np.arange(len(U)), away.argmin(axis=1)
    q = np.real(vectors[seeds, :, place])
    unit = np.abs(q).argmax(axis=1)
    q = q / q[seeds, unit][:, None]
    opening, closing = ((_doubles(step) * q).sum(axis=1) for step in weights.steps)
    finite = np.isfinite(np.concatenate([np.reshape(array, (-1, len(U))) for array in _leaves(weights)])).all(axis=0)
    with np.errstate(all="ignore"):
        ratio = -closing / opening
        near = (away[seeds, place] < 0.5) & (ratio > 0.5) & (ratio < 2)  # noqa: PLR2004
    return _Count(q, unit, opening, closing, near & finite & (np.abs(opening) > LEAST_STEP))


def _count_in_a_unit(weights: TensorWeights, count: _Count) -> TensorWeights:
    """Put q·h, scaled to a power of two, into its unit: h is T⁻¹ of the new state, where T is 1 but for the row of q."""
    seeds, unit = np.arange(len(count.unit)), count.unit
    step = (count.opening - count.closing) / 2
    rounded = np.where(step < 0, -1, 1) * power_of_two(np.clip(np.abs(step), LEAST_STEP, 1 / LEAST_STEP))
    scale = rounded / np.where(step == 0, 1, step)
    q = count.q.copy()
    q[seeds, unit] = 0
    U = np.moveaxis(weights.recurrent, -1, 0).astype(np.float64)
    V = np.moveaxis(weights.readout_weight, -1, 0).astype(np.float64)
    for matrix in (U, V):
        column = matrix[seeds, :, unit]
        np.subtract(matrix, column[:, :, None] * q[:, None], out=matrix)
        matrix[seeds, :, unit] = column / scale[:, None]
    U[seeds, unit] = np.eye(U.shape[1])[unit]
    W = np.stack([_doubles(one) for one in weights.steps], axis=2)
    W[seeds, unit] = np.stack((rounded, -rounded), axis=1)
    with np.errstate(over="ignore"):
        W, U, V = (np.moveaxis(part, 0, -1).astype(weights.inputs.dtype) for part in (W, U, V))
    return TensorWeights(W, U, tuple(np.zeros_like(bias) for bias in weights.bias), V, weights.readout_bias)


def _counting_units(weights: TensorWeights) -> tuple[Int[np.ndarray, " seed"], Bool[np.ndarray, " seed"]]:
    """Return the unit of a selective layer that weighs most among those near a counter, and where there is one."""
    a, b = (_doubles(step) for step in weights.steps)
    P, Q = (_doubles(weights.recurrent[:, place]) for place in (0, 1))
    with np.errstate(all="ignore"):
        ratio = -b / (Q * a)
        near = (np.abs(P * Q - 1) < 0.5) & (ratio > 0.5) & (ratio < 2) & (P > 0.5) & (P < 2) & (np.abs(a) > LEAST_STEP)  # noqa: PLR2004
    weight = np.where(near, np.abs(a - b) * np.abs(_doubles(weights.readout_weight[-1])), -1)
    return weight.argmax(axis=1), weight.max(axis=1) >= 0


def _doubles(rows: np.ndarray) -> Rows:
    return np.nan_to_num(np.asarray(rows, np.float64).T)


def _leaves(weights: TensorWeights) -> list[np.ndarray]:
    return [weights.inputs, weights.recurrent, *weights.bias, weights.readout_weight, *weights.readout_bias]


def _choose(near: np.ndarray, snapped: TensorWeights, trained: TensorWeights) -> TensorWeights:
    def parts(weights: TensorWeights) -> list[np.ndarray]:
        return [np.asarray(array) for array in _leaves(weights)]

    W, U, *rest = (np.where(near, one, other) for one, other in zip(parts(snapped), parts(trained), strict=True))
    size = len(trained.bias)
    return TensorWeights(W, U, tuple(rest[:size]), rest[size], tuple(rest[size + 1 :]))
