"""Comparisons of numbers that vary: where on a polyhedron one is above another."""

from fractions import Fraction
from typing import NamedTuple

from tallystick.certificates.closed_forms.affine import Affine, Rising, Symbolic
from tallystick.certificates.closed_forms.bounds import ROUND
from tallystick.certificates.closed_forms.paths import Path
from tallystick.certificates.closed_forms.polyhedra import Form, Undecided, sum_of


class Ordered(NamedTuple):
    """One number is above another, or at least equal to it where this is not strict."""

    greater: Symbolic
    less: Symbolic
    strict: bool

    def side(self) -> Form | None:
        """Return a form that is at least 0 wherever this holds, and on whole points of affine numbers nowhere else.

        None is a comparison of which nothing is known.
        """
        first, second, path = self._inner()
        one, other = first.enclosure(), second.enclosure()
        if one.high is None or other.low is None:
            return None
        form = sum_of(one.form, other.form.times(Fraction(-1)))
        form = Form(form.weights, form.constant + one.high - other.low)
        if form.is_constant:
            form = path.constant(form.constant)
        exactly = isinstance(first, Affine) and isinstance(second, Affine)
        return _strictly(form) if self.strict and path.whole and exactly else form

    def _inner(self) -> tuple[Symbolic, Symbolic, Path]:
        """Take the same activation off both sides."""
        first, second, path = self.greater, self.less, self.greater.path
        while (
            isinstance(first, Rising) and isinstance(second, Rising) and first.name == second.name and path.form is None
        ):
            first, second = first.inner, second.inner
        if self.strict:  # a number that is not above another one before rounding is not above it afterwards
            first, second = _before_rounding(first, second), _before_rounding(second, first)
        return first, second, path

    def holds(self) -> bool:
        """Say whether it holds, for numbers that are the same everywhere."""
        first, second, _ = self._inner()
        (least, most), (low, high) = first.enclosure().range(), second.enclosure().range()
        if least is None or most is None or low is None or high is None:
            raise AssertionError("numbers that vary have no order")
        low, high = least - high, most - low
        if low > 0 or (low >= 0 and not self.strict):
            return True
        if high < 0 or (high <= 0 and self.strict):
            return False
        raise Undecided("two numbers are too close to tell which is greater")


def _before_rounding(one: Symbolic, other: Symbolic) -> Symbolic:
    """Return what was rounded, where the other side is a number that rounding leaves as it is."""
    if isinstance(one, Rising) and one.name == ROUND and isinstance(other, Affine):
        return one.inner
    return one


def _strictly(form: Form) -> Form:
    if form.is_constant:
        return form if form.constant > 0 else Form(form.weights, Fraction(-1))
    return form.above_zero()
