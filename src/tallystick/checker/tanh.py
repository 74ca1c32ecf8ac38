"""Bounds of tanh in whole numbers, from e^−2x: for x ≥ 0, tanh x = (1 − p) / (1 + p) with p = e^−2x.

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
    found, guard = _positive(work)((abs(numerator) << work + 1) // denominator), work - places
    return min(1 << places, -(-found - _ERROR >> guard)) if numerator > 0 else -max(0, found - _ERROR >> guard)


def _work(places: int) -> int:
    """Return how many binary digits are carried along for a bound of so many."""
    return max(places + _GUARD, _LEAST_WORK)


@cache
def _positive(work: int) -> Callable[[int], int]:
    """Return a function from 2x ≥ 0, rounded down, to tanh x, both in units of 2^−work, that is off by at most `_ERROR`."""
    one, power = 1 << work, power_function(work)

    def tanh(doubled: int) -> int:
        p = power(doubled)
        return (one - p << work) // (one + p)

    return tanh


@cache
def tanh_of_boxes(places: int, halvings: int) -> Callable[[int, int], Ends]:
    """Return a function from the ends of a box around x to those of one around tanh(x / 2^halvings), in units of 2^−places."""
    work = _work(places)
    tanh, guard = _positive(work), work - places
    longer, scale = guard + 1 - halvings, 2 * places + halvings - guard
    most, square, narrow = 1 << places, 1 << 2 * places, 1 << max(0, places + halvings - _NARROW)

    def ends(low: int, high: int) -> Ends:
        if low < 0 < high:
            return -greatest(-low), greatest(high)
        near, far = (low, high) if low >= 0 else (-high, -low)
        if far == 0:
            return 0, 0
        found, width = tanh(near << longer), far - near
        least = max(0, found - _ERROR >> guard)
        if width >= narrow:
            found = tanh(far << longer)
        elif width:
            found -= width * (least * least - square) >> scale
        most_here = min(most, -(-found - _ERROR >> guard))
        return (least, most_here) if low >= 0 else (-most_here, -least)

    def greatest(x: int) -> int:
        return min(most, -(-tanh(x << longer) - _ERROR >> guard))

    return ends


def tanh_time(denominator: int, places: int) -> int:
    """Return about how many nanoseconds a bound takes, for a denominator of so many bits."""
    work = _work(places)
    return 1000 + quotient_time(work, denominator) + power_time(work) + quotient_time(work, work)
