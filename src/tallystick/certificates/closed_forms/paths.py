"""Computations on all points of a polyhedron at once, which is cut in two wherever they go two ways."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import TypeVar

from tallystick.certificates.closed_forms.polyhedra import Form, Polyhedron, Undecided
from tallystick.numbers.floats import FloatFormat, power_in

_MOST_PATHS = 32

Result = TypeVar("Result")


class Turns(Undecided):
    """A number changes its sign: a form is above 0 on a part of a polyhedron, and below 0 on another."""

    def __init__(self, form: Form, polyhedron: Polyhedron) -> None:
        super().__init__("a number changes its sign")
        self.form, self.polyhedron = form, polyhedron


@dataclass(eq=False)
class Path:
    """The part of a polyhedron on which a computation takes place.

    Attributes:
        polyhedron: the points that are left.
        whole: whether the variables are whole numbers.
        form: the floating point in which operations are rounded; None is real arithmetic.
        decisions: which way was taken wherever the polyhedron was cut.
        turns: whether it may be cut; else `Turns` is raised.
    """

    polyhedron: Polyhedron
    whole: bool = True
    form: FloatFormat | None = None
    decisions: list[bool] = field(default_factory=list[bool])
    turns: bool = True
    _taken: int = 0

    def begin(self, polyhedron: Polyhedron, decisions: list[bool], *, whole: bool) -> None:
        """Start a computation with the first decisions made."""
        self.polyhedron, self.whole, self.decisions, self._taken = polyhedron, whole, list(decisions), 0

    def is_above_zero(self, form: Form, *, strict: bool) -> bool:
        """Say whether a form is above 0 on what is left, which is cut where that depends; not strictly: at least 0."""
        least, most = self.polyhedron.least(form), self.polyhedron.most(form)
        if least is not None and (least > 0 or (least == 0 and not strict)):
            return True
        if most is not None and most <= 0:
            return False
        if not self.turns:
            raise Turns(form, self.polyhedron)
        if self._taken == len(self.decisions):
            self.decisions.append(True)
        above = self.decisions[self._taken]
        self._taken += 1
        above_zero = form.above_zero() if strict and self.whole else form
        self.polyhedron = self.polyhedron.cut((above_zero if above else form.times(Fraction(-1)),))
        if self.polyhedron.is_empty:  # between two whole numbers
            raise _Nowhere
        return above

    def constant(self, value: Fraction) -> Form:
        """Return a form that is the same everywhere."""
        return Form((Fraction(0),) * self.polyhedron.dimension, value)

    def overflow(self, form: Form) -> Form | None:
        """Return what is above 0 wherever a form may be rounded; None where it never is."""
        assert self.form is not None
        numbers = (*form.weights, form.constant)
        scale = lcm(*(number.denominator for number in numbers))
        unit = gcd(*(int(number * scale) for number in numbers))
        power = Fraction(unit & -unit, scale)
        if not self.whole or scale & (scale - 1) or power < self.form.least:
            return self.constant(Fraction(1))
        most = min(2**self.form.digits * power, self.form.greatest)
        for beyond in (form.minus(self.constant(most)), form.times(Fraction(-1)).minus(self.constant(most))):
            greatest = self.polyhedron.most(beyond)
            if greatest is None or greatest > 0:
                return beyond
        return None

    def without_rest(self, form: Form) -> Form | None:
        """Return a form with a constant of fewer digits to which this one is rounded, unless that is rounded itself; or None.

        >>> from tallystick.numbers.floats import FORMATS
        >>> upward = Polyhedron(1, (Form((Fraction(1),), Fraction(-1)),))  # x ≥ 1
        >>> path = Path(upward, form=FORMATS["float32"])
        >>> path.without_rest(Form((Fraction(1),), Fraction(1) + Fraction(1, 2**60))).constant
        Fraction(1, 1)
        """
        assert self.form is not None
        if not self.whole or any(weight.denominator & (weight.denominator - 1) for weight in form.weights):
            return None
        unit = power_in(*form.weights)
        for _ in range(self.form.digits):
            constant = round(form.constant / unit) * unit
            large = Form(form.weights, constant)
            if constant != form.constant and self._is_small_beside(form.constant - constant, large):
                return large
            unit /= 2
        return None

    def absorbs(self, form: Form, size: Fraction) -> bool:
        """Say whether a form that varies is a number of the format everywhere, and stays that with up to a size added to it."""
        return not form.is_constant and self.overflow(form) is None and self._is_small_beside(size, form)

    def _is_small_beside(self, rest: Fraction, form: Form) -> bool:
        """Say whether a number is less than half the way from any value of a form to its neighbours in the format.

        Below a power of two these are half as far as above it.
        """
        assert self.form is not None
        least, most = self.polyhedron.least(form), self.polyhedron.most(form)
        size = least if least is not None and least > 0 else None if most is None or most >= 0 else -most
        return size is not None and abs(rest) < self.form.last_place(size) / 4


class _Nowhere(Exception):
    """No whole point is left."""


def paths(path: Path, polyhedron: Polyhedron, run: Callable[[], Result], *, whole: bool) -> Iterator[Result]:
    """Run a computation on every part of a polyhedron on which it goes one way; `path` holds that part while it is looked at."""
    waiting: list[list[bool]] = [[]]
    count = 0
    while waiting:
        decisions = waiting.pop()
        path.begin(polyhedron, decisions, whole=whole)
        count += 1
        if count > _MOST_PATHS:
            raise Undecided("too many ways")
        try:
            result = run()
        except _Nowhere:
            result = None
        waiting.extend([*path.decisions[:place], False] for place in range(len(decisions), len(path.decisions)))
        if result is not None:
            yield result
