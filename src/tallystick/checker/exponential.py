"""Bounds of e^−x for x ≥ 0 in whole numbers, and from them whether shares exceed a threshold.

The series Σ (−r)^k / k! of e^−r for 0 ≤ r < 1 has terms that shrink and change their signs: cut off after a positive term it is
above e^−r, after a negative one below. e^−2r = (e^−r)² takes bounds to bounds. Every operation is rounded towards the side of the
bound.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import count

_HALVINGS = 8
_GUARD = 8


def power_below(numerator: int, denominator: int, places: int) -> int:
    """Return a whole number that is at most e^(−numerator / denominator)·2^places, for a numerator of at least 0."""
    return _bound(numerator, denominator, places, above=False)


def power_above(numerator: int, denominator: int, places: int) -> int:
    """Return a whole number that is at least e^(−numerator / denominator)·2^places, for a numerator of at least 0."""
    return _bound(numerator, denominator, places, above=True)


def _bound(numerator: int, denominator: int, places: int, *, above: bool) -> int:
    if numerator >= places * denominator:  # e^−x < 2^−x, for such x at most 2^−places
        return int(above)
    # x / 2^halvings is below 2^−_HALVINGS. Each square at most doubles the error, so that much more is carried along.
    halvings = max(0, numerator.bit_length() - denominator.bit_length() + 1 + _HALVINGS)
    work = places + halvings + _GUARD
    # e^−r falls: a bound from above takes r from below.
    shifted = numerator << work
    r = shifted // (denominator << halvings) if above else -(-shifted // (denominator << halvings))
    t = _of_small(r, work, above=above)
    for _ in range(halvings):
        t = -(-(t * t) >> work) if above else t * t >> work
    return min(1 << places, -(-t >> work - places)) if above else t >> work - places


def _of_small(r: int, work: int, *, above: bool) -> int:
    """Bound e^−r, r in units of 2^−work, by a sum of terms each rounded towards the side of the bound."""
    total = low = high = 1 << work
    for k in count(1):
        # Both bounds of r^k / k! are carried along: an even term is rounded as the sum is, an odd one the other way.
        low, high = low * r // (k << work), -(-high * r // (k << work))
        even = k % 2 == 0
        total += (high if above else low) if even else (-low if above else -high)
        if high <= 1 and even is above:
            break
    return max(0, total)


def shares_above(outputs: Sequence[tuple[int, int]], places: int, threshold: Fraction) -> list[bool | None]:
    """Say of each output whether its share in the softmax is surely above a threshold, or surely not; else None.

    With T = a / b the share e_k / Σ e_j is above T iff (b − a)·e_k > a·Σ e_j over the others.

    Args:
        outputs: bounds of each output, in units of 2^−places.
        places: binary digits, to which powers are bounded too.
        threshold: T.
    """
    most, unit = max(high for _, high in outputs), 1 << places
    lows = [power_below(most - low, unit, places) for low, _ in outputs]
    highs = [power_above(most - high, unit, places) for _, high in outputs]
    part, rest = threshold.numerator, threshold.denominator - threshold.numerator
    least, greatest = sum(lows), sum(highs)
    found: list[bool | None] = []
    for low, high in zip(lows, highs, strict=True):
        above, not_above = rest * low > part * (greatest - high), rest * high <= part * (least - low)
        found.append(True if above else False if not_above else None)
    return found
