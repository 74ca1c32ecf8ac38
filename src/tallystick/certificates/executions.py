"""A model made ready to run: in floating point as it stands, or in whole numbers that stand for its exact states.

Rationals reduce themselves at every operation, which costs more than the operation. Whole numbers need no reducing:
with E and D common denominators of the steps and of the recurrent weights, H_N = E·Dᴺ·h_N obeys
H_N = (D·U)·H_(N−1) + (E·Dᴺ)·c, which is again a cell's step, and v·h + c has the sign of v·H + c·E·Dᴺ. ReLU's
max(0, ·) is kept by a positive factor, and so is every comparison of a readout.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, partial
from math import lcm

from tallystick.cells import ScalarCell, TanhCell
from tallystick.certificates.tanh_enclosures import ExecutedTanh, RealTanh
from tallystick.certificates.verdict import REAL, arithmetic_of
from tallystick.networks import Network, Readout
from tallystick.networks.readout import ZERO
from tallystick.numbers import Number, exact

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
