"""Floating point as executed, in boxes: it rounds after every operation, which keeps the order, so that ends go to ends."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from .answers import Undecided, require
from .arithmetic import Arithmetic, Box, Boxes, Run
from .claims import Operation, Readout
from .floating import Format, tanh_at_most
from .tanh import tanh_time


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

    def sums(self, operations: Sequence[Operation]) -> Run:
        """Return the sums: each product is rounded, they are added from the left, and the bias last."""
        found = [self._sum(operation) for operation in operations]
        return lambda boxes: [add(boxes) for add in found]

    def _sum(self, operation: Operation) -> Callable[[Sequence[Box]], Box]:
        bias = self._number(operation.bias)
        terms = [(self._number(w), place) for w, place in zip(operation.weights, operation.places, strict=True)]
        if not terms:
            return lambda _: (bias, bias)

        def add(boxes: Sequence[Box]) -> Box:
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
        """Leave it open: nothing says how exact an executed sigmoid is, and reading has refused it."""
        del x
        raise Undecided

    def mean(self, share: Box, x: Box, y: Box) -> Box:
        """Return the mean, each operation rounded in its turn."""
        rest = self._plus((self.unit, self.unit), (-share[1], -share[0]))
        return self._plus(self.product(rest, x), self.product(share, y))

    def pairs(self, readout: Readout) -> Callable[[Boxes], tuple[bool | None, ...]]:
        """Compare outputs as they are executed."""
        places = tuple(range(len(readout.lines[0][0])))
        outputs = [self._sum(Operation("sum", places, weights, bias)) for weights, bias in readout.lines]

        def above(hidden: Boxes) -> tuple[bool | None, ...]:
            found = [*(output(hidden) for output in outputs), (0, 0)]
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
