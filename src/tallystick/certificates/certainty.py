"""When do right ends make a whole interval of h right?

In exact arithmetic always, for the binary and the ternary readout: each of their classes is an interval of h. Two cases
need more. The zero check's `rejected` is everything but 0, so an interval across 0 says nothing. And in floating point
two outputs of a ternary readout with slopes of one sign are rounded apart from each other: near their crossing they
may change places several times.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.arithmetic import format_of
from tallystick.certificates.extremes import Ends
from tallystick.readouts import MembershipClass, Readout, TernaryReadout, ZeroCheck

Mask = NDArray[np.bool_]


def certain(readout: Readout, right: NDArray[np.int64], ends: Ends, *, rounded: bool) -> Mask:
    """Say for which groups, both of whose ends are right, every h between them is surely right too."""
    if isinstance(readout, ZeroCheck):
        rejected = list(MembershipClass).index(MembershipClass.REJECTED)
        return (right != rejected) | (ends.least > 0) | (ends.greatest < 0)
    if rounded and isinstance(readout, TernaryReadout):
        return np.choose(right, [_steady_class(readout, index, ends) for index in range(len(readout.classes))])
    return np.ones(len(right), bool)


def steady(readout: Readout) -> bool:
    """Say whether every comparison of a readout is monotone in h however its outputs are rounded.

    Rounding keeps each output monotone. One output is compared with 0 by the binary readout; two outputs whose slopes
    are not of one sign move apart or stay, so their order changes at most once.
    """
    return not isinstance(readout, TernaryReadout) or all(
        _apart(readout, i, j) for i in range(len(readout.classes)) for j in range(i)
    )


def _apart(readout: TernaryReadout, i: int, j: int) -> bool:
    signs = {float(np.sign(float(readout.weight[k]))) for k in (i, j)}
    return signs in ({0.0}, {1.0, -1.0}, {0.0, 1.0}, {0.0, -1.0})


def _steady_class(readout: TernaryReadout, index: int, ends: Ends) -> Mask:
    others = [other for other in range(len(readout.classes)) if other != index]
    return np.logical_and.reduce([_order_holds(readout, index, other, ends) for other in others])


def _order_holds(readout: TernaryReadout, i: int, j: int, ends: Ends) -> Mask:
    """Say where output i stays above output j: by slopes, or since the exact lines lie further apart than rounding.

    With u half a unit in the last place of 1 and η the least positive number, an executed v·h + c is off by at most
    2u·(|v·h| + |c|) + η, fused or not. The exact difference of two lines is least at an end, where the executed one
    shows it up to both errors; anywhere else the executed difference is off by both again. So twice both errors suffice,
    and the factor 8 in place of 2 covers this function's own rounding many times over. An output that overflows at an end
    shows nothing of how far the lines are apart there.
    """
    if _apart(readout, i, j):
        return np.ones(len(ends.least), bool)
    form = format_of(readout.bias[0])
    size = np.maximum(*(np.abs(np.asarray(end, np.float64)) for end in (ends.least, ends.greatest)))
    error = np.zeros(len(size))
    for k in (i, j):
        error += abs(float(readout.weight[k])) * size + abs(float(readout.bias[k]))
    allowed = 16 * float(form.unit) * error + 8 * float(form.least)
    gaps = [np.asarray(_output(readout, i, end) - _output(readout, j, end)) for end in (ends.least, ends.greatest)]
    return (np.minimum(*gaps) > allowed) & np.isfinite(gaps).all(axis=0)


def _output(readout: TernaryReadout, index: int, h: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(readout.weight[index] * h + readout.bias[index], np.float64)
