"""Numbers that are affine functions on a polyhedron, so that a cell's own step runs on all its points at once.

A sum or a multiple of such numbers is another one. max(0, x) is x, or 0, where x has one sign on the whole polyhedron; where it
has not, the polyhedron is cut in two and the step runs on each part (`paths`). tanh and the sigmoid rise, so they are kept as
such (`Rising`): two of the same kind compare as what they are taken of, and against anything else bounds do.

As executed every operation is rounded. A number whose variables are whole has a unit of which it is a multiple; while it stays
below 2^p such units, p the digits of the format, nothing is rounded. A number that is the same everywhere is rounded as it is.
What is small enough beside such a number to be rounded away everywhere leaves it as it is. Anything else is a `Rising` of its
own, since rounding never turns an order around; to add to it raises `Rounds`, which says from where on it is rounded.

tanh and the sigmoid of a number that is the same everywhere are what NumPy executes; of one that is saturated everywhere they are
the number that they tend to. All others are known between bounds, whose sums and products are rounded outside in: rounding rises.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, NoReturn

from tallystick.certificates.closed_forms.bounds import (
    ACTIVATIONS,
    AT_ZERO,
    RANGES,
    ROUND,
    bounds_of,
    executed,
    limit_of,
    rounded,
)
from tallystick.certificates.closed_forms.paths import Path
from tallystick.certificates.closed_forms.polyhedra import Form, Undecided, sum_of
from tallystick.numbers import Number, hyperbolic_tangent, positive_part, sigmoid
from tallystick.numbers.operations import unit_step


class Rounds(Undecided):
    """An operation rounds, in different ways at different points: where a form is above 0 on a polyhedron."""

    def __init__(self, rounded: "Rising") -> None:
        super().__init__("an operation rounds")
        assert isinstance(rounded.inner, Affine)
        path, form = rounded.path, rounded.inner.form
        self.polyhedron = path.polyhedron
        self.form = path.overflow(path.without_rest(form) or form) or path.constant(Fraction(1))


def number_of(path: Path, form: Form) -> "Affine | Rising":
    """Return a number as a path's arithmetic holds it."""
    if path.form is None:
        return Affine(path, form)
    if form.is_constant:
        return Affine(path, Form(form.weights, rounded(form.constant, path.form)))
    if path.overflow(form) is None:
        return Affine(path, form)
    large = path.without_rest(form)
    if large is not None and path.overflow(large) is None:
        return Affine(path, large)
    return Rising(path, ROUND, Affine(path, form))


def between(path: Path, low: Fraction, high: Fraction) -> "Affine | Near":
    """Return a number of the path's format that lies between the roundings of two numbers."""
    assert path.form is not None
    low, high = rounded(low, path.form), rounded(high, path.form)
    zero = path.constant(Fraction(0))
    return Affine(path, path.constant(low)) if low == high else Near(path, zero, low, high)


class _Algebra:
    """What every number here has in common: a plain number beside it is one of its kind."""

    __array_ufunc__ = None
    path: Path

    def __radd__(self, other: Number) -> Any:  # noqa: ANN401 -- a number of these
        return number_on(self.path, other) + self

    def __sub__(self, other: Number) -> Any:  # noqa: ANN401
        return self + (-1) * number_on(self.path, other)

    def __rsub__(self, other: Number) -> Any:  # noqa: ANN401
        return number_on(self.path, other) + (-1) * self

    def __neg__(self) -> Any:  # noqa: ANN401
        return (-1) * self

    def __rmul__(self, other: Number) -> Any:  # noqa: ANN401
        return self * other


@dataclass(frozen=True, eq=False)
class Affine(_Algebra):
    """An affine function of the variables of a path's polyhedron."""

    path: Path
    form: Form

    def __add__(self, other: Number) -> "Symbolic":
        other = number_on(self.path, other)
        if isinstance(other, Affine):
            return number_of(self.path, sum_of(self.form, other.form))
        return other + self

    def __mul__(self, other: Number) -> "Affine | Near | Rising":
        other = number_on(self.path, other)
        if not isinstance(other, Affine):
            return other * self
        if not other.form.is_constant and not self.form.is_constant:
            raise Undecided("a product of two numbers that both vary")
        factor, form = (other.form.constant, self.form) if other.form.is_constant else (self.form.constant, other.form)
        return number_of(self.path, form.times(factor))

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 everywhere."""
        return self.form.is_constant and self.form.constant == 0

    def enclosure(self) -> "Near":
        """Return itself, known exactly."""
        return Near(self.path, self.form, Fraction(0), Fraction(0))


@dataclass(frozen=True, eq=False)
class Rising(_Algebra):
    """An activation that rises, taken of a number; or a number that is rounded."""

    path: Path
    name: str
    inner: "Affine | Rising | Near"

    def __add__(self, other: Number) -> "Symbolic":
        other = number_on(self.path, other)
        if isinstance(other, Affine) and other.is_zero:
            return self
        self._require_exact()
        return self.settled() + other

    def __mul__(self, other: Number) -> "Affine | Near | Rising":
        other = number_on(self.path, other)
        if isinstance(other, Affine) and other.form.is_constant and other.form.constant in (0, 1):
            if other.form.constant:
                return self
            self.require_finite()  # 0 times infinity is not a number
            return other
        self._require_exact()
        return self.settled() * other

    def require_finite(self) -> None:
        """Raise `Rounds` where this may leave the range of the format."""
        if self.name == ROUND:
            near = self.enclosure()
            if near.low is None or near.high is None:
                raise Rounds(self)

    def _require_exact(self) -> None:
        if self.name == ROUND:
            raise Rounds(self)

    def settled(self) -> "Affine | Near":
        """Return bounds, as executed on each side of 0 by itself, and at 0 the number that it is there."""
        path, inner = self.path, self.inner
        if path.form is not None and self.name != ROUND and isinstance(inner, Affine):
            below = inner.form.times(Fraction(-1))
            if not path.is_above_zero(inner.form, strict=True) and not path.is_above_zero(below, strict=True):
                return Affine(path, path.constant(executed(self.name, Fraction(0), path.form)))
        return self.enclosure()

    def enclosure(self) -> "Near":
        """Return bounds: the activation of the least and of the greatest value of what it is taken of."""
        inner = self.inner.enclosure()
        least, most = inner.range()
        low, high = RANGES[self.name]
        low = low if least is None else bounds_of(self.name, least, self.path.form)[0]
        high = high if most is None else bounds_of(self.name, most, self.path.form)[1]
        return Near(self.path, self.path.constant(Fraction(0)), low, high)


@dataclass(frozen=True, eq=False)
class Near(_Algebra):
    """A number between form + low and form + high, of which each may be missing."""

    path: Path
    form: Form
    low: Fraction | None
    high: Fraction | None

    def __add__(self, other: Number) -> "Affine | Near | Rising":
        other = number_on(self.path, other)
        near, path = other.enclosure(), self.path
        if path.form is None:
            form = sum_of(self.form, near.form)
            return Near(path, form, _plus(self.low, near.low), _plus(self.high, near.high))
        if near.is_zero or isinstance(other, Aside):
            return self
        if self.is_zero:
            return other
        low, high = self.ends()
        if isinstance(other, Affine) and path.absorbs(other.form, max(abs(low), abs(high))):
            return other
        least, most = near.ends()
        return between(path, low + least, high + most)

    def __mul__(self, other: Number) -> "Affine | Near":
        other = number_on(self.path, other)
        if self.path.form is not None:
            ends = [x * y for x, y in product(self.ends(), other.enclosure().ends())]
            return between(self.path, min(ends), max(ends))
        if not isinstance(other, Affine) or not other.form.is_constant:
            raise Undecided("a product of two numbers that both vary")
        factor = other.form.constant
        if factor == 0:
            return other
        ends = [None if end is None else factor * end for end in (self.low, self.high)]
        return Near(self.path, self.form.times(factor), *(ends if factor > 0 else reversed(ends)))

    @property
    def is_zero(self) -> bool:
        """Whether it is 0 everywhere."""
        return self.form.is_constant and self.low == self.high == -self.form.constant

    def enclosure(self) -> "Near":
        """Return itself."""
        return self

    def range(self) -> tuple[Fraction | None, Fraction | None]:
        """Return its least and greatest value; None where there is none."""
        least, most = self.path.polyhedron.least(self.form), self.path.polyhedron.most(self.form)
        return _plus(least, self.low), _plus(most, self.high)

    def ends(self) -> tuple[Fraction, Fraction]:
        """Return its least and greatest value; `Undecided` where one is missing, and it may leave the range of a format."""
        least, most = self.range()
        if least is None or most is None:
            raise Undecided("an operation that rounds in a way that is not followed")
        return least, most


class Needed(Undecided):
    """A number is needed that was left aside."""

    def __init__(self, place: int) -> None:
        super().__init__("a state that is not an affine function of what was read")
        self.place = place


@dataclass(frozen=True, eq=False)
class Aside(_Algebra):
    """A number that is left aside in the hope that no step looks at it."""

    path: Path
    place: int

    def __add__(self, other: Number) -> NoReturn:
        raise Needed(self.place)

    def __mul__(self, other: Number) -> "Affine":
        other = number_on(self.path, other)
        if isinstance(other, Affine) and other.is_zero:
            return other
        raise Needed(self.place)

    def enclosure(self) -> NoReturn:
        """Refuse."""
        raise Needed(self.place)


Symbolic = Affine | Rising | Near | Aside


def number_on(path: Path, value: Number) -> Symbolic:
    """Return a number as one of these."""
    return value if isinstance(value, Symbolic) else Affine(path, path.constant(Fraction(value)))


def _plus(first: Fraction | None, second: Fraction | None) -> Fraction | None:
    return None if first is None or second is None else first + second


@positive_part.register
def _(x: Affine) -> Affine:
    return x if x.path.is_above_zero(x.form, strict=False) else Affine(x.path, x.path.constant(Fraction(0)))


@unit_step.register
def _(x: Affine) -> Affine:
    return Affine(x.path, x.path.constant(Fraction(int(x.path.is_above_zero(x.form, strict=True)))))


def _positive_part(x: Rising | Near) -> Symbolic:
    least, most = x.enclosure().range()
    if least is not None and least >= 0:
        return x
    if most is not None and most <= 0:
        return Affine(x.path, x.path.constant(Fraction(0)))
    return Near(x.path, x.path.constant(Fraction(0)), Fraction(0), most)


def _unit_step(x: Rising | Near) -> Affine:
    least, most = x.enclosure().range()
    if (least is None or least <= 0) and (most is None or most > 0):
        raise Undecided("a step at a number that is known between bounds")
    return Affine(x.path, x.path.constant(Fraction(int(least is not None and least > 0))))


def _need(x: Aside) -> NoReturn:
    raise Needed(x.place)


def _rising(x: Affine | Rising | Near, name: str) -> Affine | Rising:
    form, near = x.path.form, x.enclosure()
    if isinstance(x, Affine) and x.form.is_constant:
        if form is not None:  # a number is executed as the library does
            return Affine(x.path, x.path.constant(executed(name, x.form.constant, form)))
        if x.form.constant == 0:
            return Affine(x.path, x.path.constant(AT_ZERO[name]))
    limit = None if form is None else limit_of(name, *near.range(), form)
    return Rising(x.path, name, x) if limit is None else Affine(x.path, x.path.constant(limit))


for _kind in (Rising, Near):
    positive_part.register(_kind, _positive_part)
    unit_step.register(_kind, _unit_step)
for _name, _activation in ACTIVATIONS.items():
    for _kind in (Affine, Rising, Near):
        _activation.register(_kind, partial(_rising, name=_name))  # pyright: ignore[reportFunctionMemberAccess]
for _activation in (positive_part, unit_step, hyperbolic_tangent, sigmoid):
    _activation.register(Aside, _need)
