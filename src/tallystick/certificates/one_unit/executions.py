"""A network made ready to run: in floats as they stand, in whole numbers that stand for its exact states, or between bounds.

**Whole numbers.** Rationals reduce themselves at every operation, which costs more than the operation. Whole numbers need no
reducing: with E and D common denominators of the steps and of the recurrent weights, H_N = E·Dᴺ·h_N obeys
H_N = (D·U)·H_(N−1) + (E·Dᴺ)·c, which is again a cell's step, and v·h + c has the sign of v·H + c·E·Dᴺ. ReLU's
max(0, ·) is kept by a positive factor, and so is every comparison of a readout.

**Bounds.** No rational is the tanh of another one, and every library rounds tanh in its own way. So a tanh cell steps from h to
two bounds instead of one state. tanh is rising, so the bounds of a group's least and greatest h follow from those one token
shorter; only, they are bounds now and no longer attained. What they decide is decided for the cell; a failing string counts as
one only if its own bounds leave no doubt.

- In real numbers the bounds are dyadic numbers of a given number of binary digits, by ball arithmetic (Arb); where they
  do not decide, more digits may.
- As executed, tanh is taken to be any number at most so many neighbours away from the correctly rounded one, and at most 1: four
  neighbours in float32 and float64; one in the 16-bit formats, whose tanh libraries compute in float32 and round. tanh 0 is 0.
  A verdict is then one about all of these libraries at once.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, partial
from math import lcm
from typing import Any, final

import numpy as np

from tallystick.cells import Input, ScalarCell, TanhCell
from tallystick.certificates.verdict import REAL, arithmetic_of
from tallystick.networks import Network, Readout
from tallystick.networks.readout import ZERO
from tallystick.numbers import Number, exact, float_format, format_of

Bounds = tuple[Number, Number]

TANH_NEIGHBOURS = {"float16": 1, "bfloat16": 1, "float32": 4, "float64": 4}
"""By format, how many neighbouring floats an executed tanh may be away from the correctly rounded one."""

_STEPS = ("open_step", "close_step")


@dataclass(frozen=True)
class Execution:
    """How a model runs.

    Attributes:
        model_at: the model whose cell takes the step to a length and whose readout is read there.
        rounded: whether each operation rounds, so that a class need not be an interval of h.
        enclosed: whether states are known between bounds only, as those of a tanh cell are.
    """

    model_at: Callable[[int], Network]
    rounded: bool
    enclosed: bool = False


def execution(model: Network, arithmetic: str, tanh_digits: int = 64) -> Execution:
    """Return the model made ready to run in an arithmetic; a tanh in real numbers is bounded to so many binary digits."""
    model = model.in_arithmetic(arithmetic_of(arithmetic))
    if isinstance(model.scalar_cell, TanhCell):
        cell = RealTanh.of(model.scalar_cell, tanh_digits) if arithmetic == REAL else ExecutedTanh.of(model.scalar_cell)
        model = Network(cell, model.readout, model.task)
        return Execution(lambda _: model, rounded=arithmetic != REAL, enclosed=True)
    if arithmetic != REAL:
        return Execution(lambda _: model, rounded=True)
    if not model.scalar_cell.scales:
        return Execution(lambda _: model, rounded=False)
    return Execution(cache(partial(whole_model, model)), rounded=False)


def whole_model(model: Network, length: int) -> Network:
    """Return the model in whole numbers: its step leads from H_(N−1) to H_N, and its readout reads H_N.

    >>> from tallystick.cells import LinearCell
    >>> half = Fraction(1, 2)
    >>> whole = whole_model(Network(LinearCell(half, -half, half), Readout.binary(half, half)), length=1)
    >>> whole.cell, whole.readout.weight, whole.readout.bias
    (LinearCell(open_step=2, close_step=-2, recurrent_weight=1), ((1,),), (4,))
    """
    scale = _scale(model.scalar_cell, length)
    return Network(_whole_cell(model.scalar_cell, scale), _whole_readout(model.readout, scale), model.task)


def _scale(cell: ScalarCell, length: int) -> int:
    return _denominator(_weights(cell, steps=True)) * _denominator(_weights(cell, steps=False)) ** length


def _weights(cell: ScalarCell, *, steps: bool) -> list[Fraction]:
    return [exact(getattr(cell, field.name)) for field in fields(cell) if (field.name in _STEPS) is steps]


def _denominator(values: list[Fraction]) -> int:
    return lcm(*(value.denominator for value in values))


def _whole_cell(cell: ScalarCell, scale: int) -> ScalarCell:
    recurrent_scale = _denominator(_weights(cell, steps=False))

    def whole(value: Number, field: str) -> int:
        return int(exact(value) * (scale if field in _STEPS else recurrent_scale))

    return cell.map_weights(whole)


def _whole_readout(readout: Readout, scale: int) -> Readout:
    if readout.decision == ZERO:
        return readout
    own = _denominator([exact(value) for row in (*readout.weight, readout.bias) for value in row])

    def whole(value: Number, field: str) -> int:
        return int(exact(value) * own * (scale if field == "bias" else 1))

    return readout.map_weights(whole)


class Enclosed(ABC):
    """A cell that runs on bounds, in arrays."""

    @abstractmethod
    def image(self, least: Number, greatest: Number, token: Input) -> Bounds:
        """Return what is known of the least and the greatest next state over all h between two ends."""


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
        bounds = self.tanh_bounds(low)[0], self.tanh_bounds(high)[1]
        # tanh 0 is 0; but a bound at 0 of an interval that goes on is one for what lies beside 0 as well.
        still = (low == 0) & (high == 0)
        found: list[Any] = [np.where(still, low, bound) for bound in bounds]
        return found[0], found[1]

    @abstractmethod
    def tanh_bounds(self, x: Number) -> Bounds:
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

    def tanh_bounds(self, x: Number) -> Bounds:
        """Return the bounds of tanh x for an array of rationals."""
        pairs = [self._one(exact(value)) for value in x.tolist()]
        low, high = np.array([pair[0] for pair in pairs], object), np.array([pair[1] for pair in pairs], object)
        return low, high

    def _one(self, x: Fraction) -> tuple[Fraction, Fraction]:
        if x == 0:
            return x, x
        from tallystick.numbers.balls import ball_of, digits  # noqa: PLC0415 -- which takes a moment to load

        with digits(self.digits + 32):
            ball = ball_of(x).tanh()
            ends = ball.lower(), ball.upper()
        scale = 2**self.digits
        low, high = (_rational(end) * scale for end in ends)
        return Fraction(low.__floor__(), scale), Fraction(high.__ceil__(), scale)


@final
@dataclass(frozen=True)
class ExecutedTanh(EnclosedTanh):
    """A tanh cell as executed in floating point, by any library whose tanh is accurate to `TANH_NEIGHBOURS`."""

    @classmethod
    def of(cls, cell: TanhCell) -> "ExecutedTanh":
        """Take a cell whose weights are in a floating-point arithmetic."""
        return cls(cell.open_step, cell.close_step, cell.recurrent_weight)

    def tanh_bounds(self, x: Number) -> Bounds:
        """Return the bounds of tanh x.

        The middle is NumPy's double tanh. In a narrower format, rounded, it is at most one neighbour off the correctly
        rounded value; as a double it is one of those libraries itself, and off by as much.
        """
        form = format_of(self.open_step)
        allowed = TANH_NEIGHBOURS[form.name]
        steps = 2 * allowed if form is float_format("float64") else allowed + 1
        middle = np.tanh(np.asarray(x, np.float64)).astype(form.kind)
        low, high = (_move(middle, steps, direction) for direction in (-1, 1))
        return low, high


def _move(values: Any, steps: int, direction: int) -> Any:  # noqa: ANN401 -- an array of any float
    """Go some neighbours down or up, but not beyond −1 and 1."""
    edge = np.asarray(direction).astype(values.dtype)
    for _ in range(steps):
        values = np.nextafter(values, edge)
    return values


def _rational(ball: Any) -> Fraction:  # noqa: ANN401 -- an exact ball
    digits, power = ball.man_exp()
    return Fraction(int(digits)) * Fraction(2) ** int(power)
