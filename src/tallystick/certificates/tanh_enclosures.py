"""Tanh cells between bounds: no rational is the tanh of another one, and every library rounds tanh in its own way.

So a tanh cell steps from h to two bounds instead of one state. tanh is rising, so the bounds of a group's least and
greatest h follow from those one token shorter as ever; only, they are bounds now and no longer attained. What they decide
is decided for the cell; a failing string counts as one only if its own bounds leave no doubt.

- In real numbers the bounds are dyadic numbers of a given number of binary digits, by ball arithmetic (Arb); where they
  do not decide, more digits may.
- As executed, tanh is taken to be any number at most so many neighbours away from the correctly rounded one, and at most 1: four
  neighbours in float32 and float64; one in the 16-bit formats, whose tanh libraries compute in float32 and round. tanh 0 is 0.
  A verdict is then one about all of these libraries at once.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from tallystick.cells import Input, ScalarCell, TanhCell
from tallystick.certificates.enclosed import Bounds, Enclosed
from tallystick.errors import BadInput
from tallystick.numbers import Number, exact, float_format, format_of

TANH_NEIGHBOURS = {"float16": 1, "bfloat16": 1, "float32": 4, "float64": 4}
"""By format, how many neighbouring floats an executed tanh may be away from the correctly rounded one."""


@dataclass(frozen=True)
class EnclosedTanh(ScalarCell, Enclosed):
    """A tanh cell whose next states are known between two bounds; it runs on arrays only."""

    recurrent_weight: Number

    def step(self, state: Number, token: Input) -> Number:
        """Return a lower bound on the next states; `image` has both bounds."""
        return self.image(state, state, token)[0]

    def image(self, least: Number, greatest: Number, token: Input) -> Bounds:
        """Return bounds of tanh(U·h + c(x)) over all h between two."""
        c = token.choose(self.open_step, self.close_step)
        ends = [self.recurrent_weight * end + c for end in (least, greatest)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        bounds = self.squashed(low)[0], self.squashed(high)[1]
        # tanh 0 is 0; but a bound at 0 of an interval that goes on is one for what lies beside 0 as well.
        still = (low == 0) & (high == 0)
        found: list[Any] = [np.where(still, low, bound) for bound in bounds]
        return found[0], found[1]

    @abstractmethod
    def squashed(self, x: Number) -> Bounds:
        """Return the bounds of tanh x."""


@final
@dataclass(frozen=True)
class RealTanh(EnclosedTanh):
    """A tanh cell in real numbers, its weights rationals, its bounds multiples of 2^−digits."""

    digits: int

    @classmethod
    def of(cls, cell: TanhCell, digits: int) -> "RealTanh":
        """Read a cell exactly."""
        return cls(exact(cell.open_step), exact(cell.close_step), exact(cell.recurrent_weight), digits)

    def squashed(self, x: Number) -> Bounds:
        """Return the bounds of tanh x for an array of rationals."""
        pairs = [self._one(exact(value)) for value in x.tolist()]
        low, high = np.array([pair[0] for pair in pairs], object), np.array([pair[1] for pair in pairs], object)
        return low, high

    def _one(self, x: Fraction) -> tuple[Fraction, Fraction]:
        if x == 0:
            return x, x
        flint = _flint()
        flint.ctx.prec = self.digits + 32
        ball = flint.arb(flint.fmpq(x.numerator, x.denominator)).tanh()
        scale = 2**self.digits
        low, high = (_rational(end) * scale for end in (ball.lower(), ball.upper()))
        return Fraction(low.__floor__(), scale), Fraction(high.__ceil__(), scale)


@final
@dataclass(frozen=True)
class ExecutedTanh(EnclosedTanh):
    """A tanh cell as executed in floating point, by any library whose tanh is accurate to `TANH_NEIGHBOURS`."""

    @classmethod
    def of(cls, cell: TanhCell) -> "ExecutedTanh":
        """Take a cell whose weights are in a floating-point arithmetic."""
        return cls(cell.open_step, cell.close_step, cell.recurrent_weight)

    def squashed(self, x: Number) -> Bounds:
        """Return the bounds of tanh x.

        The middle is NumPy's double tanh. In a narrower format, rounded, it is at most one neighbour off the correctly
        rounded value; as a double it is one of those libraries itself, and off by as much.
        """
        form = format_of(self.open_step)
        allowed = TANH_NEIGHBOURS[form.name]
        steps = 2 * allowed if form is float_format("float64") else allowed + 1
        middle = np.tanh(np.asarray(x, np.float64)).astype(form.kind)
        low, high = (_moved(middle, steps, direction) for direction in (-1, 1))
        return low, high


def _moved(values: Any, steps: int, direction: int) -> Any:  # noqa: ANN401 -- an array of any float
    """Go some neighbours down or up, but not beyond −1 and 1."""
    edge = np.asarray(direction).astype(values.dtype)
    for _ in range(steps):
        values = np.nextafter(values, edge)
    return values


def _rational(ball: Any) -> Fraction:  # noqa: ANN401 -- an exact ball
    digits, power = ball.man_exp()
    return Fraction(int(digits)) * Fraction(2) ** int(power)


def _flint() -> Any:  # noqa: ANN401 -- a library without types
    try:
        import flint  # noqa: PLC0415 -- an extra
    except ImportError:
        raise BadInput("cell: tanh in real numbers needs the extra: pip install 'tallystick[tanh]'") from None
    return flint
