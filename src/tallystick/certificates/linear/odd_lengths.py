"""The zero check of a linear network at odd lengths, where x_j must not be a whole number from −(j + 1) to j (`zero_check`).

That is decided where x comes to rest: where for some period p the differences e_j = x_(j+p) − x_j shrink. They obey a
recurrence e_(j+m) = Σ c_i·e_(j+i), found from the first terms. With M its companion matrix and θ < 1 the greatest row sum of
the sizes of M^q, the sum of all |e_j| from j = K on is at most R = Σ_{i<q} max(|e_(K+i)|, …, |e_(K+i+m−1)|)/(1 − θ). So if no
whole number is within R of x_K, …, x_(K+p−1), none of the x_j from K on is one. If x grows or wanders, it is looked at as far
as the limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np

from tallystick.certificates.linear.affine import AffineNetwork
from tallystick.languages.brackets import CLOSE, OPEN

_PERIODS = (1, 2, 3, 4, 5, 6, 8, 10, 12)
_STARTS = tuple(2**place for place in range(10))
_POWERS = tuple(2**place for place in range(11))
_MOST_DIGITS = 1 << 16
"""The most binary digits of an x, or of an entry of a power."""


Rationals = list[Fraction]


@dataclass(frozen=True)
class Rest:
    """How x comes to rest: the period p, the recurrence c of its differences, the power q and the first place K."""

    period: int
    recurrence: Rationals
    power: int
    start: int


def terms_of(affine: AffineNetwork) -> Iterator[tuple[Fraction, Fraction]]:
    """Go through δ_k and γ_k for k = 0, 1, …, exactly, times one number that is not 0."""
    row, divisor = affine.outputs[0], 1
    while True:
        opening, drift = row @ affine.inputs
        yield Fraction(int(opening), divisor), Fraction(int(drift), divisor)
        row, divisor = row @ affine.matrix, divisor * affine.divisor


class OddLengths:
    """The numbers x_j = γ_2j/δ of a network for which (i) and (ii) hold, from j = 1 on."""

    def __init__(self, affine: AffineNetwork) -> None:
        self.size, self.terms = affine.size, terms_of(affine)
        self.delta, _ = next(self.terms)
        self.values = Rationals()

    def upto(self, last: int) -> Rationals:
        """Return x_1 … x_last, or fewer where they become too long: the first by the matrix, the others by a recurrence."""
        by_matrix = 3 * self.size + max(_PERIODS)
        while len(self.values) < min(last, by_matrix):
            next(self.terms)
            self.values.append(next(self.terms)[1] / self.delta)
        while by_matrix <= len(self.values) < last and self.values[-1].denominator.bit_length() < _MOST_DIGITS:
            if abs(self.values[-1].numerator).bit_length() >= _MOST_DIGITS:
                break
            before = self.values[len(self.values) - len(self._recurrence) :]
            self.values.append(_dot(self._recurrence, before))
        return self.values[:last]

    @cached_property
    def _recurrence(self) -> Rationals:
        return recurrence_of(self.upto(2 * self.size + 2)) or [Fraction(0)]

    def first_whole(self, last: int) -> int | None:
        """Return the first j up to which a string of length 2·j + 1 ends at 0."""
        for j, x in enumerate(self.upto(last), start=1):
            if x.denominator == 1 and -(j + 1) <= x <= j:
                return j
        return None

    def string(self, j: int) -> str:
        """Return a string of length 2·j + 1 that ends at 0: −j + x_j + n is 0."""
        openings = j - int(self.values[j - 1])
        return OPEN * openings + CLOSE * (2 * j + 1 - openings)

    def rest(self) -> Rest | None:
        """Return how x comes to rest away from whole numbers, with the least K that is tried."""
        for period in _PERIODS:
            values = self.upto(2 * self.size + period + 1)
            differences = [after - x for x, after in zip(values, values[period:], strict=False)]
            recurrence = recurrence_of(differences)
            power, bound = _shrinking_power(recurrence)
            if power is None:
                continue
            for start in _STARTS:
                if self._is_away(Rest(period, recurrence, power, start), bound):
                    return Rest(period, recurrence, power, start)
            return None
        return None

    def _is_away(self, rest: Rest, bound: Fraction) -> bool:
        """Say whether no whole number is within R of x_K, …, x_(K+p−1)."""
        order, place = len(rest.recurrence), rest.start - 1
        needed = place + rest.power + order + rest.period
        values = self.upto(needed)
        if len(values) < needed:
            return False
        sizes = [abs(after - x) for x, after in zip(values, values[rest.period :], strict=False)]
        total = sum(
            (max(sizes[i : i + order], default=Fraction(0)) for i in range(place, place + rest.power)),
            start=Fraction(0),
        )
        reach = total / (1 - bound) if order else Fraction(0)
        return all(floor(x + reach) < x - reach for x in values[place : place + rest.period])


def _shrinking_power(recurrence: Rationals) -> tuple[int | None, Fraction]:
    """Return q and θ for a recurrence's companion matrix; None where no power that is tried shrinks."""
    order = len(recurrence)
    if not order:
        return 1, Fraction(0)
    matrix = np.full((order, order), Fraction(0), object)
    matrix[:-1, 1:] += np.eye(order - 1, dtype=int) * Fraction(1) if order > 1 else 0
    matrix[-1] = recurrence
    try:
        if np.abs(np.linalg.eigvals(matrix.astype(np.float64))).max() >= 1:
            return None, Fraction(0)
    except (OverflowError, np.linalg.LinAlgError):
        return None, Fraction(0)
    for power in _POWERS:
        bound = max(sum(map(abs, row)) for row in matrix)
        if 2 * bound <= 1:
            return power, Fraction(bound)
        if max(entry.denominator.bit_length() for entry in matrix.flat) > _MOST_DIGITS:
            break
        matrix = matrix @ matrix
    return None, Fraction(0)


def recurrence_of(values: Rationals) -> Rationals:
    """Return the shortest c with v_(j+m) = Σ c_i·v_(j+i), by Berlekamp and Massey; 2·m values or more are needed.

    >>> recurrence_of([Fraction(n) for n in (1, 1, 2, 3, 5, 8)])
    [Fraction(1, 1), Fraction(1, 1)]
    """
    found, before = [Fraction(1)], [Fraction(1)]
    order, shift, last = 0, 1, Fraction(1)
    for place, value in enumerate(values):
        off = value + sum((c * values[place - i] for i, c in enumerate(found[1:], start=1)), start=Fraction(0))
        if not off:
            shift += 1
            continue
        longer = found + [Fraction(0)] * max(0, len(before) + shift - len(found))
        for i, c in enumerate(before):
            longer[i + shift] -= off / last * c
        if 2 * order <= place:
            order, before, last, shift = place + 1 - order, found, off, 1
        else:
            shift += 1
        found = longer
    found += [Fraction(0)] * (order + 1 - len(found))
    return [-c for c in found[order:0:-1]]


def _dot(first: Rationals, second: Rationals) -> Fraction:
    return sum((x * y for x, y in zip(first, second, strict=True)), start=Fraction(0))
