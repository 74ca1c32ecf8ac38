"""Floats in any order: bounds of what a step may give in a floating-point format, whichever library executes it.

A library adds the terms of a sum in an order of its own, fuses some multiplications with additions, and has its own tanh. A
`Span` holds every number that may come out:

- **Sums.** The terms of W·x + b, and of sums of such sums, are kept together until something else is done with them. Let there
  be n, of sizes that add up to A. Each goes through at most n roundings, one of its product and n − 1 of sums, whatever the
  order and with or without fused multiply-add; so what is computed is off by at most γₙ·A, where γₖ = k·u / (1 − k·u) and
  u = 2⁻ᵖ (Higham, Accuracy and Stability of Numerical Algorithms, lemma 8.4). Of two terms there is one sum, rounded once: the
  bounds are the rounded ends, and a sum that is exact stays so.
- **Products** that a sum follows may be rounded before or not. Both are in the span.
- **Functions.** tanh, the sigmoid and the exponential are taken to be within `ULPS` units in the last place of the true value,
  tanh within ±1 and the sigmoid within 0 and 1, tanh 0 to be 0, and both to be exactly 1 from `SATURATED` on. Tests measure this
  for NumPy, PyTorch and JAX.
- **Narrow formats.** A library may compute a step of float16 or bfloat16 in float32, as fused LSTMs and compilers do. So every
  result is in the span as it is in float32 and rounded from there. A state is rounded to the format between tokens, and
  before the readout sees it.
- **Subnormal numbers** may be kept or flushed to zero, by a function also what is up to `FLUSHED` times the least normal number.
- **Overflow.** Where a number may be infinite, nothing is known any more: the span is not a number, and no comparison with it is
  ever sure.

The mean (1 − z)·n + z·h of a GRU is also written (h − n)·z + n; both are in its span.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.numbers.arithmetics import directed_product, directed_sum, to_format
from tallystick.numbers.boxes import Box
from tallystick.numbers.floats import FORMATS, FloatFormat, nearest
from tallystick.numbers.operations import (
    exponential,
    hyperbolic_tangent,
    positive_part,
    sigmoid,
    square,
    unit_step,
    weighted_mean,
)
from tallystick.numbers.products import FEWEST, multiply
from tallystick.numbers.values import LayerKey, Matrix, Number, Vector, exact, layer_of

Doubles = NDArray[np.float64]

ULPS = 8
"""How many units in the last place a library's tanh, sigmoid and exponential may be off."""

SATURATED = {"float16": (12.0, 20.0), "bfloat16": (12.0, 20.0), "float32": (12.0, 20.0), "float64": (22.0, 42.0)}
"""From where on tanh and the sigmoid are exactly 1 in each format; in a narrow one also where they are kept in float32."""

FLUSHED = 4
"""Functions may give zero for results up to so many times the least normal number: some scale a power of two on their way."""

MOST_SCALE, MOST_FACTOR = 2**60, 2.0**100
"""How large the scale of a weight may be (`scaled_weights`), and a number that is multiplied by such a weight."""

SINGLE = FORMATS["float32"]
"""The format in which numbers of a narrower one may be kept within a step."""

_SLIGHTLY_MORE = 1 + 2.0**-40
"""Covers the few roundings of doubles with which a bound itself is found."""


@dataclass(frozen=True, eq=False)
class Span:
    """What may come out in a format, or a sum of terms that is not added up yet.

    Attributes:
        low: the least that the exact sum of the terms may be; a double, or an array of them for many spans at once.
        high: the greatest.
        size: the sum of the sizes of the terms, or more.
        terms: how many there are.
        is_product: whether the one term is a product, which is rounded unless a sum follows.
        form: the format.
    """

    low: Any
    high: Any
    size: Any
    terms: int
    is_product: bool
    form: FloatFormat

    products: ClassVar[int] = 1
    """As how many terms of a sum a product with this number counts."""

    # NumPy would otherwise take a span for an object to go through entry by entry.
    __array_ufunc__ = None

    @property
    def is_zero(self) -> bool:
        """Whether this is the number 0, for which nothing is added or multiplied."""
        return self.terms == 1 and not getattr(self.low, "ndim", 0) and self.low == 0 == self.high

    @property
    def is_number(self) -> bool:
        """Whether this is one number: not a sum, nor a weight that may be flushed to zero."""
        return self.terms == 1 and not self.is_product and not np.ndim(self.low) and bool(self.low == self.high)

    @property
    def box(self) -> Box:
        """The bounds of the number that is there once everything is added up and rounded."""
        if self.terms == 1 and not self.is_product:
            return Box(self.low, self.high)
        low, high = self.low, self.high
        if self.terms > 2:  # noqa: PLR2004 -- of two terms there is one sum, rounded once
            # A term and a sum lose at most the least normal number each where they are flushed, and roundings may double that.
            off = gamma(self.terms, self.form) * self.size + 4 * self.terms * least_normal(self.form)
            low, high = low - off * _SLIGHTLY_MORE, high + off * _SLIGHTLY_MORE
        return _settle(low, high, self.size, self.form)

    @property
    def stored(self) -> Box:
        """The bounds of the number as a state keeps it from one token to the next: rounded to its format for certain."""
        box, form = self.box, self.form.state
        if form.digits >= SINGLE.digits:
            return box
        size = np.maximum(np.abs(box.low), np.abs(box.high))
        return _unless_overflow(to_format(box.low, form), to_format(box.high, form), size, form)

    @property
    def settled(self) -> "Span":
        """The number, added up and rounded."""
        return self if self.terms == 1 and not self.is_product else span_between(self.box, self.form)

    def __add__(self, other: "Span | int") -> "Span":
        other = to_span(other, self.form)
        if other.is_zero or self.is_zero:
            return self if other.is_zero else other
        low, high = directed_sum(self.low, other.low, -1), directed_sum(self.high, other.high, 1)
        size = (self.size + other.size) * _SLIGHTLY_MORE
        return Span(low, high, size, self.terms + other.terms, False, self.form)

    __radd__ = __add__

    def __neg__(self) -> "Span":
        return Span(-self.high, -self.low, self.size, self.terms, self.is_product, self.form)

    def __sub__(self, other: "Span | int") -> "Span":
        return self + -to_span(other, self.form)

    def __rsub__(self, other: int) -> "Span":
        return -self + other

    def __mul__(self, other: "Span | int") -> "Span":
        if isinstance(other, int) and other == 1:  # of a one-hot token
            return self.settled
        other = to_span(other, self.form)
        if self.is_zero or other.is_zero:
            return _zero_times(other if self.is_zero else self)
        return _product(self.settled, other.settled)

    __rmul__ = __mul__


def span_of(value: object, form: FloatFormat, field: str = "number") -> Span:
    """Return the number nearest to a weight in the format that weights are kept in."""
    kept = form.weights or form
    number = float(nearest(exact(value, field), kept, field))  # type: ignore[arg-type]  # a NumPy number of a real kind
    return span_between(_flushed(number, number, kept), form)


def span_between(box: Box, form: FloatFormat) -> Span:
    """Return the span of the numbers in a box, whose ends are numbers of the format."""
    return Span(box.low, box.high, np.maximum(np.abs(box.low), np.abs(box.high)), 1, False, form)


def gamma(roundings: int, form: FloatFormat) -> float:
    """Return γₖ for k roundings, or a little more."""
    share = roundings * float(form.unit)
    if share >= 0.5:  # noqa: PLR2004 -- no bound worth the name
        raise BadInput(f"units: sums of {roundings} terms are too long for {form.name}; certify in a wider format")
    return share / (1 - share) * _SLIGHTLY_MORE


def least_normal(form: FloatFormat) -> float:
    """Return the least number that is not subnormal: anything less may be flushed to zero."""
    return 2.0 ** (form.least_exponent + form.digits - 1)


def flushed_by_scales(form: FloatFormat) -> float:
    """Return how much of a product may be lost where something is flushed before it is multiplied by a scale."""
    return 2.0 * MOST_SCALE * least_normal(form)


def to_span(value: "Span | int", form: FloatFormat) -> Span:
    """Return a whole number as a span; a span is one."""
    return value if isinstance(value, Span) else Span(float(value), float(value), abs(float(value)), 1, False, form)


def _rounded(x: Any, form: FloatFormat, side: int) -> Any:  # noqa: ANN401 -- doubles or arrays of them
    """Round a bound; what is kept in float32 is rounded there, and then to the format or not."""
    if form.digits >= SINGLE.digits:
        return to_format(x, form)
    single = _to_single(x, side)
    return (np.minimum if side < 0 else np.maximum)(single, to_format(single, form))


def _to_single(x: Any, side: int) -> Any:  # noqa: ANN401
    """Round to float32, down where the side is −1 and up where it is 1."""
    single = np.asarray(x, np.float32)
    beyond = single.astype(np.float64) * side < np.asarray(x) * side
    return np.where(beyond, np.nextafter(single, np.float32(side * np.inf)), single).astype(np.float64)


def _zero_times(x: Span) -> Span:
    """Return the product of 0 and a number: 0, unless the number may be infinite."""
    unknown = np.isnan(x.settled.low)
    if not np.any(unknown):
        return to_span(0, x.form)
    ends = np.where(unknown, np.nan, 0.0)
    return span_between(Box(ends, ends), x.form)


def _settle(low: Any, high: Any, size: Any, form: FloatFormat) -> Box:  # noqa: ANN401 -- doubles or arrays of them
    """Round both ends, which keeps their order; where something may overflow on the way, nothing is known."""
    return _unless_overflow(_rounded(low, form, -1), _rounded(high, form, 1), size, form)


def _unless_overflow(low: Any, high: Any, size: Any, form: FloatFormat) -> Box:  # noqa: ANN401
    """Return rounded ends, unless something may overflow; what may be subnormal may be zero."""
    unknown = ~(np.asarray(size) <= float(form.greatest) / 2)  # not a number is unknown too
    if np.any(unknown):
        low, high = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
    return _flushed(low, high, form)


def _flushed(low: Any, high: Any, form: FloatFormat, times: int = 1) -> Box:  # noqa: ANN401
    """Let a number that may be subnormal be zero too; the least normal one may have been subnormal before it was rounded."""
    least = times * least_normal(form)
    if np.any((low > 0) & (low <= least)) or np.any((high < 0) & (high >= -least)):
        low, high = np.where((low > 0) & (low <= least), 0.0, low), np.where((high < 0) & (high >= -least), 0.0, high)
    return Box(low, high)


def _product(x: Span, y: Span) -> Span:
    """Multiply; the least and the greatest product are among those of the ends, and each may be rounded or not."""
    pairs = [(p, q) for p in _different(x) for q in _different(y)]
    low, high = (
        _extreme([directed_product(p, q, side) for p, q in pairs], extreme)
        for side, extreme in ((-1, np.minimum), (1, np.maximum))
    )
    box = _settle(low, high, np.maximum(np.abs(low), np.abs(high)), x.form)
    low, high = np.minimum(low, box.low), np.maximum(high, box.high)
    return Span(low, high, np.maximum(np.abs(low), np.abs(high)), 1, True, x.form)


def _different(x: Span) -> tuple[Any, ...]:
    """Return both ends, or the one number that a weight is."""
    return (x.low,) if x.low is x.high else (x.low, x.high)


def _extreme(values: list[Any], extreme: Any) -> Any:  # noqa: ANN401
    found = values[0]
    for value in values[1:]:
        found = extreme(found, value)
    return found


@layer_of.register
def _(first: Span, weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Bound W·x + b: rows with few weights term by term, which keeps exact sums exact, the others by products of matrices."""
    numbers = [to_span(x, first.form).settled for x in inputs]
    if not isinstance(weight[0][0], Span):  # of a readout that looks at h itself
        weight = tuple(tuple(to_span(w, first.form) for w in row) for row in weight)
    few = [_is_gone_through(weights) for weights in weight]
    many = iter(_rows(weight, numbers, few) if not all(few) else ())
    return [
        (_row(weights, numbers) if one else next(many)) + term
        for one, weights, term in zip(few, weight, bias, strict=True)
    ]


def _row(weights: Vector, numbers: list[Span]) -> Span:
    """Bound one row term by term."""
    total = to_span(0, numbers[0].form)
    for w, x in zip(weights, numbers, strict=True):
        total = total + w * x
    return total


def _is_gone_through(weights: Vector) -> bool:
    """Say whether a row is gone through weight by weight: few are not 0, or one is not a single number."""
    return sum(not w.is_zero for w in weights) < FEWEST or not all(w.is_number for w in weights)


def _rows(weight: Matrix, numbers: list[Span], few: list[bool]) -> list[Span]:
    """Bound the rows of many weights: W·m, give or take |W|·r, where x lies within r of m."""
    form, W = numbers[0].form, _weights(LayerKey(weight, ()))[~np.array(few)]
    low, high = (np.broadcast_arrays(*(end for x in numbers for end in (x.low, x.high)))[place::2] for place in (0, 1))
    shape = low[0].shape
    low, high = (np.stack(ends).reshape(len(numbers), -1) for ends in (low, high))
    middle = low / 2 + high / 2
    reach = np.maximum(high - middle, middle - low)
    # The doubles' own roundings, as in `products`: 2⁻⁵² for each of the columns, of each size, and some more.
    columns = len(middle) + 8
    sizes = multiply(np.abs(W), np.abs(middle) + reach) * _SLIGHTLY_MORE
    off = (multiply(np.abs(W), reach) + columns * 2.0**-51 * sizes) * _SLIGHTLY_MORE + columns * 2.0**-515
    found, products = multiply(W, middle), max(w.products for row in weight for w in row)
    if products > 1:  # weights with a scale
        off += len(middle) * flushed_by_scales(form)
        sizes = np.where((np.abs(middle) + reach <= MOST_FACTOR).all(axis=0), sizes, np.nan)
    terms = len(middle) * products
    return [
        Span(low.reshape(shape), high.reshape(shape), size.reshape(shape), terms, False, form)
        for low, high, size in zip(found - off, found + off, sizes, strict=True)
    ]


@lru_cache(maxsize=32)  # as many as the layers of a deep stack have
def _weights(layer: LayerKey) -> Doubles:
    """Return the weights of a layer: numbers of the format, which doubles hold exactly; what is gone through is left out."""
    return np.array([[0.0 if _is_gone_through(row) else float(w.low) for w in row] for row in layer.weight])


@positive_part.register
def _(x: Span) -> Span:
    box = x.box
    return span_between(Box(np.maximum(box.low, 0.0), np.maximum(box.high, 0.0)), x.form)


@unit_step.register
def _(x: Span) -> Span:
    box = unit_step(x.box)
    unknown = np.isnan(x.box.low)
    return span_between(Box(np.where(unknown, np.nan, box.low), np.where(unknown, np.nan, box.high)), x.form)


@square.register
def _(x: Span) -> Span:
    found = x * x
    straddles = (x.box.low < 0) & (x.box.high > 0)
    return Span(np.where(straddles, 0.0, np.maximum(found.low, 0.0)), found.high, found.size, 1, True, x.form)


@hyperbolic_tangent.register
def _(x: Span) -> Span:
    box, (saturated, _) = x.box, SATURATED[x.form.name]
    low, high = _near(hyperbolic_tangent(box), x.form)
    low, high = (
        np.where(box.low >= saturated, 1.0, np.maximum(low, -1.0)),
        np.where(box.high <= -saturated, -1.0, np.minimum(high, 1.0)),
    )
    zero = (box.low == 0) & (box.high == 0)
    low, high = np.where(zero, 0.0, low), np.where(zero, 0.0, high)
    return span_between(_flushed(low, high, x.form, FLUSHED), x.form)


@sigmoid.register
def _(x: Span) -> Span:
    box, (_, saturated) = x.box, SATURATED[x.form.name]
    low, high = _near(sigmoid(box), x.form)
    low, high = np.where(box.low >= saturated, 1.0, np.maximum(low, 0.0)), np.minimum(high, 1.0)
    return span_between(_flushed(low, high, x.form, FLUSHED), x.form)


@exponential.register
def _(x: Span) -> Span:
    low, high = _near(exponential(x.box), x.form)
    box = _settle(np.maximum(low, 0.0), high, high, x.form)
    return span_between(_flushed(box.low, box.high, x.form, FLUSHED), x.form)


def _near(true: Box, form: FloatFormat) -> tuple[Any, Any]:
    """Widen bounds of true values by what a library may be off; what comes out is a number of the format."""
    share, least = 2 * ULPS * float(form.unit) * _SLIGHTLY_MORE, ULPS * float(form.least)
    low, high = true.low - (share * np.abs(true.low) + least), true.high + (share * np.abs(true.high) + least)
    return _rounded(low, form, -1), _rounded(high, form, 1)


@weighted_mean.register
def _(share: Span, first: Span, second: Span) -> Span:
    """Bound both ways to write the mean; the second bound is that of the real mean, and closer where the share is wide."""
    share, first, second, form = share.settled, first.settled, second.settled, share.form
    one, other = ((1 - share) * first + share * second).box, (share * (second - first) + first).box
    real = weighted_mean(*(Box(x.low, x.high) for x in (share, first, second)))
    # At most four roundings, of numbers whose sizes add up to no more than twice those of the two.
    off = gamma(8, form) * 2 * (first.size + second.size) + 8 * least_normal(form)
    low, high = np.minimum(one.low, other.low), np.maximum(one.high, other.high)
    between = (share.low >= 0) & (share.high <= 1)  # as a gate is
    low = np.where(between, np.maximum(low, _rounded(real.low - off, form, -1)), low)
    high = np.where(between, np.minimum(high, _rounded(real.high + off, form, 1)), high)
    return span_between(Box(low, high), form)
