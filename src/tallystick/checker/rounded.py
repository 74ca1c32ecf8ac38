"""Real numbers in boxes: between multiples of 2^−places, every operation rounded outward, or between rationals, exactly."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from operator import add, mul, sub
from typing import Any

from .answers import TooCostly
from .arithmetic import SQUASHED, Arithmetic, Box, Boxes, Run, getter
from .claims import Operation, Program, Readout
from .effort import product_time
from .packing import Terms, packed_sums
from .tanh import squash_function, tanh_time

_LONGEST, _LONGEST_DENOMINATOR = 1 << 15, 1 << 16
"""The most binary digits of a number before the point or of a rational's denominator, and of what a sum's weights share."""
_MOST_PACKED = 32
"""Binary digits before the point of numbers that are added up all at once."""


class Rounded(Arithmetic):
    """Real numbers between multiples of 2^−places; rationals without a limit to their digits where places is None."""

    def __init__(self, places: int | None) -> None:
        self.places, self.unit = places, 1 << (places or 0)
        self.most = self.unit << _LONGEST
        self.weight = 64 if places is None else 1 + places // 512
        self._squash = {name: squash_function(name, places) for name in SQUASHED} if places is not None else {}

    def program_of(self, program: Program, size: int) -> Program:
        """Leave out what is multiplied by 0, so that what does not depend on the state is found once."""
        del size
        return program._replace(operations=[*map(_without_zeros, program.operations)])

    def outward(self, low: Any, high: Any, divisor: int) -> Box:  # noqa: ANN401 -- whole numbers or rationals
        """Divide both ends, rounded outward."""
        if self.places is None:
            return low * Fraction(1, divisor), high * Fraction(1, divisor)
        return low // divisor, -(-high // divisor)

    def sums(self, operations: Sequence[Operation]) -> Run:
        """Return the sums: each number is the middle of its box give or take half its width.

        Middles and widths are found once for all sums. Where all add up the same numbers, they do so at once.
        """
        terms = [_terms(operation, self.unit) for operation in operations]
        if all(one.is_plain for one in terms):
            pairs = [one.places for one in terms]
            return lambda boxes: [_plus(boxes[one], boxes[other]) for one, other in pairs]
        places = sorted({place for one in terms for place in one.places})
        if not places:
            constants = [self.outward(one.bias, one.bias, one.common) for one in terms]
            return lambda _: constants
        chosen, most = getter(places), self.unit << _MOST_PACKED - 1
        packed = None if self.places is None else packed_sums(terms, places, self.places + _MOST_PACKED)
        order = {place: index for index, place in enumerate(places)}
        totals = [self._total(one, [order[place] for place in one.places]) for one in terms]

        def run(boxes: list[Box]) -> list[Box]:
            lows, highs = zip(*chosen(boxes), strict=True)
            if packed is not None and max(highs) < most and min(lows) > -most:
                return packed(lows, highs)
            doubled, widths = [*map(add, lows, highs)], [*map(sub, highs, lows)]
            return [total(doubled, widths) for total in totals]

        return run

    def _total(self, terms: Terms, order: list[int]) -> Callable[[Sequence[Any], Sequence[Any]], Box]:
        """Return a sum, given twice the middles and the widths of numbers, and where those of its own stand among them."""
        weights, sizes, outward = terms.weights, [*map(abs, terms.weights)], self.outward
        divisor, twice = 2 * terms.common, 2 * terms.bias
        chosen = getter(order)

        def total(doubled: Sequence[Any], widths: Sequence[Any]) -> Box:
            middle, reach = sum(map(mul, weights, doubled), twice), sum(map(mul, sizes, widths))
            return outward(middle - reach, middle + reach, divisor)

        if order == [*range(len(order))]:  # which come first, so that products leave out the others
            return total
        return lambda doubled, widths: total(chosen(doubled), chosen(widths))

    def product(self, x: Box, y: Box) -> Box:
        """Multiply: the least and the greatest product are among those of the ends."""
        (a, b), (c, d) = x, y
        if a >= 0:
            low, high = (a if c >= 0 else b) * c, (b if d >= 0 else a) * d
        elif c >= 0:
            low, high = a * d, (d if b >= 0 else c) * b
        else:
            products = (a * c, a * d, b * c, b * d)
            low, high = min(products), max(products)
        if self.places is None:
            return low, high
        return low >> self.places, -(-high >> self.places)

    def tanh(self, x: Box) -> Box:
        """Squash: no rational is the tanh of another, so there are places here."""
        return self._squash["tanh"](x)

    def sigmoid(self, x: Box) -> Box:
        """Squash to numbers between 0 and 1."""
        return self._squash["sigmoid"](x)

    def function(self, name: str) -> Callable[..., Box]:
        """Return an operation, without a detour to those that squash."""
        return self._squash.get(name) or super().function(name)

    def mean(self, share: Box, x: Box, y: Box) -> Box:
        """Return the mean: it is linear in the share, so that the ends of that decide."""
        (less, more), (a, b), (c, d), unit = share, x, y, self.unit
        if less >= 0 and more <= unit:
            low, high = a * unit + (less if c >= a else more) * (c - a), b * unit + (more if d >= b else less) * (d - b)
            return self.outward(low, high, unit)
        lows: list[Any] = []
        highs: list[Any] = []
        for s in share:
            rest = unit - s
            (a, b), (c, d) = x if rest >= 0 else x[::-1], y if s >= 0 else y[::-1]
            lows.append(rest * a + s * c)
            highs.append(rest * b + s * d)
        return self.outward(min(lows), max(highs), unit)

    def pairs(self, readout: Readout) -> Callable[[Boxes], tuple[bool | None, ...]]:
        """Subtract outputs exactly before boxes are put in: what they have in common widens nothing."""
        lines = [*([*weights, bias] for weights, bias in readout.lines), [Fraction(0)] * (1 + len(readout.lines[0][0]))]
        rows: list[tuple[list[int], list[int], int]] = []
        for greater, less in readout.decision.pairs:
            exact = [x - y for x, y in zip(lines[greater], lines[less], strict=True)]
            common = _common_denominator(exact)
            *weights, bias = (int(number * common) for number in exact)
            rows.append((weights, list(map(abs, weights)), 2 * bias * self.unit))

        def above(hidden: Boxes) -> tuple[bool | None, ...]:
            doubled, widths = [low + high for low, high in hidden], [high - low for low, high in hidden]
            found: list[bool | None] = []
            for weights, sizes, bias in rows:
                middle, reach = bias + sum(map(mul, weights, doubled)), sum(map(mul, sizes, widths))
                found.append(True if middle > reach else False if middle <= -reach else None)
            return tuple(found)

        return above

    def is_narrow(self, box: Box) -> bool:
        """Say whether a box is as narrow as if only rounding had made it wide."""
        return self.places is not None and box[1] - box[0] < 1 << self.places // 2

    def check(self, boxes: list[Box]) -> None:
        """Stop where numbers become too long, before the point or after it."""
        most, least, rational = self.most, -self.most, self.places is None
        for low, high in boxes:
            if high > most or low < least or (rational and _is_long(low, high)):
                raise TooCostly("the numbers of a step have too many digits")

    def time(self, operation: Operation) -> int:
        """Return the time of products with ends, and of two bounds of tanh."""
        digits = self.places or 1024
        if operation.name in SQUASHED:
            return 2 * tanh_time(digits, digits)
        bits = [max(weight.numerator.bit_length(), weight.denominator.bit_length()) for weight in operation.weights]
        return 600 + sum(product_time(size, digits) for size in bits) + 2 * product_time(digits, digits)


def _is_long(*numbers: Fraction) -> bool:
    return max(number.denominator for number in numbers).bit_length() > _LONGEST


def _plus(x: Box, y: Box) -> Box:
    return x[0] + y[0], x[1] + y[1]


def _without_zeros(operation: Operation) -> Operation:
    """Return a sum without the numbers whose weight is 0; any other operation as it is."""
    if operation.name != "sum" or all(operation.weights):
        return operation
    kept = [(place, weight) for place, weight in zip(operation.places, operation.weights, strict=True) if weight]
    return operation._replace(places=tuple(place for place, _ in kept), weights=tuple(weight for _, weight in kept))


def _terms(operation: Operation, unit: int) -> Terms:
    """Bring the weights and the bias of a sum to whole numbers over one divisor; each number has one weight."""
    common = _common_denominator([operation.bias, *operation.weights])
    weights: dict[int, int] = {}
    for weight, place in zip(operation.weights, operation.places, strict=True):
        weights[place] = weights.get(place, 0) + int(weight * common)
    kept = {place: weight for place, weight in weights.items() if weight}
    return Terms([*kept.values()], [*kept], int(operation.bias * common) * unit, common)


def _common_denominator(numbers: Sequence[Fraction]) -> int:
    """Return the least common denominator, unless it would make very long numbers of all weights."""
    common = 1
    for number in numbers:
        common = lcm(common, number.denominator)
        if common.bit_length() > _LONGEST_DENOMINATOR:
            raise TooCostly("the weights of a sum have too many digits")
    return common
