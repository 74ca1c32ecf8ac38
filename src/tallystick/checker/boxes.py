"""Programs on boxes: a number is known between two ends, and whatever lies in the boxes of a state, the next state lies in its.

Real numbers are kept between multiples of 2^−places, every operation rounded outward, or between rationals, where no operation
rounds. Floating point as executed rounds after every operation, which keeps the order of numbers, so that ends go to ends.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import itemgetter, mul
from typing import Any

from .answers import TooCostly, Undecided, require
from .asked import Asked
from .claims import Network, Operation, Program, Readout
from .effort import product_time
from .floating import Format, tanh_at_most
from .tanh import squash_function, tanh_time

Box = tuple[Any, Any]
"""The box (low, high) holds all numbers from low to high, in units: whole numbers, or rationals."""

Boxes = tuple[Box, ...]
Run = Callable[[list[Box], list[Any], list[Any]], Box]
"""An operation: from the boxes so far, and twice the middles and the widths of some of them, to one more box."""
Measured = dict[int, int]
"""Of which boxes middles and widths are kept, and where."""

SQUASHED = ("tanh", "sigmoid")
"""The operations that leave the rationals."""

_LONG = 4
"""As many terms make a sum long."""
_GROWING = ("sum", "product", "square", "mean")
_LONGEST, _LONGEST_DENOMINATOR = 1 << 15, 1 << 16
"""The most binary digits of a number before the point or of a rational's denominator, and of what a sum's weights share."""


class Arithmetic(ABC):
    """How operations act on boxes."""

    unit: int
    """How many units 1 is."""
    weight = 1
    """How many boxes of the first kind fill as much memory as one of these."""

    @abstractmethod
    def sum(self, operation: Operation, measured: Measured) -> Run:
        """Return the sum w·x + … + c."""

    @abstractmethod
    def product(self, x: Box, y: Box) -> Box:
        """Multiply."""

    @abstractmethod
    def tanh(self, x: Box) -> Box:
        """Squash."""

    @abstractmethod
    def sigmoid(self, x: Box) -> Box:
        """Return 1 / (1 + e^(−x)) = (1 + tanh(x / 2)) / 2."""

    @abstractmethod
    def mean(self, share: Box, x: Box, y: Box) -> Box:
        """Return (1 − s)·x + s·y."""

    @abstractmethod
    def pairs(self, readout: Readout) -> Callable[[Boxes], tuple[bool | None, ...]]:
        """Return a function that says of each pair of outputs whether the first is surely above (or surely not; else None)."""

    @abstractmethod
    def is_narrow(self, box: Box) -> bool:
        """Say whether more digits would make a box narrower, since rounding alone made it wide."""

    @abstractmethod
    def time(self, operation: Operation) -> int:
        """Return about how many nanoseconds an operation takes."""

    def positive_part(self, x: Box) -> Box:
        """Return max(0, x), which rises."""
        return max(x[0], 0), max(x[1], 0)

    def square(self, x: Box) -> Box:
        """Return x², which is never negative."""
        low, high = self.product(x, x)
        return (low if x[0] > 0 or x[1] < 0 else 0), high

    def step(self, x: Box) -> Box:
        """Return 1 above zero and 0 elsewhere, which rises."""
        return (self.unit if x[0] > 0 else 0), (self.unit if x[1] > 0 else 0)

    def check(self, box: Box) -> None:  # noqa: B027 -- floats do not grow
        """Stop where numbers become too long to go on with."""

    def run(self, operation: Operation, measured: Measured) -> Run:
        """Return an operation as a function."""
        if operation.name == "sum":
            return self.sum(operation, measured)
        act, (place, *others) = self.function(operation.name), operation.places
        if not others:
            return lambda boxes, _, __: act(boxes[place])
        if len(others) == 1:
            (other,) = others
            return lambda boxes, _, __: act(boxes[place], boxes[other])
        return lambda boxes, _, __: act(boxes[place], *[boxes[other] for other in others])

    def function(self, name: str) -> Callable[..., Box]:
        """Return an operation that is no sum as a function of boxes."""
        return getattr(self, name)


class Rounded(Arithmetic):
    """Real numbers between multiples of 2^−places; rationals without a limit to their digits where places is None."""

    def __init__(self, places: int | None) -> None:
        self.places, self.unit = places, 1 << (places or 0)
        self.most = self.unit << _LONGEST
        self.weight = 64 if places is None else 1 + places // 512
        self._squash = {name: squash_function(name, places) for name in SQUASHED} if places is not None else {}

    def outward(self, low: Any, high: Any, divisor: int) -> Box:  # noqa: ANN401 -- whole numbers or rationals
        """Divide both ends, rounded outward."""
        if self.places is None:
            return low * Fraction(1, divisor), high * Fraction(1, divisor)
        return low // divisor, -(-high // divisor)

    def sum(self, operation: Operation, measured: Measured) -> Run:
        """Return the sum, its weights whole over one divisor."""
        terms = [term for term in zip(operation.weights, operation.places, strict=True) if term[0]]
        common = _common_denominator([operation.bias, *(weight for weight, _ in terms)])
        weights, places = [int(weight * common) for weight, _ in terms], [place for _, place in terms]
        bias, outward = int(operation.bias * common) * self.unit, self.outward
        if not terms:
            constant = outward(bias, bias, common)
            return lambda _, __, ___: constant
        if measured.keys() >= set(places):
            return self._sum_by_middles(weights, [measured[place] for place in places], bias, common)

        def add(boxes: list[Box], _: list[Any], __: list[Any]) -> Box:
            low = high = bias
            for weight, place in zip(weights, places, strict=True):
                least, greatest = boxes[place] if weight > 0 else boxes[place][::-1]
                low, high = low + weight * least, high + weight * greatest
            return outward(low, high, common)

        return add

    def _sum_by_middles(self, weights: list[int], places: list[int], bias: int, common: int) -> Run:
        """Return a sum over numbers each of which is the middle of its box give or take half its width.

        Middles and widths are found once, so that many sums over the same numbers take half the time.
        """
        sizes, chosen, outward = list(map(abs, weights)), _getter(places), self.outward
        divisor, twice = 2 * common, 2 * bias

        def add(_: list[Box], doubled: list[Any], widths: list[Any]) -> Box:
            middle, reach = sum(map(mul, weights, chosen(doubled)), twice), sum(map(mul, sizes, chosen(widths)))
            return outward(middle - reach, middle + reach, divisor)

        return add

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

    def check(self, box: Box) -> None:
        """Stop where numbers become too long, before the point or after it."""
        low, high = box
        long = self.places is None and max(low.denominator, high.denominator).bit_length() > _LONGEST
        if long or high > self.most or low < -self.most:
            raise TooCostly("the numbers of a step have too many digits")

    def time(self, operation: Operation) -> int:
        """Return the time of products with ends, and of two bounds of tanh."""
        digits = self.places or 1024
        if operation.name in SQUASHED:
            return 4000 + 2 * tanh_time(digits + 1, digits)
        bits = [max(weight.numerator.bit_length(), weight.denominator.bit_length()) for weight in operation.weights]
        return 1000 + sum(2 * product_time(size, digits) for size in bits) + 4 * product_time(digits, digits)


class Executed(Arithmetic):
    """Floating point: ends are whole numbers of the format's least positive number, and every operation rounds once."""

    def __init__(self, form: Format) -> None:
        self.form, self.unit = form, 1 << form.places

    def _round(self, ends: Sequence[int], places: int) -> Box:
        """Round the least and the greatest of some numbers, given in units of 2^−places units."""
        low, high = self.form.round(min(ends), places), self.form.round(max(ends), places)
        if low <= -self.form.infinity or high >= self.form.infinity:
            raise Undecided(narrow=False)
        return low, high

    def _number(self, value: Fraction) -> int:
        found = self.form.nearest(value)
        require(abs(found) < self.form.infinity, "a weight is too large for the format")
        return found

    def sum(self, operation: Operation, measured: Measured) -> Run:
        """Return the sum: each product is rounded, they are added from the left, and the bias last."""
        del measured
        bias = self._number(operation.bias)
        terms = [(self._number(w), place) for w, place in zip(operation.weights, operation.places, strict=True)]
        if not terms:
            return lambda _, __, ___: (bias, bias)

        def add(boxes: list[Box], _: list[Any], __: list[Any]) -> Box:
            products = [self.product((weight, weight), boxes[place]) for weight, place in terms]
            total = products[0]
            for term in (*products[1:], (bias, bias)):
                total = self._plus(total, term)
            return total

        return add

    def _plus(self, x: Box, y: Box) -> Box:
        return self._round((x[0] + y[0], x[1] + y[1]), 0)

    def product(self, x: Box, y: Box) -> Box:
        """Multiply, and round."""
        return self._round([p * q for p in x for q in y], self.form.places)

    def tanh(self, x: Box) -> Box:
        """Return what tanh may be: any number near the correctly rounded one; tanh 0 is 0."""
        return (0, 0) if x == (0, 0) else (-tanh_at_most(self.form, -x[0]), tanh_at_most(self.form, x[1]))

    def sigmoid(self, x: Box) -> Box:
        """Nothing says how exact an executed sigmoid is; reading has refused it."""
        raise NotImplementedError

    def mean(self, share: Box, x: Box, y: Box) -> Box:
        """Return the mean, each operation rounded in its turn."""
        rest = self._plus((self.unit, self.unit), (-share[1], -share[0]))
        return self._plus(self.product(rest, x), self.product(share, y))

    def pairs(self, readout: Readout) -> Callable[[Boxes], tuple[bool | None, ...]]:
        """Compare outputs as they are executed."""
        places = tuple(range(len(readout.lines[0][0])))
        outputs = [self.sum(Operation("sum", places, weights, bias), {}) for weights, bias in readout.lines]

        def above(hidden: Boxes) -> tuple[bool | None, ...]:
            found = [*(output(list(hidden), [], []) for output in outputs), (0, 0)]
            ends = [(found[greater], found[less]) for greater, less in readout.decision.pairs]
            return tuple(True if x[0] > y[1] else False if x[1] <= y[0] else None for x, y in ends)

        return above

    def is_narrow(self, box: Box) -> bool:
        """Say no: a format has as many digits as it has."""
        del box
        return False

    def time(self, operation: Operation) -> int:
        """Return the time of roundings, and of two bounds of tanh."""
        if operation.name == "tanh":
            return 8000 + 2 * tanh_time(self.form.places, 2 * self.form.digits + 16)
        return (2 + 2 * len(operation.places)) * (3000 + self.form.places)


def _common_denominator(numbers: Sequence[Fraction]) -> int:
    """Return the least common denominator, unless it would make very long numbers of all weights."""
    common = 1
    for number in numbers:
        common = lcm(common, number.denominator)
        if common.bit_length() > _LONGEST_DENOMINATOR:
            raise TooCostly("the weights of a sum have too many digits")
    return common


def _measured(program: Program, size: int) -> Measured:
    """Return what to measure: the state, and what long sums add up, in the order in which it comes."""
    sums = [operation.places for operation in program.operations if operation.name == "sum"]
    wanted = {place for places in sums if len(places) >= _LONG for place in places}
    return {place: index for index, place in enumerate([*range(size), *sorted(wanted.difference(range(size)))])}


def _getter(places: list[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function that picks the entries at some places."""
    if len(places) != 1:
        return itemgetter(*places) if places else lambda _: ()
    (place,) = places
    return lambda values: (values[place],)


class BoxedNetwork:
    """A network in an arithmetic."""

    def __init__(self, network: Network | Asked, arithmetic: Arithmetic) -> None:
        self.network, self.arithmetic = network, arithmetic
        starts = [arithmetic.sum(Operation("sum", (), (), number), {}) for number in network.start]
        self.start: Boxes = tuple(start([], [], []) for start in starts)
        self.unread = self.start
        """The boxes before anything is read; `start` is read on from by the first token."""
        for program in network.first:
            self.start = self.function(program)(self.start)
        self._steps, self._hidden = [*map(self.function, network.steps)], self.function(network.hidden)
        self._above = arithmetic.pairs(network.readout)

    def function(self, program: Program) -> Callable[[Boxes], Boxes]:
        """Return a program as a function of boxes."""
        size = len(self.start)
        measured = _measured(program, size)
        runs = [
            (self.arithmetic.run(operation, measured), operation.name in _GROWING, place in measured)
            for place, operation in enumerate(program.operations, size)
        ]
        results, check = _getter(list(program.results)), self.arithmetic.check
        if not runs:
            return lambda state: tuple(results(state))

        def function(state: Boxes) -> Boxes:
            boxes = list(state)
            doubled, widths = [low + high for low, high in boxes], [high - low for low, high in boxes]
            for run, is_growing, is_measured in runs:
                box = run(boxes, doubled, widths)
                boxes.append(box)
                if is_growing:
                    check(box)
                if is_measured:
                    doubled.append(box[0] + box[1])
                    widths.append(box[1] - box[0])
            return tuple(results(boxes))

        return function

    def step(self, state: Boxes, token: int) -> Boxes:
        """Return the boxes of the next state."""
        return self._steps[token](state)

    def hidden(self, state: Boxes) -> Boxes:
        """Return the boxes of what the readout sees."""
        return self._hidden(state)

    def above(self, state: Boxes) -> tuple[bool | None, ...]:
        """Say of each pair of outputs whether the first is surely above the second, or surely not; else None."""
        return self._above(self._hidden(state))

    @cached_property
    def _lines(self) -> list[Run]:
        size = len(self.network.hidden.results)
        lines = self.network.readout.lines
        measured = {place: place for place in range(size)}
        return [self.arithmetic.sum(Operation("sum", tuple(range(size)), *line), measured) for line in lines]

    def outputs(self, state: Boxes) -> Boxes:
        """Return the boxes of the outputs."""
        hidden = list(self._hidden(state))
        doubled, widths = [low + high for low, high in hidden], [high - low for low, high in hidden]
        return tuple(line(hidden, doubled, widths) for line in self._lines)

    def class_of(self, state: Boxes) -> int | None:
        """Return the class that every state in the boxes gets, or None if they may not all get one."""
        return self.network.readout.decision.class_of(self.above(state))

    def is_narrow(self, state: Boxes) -> bool:
        """Say whether more digits may decide."""
        return all(map(self.arithmetic.is_narrow, state))

    def time(self) -> int:
        """Return about how many nanoseconds a step and its class take."""
        operations = [*self.network.steps[0].operations, *self.network.hidden.operations]
        sums = [Operation("sum", (), weights, bias) for weights, bias in self.network.readout.lines]
        return 2000 + sum(self.arithmetic.time(operation) for operation in (*operations, *sums))


def hull(first: Boxes, second: Boxes) -> Boxes:
    """Return the least boxes around two states."""
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(first, second, strict=True))
