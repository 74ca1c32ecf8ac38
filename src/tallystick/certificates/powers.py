"""The sign of a polynomial at a power of a rational, exactly, even where the power has millions of digits.

Powers are enclosed between two dyadic numbers of a fixed precision, which is doubled until the sign is plain. A tie needs
exact arithmetic, and comes only at small powers: for U = p/q in lowest terms, q^k divides the polynomial's leading
coefficient and p^k its last one, once denominators are cleared.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

_SHORT = 4096
_SPARE = 192


def sign_at_power(coefficients: Sequence[Fraction], U: Fraction, k: int) -> int:
    """Return the sign of c₀ + c₁·x + c₂·x² + … at x = U^k for U > 0: −1, 0 or 1.

    >>> sign_at_power((Fraction(-8), Fraction(1)), Fraction(2), 3), sign_at_power((-1, 1), Fraction(1, 3), 10**9)
    (0, -1)
    """
    size = k * max(U.numerator.bit_length(), U.denominator.bit_length())
    # Fewer digits than these would not tell U from 1, and the error, multiplied k times, would pass all bounds.
    precision = _SPARE + k.bit_length() + U.denominator.bit_length()
    while size > _SHORT and precision < size:
        low, high = _enclosed(coefficients, *_power(U, k, precision), precision)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        precision *= 2
    x = U**k
    value = sum(c * x**power for power, c in enumerate(coefficients))
    return (value > 0) - (value < 0)


@lru_cache(maxsize=4096)
def _power(U: Fraction, k: int, precision: int) -> tuple[int, int]:
    """Return whole numbers with low ≤ U^k·2^precision ≤ high, by squaring, each product rounded outwards."""
    one = 1 << precision
    low, high = one, one
    base_low = (U.numerator << precision) // U.denominator
    base_high = -((-U.numerator << precision) // U.denominator)
    for bit in bin(k)[2:]:
        low, high = low * low >> precision, -(-high * high >> precision)
        if bit == "1":
            low, high = low * base_low >> precision, -(-high * base_high >> precision)
    return low, high


def _enclosed(coefficients: Sequence[Fraction], low: int, high: int, precision: int) -> tuple[Fraction, Fraction]:
    """Return bounds of the polynomial over an interval of positive x: each term is monotone there."""
    one = 1 << precision
    ends = [(Fraction(low, one) ** power, Fraction(high, one) ** power) for power in range(len(coefficients))]
    terms = [(c * min(pair), c * max(pair)) for c, pair in zip(coefficients, ends, strict=True)]
    return sum((min(term) for term in terms), Fraction(0)), sum((max(term) for term in terms), Fraction(0))
