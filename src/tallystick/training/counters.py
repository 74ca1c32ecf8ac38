"""Exact counters as networks: the outputs one gives for a count, and the weights of one of a given step size.

With a readout of slope s and intercept t an exact counter of step a has v = s/a and c = t, so that its outputs are s·d + t:

    count                 d
    binary, no bias       d                     positive iff d > 0
    binary with bias      d − ½
    ternary               −d − ½, 0, d − ½      the largest is the sign of d
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from tallystick.cells import Cell, ReluCell, SelectiveCell
from tallystick.languages.brackets import BB, SEMI_DYCK1, BracketLanguage
from tallystick.languages.tasks import COUNT, Task
from tallystick.training.weights import Weights


class OutputLines(NamedTuple):
    """Each output of an exact counter as a line s·d + t."""

    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]


def output_lines(task: Task, *, readout_bias: bool) -> OutputLines:
    """Return the lines for a task; without a readout bias they go through the origin."""
    if task.outputs > 1:
        return OutputLines((-1, 0, 1), (-0.5, 0, -0.5))
    return OutputLines((1,), (-0.5,) if task.classes and readout_bias else (0,))


def counted_language(kind: type[Cell], task: Task) -> BracketLanguage:
    """Return whose count a network is trained on: a ReLU cell asked for the count gives κ of semi-Dyck-1, any other n − m."""
    return SEMI_DYCK1 if kind is ReluCell and task is COUNT else BB


def counter_outputs(
    task: Task, counts: Int[np.ndarray, "*shape"], *, readout_bias: bool
) -> Float[np.ndarray, "*shape output"]:
    """Return the outputs of an exact counter."""
    slopes, intercepts = output_lines(task, readout_bias=readout_bias)
    return counts[..., None] * np.array(slopes, np.float64) + np.array(intercepts)


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
