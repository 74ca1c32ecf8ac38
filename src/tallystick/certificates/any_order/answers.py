"""What a network says after a token in every execution: which tokens its outputs name, whichever library computes them.

`next` and `support` compare outputs, whose boxes are there. For `threshold` a library computes softmax shares p of the outputs o
as e^(o_k − m) / Σ e^(o_j − m), where m is the greatest. Let E be how far apart outputs may be, n how many there are, u = 2⁻ᵖ,
and let the exponential be within `ULPS` units in the last place. A difference o − m is rounded once, which changes e^(o − m) by
at most a share e^(u·E) − 1, the exponential by 2·ULPS·u, the sum of n positive numbers by γₙ, the quotient by u, and reading the
threshold in the format by u. The first two change numerator and denominator. All these shares add up to less than
S = 2·(E + 2·ULPS + n + 4)·u, so that together they change p by a factor between e^−y and e^y with y = S/(1 − S), and underflow
adds less than n + 1 times what a function may flush (`FLUSHED`).
"""

from functools import reduce
from typing import Any

import numpy as np

from tallystick.networks import Readout
from tallystick.networks.steps import NEXT, SUPPORT
from tallystick.numbers.any_order import FLUSHED, ULPS, least_normal
from tallystick.numbers.boxes import Box, box_of
from tallystick.numbers.floats import FloatFormat
from tallystick.numbers.operations import exponential

_WIDE = 0.25
"""Where S is greater, nothing is known."""


def said_in_any_order(readout: Readout, outputs: list[Box], form: FloatFormat) -> list[tuple[Any, Any]]:
    """Return for each output whether every execution names its token, and whether none does."""
    if readout.decision == SUPPORT:
        return [(output.low > 0, output.high <= 0) for output in outputs]
    if readout.decision == NEXT:
        return [_greatest(outputs, place) for place in range(len(outputs))]
    return [_above_threshold(readout, outputs, place, form) for place in range(len(outputs))]


def _greatest(outputs: list[Box], place: int) -> tuple[Any, Any]:
    """Say whether an output is above those before it and not below those after it: of equal ones the first wins."""
    one = outputs[place]
    yes, no = np.True_, np.False_
    for other, output in enumerate(outputs):
        if other != place:
            wins, loses = (one.low > output.high, one.high <= output.low)
            if other > place:
                wins, loses = (one.low >= output.high, one.high < output.low)
            yes, no = yes & wins, no | loses
    return yes, no


def _above_threshold(readout: Readout, outputs: list[Box], place: int, form: FloatFormat) -> tuple[Any, Any]:
    """Say whether the share of an output is above the threshold as any library computes it."""
    assert readout.steps is not None
    assert readout.steps.threshold is not None
    one = outputs[place]
    others = [exponential(output - one) for other, output in enumerate(outputs) if other != place]
    total: Any = sum(others[1:], start=others[0]) + 1  # which is 1/p
    low, high = 1 / total.high * (1 - 2.0**-50), 1 / total.low * (1 + 2.0**-50)
    furthest = reduce(np.maximum, [output.high for output in outputs]) - reduce(np.minimum, [o.low for o in outputs])
    shares = 2 * (furthest + 2 * ULPS + len(outputs) + 4) * float(form.unit)
    known = shares < _WIDE
    off = np.expm1(np.minimum(shares, _WIDE) / (1 - _WIDE)) * (1 + 2.0**-40)
    least = (len(outputs) + 1) * FLUSHED * least_normal(form)
    threshold = box_of(readout.steps.threshold)
    yes = low * (1 - off) - least > threshold.high * (1 + 2.0**-50)
    no = high * (1 + off) + least <= threshold.low * (1 - 2.0**-50)
    return known & yes, known & no
