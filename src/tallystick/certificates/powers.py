"""The sign of a polynomial at a power of a rational, exactly, even where the power has millions of digits.

Powers are enclosed between two dyadic numbers of a fixed precision, which is doubled until the sign is plain. A tie needs
exact arithmetic, and comes only at small powers: for U = p/q in lowest terms, q^k divides the polynomial's leading
coefficient and p^k its last one, once denominators are cleared.

Whoever looks for the first of many powers halves a range. Each power then differs from one before in a single binary digit
of its exponent, so that it is one product more, and not a way from the start.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import lcm

_SHORT = 4096
_SPARE = 192
_ROUND = 64
"""Precisions are multiples of this, so that neighbouring powers share one."""

_Bounds = tuple[int, int]


def sign_at_power(coefficients: Sequence[Fraction], U: Fraction, k: int) -> int:
    """Return the sign of c₀ + c₁·x + c₂·x² + … at x = U^k for U > 0: −1, 0 or 1.

    >>> sign_at_power((Fraction(-8), Fraction(1)), Fraction(2), 3), sign_at_power((-1, 1), Fraction(1, 3), 10**9)
    (0, -1)
    """
    size = k * max(U.numerator.bit_length(), U.denominator.bit_length())
    # Fewer digits than these would not tell U from 1, and the error, multiplied k times, would pass all bounds.
    precision = _SPARE + k.bit_length() + U.denominator.bit_length()
    precision += -precision % _ROUND
    while size > _SHORT and precision < size:
        low, high = _enclosed(coefficients, *_powers(U, precision).at(k), precision)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        precision *= 2
    x = U**k
    value = sum(c * x**power for power, c in enumerate(coefficients))
    return (value > 0) - (value < 0)


class _Powers:
    """Bounds low ≤ U^k·2^precision ≤ high in whole numbers, each product rounded outwards; kept, one made from another."""

    def __init__(self, U: Fraction, precision: int) -> None:
        self.precision = precision
        low, rest = divmod(U.numerator << precision, U.denominator)
        self.squares: list[_Bounds] = [(low, low + (rest > 0))]  # of U^(2^i)
        self.known: dict[int, _Bounds] = {0: (1 << precision, 1 << precision)}

    def at(self, k: int) -> _Bounds:
        """Return the bounds of U^k, from the nearest known power whose exponent's last binary digits are missing."""
        missing: list[int] = []
        while k not in self.known:
            missing.append((k & -k).bit_length() - 1)
            k &= k - 1
        found = self.known[k]
        for place in reversed(missing):
            found, k = self._times(found, self._square(place)), k + (1 << place)
            self.known[k] = found
        return found

    def _square(self, place: int) -> _Bounds:
        while place >= len(self.squares):
            self.squares.append(self._times(self.squares[-1], self.squares[-1]))
        return self.squares[place]

    def _times(self, first: _Bounds, second: _Bounds) -> _Bounds:
        return first[0] * second[0] >> self.precision, -(-first[1] * second[1] >> self.precision)


_powers = lru_cache(maxsize=8)(_Powers)


def _enclosed(coefficients: Sequence[Fraction], low: int, high: int, precision: int) -> _Bounds:
    """Return bounds of the polynomial over an interval of positive x, times a positive number: each term is monotone there."""
    common = lcm(*(Fraction(c).denominator for c in coefficients))
    degree = len(coefficients) - 1
    least = most = 0
    for power, c in enumerate(coefficients):
        whole = int(c * common) << precision * (degree - power)
        ends = whole * low**power, whole * high**power
        least, most = least + min(ends), most + max(ends)
    return least, most
