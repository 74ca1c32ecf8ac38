"""Floating point in whole numbers: a float is a whole number of units, the least positive number of its format.

Products and sums of whole numbers are exact, so an operation is exact arithmetic followed by one rounding, said here. A machine
rounds once an operation, or, fused, once for w·h + c.
"""

from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from .answers import require
from .claims import NOTHING, Model
from .machines import Ends, Machine
from .tanh import tanh_above, tanh_time

FUSED = "-fused"


class Format(NamedTuple):
    """A binary format.

    Attributes:
        digits: binary digits of a number.
        places: a unit is 2^−places.
        limit: every finite number is below 2^limit.
        tanh_neighbours: how far an executed tanh may be from the correctly rounded one, in neighbouring numbers.
    """

    digits: int
    places: int
    limit: int
    tanh_neighbours: int

    @property
    def greatest(self) -> int:
        """The greatest finite number, in units."""
        return (2**self.digits - 1) << (self.limit - self.digits + self.places)

    @property
    def infinity(self) -> int:
        """What stands for an overflow: far enough beyond all numbers that adding one of them leaves it there."""
        return 4 * self.greatest

    def round(self, value: int, places: int) -> int:
        """Return the number nearest to value / 2^places units, a tie to the even one.

        So many last digits are cut off that `digits` stay, or more where what is left would be finer than a unit.
        Adding half, less one last place if the digit before is even, makes the cut one to nearest.
        """
        cut = max(value.bit_length() - self.digits, places)
        if cut <= 0:
            return value
        half_or_less = (1 << (cut - 1)) - 1 + (value >> cut & 1)
        found = ((value + half_or_less) >> cut) << (cut - places)
        if found.bit_length() <= self.limit + self.places:
            return found
        return self.infinity if found > 0 else -self.infinity

    def nearest(self, value: Fraction) -> int:
        """Round a rational. Of what lies beyond two digits below a unit it only matters whether there is any."""
        whole, rest = divmod(value.numerator << (self.places + 2), value.denominator)
        return self.round(whole | (rest != 0), 2)

    def neighbour(self, value: int, steps: int) -> int:
        """Return the number so many neighbours above, or below for negative steps."""
        sign = 1 if steps > 0 else -1
        for _ in range(abs(steps)):
            # Towards zero a power of two has its neighbour at the distance of the numbers below it.
            size = abs(value) if value * sign >= 0 else abs(value) - 1
            value += sign << max(size.bit_length() - self.digits, 0)
        return value


FORMATS = {
    "float16": Format(11, 24, 16, 1),
    "bfloat16": Format(8, 133, 128, 1),
    "float32": Format(24, 149, 128, 4),
    "float64": Format(53, 1074, 1024, 4),
}


def tanh_at_most(form: Format, x: int) -> int:
    """Return the greatest number that an executed tanh of x, or of anything less, may be; never more than 1."""
    return min(form.neighbour(_tanh_rounded_up(form, x), form.tanh_neighbours), 1 << form.places)


def _tanh_rounded_up(form: Format, x: int) -> int:
    """Return the correctly rounded tanh, or where a bound on tanh does not tell a neighbour above it."""
    # x − x³/3 < tanh x < x for x > 0: where x² < 2^−digits, x itself is nearest.
    if x.bit_length() - form.places <= -(form.digits // 2 + 1):
        return x
    places = 2 * form.digits + 16
    finer, coarser = max(0, form.places - places), max(0, places - form.places)
    return form.round(tanh_above(x, 1 << form.places, places) << finer, coarser)


class Floating(Machine):
    """Linear, selective and ReLU cells, their weights rounded once."""

    def __init__(self, model: Model, form: Format, fused: bool) -> None:
        super().__init__(model)
        self.form, self.fused, self.scale = form, fused, 1 << form.places
        self.weights, self.steps = ([self._round(value) for value in pair] for pair in (model.weights, model.steps))
        self.lines = [(self._round(v), self._round(c)) for v, c in model.lines]
        self.crossing = frozenset(pair for pair in self.decision.pairs if self._may_cross(*pair))
        self.factors = [self._factor(weight) for weight in self.weights]
        self.slopes = [self._factor(v) for v, _ in self.lines]

    def _may_cross(self, line: int, other: int) -> bool:
        """Say whether rounded outputs may change places more than once: only two whose slopes are of one sign."""
        return NOTHING not in (line, other) and self.lines[line][0] * self.lines[other][0] > 0

    def _round(self, value: Fraction) -> int:
        found = self.form.nearest(value)
        require(abs(found) < self.form.infinity, "a weight is too large for the format")
        return found

    def _factor(self, weight: int) -> tuple[int, int]:
        """Write a weight as m / 2^places with a short m, which makes quick products."""
        zeros = min((weight & -weight).bit_length() - 1, self.form.places) if weight else 0
        return weight >> zeros, self.form.places - zeros

    def _affine(self, factor: tuple[int, int], h: int, term: int) -> int:
        weight, places = factor
        if self.fused:
            return self.form.round(weight * h + (term << places), places)
        return self.form.round(self.form.round(weight * h, places) + term, 0)

    def step(self, h: int, token: int) -> int:
        """Return U·h + c(x) as executed."""
        h = self._affine(self.factors[token], h, self.steps[token])
        return max(h, 0) if self.model.cell == "relu" else h

    def image(self, ends: Ends, token: int) -> Ends:
        """Return the ends after a token, unless they overflow."""
        low, high = super().image(ends, token)
        require(-self.form.infinity < low and high < self.form.infinity, "h overflows")
        return low, high

    def outputs(self, h: int) -> list[int]:
        """Return the outputs as executed, an overflow as infinite."""
        return [self._affine(slope, h, c) for slope, (_, c) in zip(self.slopes, self.lines, strict=True)]

    def class_between(self, ends: Ends) -> int | None:
        """Return the class of every state between two ends, first without the pairs of outputs that may cross between them."""
        above = self.above_at(ends)
        if not self.crossing or ends[0] == ends[1]:
            return self.decision.class_of(above)
        every = list(zip(self.decision.pairs, above, strict=True))
        found = self.decision.class_of(tuple([None if pair in self.crossing else first for pair, first in every]))
        if found is not None:
            return found
        return self.decision.class_of(
            tuple(
                [None if pair in self.crossing and self._crosses(pair, first, ends) else first for pair, first in every]
            )
        )

    def _crosses(self, pair: tuple[int, int], first: bool | None, ends: Ends) -> bool:
        """Say whether an output that is above another at both ends may not be so between them.

        Two whose slopes are not of one sign change places at most once, since rounding keeps each monotone. Else the exact
        lines must be further apart than rounding accounts for, at both ends and so between them: an output is off by at
        most 3·2^−digits·(|v·h| + |c|) and one unit, unless it overflows. If it does between the ends, it does at one of
        them; upwards that harms the other output only, downwards this one.
        """
        line, other = pair if first else pair[::-1]
        (v, c), (w, d) = self.lines[line], self.lines[other]
        places, digits, infinity = self.form.places, self.form.digits, self.form.infinity
        sizes = (abs(v) + abs(w)) * max(map(abs, ends)) + (abs(c) + abs(d) << places)
        gap = min((v - w) * h + (c - d << places) for h in ends)
        outputs = [self.outputs(h) for h in ends]
        harmless = all(found[line] > -infinity and found[other] < infinity for found in outputs)
        return not (harmless and gap << digits > 3 * sizes + (2 << places + digits))

    def time(self, length: int) -> int:  # noqa: ARG002
        """Four steps and the outputs at both ends; outputs with slopes of one sign are compared with two others there."""
        again = any(v * w > 0 for (v, _), (w, _) in combinations(self.lines, 2))
        operations = 4 + len(self.lines) * (6 if again else 2)
        return 2500 + operations * (900 + self.form.places // 2)


class FloatTanh(Floating):
    """A tanh cell: an executed tanh is any number near the correctly rounded one, and at most 1; tanh 0 is 0."""

    enclosing = True

    def image(self, ends: Ends, token: int) -> Ends:
        """Return bounds of what tanh may be between the ends of U·h + c(x), which may overflow."""
        low, high = Machine.image(self, ends, token)
        if low == high == 0:
            return 0, 0
        return -tanh_at_most(self.form, -low), tanh_at_most(self.form, high)

    def time(self, length: int) -> int:
        """The same, and four bounds of tanh."""
        return super().time(length) + 4 * (4000 + tanh_time(self.form.places, 2 * self.form.digits + 16))
