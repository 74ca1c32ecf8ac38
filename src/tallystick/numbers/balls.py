"""Balls: real numbers known to as many binary digits as one asks for, so that a cell's own step runs on them.

A ball is Arb's: a midpoint and a radius. Whatever numbers lie in the balls that a step is handed, what the step gives in real
arithmetic lies in the balls that it returns. Boxes (`numbers.boxes`) are quicker where doubles are close enough; balls answer
where they are not. A comparison of balls is true only where it holds for all numbers in them, so neither of a < b and a >= b may
be. Sums and products of numbers with few digits are exact, and so is a tie between them.

How many digits are kept is said around a block, for the code in it alone:

>>> with digits(200):
...     third = ball_of("1/3")
...     3 * third == 1, abs(3 * third - 1) < ball_of("0x1p-190")
(False, True)
"""

from contextlib import AbstractContextManager
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from tallystick.numbers.operations import exponential, positive_part, sigmoid, square, unit_step, weighted_mean
from tallystick.numbers.products import FEWEST
from tallystick.numbers.values import LayerKey, Matrix, Number, Vector, exact, layer_of

Ball = Any
"""Arb's balls. FLINT is loaded when the first one is asked for: training does without it."""


def digits(bits: int) -> AbstractContextManager[Any]:
    """Keep so many binary digits in this block; what was kept before is kept again after it."""
    return _flint().ctx.workprec(bits)


def ball_of(value: object, field: str = "number") -> Ball:
    """Return a ball around a number, a single number where it has no more digits than are kept.

    >>> ball_of("0.75").is_exact(), ball_of("1/3").is_exact()
    (True, False)
    """
    return _flint().arb(quick_rational(exact(value, field)))


def quick_rational(value: Fraction) -> Any:  # noqa: ANN401 -- a library without types
    """Return FLINT's rational, with which sums and products are ten times as quick as with Python's own."""
    return _flint().fmpq(value.numerator, value.denominator)


@cache
def _flint() -> Any:  # noqa: ANN401 -- a library without types
    """Load FLINT, and say how its balls do what a step is made of."""
    import flint  # noqa: PLC0415 -- see `Ball`

    kind = flint.arb
    layer_of.register(kind, _layer)
    positive_part.register(kind, lambda x: x.max(0))
    square.register(kind, lambda x: x**2)
    unit_step.register(kind, _unit_step)
    exponential.register(kind, lambda x: x.exp())
    sigmoid.register(kind, lambda x: 1 / (1 + (-x).exp()))
    weighted_mean.register(kind, _weighted_mean)
    return flint


def _layer(first: Ball, weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Bound W·x + b by one product of matrices, several times as quick as weight by weight."""
    if len(inputs) < FEWEST:
        return layer_of.dispatch(object)(first, weight, bias, inputs)
    product = _matrix(LayerKey(weight, bias)) * _flint().arb_mat(len(inputs) + 1, 1, [*inputs, 1])
    return product.entries()


@lru_cache(maxsize=64)  # as many as the layers of a deep stack have, at a few precisions
def _matrix(layer: LayerKey) -> Any:  # noqa: ANN401 -- a library without types
    """Return the weights of a layer as a matrix, the bias as its last column."""
    return _flint().arb_mat([[*row, term] for row, term in zip(layer.weight, layer.bias, strict=True)])


def _unit_step(x: Ball) -> Ball:
    """Bound the unit step: between 0 and 1 where the sign is open."""
    arb = _flint().arb
    return arb(1) if x > 0 else arb(0) if x <= 0 else arb(0.5, 0.5)


def _weighted_mean(share: Ball, first: Ball, second: Ball) -> Ball:
    """Bound the mean at the middle of the share, and add how far it may be off: as close as the three balls allow."""
    middle = share.mid()
    return (1 - middle) * first + middle * second + (share - middle) * (second - first)
