"""Bounds of tanh in whole numbers, from e^−2x: for x ≥ 0, tanh x = 2 / (1 + p) − 1 with p = e^−2x.

That falls with p, by at most twice as much as p rises, so that the error of p is doubled at most. Above zero tanh lies below
each of its tangents: the bounds at one end of a narrow box give those at the other.
"""

from collections.abc import Callable
from functools import cache

from .effort import quotient_time
from .exponential import POWER_ERROR, power_function, power_time

_GUARD, _LEAST_WORK = 10, 32
_NARROW = 20
"""A box is narrow where it is less than 2^−20 wide: a tangent then adds less than a millionth of its width."""

_ERROR = 2 * (POWER_ERROR + 1) + 1
"""By how many units a quotient may be off: the argument is rounded as well, and so is the quotient."""

Ends = tuple[int, int]


def tanh_below(numerator: int, denominator: int, places: int) -> int:
    """Return a whole number that is at most tanh(numerator / denominator)·2^places."""
    return -tanh_above(-numerator, denominator, places)


def tanh_above(numerator: int, denominator: int, places: int) -> int:
    """Return a whole number that is at least tanh(numerator / denominator)·2^places."""
    if numerator == 0:
        return 0
    work = _work(places)
    p, one, guard = power_function(work)((abs(numerator) << work + 1) // denominator), 1 << work, work - places
    found = (2 << 2 * work) // (one + p) - one
    return min(1 << places, -(-found - _ERROR >> guard)) if numerator > 0 else -max(0, found - _ERROR >> guard)


def _work(places: int) -> int:
    """Return how many binary digits are carried along for a bound of so many."""
    return max(places + _GUARD, _LEAST_WORK)


@cache
def squash_function(name: str, places: int) -> Callable[[Ends], Ends]:
    """Return tanh or the sigmoid as a function of boxes, all ends in units of 2^−places.

    For x ≥ 0 they are 2 / (1 + p) − 1 with p = e^−2x, and 1 / (1 + p) with p = e^−x; they rise by (1 + t)·(1 − t), and by
    s·(1 − s). Below zero they are −tanh −x, and 1 − sigmoid −x.
    """
    work, is_tanh = _work(places), name == "tanh"
    power, guard, longer = power_function(work), work - places, work - places + is_tanh
    one, unit, narrow, scale = 1 << work, 1 << places, 1 << max(0, places - _NARROW), max(0, 2 * places - guard)
    dividend, less, added, mirror, at_zero = (
        (2 << 2 * work, one, unit, 0, 0) if is_tanh else (1 << 2 * work, 0, 0, unit, unit >> 1)
    )

    def ends(box: Ends) -> Ends:
        low, high = box
        if low >= 0:
            near, far = low, high
        elif high <= 0:
            near, far = -high, -low
        else:
            return mirror - upper(-low), upper(high)
        if far == 0:
            return at_zero, at_zero
        found = dividend // (one + power(near << longer)) - less
        least, width = found - _ERROR >> guard, far - near
        least = least if least > at_zero else at_zero
        if width >= narrow:
            greatest = upper(far)
        else:  # the tangent, which rises more slowly the greater t is, rounded up
            greatest = -((width * (least + added) * (least - unit) >> scale) - found - _ERROR >> guard)
        greatest = greatest if greatest < unit else unit
        return (least, greatest) if low >= 0 else (mirror - greatest, mirror - least)

    def upper(x: int) -> int:
        found = dividend // (one + power(x << longer)) - less
        return min(unit, -(-found - _ERROR >> guard))

    return ends


def tanh_time(denominator: int, places: int) -> int:
    """Return about how many nanoseconds a bound takes, for a denominator of so many bits."""
    work = _work(places)
    return 700 + quotient_time(work, denominator) + power_time(work) + quotient_time(work, work)
