"""Boxes: numbers known between two doubles, every operation rounded outward, so that a cell's own step runs on bounds.

Whatever numbers lie in the boxes that a step is handed, what the step gives in real arithmetic lies in the boxes that it
returns. Sums, products and quotients of doubles are correctly rounded (IEEE 754), so one neighbour further out is a bound.
No standard says how exact tanh and exp are; NumPy's double versions, whose own tests allow four neighbours, are taken to be at
most eight neighbours off. That, and what `products` says of the library that multiplies matrices, is all that is assumed
about the machine.

Arrays may be JAX's as well, compiled by XLA. Its programs may round a product and a sum once instead of twice, and may add two
constants before anything else: every bound is moved outward by more than that could change it, and a bound that is not a number
stays so through every least and greatest.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.numbers import (
    Number,
    exact,
    hyperbolic_tangent,
    positive_part,
    sigmoid,
    square,
    unit_step,
    weighted_mean,
)
from tallystick.numbers.operations import exponential
from tallystick.numbers.products import FEWEST, Weights
from tallystick.numbers.values import LayerKey, Matrix, Vector, layer_of

Doubles = NDArray[np.float64]

_LAST_PLACE = 2.0**-52
_LEAST = 2.0**-1022
_NEIGHBOURS = 8
"""How many neighbouring doubles NumPy's tanh and exp may be off."""

_OFF, _TINY = (_NEIGHBOURS + 2) * _LAST_PLACE, (_NEIGHBOURS + 2) * _LEAST
"""How far off a positive number of theirs is made, as a share of it and at least, to be a bound."""

_SAFE_POWER = 700.0
"""e to this power does not overflow."""

LARGEST = 2.0**500
"""Weights above this are refused: below it no sum or product of a step overflows."""


@final
@dataclass(frozen=True, eq=False)
class Box:
    """All numbers from `low` to `high`; two doubles, or two arrays of them for many boxes at once."""

    low: Any
    high: Any

    # NumPy would otherwise take a box for an object to go through entry by entry.
    __array_ufunc__ = None

    @property
    def ends(self) -> tuple[Any, Any]:
        """Both bounds."""
        return self.low, self.high

    @property
    def is_number(self) -> bool:
        """Whether this is a single number, known exactly."""
        return not getattr(self.low, "ndim", 0) and self.low == self.high

    def __add__(self, other: "Box | int") -> "Box":
        other = _to_box(other)
        if other.is_number and other.low == 0:
            return self
        return _outward(self.low + other.low, self.high + other.high)

    __radd__ = __add__

    def __neg__(self) -> "Box":
        low = -self.high
        return Box(low, low if self.high is self.low else -self.low)

    def __sub__(self, other: "Box | int") -> "Box":
        return self + -_to_box(other)

    def __rsub__(self, other: "Box | int") -> "Box":
        return -self + other

    def __mul__(self, other: "Box | int") -> "Box":
        other = _to_box(other)
        if other.is_number:
            return self._scale(other.low)
        if self.is_number:
            return other._scale(self.low)
        first, second = self.low * other.low, self.low * other.high
        third, fourth = self.high * other.low, self.high * other.high
        least, most = (names := names_for(first)).minimum, names.maximum
        return _outward(
            least(least(first, second), least(third, fourth)), most(most(first, second), most(third, fourth))
        )

    __rmul__ = __mul__

    def _scale(self, factor: float) -> "Box":
        if factor in (0, 1):  # nothing is rounded
            return self if factor else Box(0.0, 0.0)
        ends = factor * self.low, factor * self.high
        return _outward(*(ends if factor > 0 else ends[::-1]))

    def hull(self, other: "Box") -> "Box":
        """Return the least box around two."""
        names = names_for(self.low)
        return Box(names.minimum(self.low, other.low), names.maximum(self.high, other.high))


def box_of(value: object, field: str = "number") -> Box:
    """Return the least box around a number: one double where it is one, else the two beside it.

    >>> third = box_of(Fraction(1, 3))
    >>> third.low < Fraction(1, 3) < third.high, box_of(0.5)
    (True, Box(low=0.5, high=0.5))
    """
    number = exact(value, field)
    if abs(number) > LARGEST:
        raise BadInput(f"{field}: more than 2^500 is too large to bound")
    middle = float(number)
    low = middle if Fraction(middle) <= number else float(np.nextafter(middle, -np.inf))
    high = middle if Fraction(middle) >= number else float(np.nextafter(middle, np.inf))
    return Box(low, high)


def names_for(array: Any) -> Any:  # noqa: ANN401 -- an array's own module
    """Return the functions for an array: NumPy's, or those of the library that it belongs to."""
    return array.__array_namespace__() if hasattr(array, "__array_namespace__") else np


def choose(condition: Any, first: Any, second: Any) -> Any:  # noqa: ANN401 -- truths and numbers, or arrays of them
    """Return the first where a condition holds and the second elsewhere."""
    return names_for(condition).where(condition, first, second)


def _to_box(value: "Box | int") -> Box:
    return value if isinstance(value, Box) else Box(float(value), float(value))


def _outward(low: Doubles, high: Doubles) -> Box:
    return Box(_below(low), _above(high))


def _below(value: Doubles) -> Doubles:
    """Go at least one neighbour down, quicker than nextafter: neighbours are at most 2⁻⁵²·|value| apart, or 2⁻¹⁰⁷⁴ near zero."""
    return value - _apart(value)


def _above(value: Doubles) -> Doubles:
    return value + _apart(value)


def _apart(value: Doubles) -> Doubles:
    found = abs(value)
    found *= _LAST_PLACE
    found += _LEAST
    return found


@layer_of.register
def _(first: Box, weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Bound W·x + b: by products of matrices, or weight by weight where there are few or they are not plain numbers.

    Where the weights are arrays, as many as the boxes, each box has a matrix of its own.
    """
    weight_by_weight = partial(layer_of.dispatch(object), first, weight, bias, inputs)
    if names_for(first.low) is not np:  # another library compiles that to one program
        return weight_by_weight()
    shape, weights = np.shape(_to_box(weight[0][0]).low), None
    if shape:
        weights = _matrices(weight, bias, shape)
    elif len(inputs) >= FEWEST:
        weights = _weights(LayerKey(weight, bias))
    if weights is None or not all(isinstance(x, Box) for x in inputs):
        return weight_by_weight()
    ends = np.broadcast_arrays(*(end for x in inputs for end in x.ends))
    if shape and shape != ends[0].shape:
        return weight_by_weight()
    low, high = (np.stack(ends[place::2]).reshape(len(inputs), -1) for place in (0, 1))
    shape = ends[0].shape
    found = weights.bounds(low, high)
    return [Box(least.reshape(shape), most.reshape(shape)) for least, most in zip(*found, strict=True)]


@lru_cache(maxsize=32)  # as many as the layers of a deep stack have
def _weights(layer: LayerKey) -> Weights | None:
    """Return the weights of a layer as one matrix; None where some of them are not plain numbers."""
    return _matrices(layer.weight, layer.bias, ())


def _matrices(weight: Matrix, bias: Vector, shape: tuple[int, ...]) -> Weights | None:
    """Return the weights of a layer, each a number or an array of a given shape, as one matrix or more."""
    rows = [[_to_box(number) for number in (*row, term)] for row, term in zip(weight, bias, strict=True)]
    if any(np.shape(box.low) != shape for row in rows for box in row):
        return None
    low = np.array([[box.low for box in row] for row in rows], np.float64)
    # Exact numbers share one array, so that it need not be copied twice.
    same = all(box.high is box.low for row in rows for box in row)
    return Weights.between(low, low if same else np.array([[box.high for box in row] for row in rows], np.float64))


@positive_part.register
def _(x: Box) -> Box:
    """Bound max(0, x), which rises and rounds nothing."""
    most = names_for(x.low).maximum
    return Box(most(x.low, 0.0), most(x.high, 0.0))


@unit_step.register
def _(x: Box) -> Box:
    """Bound the unit step, which rises and rounds nothing: between 0 and 1 where the sign is open."""
    return Box((x.low > 0.0) * 1.0, (x.high > 0.0) * 1.0)


@square.register
def _(x: Box) -> Box:
    """Bound x², which is least at the number that is nearest to 0 and greatest at the one that is furthest from it."""
    most = names_for(x.low).maximum
    nearest = most(most(x.low, -x.high), 0.0)
    furthest = most(abs(x.low), abs(x.high))
    found = _outward(nearest * nearest, furthest * furthest)
    return Box(most(found.low, 0.0), found.high)


@hyperbolic_tangent.register
def _(x: Box) -> Box:
    """Bound tanh, which rises: its bounds are those of the ends."""
    names = names_for(x.low)
    low, high = names.tanh(x.low), names.tanh(x.high)
    return Box(names.maximum(low - _slack(low), -1.0), names.minimum(high + _slack(high), 1.0))


@sigmoid.register
def _(x: Box) -> Box:
    """Bound 1/(1 + e^(−x)), which falls with e^(−x): that is bounded first, then the sum and the quotient, which round too.

    All of it is positive, so that factors move a bound outward: 1 ± 10e, of which 9e are for the power and the rest for the
    rounding of this product, and 1 ± 4e for three roundings, where e = 2⁻⁵².
    """
    names = names_for(x.low)
    with np.errstate(over="ignore"):  # an infinite bound from above is one, and gives 0
        most = names.exp(-x.low)
        most *= 1 + _OFF
        most += _TINY
    least = names.exp(names.minimum(-x.high, _SAFE_POWER))
    least *= 1 - _OFF
    least -= _TINY
    low, high = 1 / (1 + most), 1 / (1 + names.maximum(least, 0.0))
    low *= 1 - 4 * _LAST_PLACE
    low -= _LEAST
    high *= 1 + 4 * _LAST_PLACE
    return Box(names.maximum(low, 0.0), names.minimum(high, 1.0))


@exponential.register
def _(x: Box) -> Box:
    """Bound e^x, which rises; what overflows has no bound from above."""
    names = names_for(x.low)
    low, high = names.exp(names.minimum(x.low, _SAFE_POWER)), names.exp(x.high)
    return Box(names.maximum(low * (1 - _OFF) - _TINY, 0.0), high * (1 + _OFF) + _TINY)


@weighted_mean.register
def _(share: Box, first: Box, second: Box) -> Box:
    """At a given share in [0, 1] the mean rises with both numbers, and it is linear in the share: the ends decide."""
    at_ends = [_mean_at(Box(end, end), first, second) for end in (share.low, share.high)]
    return at_ends[0].hull(at_ends[1])


def _mean_at(share: Box, first: Box, second: Box) -> Box:
    return (1 + -share) * first + share * second


def _slack(value: Doubles) -> Doubles:
    """As far as the true value may lie from a computed one, rounded up."""
    return (_NEIGHBOURS + 1) * _LAST_PLACE * abs(value) + _TINY
