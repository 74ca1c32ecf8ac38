"""All lengths of a linear cell with U > 0 in real numbers, however many.

U^i > 0 is the weight of the token that i others follow. So exchanging a `)` for a `(` moves h one way everywhere, and the
extremes for given n are the sorted strings. The strings of one class are those with n in a range; the extremes of h over
them are sorted strings at the ends of the range. If these are right then all are, since a readout's classes are intervals of h.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

from .claim import CLASSES, Claim, Model
from .finding import require
from .powers import sign, sign_of


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
    linear = claim.arithmetic == "real" and claim.model.cell == "linear"
    return linear and claim.model.readout != "zero" and claim.model.weights[0] > 0


def check_sorted(claim: Claim) -> None:
    """Every counted length to the horizon is right: the lengths 2k + r of each parity r by themselves."""
    require(sortable(claim), "sorted strings decide only for a linear cell with U > 0 in real numbers")
    for r in range(0, 2, claim.stride):
        first, last = 1 - r, (claim.horizon - r) // 2
        for older, younger, right in _decisive_strings(claim.model.readout, r) if first <= last else ():
            for side in _sides(claim.model, right):
                held = _holds_from_to(claim.model, older, younger, r, side, first, last)
                require(held, f"a string of a length to {claim.horizon} fails")


def class_of_sorted(model: Model, runs: list[tuple[int, int]]) -> int:
    """Return the class of a string of at most two runs, without going along it."""
    length, younger = sum(size for _, size in runs), sum(size for _, size in runs[1:])

    def holds(side: Side) -> bool:
        return side.holds(_sign(model, runs[0][0], length, (younger, younger), side))

    return next(i for i in range(len(CLASSES[model.readout])) if all(map(holds, _sides(model, i))))


def _decisive_strings(readout: str, r: int) -> Iterator[tuple[int, int | None, int]]:
    """Go through the strings at the ends of classes: older token, size of the younger run less k (None: no such run), class."""
    top = len(CLASSES[readout]) - 1
    yield from ((1, None, 0), (0, None, top))
    three = readout == "ternary" and r == 0
    for n, m, right in ((-1, 1, 0), (0, 0, 1), (1, -1, 2)) if three else ((0, r, 0), (1, r - 1, top)):
        yield from ((0, m, right), (1, n, right))


def _sides(model: Model, index: int) -> Iterator[Side]:
    """Go through the comparisons that make up a class; the lowest index wins a tie."""
    if model.readout == "binary":
        v, c = model.lines[0]
        yield Side(v, c, strict=True) if index else Side(-v, -c, strict=False)
        return
    v, c = model.lines[index]
    for other, (w, d) in enumerate(model.lines):
        if other != index:
            yield Side(v - w, c - d, strict=other < index)


def _holds_from_to(model: Model, older: int, younger: int | None, r: int, side: Side, first: int, last: int) -> bool:
    """Say whether a comparison holds for every k from first to last.

    It asks for the sign of a quadratic in x = U^k, or of a line in k for U = 1. Between x and y a quadratic is a mean, with
    positive weights, of its values there and of C + B·(x + y)/2 + A·x·y: if that is not negative either, the comparison holds
    between them. Else the range is halved, down to neighbours.
    """

    def coefficient(j: int, k: int) -> int:
        sizes = (0, 0) if younger is None else (j + younger, k + younger)
        return _sign(model, older, j + k + r, sizes, side)

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


def _sign(model: Model, older: int, length: int, younger: tuple[int, int], side: Side) -> int:
    """Return the sign of weight·h + bias at a sorted string, its N tokens ending in a run of m.

    With o for the older step and y for the younger, (U − 1)·h = o·U^N + (y − o)·U^m − y, and h = (N − m)·o + m·y for U = 1.
    Two sizes m stand for the mean of their powers, of which `_holds_from_to` makes use.
    """
    A, B, C = _coefficients(model, older, side)
    if model.weights[0] == 1:
        return sign_of(A * length + B * sum(younger) + C)
    return sign([(A, length), (B, younger[0]), (B, younger[1]), (C, 0)], model.weights[0])


@lru_cache(maxsize=64)
def _coefficients(model: Model, older: int, side: Side) -> tuple[int, int, int]:
    """Return whole numbers in the ratio of what U^N (or N), the mean of two U^m (or m) and 1 come with."""
    U, o, y = model.weights[0], model.steps[older], model.steps[1 - older]
    w, c = side.weight, side.bias
    exact = (2 * w * o, w * (y - o), 2 * c if U == 1 else 2 * (c * (U - 1) - w * y))
    common = lcm(*(number.denominator for number in exact)) * (-1 if U < 1 else 1)
    A, B, C = (int(number * common) for number in exact)
    return A, B, C
