"""Which class a box of states surely gets: every comparison that makes a class, decided for all h in the box at once.

Binary: positive iff v·h + c > 0. Ternary: a class wins iff its output is above those of lower index and not below those of
higher index. A comparison of two outputs is one linear form, (vⱼ − vᵢ)·h + cⱼ − cᵢ, whose weights are subtracted exactly, so
that what the outputs have in common does not widen the bounds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.arithmetic import exact
from tallystick.cells.gated import Vector, layer
from tallystick.certificates.gated.boxes import Box, box_of
from tallystick.readouts import LayerReadout

UNSURE = -1
"""In the place of a class's index: the box lies in more than one class, or its bounds do not tell."""


@dataclass(frozen=True)
class Comparison:
    """weight·h + bias > 0, or ≥ 0 where it is not strict."""

    weight: Vector
    bias: Box
    strict: bool

    def holds(self, hidden: Vector) -> NDArray[np.bool_]:
        """Say where it holds for every h in a box."""
        (form,) = layer((self.weight,), (self.bias,), hidden)
        holds = form.low > 0 if self.strict else form.low >= 0
        # Weights of 0 leave the bias alone, which is the same everywhere.
        return np.broadcast_to(holds, np.shape(hidden[0].low))


Comparisons = list[list[Comparison]]
"""For each class, by its index, all that must hold."""


def comparisons_of(readout: LayerReadout) -> Comparisons:
    """Return what makes each class of a readout."""
    rows = [(*weight, bias) for weight, bias in zip(readout.weight, readout.bias, strict=True)]
    lines = [tuple(exact(value) for value in row) for row in rows]
    if len(lines) == 1:
        # The output against the constant 0, which has the lower index.
        lines = [(exact(0),) * len(lines[0]), lines[0]]
    return [
        [_comparison(mine, other, strict=place < index) for place, other in enumerate(lines) if place != index]
        for index, mine in enumerate(lines)
    ]


def sure_classes(comparisons: Comparisons, hidden: Vector) -> NDArray[np.int64]:
    """Return the index of the class that every h in a box gets, or `UNSURE`, for an array of boxes."""
    found = np.full(np.shape(hidden[0].low), UNSURE)
    for index, needed in enumerate(comparisons):
        found[np.logical_and.reduce([comparison.holds(hidden) for comparison in needed])] = index
    return found


def right_classes(readout: LayerReadout, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of the right class for each count."""
    classes = list(readout.classes)
    by_sign = np.array([classes.index(readout.right_class(sign)) for sign in (-1, 0, 1)])
    return by_sign[np.sign(counts) + 1]


def _comparison(mine: Vector, other: Vector, *, strict: bool) -> Comparison:
    *weight, bias = (box_of(x - y) for x, y in zip(mine, other, strict=True))
    return Comparison(tuple(weight), bias, strict)
