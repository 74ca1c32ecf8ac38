"""When do right ends make a whole interval of h right?

In exact arithmetic always, for the binary and the ternary readout: each of their classes is an interval of h. Two cases
need more. The zero check's `rejected` is everything but 0, so an interval across 0 says nothing. And in floating point
two outputs of a ternary readout with slopes of one sign are rounded apart from each other: near their crossing they
may change places several times.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.extremes import Ends
from tallystick.networks.readout import NOTHING, ZERO, Comparison, Readout
from tallystick.numbers import format_of

Mask = NDArray[np.bool_]


def certain(readout: Readout, right: NDArray[np.int64], ends: Ends, *, rounded: bool) -> Mask:
    """Say for which groups, both of whose ends are right, every h between them is surely right too."""
    if readout.decision == ZERO:
        is_point = right == 1  # accepted; what is rejected lies on both sides of it
        return is_point | (ends.least > 0) | (ends.greatest < 0)
    if not rounded:
        return np.ones(len(right), bool)
    classes = [
        np.logical_and.reduce([_order_holds(readout, comparison, ends) for comparison in needed])
        for needed in readout.comparisons
    ]
    return np.choose(right, classes)


def steady(readout: Readout) -> bool:
    """Say whether every comparison of a readout is monotone in h however its outputs are rounded.

    Rounding keeps each output monotone. One output is compared with 0 by the binary readout; two outputs whose slopes
    are not of one sign move apart or stay, so their order changes at most once.
    """
    return all(_moves_apart(readout, comparison) for needed in readout.comparisons for comparison in needed)


def _moves_apart(readout: Readout, comparison: Comparison) -> bool:
    """Say whether the slopes of two outputs are not of one sign; the number 0 has no slope."""
    places = [place for place in comparison[:2] if place != NOTHING]
    signs = [float(np.sign(float(readout.weight[place][0]))) for place in places]
    return len(places) == 1 or signs[0] * signs[1] <= 0


def _order_holds(readout: Readout, comparison: Comparison, ends: Ends) -> Mask:
    """Say where one output stays above another: by slopes, or since the exact lines lie further apart than rounding.

    With u half a unit in the last place of 1 and η the least positive number, an executed v·h + c is off by at most
    2u·(|v·h| + |c|) + η, fused or not. The exact difference of two lines is least at an end, where the executed one
    shows it up to both errors; anywhere else the executed difference is off by both again. So twice both errors suffice,
    and the factor 8 in place of 2 covers this function's own rounding many times over. An output that overflows at an end
    shows nothing of how far the lines are apart there.
    """
    if _moves_apart(readout, comparison):
        return np.ones(len(ends.least), bool)
    form = format_of(readout.bias[0])
    size = np.maximum(*(np.abs(np.asarray(end, np.float64)) for end in (ends.least, ends.greatest)))
    error = np.zeros(len(size))
    for place in comparison[:2]:
        error += abs(float(readout.weight[place][0])) * size + abs(float(readout.bias[place]))
    allowed = 16 * float(form.unit) * error + 8 * float(form.least)
    gaps = [
        np.asarray(_output(readout, comparison.greater, end) - _output(readout, comparison.less, end))
        for end in ends.both
    ]
    return (np.minimum(*gaps) > allowed) & np.isfinite(gaps).all(axis=0)


def _output(readout: Readout, index: int, h: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(readout.weight[index][0] * h + readout.bias[index], np.float64)
