"""The powers e^−x for x ≥ 0 in whole numbers, and from them whether shares exceed a threshold.

In e^−x = e^(−i/2^8)·e^(−j/2^18)·e^−r the first two factors are read from tables, and r < 2^−18 makes the series of the last one
short. No factor is above 1, so that no product makes an error larger: it is enough to count the operations that round.

An entry e^(−n/2^18) of a table is the product of e^(−2^k/2^18) for the binary digits 2^k of n, which are squares of each other.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from .effort import product_time

_COARSE, _FINE = 8, 18
"""Binary digits after the point of i/2^8 and j/2^18."""
_MOST_ENTRIES = 1 << 14
_GUARD = 8

POWER_ERROR = 10
"""By how many units a power may be off: 2 for each table's entry, 3 for the series, 1 for each of two products."""


@cache
def power_function(places: int) -> Callable[[int], int]:
    """Return a function from x ≥ 0 to e^−x, both in units of 2^−places, that is off by at most `POWER_ERROR`.

    Args:
        places: binary digits, at least 18.
    """
    coarse, fine = places - _COARSE, places - _FINE
    digits, rest = (1 << _FINE - _COARSE) - 1, (1 << fine) - 1
    table, finer = _Table(places, _FINE - _COARSE), _Table(places, 0)
    first, *others = _coefficients(places)

    def power(x: int) -> int:
        r, series = x & rest, first
        for coefficient in others:  # as in `_series`
            series = coefficient - (r * series >> places)
        return (table[x >> coarse] * finer[x >> fine & digits] >> places) * series >> places

    return power


def power_time(places: int) -> int:
    """Return about how many nanoseconds a power takes."""
    return (2 + len(_coefficients(places))) * (40 + product_time(places, places) // 2)  # as measured


def _series(r: int, places: int) -> int:
    """Return e^−r for r ≤ 2^−_FINE, both in units of 2^−places, less than 3 units off.

    Each step is less than a unit off, since both its coefficient and what it takes away are rounded down, and by r times the
    error of the step before. What is cut off is less than a unit: the terms shrink and change their signs.
    """
    found, *coefficients = _coefficients(places)
    for coefficient in coefficients:
        found = coefficient - (r * found >> places)
    return found


@cache
def _coefficients(places: int) -> list[int]:
    """Return 1 / k! from below, in units, the last one first: as many as leave less than a unit for r ≤ 2^−_FINE."""
    found = [1 << places]
    while found[-1] >> _FINE * len(found):
        found.append(found[-1] // len(found))
    return found[::-1]


class _Table(dict[int, int]):
    """By i: e^(−i·2^shift / 2^_FINE) in units of 2^−places, less than 2 units off."""

    def __init__(self, places: int, shift: int) -> None:
        super().__init__()
        # A square doubles an error and adds less than 2 units: after so many squares the error of a product of some of them
        # is below 5·2^doublings·(doublings + 1) units, which is less than a unit of 2^−places.
        doublings = _FINE + places.bit_length()
        self.places, self.shift, self.guard = places, shift, doublings + 16
        self.work = places + self.guard
        squares = [_series(1 << self.work - _FINE, self.work)]
        for _ in range(doublings):
            squares.append(squares[-1] ** 2 >> self.work)
        self.squares = squares[shift:]

    def __missing__(self, i: int) -> int:
        if 10 * (i << self.shift) >= 7 * self.places << _FINE:  # log 2 < 7 / 10: less than a unit
            return 0
        found = 1 << self.work
        for place, square in enumerate(self.squares):
            if i >> place & 1:
                found = found * square >> self.work
        if len(self) == _MOST_ENTRIES:
            self.clear()
        self[i] = entry = found >> self.guard
        return entry


def shares_above(outputs: Sequence[tuple[int, int]], places: int, threshold: Fraction) -> list[bool | None]:
    """Say of each output whether its share in the softmax is surely above a threshold, or surely not; else None.

    With T = a / b the share e_k / Σ e_j is above T iff (b − a)·e_k > a·Σ e_j over the others.

    Args:
        outputs: bounds of each output, in units of 2^−places.
        places: binary digits of the units; powers have a few more.
        threshold: T.
    """
    most, power, one = max(high for _, high in outputs), power_function(places + _GUARD), 1 << places + _GUARD
    # e^0 is 1 itself, so that equal outputs have equal shares.
    lows = [max(0, power(most - low << _GUARD) - POWER_ERROR) if low != most else one for low, _ in outputs]
    highs = [power(most - high << _GUARD) + POWER_ERROR if high != most else one for _, high in outputs]
    part, rest = threshold.numerator, threshold.denominator - threshold.numerator
    least, greatest = sum(lows), sum(highs)
    found: list[bool | None] = []
    for low, high in zip(lows, highs, strict=True):
        above, not_above = rest * low > part * (greatest - high), rest * high <= part * (least - low)
        found.append(True if above else False if not_above else None)
    return found
