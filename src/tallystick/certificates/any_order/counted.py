"""Numbers that count: base + slope·j for every j from 0 to `last` at once, exact whatever the order of operations.

A step on them proves something about millions of states. Each is a sum of terms that are multiples of one power of two, the unit
q. A multiple of q up to 2ᵖ·q is a number of the format. So nothing rounds where the sizes of all terms add up to no more than
2ᵖ·q, in whatever order they are added; of two terms there is one sum, which is exact where it is no more than 2ᵖ·q itself. Where
this cannot be said, what comes out is a plain `Span`.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np

from tallystick.numbers.any_order import SINGLE, Span, least_normal, span_between
from tallystick.numbers.boxes import Box
from tallystick.numbers.floats import FORMATS, FloatFormat, nearest, power_in
from tallystick.numbers.operations import positive_part

_LARGEST = FORMATS["float64"].greatest


@final
@dataclass(frozen=True, eq=False)
class Counted(Span):
    """A span whose exact sum is known for each j.

    Attributes:
        base: the sum at j = 0.
        slope: how much it grows from each j to the next.
        last: the greatest j.
        unit: a power of two that divides every term.
    """

    base: Fraction
    slope: Fraction
    last: int
    unit: Fraction

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 for every j."""
        return self.base == 0 == self.slope

    @property
    def settled(self) -> Span:
        """The numbers, added up: still counted where every sum on the way is exact."""
        if self.terms == 1:
            return self
        # Of two terms there is no sum on the way.
        size = self._most if self.terms == 2 else Fraction(float(self.size))  # noqa: PLR2004
        if size <= self.unit * 2**self.form.digits and _is_safe(self.unit, size, self.form):
            return counted(self.base, self.slope, self.last, self.form)
        return span_between(super().box, self.form)

    @property
    def line(self) -> tuple[Fraction, Fraction] | None:
        """The base and the slope of the numbers as a state keeps them; None where they are not known exactly.

        A single sum of two terms is known also where it is rounded. In a narrow format it may be kept in float32 until then,
        which must not round it as well.
        """
        settled, state = self.settled, self.form.state
        if isinstance(settled, Counted):
            return settled._stored(state)
        is_one_sum = self.terms == 2 and not self.last  # noqa: PLR2004
        once = self.form.digits >= SINGLE.digits or self._most <= self.unit * 2**SINGLE.digits
        if is_one_sum and once and _is_safe(self.unit, self._most, self.form):
            rounded = counted(exact_nearest(self.base, self.form), Fraction(0), 0, self.form)
            return rounded._stored(state)
        return None

    def _stored(self, state: FloatFormat) -> tuple[Fraction, Fraction] | None:
        """Return the base and the slope of numbers of the format as a state keeps them in its own."""
        if state.digits >= self.form.digits or (
            self._most <= self.unit * 2**state.digits and _is_safe(self.unit, self._most, state)
        ):
            return self.base, self.slope
        found = exact_nearest(self.base, state)
        return (found, Fraction(0)) if not self.last and _is_safe(power_in(found), abs(found), state) else None

    @property
    def _most(self) -> Fraction:
        """The greatest size of the exact sums."""
        return max(abs(self.base), abs(self.base + self.slope * self.last))

    @property
    def box(self) -> Box:
        """The bounds of the numbers."""
        settled = self.settled
        return Box(settled.low, settled.high)

    def __add__(self, other: "Span | int") -> Span:
        term = _term(other, self)
        if term is None:
            return super().__add__(other)
        if term.is_zero or self.is_zero:
            return self if term.is_zero else term
        base, slope, unit = self.base + term.base, self.slope + term.slope, min(self.unit, term.unit)
        size = float(np.nextafter(self.size + term.size, np.inf))
        low, high = _bounds(base, slope, self.last)
        terms = self.terms + term.terms
        return Counted(low, high, size, terms, False, self.form, base, slope, self.last, unit)

    __radd__ = __add__

    def __neg__(self) -> Span:
        return replace(self, low=-self.high, high=-self.low, base=-self.base, slope=-self.slope)

    def __mul__(self, other: "Span | int") -> Span:
        number, factor = self.settled, _term(other, self)
        if isinstance(number, Counted) and factor is not None and factor.terms == 1 and not factor.slope:
            base, slope = number.base * factor.base, number.slope * factor.base
            unit, most = power_in(base, slope), max(abs(base), abs(base + slope * self.last))
            if most <= unit * 2**self.form.digits and _is_safe(unit, most, self.form):
                return counted(base, slope, self.last, self.form)
        return span_between(number.box, self.form) * other

    __rmul__ = __mul__


def counted(base: Fraction, slope: Fraction, last: int, form: FloatFormat) -> Counted:
    """Return the numbers base + slope·j of a format, for j from 0 to `last`."""
    low, high = _bounds(base, slope, last)
    return Counted(low, high, max(abs(low), abs(high)), 1, False, form, base, slope, last, power_in(base, slope))


def exact_nearest(value: Fraction, form: FloatFormat) -> Fraction:
    """Round to the nearest number of a format."""
    return Fraction(float(nearest(value, form)))  # type: ignore[arg-type]  # a NumPy number of a real kind


def _is_safe(unit: Fraction, size: Fraction, form: FloatFormat) -> bool:
    """Say whether no multiple of the unit is so small that it may be flushed, and none so large that it may overflow."""
    return unit > Fraction(least_normal(form)) and size <= form.greatest / 2


def _bounds(base: Fraction, slope: Fraction, last: int) -> tuple[float, float]:
    """Return doubles around base + slope·j."""
    least, most = sorted((base, base + slope * last))
    return -_double_above(-least), _double_above(most)


def _double_above(value: Fraction) -> float:
    """Return the least double that is not below a number."""
    if abs(value) > _LARGEST:
        return float("inf") if value > 0 else -float(_LARGEST)
    found = float(value)
    return found if Fraction(found) >= value else float(np.nextafter(found, np.inf))


def _term(value: "Span | int", beside: Counted) -> Counted | None:
    """Return a term as a counted one: it counts itself, or is a single number known exactly."""
    if isinstance(value, Counted):
        return value
    if isinstance(value, int):
        return counted(Fraction(value), Fraction(0), beside.last, beside.form)
    if value.terms != 1 or np.ndim(value.low) or not value.low == value.high:  # noqa: SIM201 -- not a number is no number
        return None
    return counted(Fraction(float(value.low)), Fraction(0), beside.last, beside.form)


@positive_part.register
def _(x: Counted) -> Span:
    """Where the sign is the same for every j, the positive part counts too, or is 0."""
    settled = x.settled
    if isinstance(settled, Counted) and settled.low >= 0:
        return settled
    return positive_part.dispatch(Span)(settled)
