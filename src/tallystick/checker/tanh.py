"""Bounds of tanh in whole numbers.

Two facts make them rigorous. Every operation is rounded towards the side of the bound, so no error has to be counted.

- Lambert: tanh r = r / (1 + z₁) with z_k = r² / (2k + 1 + z_(k+1)). For r > 0 every z_k is positive and falls as the next
  one rises: put 0 for one of them, a bound from below, and bounds from above and below take turns from there to z₁.
- tanh 2r = 2t / (1 + t²) for t = tanh r, which rises with t up to 1: bounds go to bounds.
"""

from .effort import quotient_time

_HALVINGS = 6
_DIGITS_A_TERM = 14  # a z_k is known by more than that much better than the next one, for r < 2^−_HALVINGS
_GUARD = 8


def tanh_below(numerator: int, denominator: int, places: int) -> int:
    """Return a whole number that is at most tanh(numerator / denominator)·2^places."""
    if numerator < 0:
        return -_bound(-numerator, denominator, places, above=True)
    return _bound(numerator, denominator, places, above=False)


def tanh_above(numerator: int, denominator: int, places: int) -> int:
    """Return a whole number that is at least tanh(numerator / denominator)·2^places."""
    return -tanh_below(-numerator, denominator, places)


def _bound(numerator: int, denominator: int, places: int, *, above: bool) -> int:
    if numerator == 0:
        return 0
    if numerator >= places * denominator:  # 1 − tanh x < 2·e^(−2x) < 2^−x, for such x at most 2^−places
        return (1 << places) - (not above)
    # x / 2^doublings is below 2^−_HALVINGS; each doubling at most doubles the error, so that much more is carried along.
    doublings = max(0, numerator.bit_length() - denominator.bit_length() + 1 + _HALVINGS)
    work = places + doublings + _GUARD
    t = _of_small(_divide(numerator << work, denominator << doublings, above), work, above=above)
    # What stands below is `_divide`, written out: a check spends most of its time here.
    one, twice = 1 << 2 * work, 2 * work + 1
    for _ in range(doublings):
        t = -(-(t << twice) // (one + t * t)) if above else (t << twice) // (one + t * t)
    return _divide(t, 1 << work - places, above)


def _of_small(r: int, work: int, *, above: bool) -> int:
    """Bound tanh of r·2^−work, by as many terms as make z₁ a bound from the other side."""
    square, z = r * r, 0
    terms = _terms(work) + (not above)
    for k in range(terms, 0, -1):
        divisor = ((2 * k + 1) << work) + z
        z = square // divisor if (k % 2 == 1) is above else -(-square // divisor)
    return _divide(r << work, (1 << work) + z, above)


def _terms(work: int) -> int:
    return 2 * (work // (2 * _DIGITS_A_TERM) + 1)


def _divide(dividend: int, divisor: int, above: bool) -> int:
    return -(-dividend // divisor) if above else dividend // divisor


def tanh_time(denominator: int, places: int) -> int:
    """Return about how many nanoseconds a bound takes, for a denominator of so many bits."""
    doublings = places.bit_length() + 1 + _HALVINGS
    work = places + doublings + _GUARD
    division = 200 + quotient_time(work, 2 * work)
    return 1500 + quotient_time(work, denominator) + (_terms(work) + doublings) * division
