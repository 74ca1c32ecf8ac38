"""The horizon of a linear cell in real arithmetic, decided completely, by a few sorted strings per length.

**Few strings decide a length.** Let U > 0. The token that i others follow has the weight U^i > 0, so exchanging one `)` for `(`
moves h by (a − b)·U^i, in the same direction everywhere: over the strings with n opening brackets both extremes move that way
with n. And the extremes themselves are the two sorted strings. Strings of one right class are those whose n lies in one range,
so the extremes of h over the whole class are found among the sorted strings at the two ends of the range. A readout's classes
are intervals of h, so a length is right iff these few strings are: no count in between needs a look.

**All lengths at once**, in steps that grow with the logarithm of the horizon. Let N = 2k + r and x = U^k. By the closed form each
critical string has (U − 1)·h = A·x² + B·x + C, with A, B, C free of k:

    (ⁿ)ᵐ   a·U^(n+m) + (b − a)·U^m − b        )ᵐ(ⁿ   b·U^(n+m) + (a − b)·U^n − a        (a single run: B = 0)

A comparison of a readout asks for the sign of such a quadratic. It has one turning point, and x moves one way with k, so along k
the quadratic is monotone up to some place and monotone after it: on each side a first failing k is found by doubling and halving,
and whether there is one at all follows from the first value and the limit. Each power that is tried differs from one before in a
single binary digit of its exponent, so that it takes one product more. For U = 1 h is linear in k.

**The sign at U^k** is found even where the power has millions of digits. Powers are enclosed between two dyadic numbers of a
fixed precision, which is doubled until the sign is plain. A tie needs exact arithmetic, and comes only at small powers: for
U = p/q in lowest terms, q^k divides the quadratic's leading coefficient and p^k its last one, once denominators are cleared.

**Without a failing k the horizon is unlimited, and then U = 1 and b = −a.** For a = b all strings of a length share one
state, and the first counted length fails. Let a ≠ b and U < 1. The limits of h over (ᴹ)ʲ and )ᴹ(ʲ for
M → ∞ come as near to B = b/(1 − U) and A = a/(1 − U) as we like, with positive and with negative counts; so do those of )ᴹ
and (ᴹ the other way round. Both outer classes then hold points at both ends of the interval between A and B, and intervals
that share so much are not disjoint. Let U > 1 and a ≠ 0. Then (ʲ)ᴹ for a large j and (ᴹ go to infinity in the direction of
a, one with a negative and one with a positive count: two unbounded intervals in one direction. For a = 0 and b ≠ 0, )(ᴹ
and )ᴹ do the same in the direction of b. Let U = 1: with a + b ≠ 0 the counts 0 and 1 run off in one direction.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import LinearCell
from tallystick.certificates.verdict import Failure, Lengths, Runs
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import Task
from tallystick.networks import Network, Readout
from tallystick.numbers import Number

_FEW_BITS = 4096
_SPARE = 192
_ROUND = 64
"""Precisions are multiples of this, so that neighbouring powers share one."""

_Bounds = tuple[int, int]


class Side(NamedTuple):
    """One comparison of a readout: weight·h + bias must be above 0, or at least 0 where it is not strict."""

    weight: Number
    bias: Number
    strict: bool


@dataclass(frozen=True)
class CriticalString:
    """A sorted string of length N = 2k + parity with k + `openings` and k + `closings` brackets, for every k at once.

    Attributes:
        first: the token of its first run.
        openings: n − k, or None where the string has no `)` at all.
        closings: m − k, or None where it has no `(`.
        right: the index of its right class.
    """

    first: str
    openings: int | None
    closings: int | None
    right: int

    def runs(self, length: int) -> Runs:
        """Write the string of a length out, as runs."""
        half = length // 2
        if self.openings is None or self.closings is None:
            return ((self.first, length),)
        sizes = {OPEN: half + self.openings, CLOSE: half + self.closings}
        order = (OPEN, CLOSE) if self.first == OPEN else (CLOSE, OPEN)
        return tuple((token, sizes[token]) for token in order if sizes[token])


def critical_strings(task: Task, parity: int) -> list[CriticalString]:
    """Return the strings that decide every length of one parity, for a task that asks for the sign of the count.

    >>> from tallystick.languages.tasks import BINARY
    >>> [(string.first, string.openings, string.closings) for string in critical_strings(BINARY, 0)[:3]]
    [(')', None, 0), ('(', 0, 0), (')', 0, 0)]
    """
    lowest, zero, highest = (task.index_of_count(sign) for sign in (-1, 0, 1))
    # The counts nearest to zero, and zero itself where it is one of them: there a class may end and another begin.
    nearest = [(0, 1, lowest), (1, 0, highest)] if parity else [(-1, 1, lowest), (0, 0, zero), (1, -1, highest)]
    turns = [
        count
        for place, count in enumerate(nearest)
        if any(other[-1] != count[-1] for other in nearest[max(0, place - 1) : place + 2])
    ]
    found = [CriticalString(first, *count) for count in turns for first in (OPEN, CLOSE)]
    return [CriticalString(CLOSE, None, 0, lowest), *found, CriticalString(OPEN, 0, None, highest)]


def sides(readout: Readout, index: int) -> list[Side]:
    """Return the comparisons that make a class of a single unit's h."""
    return [Side(form.weight[0], form.bias, form.strict) for form in readout.forms(index)]


def right_at_zero(models: Network) -> NDArray[np.bool_]:
    """Say which networks give h = 0 the class of the count 0: a comparison of biases, whose sign floats get right."""
    needed = sides(models.readout, models.task.index_of_count(0))
    return np.logical_and.reduce([side.bias > 0 if side.strict else side.bias >= 0 for side in needed])


def first_failure(model: Network, lengths: Lengths) -> Failure | None:
    """Return a shortest failing string of a linear cell with U > 0 and a binary or ternary readout, or None.

    The weights must be rationals.
    """
    best: tuple[int, CriticalString] | None = None
    for parity in range(0, 2, lengths.stride):
        for string in critical_strings(model.task, parity):
            for side in sides(model.readout, string.right):
                # No need to look for a later failure than the best one so far.
                last = None if best is None else (best[0] - 1 - parity) // 2
                k = _first_failing(model.cell, string, side, parity, last)
                if k is not None:
                    best = (2 * k + parity, string)
    return None if best is None else _failure(model, *best)


def _failure(model: Network, length: int, string: CriticalString) -> Failure:
    classes = model.task.classes
    wrong = next(
        index for index in range(len(classes)) if index != string.right and _holds(model, length, string, index)
    )
    return Failure(string.runs(length), classes[wrong], classes[string.right])


def _holds(model: Network, length: int, string: CriticalString, index: int) -> bool:
    """Say whether a string gets a class."""
    k, parity = divmod(length, 2)
    return not any(_comparison(model.cell, string, side, parity).fails(k) for side in sides(model.readout, index))


def _first_failing(cell: object, string: CriticalString, side: Side, parity: int, last: int | None) -> int | None:
    first = 1 - parity  # the lengths start at 2 and at 1
    if last is not None and last < first:
        return None
    return _comparison(cell, string, side, parity).first_failing(first, last)


def _comparison(cell: object, string: CriticalString, side: Side, parity: int) -> "Quadratic | Line":
    assert isinstance(cell, LinearCell)
    a, b, U = cell.open_step, cell.close_step, cell.recurrent_weight
    w, c = Fraction(side.weight), Fraction(side.bias)
    if U == 1:
        per_step, start = _line(a, b, string, parity)
        return Line(w * per_step, w * start + c, side.strict)
    A, B, C = _quadratic(a, b, U, string, parity)
    # Divided by U − 1: its sign matters, its size does not.
    sign = 1 if U > 1 else -1
    return Quadratic(sign * w * A, sign * w * B, sign * (w * C + c * (U - 1)), U, side.strict)


def _line(a: Fraction, b: Fraction, string: CriticalString, parity: int) -> tuple[Fraction, Fraction]:
    """Return the slope and the start of h = n·a + m·b as a line in k."""
    if string.closings is None or string.openings is None:
        step = a if string.first == OPEN else b
        return 2 * step, parity * step
    return a + b, string.openings * a + string.closings * b


def _quadratic(
    a: Fraction, b: Fraction, U: Fraction, string: CriticalString, parity: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Return A, B and C in (U − 1)·h = A·x² + B·x + C."""
    older, younger = (a, b) if string.first == OPEN else (b, a)
    if string.closings is None or string.openings is None:
        return older * U**parity, Fraction(0), -older
    size = string.closings if string.first == OPEN else string.openings  # of the younger run, less k
    return older * U**parity, (younger - older) * U**size, -younger


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
    while size > _FEW_BITS and precision < size:
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
