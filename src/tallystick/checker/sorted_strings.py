"""All lengths of a linear cell with U > 0 in real numbers, however many.

U^i > 0 is the weight of the token that i others follow. So exchanging a `)` for a `(` moves h one way everywhere, and the
extremes for given n are the sorted strings. The strings of one class are those with n in a range; the extremes of h over
them are sorted strings at the ends of the range. If these are right then all are, since a readout's classes are intervals of h.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple, cast

from .answers import number_text, require
from .claims import GREATEST, Claim, Model, Task
from .effort import Limit, product_time


class Side(NamedTuple):
    """A comparison: weight·h + bias is above 0, or at least 0 where it is not strict."""

    weight: Fraction
    bias: Fraction
    strict: bool

    def holds(self, sign: int) -> bool:
        """Say whether the comparison holds, given the sign of weight·h + bias."""
        return sign > 0 or (sign == 0 and not self.strict)


def sortable(claim: Claim) -> bool:
    """Say whether sorted strings decide."""
    model = claim.model
    if not isinstance(model, Model) or claim.arithmetic != "real" or model.cell != "linear":
        return False
    return model.readout.kind in ("binary", "ternary", GREATEST) and not model.task.floored and model.weights[0] > 0


def check_sorted(claim: Claim, limit: Limit) -> None:
    """Every counted length to the horizon is right: the lengths 2k + r of each parity r by themselves."""
    require(sortable(claim), "sorted strings decide only for a linear cell with U > 0 in real numbers")
    model = cast("Model", claim.model)
    for r in range(0, 2, claim.stride):
        first, last = 1 - r, (claim.horizon - r) // 2
        for older, younger, right in _decisive_strings(model.task, r) if first <= last else ():
            for side in _sides(model, right):
                held = _holds_from_to(model, older, younger, r, side, first, last, limit)
                require(held, f"a string of a length to {number_text(claim.horizon)} fails")


def class_of_sorted(model: Model, runs: list[tuple[int, int]], limit: Limit) -> int:
    """Return the class of a string of at most two runs, without going along it."""
    length, younger = sum(size for _, size in runs), sum(size for _, size in runs[1:])

    def holds(side: Side) -> bool:
        return side.holds(_sign(model, runs[0][0], length, (younger, younger), side, limit))

    return next(i for i in range(len(model.readout.decision.comparisons)) if all(map(holds, _sides(model, i))))


def _decisive_strings(task: Task, r: int) -> Iterator[tuple[int, int | None, int]]:
    """Go through the strings at the ends of classes: older token, size of the younger run less k (None: no such run), class."""
    below, zero, above = task.right
    yield from ((1, None, below), (0, None, above))
    nearest = [(0, 1, below), (1, 0, above)] if r else [(-1, 1, below), (0, 0, zero), (1, -1, above)]
    for place, (n, m, right) in enumerate(nearest):
        # Where the neighbouring counts have the same class, the range of the class goes on.
        if any(other != right for _, _, other in nearest[max(0, place - 1) : place + 2]):
            yield from ((0, m, right), (1, n, right))


def _sides(model: Model, index: int) -> Iterator[Side]:
    """Go through the comparisons that make up a class."""
    lines = [*model.lines, (Fraction(0), Fraction(0))]  # NOTHING is the last
    for greater, less, strict in model.readout.decision.comparisons[index]:
        (v, c), (w, d) = lines[greater], lines[less]
        yield Side(v - w, c - d, strict)


def _holds_from_to(
    model: Model, older: int, younger: int | None, r: int, side: Side, first: int, last: int, limit: Limit
) -> bool:
    """Say whether a comparison holds for every k from first to last.

    It asks for the sign of a quadratic in x = U^k, or of a line in k for U = 1. Between x and y a quadratic is a mean, with
    positive weights, of its values there and of C + B·(x + y)/2 + A·x·y: if that is not negative either, the comparison holds
    between them. Else the range is halved, down to neighbours.
    """

    def coefficient(j: int, k: int) -> int:
        limit.go_on(2 * k + r, 2 * last + r)
        sizes = (0, 0) if younger is None else (j + younger, k + younger)
        return _sign(model, older, j + k + r, sizes, side, limit)

    if not side.holds(coefficient(first, first)):
        return False
    ranges = [(first, last)]
    while ranges:
        low, high = ranges.pop()
        if not side.holds(coefficient(high, high)):
            return False
        if high - low > 1 and coefficient(low, high) < 0:
            middle = (low + high) // 2
            ranges += [(low, middle), (middle, high)]
    return True


def _sign(model: Model, older: int, length: int, younger: tuple[int, int], side: Side, limit: Limit) -> int:
    """Return the sign of weight·h + bias at a sorted string, its N tokens ending in a run of m.

    With o for the older step and y for the younger, (U − 1)·h = o·U^N + (y − o)·U^m − y, and h = (N − m)·o + m·y for U = 1.
    Two sizes m stand for the mean of their powers, of which `_holds_from_to` makes use.
    """
    A, B, C = _coefficients(model, older, side)
    if model.weights[0] == 1:
        return _sign_of(A * length + B * sum(younger) + C)
    return sign([(A, length), (B, younger[0]), (B, younger[1]), (C, 0)], model.weights[0], limit)


@lru_cache(maxsize=64)
def _coefficients(model: Model, older: int, side: Side) -> tuple[int, int, int]:
    """Return whole numbers in the ratio of what U^N (or N), the mean of two U^m (or m) and 1 come with."""
    U, o, y = model.weights[0], model.steps[older], model.steps[1 - older]
    w, c = side.weight, side.bias
    exact = (2 * w * o, w * (y - o), 2 * c if U == 1 else 2 * (c * (U - 1) - w * y))
    common = lcm(*(number.denominator for number in exact)) * (-1 if U < 1 else 1)
    A, B, C = (int(number * common) for number in exact)
    return A, B, C


# --- The sign of a sum of powers, even where these have millions of digits ------------------------------------------------------

Terms = list[tuple[int, int]]
"""A sum of c·U^e, as pairs of a whole number c and an exponent e ≥ 0."""

_SHORT = 1 << 16
_SPARE = 192
_ROUND = 64
"""Precisions are multiples of this, so that neighbouring powers share one."""
_HALVINGS, _MOST_KEPT = 64, 4096
"""Powers are kept for so many halvings of an exponent, and so many in all."""


def sign(terms: Terms, U: Fraction, limit: Limit) -> int:
    """Return the sign of Σ c·U^e for U > 0: exactly where powers are short, else by bounds of the powers, drawn ever closer.

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
    # Fewer digits than these would not tell U from 1, and the errors of so many factors would hide the power.
    size, precision = longest * q.bit_length(), _SPARE + longest.bit_length() + q.bit_length()
    precision += -precision % _ROUND
    while size > max(_SHORT, precision):
        powers = _powers(base, precision)
        found = [(c, powers.at(e, limit)) for c, e in terms]
        low, high = (sum(c * ends[(c > 0) is upper] for c, ends in found) for upper in (False, True))
        if low > 0 or high < 0:
            return _sign_of(low)
        precision *= 2
    limit.allow(len(terms) * 8 * product_time(size, size), f"a power of {number_text(size)} digits")
    return _sign_of(sum(c * p**e * q ** (longest - e) for c, e in terms))


def _sign_of(value: int) -> int:
    return (value > 0) - (value < 0)


class _Powers:
    """Bounds of U^e·2^precision for U < 1, by squaring, rounded down and up.

    The exponents asked for are near k and near 2k, so that halved they meet: the longest powers are kept.
    """

    def __init__(self, U: Fraction, precision: int) -> None:
        self.precision, self.known = precision, {0: (1 << precision, 1 << precision)}
        low, rest = divmod(U.numerator << precision, U.denominator)
        self.base = low, low + (rest > 0)

    def at(self, e: int, limit: Limit) -> tuple[int, int]:
        """Return the bounds of U^e."""
        halves: list[int] = []
        half = e
        while half not in self.known:
            halves.append(half)
            half >>= 1
        limit.allow(len(halves) * 3 * product_time(self.precision, self.precision), f"a power of U to {number_text(e)}")
        low, high = self.known[half]
        for half in reversed(halves):
            limit.go_on(half, e)
            low, high = low * low >> self.precision, -(-high * high >> self.precision)
            if half & 1:
                low, high = low * self.base[0] >> self.precision, -(-high * self.base[1] >> self.precision)
            if half.bit_length() + _HALVINGS > e.bit_length() and len(self.known) < _MOST_KEPT:
                self.known[half] = low, high
        return low, high


_powers = lru_cache(maxsize=4)(_Powers)
