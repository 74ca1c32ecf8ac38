"""Linear inequalities in a few variables: have they a solution, and between what lies a form where they hold?

A row (w, c, strict) says w·x + c ≥ 0, or > 0. Variables are eliminated one by one (Fourier and Motzkin): every lower bound of a
variable must be below every upper one. A row with whole variables alone is tightened: divided by what its weights share, its
constant can be rounded down. So "no solution" is a proof, also where only whole solutions are asked for; "perhaps" is none.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import floor, gcd, lcm
from typing import NamedTuple

from .answers import TooCostly

_MOST_ROWS = 1500

Form = tuple[Fraction, ...]
"""Weights of the variables, and a constant last."""


class Row(NamedTuple):
    """A form that is at least 0, or above 0 where that is strict, its numbers whole."""

    weights: tuple[int, ...]
    constant: int
    strict: bool


def row_of(form: Form, *, strict: bool) -> Row:
    """Write an inequality in whole numbers."""
    common = lcm(*(number.denominator for number in form))
    *weights, constant = (int(number * common) for number in form)
    return Row(tuple(weights), constant, strict)


def has_no_solution(rows: Iterable[Row], whole: tuple[bool, ...]) -> bool:
    """Say whether rows surely have no solution in which the variables marked as whole are whole."""
    return _eliminated(rows, whole, range(len(whole))) is None


def bounds_of(
    form: Form, rows: Iterable[Row], whole: tuple[bool, ...]
) -> tuple[Fraction | None, Fraction | None] | None:
    """Return bounds of a form where rows hold; None in their place where it has none, and None where rows have no solution."""
    size = len(whole)
    common = lcm(*(number.denominator for number in form))
    *weights, constant = (int(number * common) for number in form)
    widened = [Row((*row.weights, 0), row.constant, row.strict) for row in rows]
    equal = Row((*weights, -common), constant, False)
    widened += [equal, Row(tuple(-w for w in equal.weights), -constant, False)]
    left = _eliminated(widened, (*whole, False), range(size))
    if left is None:
        return None
    lows = [Fraction(-row.constant, row.weights[-1]) for row in left if row.weights[-1] > 0]
    highs = [Fraction(row.constant, -row.weights[-1]) for row in left if row.weights[-1] < 0]
    return max(lows, default=None), min(highs, default=None)


def _eliminated(rows: Iterable[Row], whole: tuple[bool, ...], variables: Iterable[int]) -> list[Row] | None:
    """Return what rows say without some variables; None where they contradict each other."""
    left = _tightened(rows, whole)
    waiting = set(variables)
    while waiting and left is not None:
        fixed = _fixed(left)
        variable = min(waiting, key=lambda place: (place not in fixed, _cost(left or [], place)))
        waiting.remove(variable)
        above = [row for row in left if row.weights[variable] > 0]
        below = [row for row in left if row.weights[variable] < 0]
        others = [row for row in left if not row.weights[variable]]
        if len(above) * len(below) + len(others) > _MOST_ROWS:
            raise TooCostly("the inequalities of a closed form are too many")
        left = _tightened([*others, *(_combined(low, high, variable) for low in above for high in below)], whole)
    return left


def _fixed(rows: list[Row]) -> set[int]:
    """Return the variables that are known; without them first, rows of whole variables are tightened the most."""
    least = {row.weights: row.constant for row in rows if sum(map(bool, row.weights)) == 1}
    pairs = ((weights, least.get(tuple(-weight for weight in weights))) for weights in least)
    return {
        next(place for place, weight in enumerate(weights) if weight)
        for weights, opposite in pairs
        if opposite is not None and least[weights] + opposite == 0
    }


def _cost(rows: list[Row], variable: int) -> int:
    above = sum(row.weights[variable] > 0 for row in rows)
    below = sum(row.weights[variable] < 0 for row in rows)
    return above * below - above - below


def _combined(low: Row, high: Row, variable: int) -> Row:
    p, q = -high.weights[variable], low.weights[variable]
    weights = tuple(p * x + q * y for x, y in zip(low.weights, high.weights, strict=True))
    return Row(weights, p * low.constant + q * high.constant, low.strict or high.strict)


def _tightened(rows: Iterable[Row], whole: tuple[bool, ...]) -> list[Row] | None:
    """Return rows with no common factor, the strongest of those with the same weights; None where one cannot hold."""
    strongest: dict[tuple[int, ...], tuple[Fraction, bool]] = {}
    for weights, constant, strict in rows:
        shared = gcd(*weights)
        if shared == 0:
            if constant < 0 or (strict and constant == 0):
                return None
            continue
        least, keeps = Fraction(constant, shared), strict
        if all(whole[place] for place, weight in enumerate(weights) if weight):
            least, keeps = Fraction(floor(Fraction(constant - strict, shared))), False
        key = tuple(weight // shared for weight in weights)
        old = strongest.get(key)
        if old is None or (least, not keeps) < (old[0], not old[1]):
            strongest[key] = least, keeps
    found: list[Row] = []
    for weights, (least, strict) in strongest.items():
        opposite = strongest.get(tuple(-weight for weight in weights))
        if opposite is not None and (least + opposite[0] < 0 or (least + opposite[0] == 0 and (strict or opposite[1]))):
            return None
        scale = least.denominator
        found.append(Row(tuple(weight * scale for weight in weights), least.numerator, strict))
    return found
