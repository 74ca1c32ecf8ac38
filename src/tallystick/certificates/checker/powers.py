"""The sign of a sum of powers of a rational, even where these have millions of digits."""

from fractions import Fraction
from functools import lru_cache

from .finding import Refused

Terms = list[tuple[int, int]]
"""A sum of c·U^e, as pairs of a whole number c and an exponent e ≥ 0."""

_SHORT = 1 << 16
_PRECISIONS = (256, 1024, 4096, 1 << 14)


def sign(terms: Terms, U: Fraction) -> int:
    """Return the sign of Σ c·U^e for U > 0: exactly where powers are short, else by bounds of the powers.

    A power of U as a factor does not change it, so U < 1 and a least exponent of 0 may be had.
    """
    base, direction = (1 / U, -1) if U > 1 else (U, 1)
    totals: dict[int, int] = {}
    for c, e in terms:
        totals[direction * e] = totals.get(direction * e, 0) + c
    least = min((e for e, c in totals.items() if c), default=0)
    terms = [(c, e - least) for e, c in totals.items() if c]
    longest = max((e for _, e in terms), default=0)
    p, q = base.numerator, base.denominator
    if longest * q.bit_length() <= _SHORT:
        return sign_of(sum(c * p**e * q ** (longest - e) for c, e in terms))
    for precision in _PRECISIONS:
        powers = [(c, _power(base, e, precision)) for c, e in terms]
        low, high = (sum(c * ends[(c > 0) is upper] for c, ends in powers) for upper in (False, True))
        if low > 0 or high < 0:
            return sign_of(low)
    raise Refused("a sum of powers is too near to 0 to tell its sign")


def sign_of(value: int) -> int:
    """Return −1, 0 or 1."""
    return (value > 0) - (value < 0)


@lru_cache(maxsize=4096)
def _power(U: Fraction, e: int, precision: int) -> tuple[int, int]:
    """Return bounds of U^e·2^precision for U < 1: by squaring, rounded down and up."""
    one = 1 << precision
    base = U.numerator * one // U.denominator
    low = high = one
    for bit in bin(e)[2:]:
        low, high = low * low >> precision, -(-high * high >> precision)
        if bit == "1":
            low, high = low * base >> precision, -(-high * (base + 1) >> precision)
    return low, high
