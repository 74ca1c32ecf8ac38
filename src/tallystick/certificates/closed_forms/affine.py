"""Numbers that are affine functions on a polyhedron, so that a cell's own step runs on all its points at once.

A sum or a multiple of such numbers is another one. max(0, x) is x, or 0, where x has one sign on the whole polyhedron; where it
has not, the polyhedron is cut in two and the step runs on each part (`paths`). tanh and the sigmoid rise, so they are kept as
such (`Rising`): two of the same kind compare as what they are taken of, and against anything else bounds do.

As executed every operation is rounded. A number whose variables are whole has a unit of which it is a multiple; while it stays
below 2^p such units, p the digits of the format, nothing is rounded. A number that is the same everywhere is rounded as it is.
Anything else is a `Rising` of its own, since rounding never turns an order around; to add to it raises `Rounds`, which says from
where on it is rounded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn

from tallystick.certificates.closed_forms.paths import Path
from tallystick.certificates.closed_forms.polyhedra import Form, Undecided
from tallystick.errors import BadInput
from tallystick.numbers import Number, exact, hyperbolic_tangent, positive_part, sigmoid
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.floats import FloatFormat, nearest
from tallystick.numbers.operations import unit_step

_DIGITS = 256
_ERROR = 8
"""How many units in the last place a library's tanh or exp is off at the most."""

ROUND = "round"
"""In the place of an activation: a number is rounded to the format."""


class Rounds(Undecided):
    """An operation rounds, in different ways at different points: where a form is above 0 on a polyhedron."""

    def __init__(self, rounded: "Rising") -> None:
        super().__init__("an operation rounds")
        assert isinstance(rounded.inner, Affine)
        self.polyhedron = rounded.path.polyhedron
        self.form = rounded.path.overflow(rounded.inner.form) or rounded.path.constant(Fraction(1))


def number_of(path: Path, form: Form) -> "Affine | Rising":
    """Return a number as a path's arithmetic holds it."""
    if path.form is None:
        return Affine(path, form)
    if form.is_constant:
        return Affine(path, Form(form.weights, _nearest(form.constant, path.form)))
    exactly = Affine(path, form)
    return exactly if path.overflow(form) is None else Rising(path, ROUND, exactly)


def _nearest(value: Fraction, form: FloatFormat) -> Fraction:
    try:
        return exact(nearest(value, form))
    except BadInput:
        raise Undecided("a number leaves the range of the format") from None


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

    def __add__(self, other: Number) -> "Rising | Near":
        other = number_on(self.path, other)
        if isinstance(other, Affine) and other.is_zero:
            return self
        self._require_exact()
        return self.enclosure() + other

    def __mul__(self, other: Number) -> "Affine | Near | Rising":
        other = number_on(self.path, other)
        if isinstance(other, Affine) and other.form.is_constant and other.form.constant in (0, 1):
            return self if other.form.constant else other
        self._require_exact()
        return self.enclosure() * other

    def _require_exact(self) -> None:
        if self.name == ROUND:
            raise Rounds(self)

    def enclosure(self) -> "Near":
        """Return bounds: the activation of the least and of the greatest value of what it is taken of."""
        inner = self.inner.enclosure()
        least, most = inner.range()
        low, high = _RANGES[self.name]
        low = low if least is None else _bounds(self.name, least, self.path.form)[0]
        high = high if most is None else _bounds(self.name, most, self.path.form)[1]
        return Near(self.path, self.path.constant(Fraction(0)), low, high)


@dataclass(frozen=True, eq=False)
class Near(_Algebra):
    """A number between form + low and form + high, of which each may be missing."""

    path: Path
    form: Form
    low: Fraction | None
    high: Fraction | None

    def __add__(self, other: Number) -> "Near":
        other = number_on(self.path, other).enclosure()
        if self.path.form is not None and not (other.is_zero or self.is_zero):
            raise Undecided("a sum that rounds in a way that is not followed")
        return Near(self.path, sum_of(self.form, other.form), _plus(self.low, other.low), _plus(self.high, other.high))

    def __mul__(self, other: Number) -> "Affine | Near":
        other = number_on(self.path, other)
        if not isinstance(other, Affine) or not other.form.is_constant:
            raise Undecided("a product of two numbers that both vary")
        factor = other.form.constant
        if self.path.form is not None and factor not in (-1, 0, 1):
            raise Undecided("a product that rounds in a way that is not followed")
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


def sum_of(first: Form, second: Form) -> Form:
    """Add forms, of which a constant may have been made for another polyhedron."""
    if len(first.weights) == len(second.weights):
        return first.plus(second)
    form, constant = (second, first) if first.is_constant else (first, second)
    if not constant.is_constant:
        raise AssertionError("forms of different polyhedra")
    return Form(form.weights, form.constant + constant.constant)


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


_ACTIVATIONS: dict[str, Callable[[Number], Number]] = {"tanh": hyperbolic_tangent, "sigmoid": sigmoid}
_AT_ZERO = {"tanh": Fraction(0), "sigmoid": Fraction(1, 2)}


def _rising(x: Affine | Rising | Near, name: str) -> Affine | Rising:
    if isinstance(x, Affine) and x.form.is_constant:
        value, form = x.form.constant, x.path.form
        if form is not None:  # a number is executed as the library does
            return Affine(x.path, x.path.constant(exact(_ACTIVATIONS[name](nearest(value, form)))))
        if value == 0:
            return Affine(x.path, x.path.constant(_AT_ZERO[name]))
    return Rising(x.path, name, x)


for _kind in (Rising, Near):
    positive_part.register(_kind, _positive_part)
    unit_step.register(_kind, _unit_step)
for _name, _activation in _ACTIVATIONS.items():
    for _kind in (Affine, Rising, Near):
        _activation.register(_kind, partial(_rising, name=_name))  # pyright: ignore[reportFunctionMemberAccess]
for _activation in (positive_part, unit_step, hyperbolic_tangent, sigmoid):
    _activation.register(Aside, _need)


_RANGES: dict[str, tuple[Fraction | None, Fraction | None]] = {
    "tanh": (Fraction(-1), Fraction(1)),
    "sigmoid": (Fraction(0), Fraction(1)),
    ROUND: (None, None),
}


def _bounds(name: str, x: Fraction, form: FloatFormat | None) -> tuple[Fraction, Fraction]:
    """Return rationals between which an activation of a rational lies; as executed by a library that is off by a few units."""
    if name == ROUND:
        assert form is not None
        return _nearest(x, form), _nearest(x, form)
    if x == 0 and form is None:
        return _AT_ZERO[name], _AT_ZERO[name]
    with digits(_DIGITS):
        found = _ACTIVATIONS[name](ball_of(x))
        ends = (found.lower().man_exp(), found.upper().man_exp())
    low, high = (int(mantissa) * Fraction(2) ** int(exponent) for mantissa, exponent in ends)
    if form is not None:
        slack = _ERROR * form.unit
        low, high = low - abs(low) * slack - form.least, high + abs(high) * slack + form.least
    least, most = _RANGES[name]
    assert least is not None
    assert most is not None
    return max(low, least), min(high, most)
