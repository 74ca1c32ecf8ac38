"""Polyhedra with rational sides, and their whole points: linear programs of a few variables, solved exactly.

A polyhedron is all x with a·x ≥ b for each of its rows. The least value of a linear form on it comes from the dual program
(max b·y over y ≥ 0 with Σ yᵢ·aᵢ = the form), which has one equation per variable and so stays small. The simplex method with
Bland's rule ends on every program, and rationals leave nothing to rounding.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, gcd, lcm
from typing import Any, NamedTuple

from tallystick.numbers.balls import quick_rational

MOST_NODES = 2_000
"""How many values a search for a whole point tries before it leaves the question open."""


class Undecided(Exception):
    """What is asked cannot be told in this way."""


class Hopeless(Undecided):
    """What is asked cannot be told in this way, nor with smaller places."""


class Form(NamedTuple):
    """The affine function w·x + c of a polyhedron's variables."""

    weights: tuple[Fraction, ...]
    constant: Fraction

    def plus(self, other: "Form") -> "Form":
        """Return the sum of two forms."""
        weights = tuple(v + w for v, w in zip(self.weights, other.weights, strict=True))
        return Form(weights, self.constant + other.constant)

    def times(self, factor: Fraction) -> "Form":
        """Return a multiple of this form."""
        return Form(tuple(factor * w for w in self.weights), factor * self.constant)

    def minus(self, other: "Form") -> "Form":
        """Return the difference of two forms."""
        return self.plus(other.times(Fraction(-1)))

    def at(self, point: tuple[Fraction, ...]) -> Fraction:
        """Return the value at a point."""
        return sum((w * x for w, x in zip(self.weights, point, strict=True)), start=self.constant)

    @property
    def is_constant(self) -> bool:
        """Whether it has the same value everywhere."""
        return not any(self.weights)

    def above_zero(self) -> "Form":
        """Return a form that is at least 0 exactly where this one is above 0, for whole variables."""
        scale = lcm(*(w.denominator for w in self.weights))
        factor = Fraction(scale, gcd(*(int(w * scale) for w in self.weights)) or 1)
        scaled = self.times(factor)
        return Form(scaled.weights, Fraction(ceil(scaled.constant) - 1))


def sum_of(first: Form, second: Form) -> Form:
    """Add forms, of which a constant may have been made for another polyhedron."""
    if len(first.weights) == len(second.weights):
        return first.plus(second)
    form, constant = (second, first) if first.is_constant else (first, second)
    if not constant.is_constant:
        raise AssertionError("forms of different polyhedra")
    return Form(form.weights, form.constant + constant.constant)


@dataclass(frozen=True)
class Polyhedron:
    """All points of `dimension` variables at which every one of the forms is at least 0.

    >>> x, y = Form((Fraction(1), Fraction(0)), Fraction(-1)), Form((Fraction(0), Fraction(1)), Fraction(2))
    >>> corner = Polyhedron(2, (x, y))  # x ≥ 1 and y ≥ −2
    >>> corner.least(Form((Fraction(3), Fraction(1)), Fraction(0))), corner.least(Form((Fraction(-1), Fraction(0)), Fraction(0)))
    (Fraction(1, 1), None)
    """

    dimension: int
    sides: tuple[Form, ...]

    def cut(self, forms: Iterable[Form]) -> "Polyhedron":
        """Return the part of it at which these forms are at least 0 too."""
        return Polyhedron(self.dimension, tuple(dict.fromkeys((*self.sides, *forms))))

    @cached_property
    def is_empty(self) -> bool:
        """Whether it has no point."""
        if any(side.is_constant and side.constant < 0 for side in self.sides):
            return True
        try:
            _solve(self._rows, (Fraction(0),) * self.dimension)
        except _Empty:
            return True
        return False

    @cached_property
    def _rows(self) -> "_Rows":
        sides = [side for side in self.sides if not side.is_constant]
        columns = [[quick_rational(side.weights[place]) for side in sides] for place in range(self.dimension)]
        return columns, [quick_rational(-side.constant) for side in sides]

    def least(self, form: Form) -> Fraction | None:
        """Return the least value of a form; None where it has none. The polyhedron must not be empty."""
        if form.is_constant:
            return form.constant
        found = _solve(self._rows, form.weights)
        return None if found is None else found + form.constant

    def most(self, form: Form) -> Fraction | None:
        """Return the greatest value of a form; None where it has none."""
        least = self.least(form.times(Fraction(-1)))
        return None if least is None else -least

    def whole_point(self, form: Form, values: range) -> tuple[tuple[Fraction, ...], int] | None:
        """Return a point of whole numbers at which a form has the first of some rising values, and that value; None without any.

        Args:
            form: whole at every whole point, and bounded from below on the polyhedron.
            values: those that count, in rising order, up to a bound beyond all that matter.
        """
        if self.is_empty:
            return None
        least, most = self.least(form), self.most(form)
        if least is None:
            raise Undecided("the form has no least value")
        skipped = max(0, -(-(ceil(least) - values.start) // values.step))
        for tried, value in enumerate(values[skipped:]):
            if most is not None and value > most:
                return None
            if tried > MOST_NODES:
                raise Undecided("no whole point near the least rational one")
            level = Form(form.weights, form.constant - value)
            point = self.cut((level, level.times(Fraction(-1))))._any_whole_point()
            if point is not None:
                return point, value
        raise Undecided("the least value lies beyond all that count")

    def _any_whole_point(self) -> tuple[Fraction, ...] | None:
        budget = [MOST_NODES]
        return next(self._whole_points((), budget), None)

    def _whole_points(self, fixed: tuple[Fraction, ...], budget: list[int]) -> Iterator[tuple[Fraction, ...]]:
        """Fix one variable after the other, each at every whole number that the others leave possible."""
        if self.is_empty:
            return
        place = len(fixed)
        if place == self.dimension:
            yield fixed
            return
        axis = Form(tuple(Fraction(int(i == place)) for i in range(self.dimension)), Fraction(0))
        least, most = self.least(axis), self.most(axis)
        if least is None or most is None:
            raise Undecided("a variable has no bounds")
        for value in range(ceil(least), floor(most) + 1):
            budget[0] -= 1
            if budget[0] < 0:
                raise Undecided("too many values to try")
            level = Form(axis.weights, Fraction(-value))
            yield from self.cut((level, level.times(Fraction(-1))))._whole_points((*fixed, Fraction(value)), budget)


_Quick = Any
"""A rational of the kind that the simplex method works on (`quick_rational`)."""

_Rows = tuple[list[list[_Quick]], list[_Quick]]
"""The sides a·x ≥ b of a polyhedron: for each variable its weights in them, and all b."""


class _Empty(Exception):
    """No point is left."""


def _solve(sides: _Rows, target: tuple[Fraction, ...]) -> Fraction | None:
    """Minimise target·x where every side is at least 0; None is no least value, and `_Empty` is raised where no x is left."""
    weights, bounds = sides
    size, columns = len(target), len(bounds)
    zero, one = (quick_rational(Fraction(value)) for value in (0, 1))
    # Σ yᵢ·aᵢ = target with y ≥ 0; every equation begins with an artificial variable of its own.
    rows: list[list[_Quick]] = []
    for place, goal in enumerate(target):
        row = [-weight for weight in weights[place]] if goal < 0 else weights[place]
        rows.append([*row, *(one if i == place else zero for i in range(size)), quick_rational(abs(goal))])
    basis = list(range(columns, columns + size))
    artificial = [zero] * columns + [-one] * size
    _maximise(rows, basis, artificial, columns + size)
    if any(place >= columns and row[-1] for place, row in zip(basis, rows, strict=True)):
        return None  # the dual has no solution: nothing bounds the target from below
    for index, place in enumerate(basis):  # an artificial variable that is still there is 0: put another in its place
        entry = next((c for c in range(columns) if rows[index][c]), None) if place >= columns else None
        if entry is not None:
            _pivot(rows, None, basis, index, entry)
    prices = [*bounds, *[zero] * size]
    if not _maximise(rows, basis, prices, columns):
        raise _Empty
    value: _Quick = sum((prices[place] * row[-1] for place, row in zip(basis, rows, strict=True)), start=zero)
    return Fraction(int(value.p), int(value.q))


def _maximise(rows: list[list[_Quick]], basis: list[int], prices: list[_Quick], columns: int) -> bool:
    """Go from basis to basis until no column pays; return whether there is a greatest value."""
    gains = list(prices)
    for place, row in zip(basis, rows, strict=True):
        if prices[place]:
            gains = [gain - prices[place] * entry for gain, entry in zip(gains, row, strict=False)]
    while True:
        entering = next((column for column in range(columns) if gains[column] > 0), None)
        if entering is None:
            return True
        ratios = [(row[-1] / row[entering], basis[i], i) for i, row in enumerate(rows) if row[entering] > 0]
        if not ratios:
            return False
        _pivot(rows, gains, basis, min(ratios)[2], entering)


def _pivot(rows: list[list[_Quick]], gains: list[_Quick] | None, basis: list[int], index: int, column: int) -> None:
    """Let a column into the basis; `gains`, what each column pays, changes with it."""
    factor = rows[index][column]
    if factor != 1:
        rows[index] = [entry / factor if entry else entry for entry in rows[index]]
    own = [(place, entry) for place, entry in enumerate(rows[index]) if entry]
    for row in (*rows[:index], *rows[index + 1 :], *([] if gains is None else [gains])):
        share = row[column]
        if share:
            for place, entry in own:
                if place < len(row):
                    row[place] -= share * entry
    basis[index] = column
