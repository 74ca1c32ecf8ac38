"""Claims about a line in k or a polynomial in U^k: whether one fails at a k, and the first k at which it does, exactly.

The sign of a polynomial at U^k is found even where the power has millions of digits. Powers are enclosed between two dyadic
numbers of a fixed precision, which is doubled until the sign is plain. A tie needs exact arithmetic, and comes only at small
powers: for U = p/q in lowest terms, q^k divides the polynomial's leading coefficient and p^k its last one, once denominators
are cleared.

The first failing k is found by doubling and halving on stretches where the polynomial is monotone. Each power then differs
from one before in a single binary digit of its exponent, so that it takes one product more, and not all of them again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, lcm

_SHORT = 4096
_SPARE = 192
_ROUND = 64
"""Precisions are multiples of this, so that neighbouring powers share one."""

_Bounds = tuple[int, int]


@dataclass(frozen=True)
class Line:
    """The claim α·k + β > 0, or ≥ 0 where it is not strict."""

    slope: Fraction
    start: Fraction
    strict: bool

    def fails(self, k: int) -> bool:
        """Say whether the claim fails at k."""
        value = self.slope * k + self.start
        return value < 0 or (self.strict and value == 0)

    def first_failing(self, first: int, last: int | None) -> int | None:
        """Return the least k from `first` to `last` at which the claim fails."""
        if self.fails(first):
            return first
        if self.slope >= 0:
            return None
        root = self.start / -self.slope
        k = ceil(root) if self.strict else floor(root) + 1
        return k if last is None or k <= last else None


@dataclass(frozen=True)
class Quadratic:
    """The claim A·x² + B·x + C > 0 at x = U^k, or ≥ 0 where it is not strict; U > 0 and U ≠ 1."""

    A: Fraction
    B: Fraction
    C: Fraction
    U: Fraction
    strict: bool

    def fails(self, k: int) -> bool:
        """Say whether the claim fails at k."""
        sign = sign_at_power((self.C, self.B, self.A), self.U, k)
        return sign < 0 or (self.strict and sign == 0)

    def first_failing(self, first: int, last: int | None) -> int | None:
        """Return the least k from `first` to `last` at which the claim fails.

        On a stretch where the quadratic is monotone along k, either the claim fails at the start, or it fails from
        some k on, or nowhere.
        """
        if self.fails(first):
            return first
        turn = self._turning_point(first)
        if turn is not None and (last is None or turn < last):
            early = self._on_stretch(first, turn)
            return self._on_stretch(turn + 1, last) if early is None else early
        return self._on_stretch(first, last)

    def _on_stretch(self, first: int, last: int | None) -> int | None:
        if self.fails(first):
            return first
        if last is None:
            return _first_true(self.fails, first) if self._fails_in_the_end() else None
        return _halve(self.fails, first, last) if self.fails(last) else None

    def _turning_point(self, first: int) -> int | None:
        """Return the last k with x on the first side of the turning point −B/2A, if x ever passes it."""
        if self.A == 0:
            return None
        place = -self.B / (2 * self.A)
        towards = 1 if self.U > 1 else -1  # x rises to infinity, or falls to 0

        def passed(k: int) -> bool:
            return sign_at_power((-place, Fraction(1)), self.U, k) == towards

        if place <= 0 or passed(first):
            return None
        return _first_true(passed, first) - 1

    def _fails_in_the_end(self) -> bool:
        """Say whether the claim fails as k → ∞, given that it holds at the start of a monotone stretch without end.

        For U < 1 the values tend to C from one side: a limit of 0 is never passed. For U > 1 the highest power decides.
        """
        if self.U < 1:
            return self.C < 0
        return next((power < 0 for power in (self.A, self.B) if power), False)


def _first_true(holds: Callable[[int], bool], first: int) -> int:
    """Return the least k from which a claim holds: it does not at `first`, it will, and then it stays."""
    reach = 1
    while not holds(first + reach):
        reach *= 2
    return _halve(holds, first + reach // 2, first + reach)


def _halve(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least k at which a claim holds, between one where it does not and one where it does."""
    while high - low > 1:
        middle = _roundest(low, high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _roundest(low: int, high: int) -> int:
    """Return the number between two that ends in the most binary zeros: its power takes one product more than one before it.

    >>> _roundest(low=5, high=13), _roundest(low=8, high=13)
    (8, 12)
    """
    place = (low ^ (high - 1)).bit_length() - 1
    return (high - 1) >> place << place


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
        low, high = _bounds(coefficients, *_powers(U, precision).at(k), precision)
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


def _bounds(coefficients: Sequence[Fraction], low: int, high: int, precision: int) -> _Bounds:
    """Return bounds of the polynomial over an interval of positive x, times a positive number: each term is monotone there."""
    common = lcm(*(Fraction(c).denominator for c in coefficients))
    degree = len(coefficients) - 1
    least = most = 0
    for power, c in enumerate(coefficients):
        whole = int(c * common) << precision * (degree - power)
        ends = whole * low**power, whole * high**power
        least, most = least + min(ends), most + max(ends)
    return least, most
