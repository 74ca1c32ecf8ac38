"""Floating point in any order, in boxes: whatever library executes a program, what it computes lies in them.

Nothing is known of a library but this. It adds the terms of a sum in an order of its own, and may fuse a product with an
addition. Its tanh and its sigmoid are within `ULPS` units in the last place of the true values, and never leave [−1, 1] and
[0, 1]; tanh 0 is 0, and from `SATURATED` on both are 1. What is smaller than the least normal number may become 0, and
of a function what is up to `FLUSHED` times that.

- A sum of n terms has n products and n − 1 additions, and no term goes through more than n of them. Each adds a share of at most
  u = 2^−digits, so that the sum is off by at most ((1 + u)^n − 1)·Σ|term| ≤ n·u / (1 − n·u)·Σ|term|. Each of the 2n − 1 results
  may also become 0, or be rounded as a subnormal number: less than 4n times the least normal number in all.
- Of two terms there is one addition, which is rounded once and keeps the order: ends go to ends.
- A product that is added may be rounded before or not: its box holds both. `flattening` says what is added.

- Weights of int8 are whole numbers q times a scale s for each row. A library multiplies q·s out first, or adds up q·x and
  multiplies by s at the end: a term of n goes through at most n + 2 operations, so it counts as three. Scales are at most
  2^60, times which more may be flushed, and normal numbers; numbers beyond 2^100 are not multiplied. A factor of 1 or −1 is made
  of powers of two and rounds nothing.
- Within a step of float16 or bfloat16 every number may be kept in float32, so that boxes hold it as it is there and as it is
  rounded from there. The numbers of a state are rounded to the format.

Where a number may overflow, nothing is decided.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from operator import add, mul, sub
from typing import NamedTuple

from .answers import TooCostly, Undecided, require
from .arithmetic import SQUASHED, Arithmetic, Box, Boxes, Run, getter
from .claims import Operation, Program, Readout
from .exponential import shares_above
from .flattening import flat_program
from .floating import FORMATS
from .packing import Terms, packed_sums
from .reading import fields_of, one_of
from .tanh import squash_function, tanh_time

ANY_ORDER = "-any-order"
_NARROW = ("float16", "bfloat16")
_KEPT = {
    "-".join((*([f"{weights}-weights"] if weights else ()), *([f"{state}-state"] if state else ()), "float32")): (
        weights,
        state,
    )
    for weights in ("", *_NARROW, "int8")
    for state in ("", *_NARROW)
    if weights or state
}
"""What computes in float32, and keeps the weights or the numbers of a state in something else."""

ULPS = 8
SATURATED = {"float16": (12, 20), "bfloat16": (12, 20), "float32": (12, 20), "float64": (22, 42)}
"""From where on tanh and the sigmoid are 1: measured for NumPy, PyTorch and JAX, as `ULPS` is."""

FLUSHED = 4
"""Functions may give 0 for what is up to so many times the least normal number."""

_TWO = 2
_SCALED_TERMS, _SCALE_DIGITS, _FACTOR_DIGITS = 3, 60, 100
"""As how many terms a weight of int8 counts; how large its scale may be, and what it is multiplied with, as powers of two."""
_SINGLE = FORMATS["float32"]
"""The format in which numbers of a narrower one may be kept within a step."""
_MOST_PACKED = 32
"""Binary digits before the point of numbers that are added up all at once."""


def arithmetic_name(value: object, others: Sequence[str]) -> str:
    """Return the name of an arithmetic: one in any order, or one of some others."""
    if isinstance(value, str) and value.removesuffix(ANY_ORDER) in _KEPT and value.endswith(ANY_ORDER):
        return value
    return one_of(value, (*others, *(name + ANY_ORDER for name in FORMATS)))


def require_assumed(value: object, arithmetic: str) -> None:
    """Refuse what assumes anything else of a library's functions than what was measured."""
    tanh, sigmoid = SATURATED[_computed_in(arithmetic)]
    known = {"ulps": ULPS, "tanh_is_1_from": tanh, "sigmoid_is_1_from": sigmoid}
    found = fields_of(value, " ".join(known))
    same = all(type(found[field]) is int and found[field] == number for field, number in known.items())
    require(same, "not what may be assumed of a library")


def _computed_in(arithmetic: str) -> str:
    """Return the name of the format that an arithmetic computes in."""
    return arithmetic.removesuffix(ANY_ORDER).rpartition("-")[2]


class _Sum(NamedTuple):
    """A sum: weights, none of them 0, of the numbers at some places, and constants; each a box, since it may become 0.

    `terms` says how many terms it counts as.
    """

    weights: list[Box]
    places: list[int]
    constants: list[Box]
    terms: int

    @property
    def is_long(self) -> bool:
        """Whether there are several terms of different numbers, and no weight and no constant may become 0."""
        sure = all(low == high for low, high in (*self.weights, *self.constants))
        return sure and self.terms > _TWO and 0 < len(self.places) == len(set(self.places))


class AnyOrder(Arithmetic):
    """Boxes whose ends are whole numbers of the least positive number, of the format or of float32."""

    def __init__(self, arithmetic: str) -> None:
        name = _computed_in(arithmetic)
        weights, state = _KEPT.get(arithmetic.removesuffix(ANY_ORDER), ("", ""))
        form = FORMATS[name]
        self.form, self.places = form, max(form.places, _SINGLE.places)
        self.state, self._weights, self._is_scaled = (
            FORMATS[state or name],
            FORMATS.get(weights, form),
            weights == "int8",
        )
        self.unit, self._left = 1 << self.places, self.places - form.places
        self.most, self.least = (form.greatest << self._left) // 2, 1 << form.digits - 1 + self._left
        self.stores, self._keeps_single = self.state.digits < _SINGLE.digits, form.digits < _SINGLE.digits
        self.saturated = [point << self.places for point in SATURATED[name]]
        # The bounds of functions and of long sums need no more digits than these: they are off by far more.
        self._fine, self._coarse = form.digits + 104, min(self.places, 2 * form.digits + 32)
        self._squash = {squash: squash_function(squash, self._fine) for squash in SQUASHED}

    def program_of(self, program: Program, size: int) -> Program:
        """Join sums of sums: nobody knows in which order their terms are added."""
        return flat_program(program, size)

    # --- Rounding ---------------------------------------------------------------------------------------------------------

    def _box(self, low: int, high: int, places: int = 0) -> Box:
        """Round both ends, given in units of 2^−places units."""
        if max(-low, high) > self.most << places:
            raise Undecided(narrow=False)
        return self._with_zero(self._low(low, places), -self._low(-high, places))

    def _low(self, value: int, places: int) -> int:
        """Return the least number that may come of a value; in a narrow format it may be kept in float32, rounded or not."""
        if not self._keeps_single:
            return self.nearest(value, places)
        kept = value >> places
        cut = max(0, kept.bit_length() - _SINGLE.digits)
        kept = kept >> cut << cut
        return min(kept, self.nearest(kept))

    def nearest(self, value: int, places: int = 0) -> int:
        """Return the number of the format nearest to a value, which is given in units of 2^−places units."""
        return self.form.round(value, places + self._left) << self._left

    def stored(self, x: Box) -> Box:
        """Round to the format of a state's numbers, as they are from one token to the next."""
        left = self.places - self.state.places
        if 2 * max(-x[0], x[1]) > self.state.greatest << left:
            raise Undecided(narrow=False)
        low, high = (self.state.round(end, left) << left for end in x)
        return self._with_zero(low, high, least=1 << self.state.digits - 1 + left)

    def _with_zero(self, low: int, high: int, times: int = 1, least: int = 0) -> Box:
        """Let what may be subnormal be 0 too; the least normal number may have been subnormal before it was rounded."""
        least = times * (least or self.least)
        return (0 if 0 < low <= least else low), (0 if -least <= high < 0 else high)

    def _number(self, value: Fraction) -> Box:
        form = self._weights
        found, left = form.nearest(value), self.places - form.places
        require(abs(found) <= form.greatest, "a weight is too large for the format")
        return self._with_zero(found << left, found << left, least=1 << form.digits - 1 + left)

    def _factor(self, value: Fraction) -> Box:
        """Return a weight that is multiplied; one of int8 is not rounded."""
        if not self._is_scaled:
            return self._number(value)
        found = value * self.unit
        require(
            found.denominator == 1 and abs(found) <= self.most, "a weight is not a whole number times a float32 scale"
        )
        return int(found), int(found)

    def _plus(self, x: Box, y: Box) -> Box:
        return self._box(x[0] + y[0], x[1] + y[1])

    # --- Sums and products ------------------------------------------------------------------------------------------------

    def sums(self, operations: Sequence[Operation]) -> Run:
        """Return the sums: those of one or two terms one by one, the others together where they share their numbers."""
        found = [self._sum_of(operation) for operation in operations]
        is_long = [one.is_long for one in found]
        alone = [None if long else self._short(one) for one, long in zip(found, is_long, strict=True)]
        if not any(is_long):
            return lambda boxes: [total(boxes) for total in alone if total is not None]
        joint = self._long([one for one, long in zip(found, is_long, strict=True) if long])

        def run(boxes: list[Box]) -> list[Box]:
            totals = iter(joint(boxes))
            return [next(totals) if total is None else total(boxes) for total in alone]

        return run

    def _sum_of(self, operation: Operation) -> _Sum:
        weights = [self._factor(weight) for weight in operation.weights]
        kept = [place for place, weight in enumerate(weights) if weight != (0, 0)]
        numbers = [self._number(constant) for constant in (operation.bias, *operation.constants)]
        constants = [constant for constant in numbers if constant != (0, 0)]
        terms = sum(self._terms_of(operation.weights[place]) for place in kept) + len(constants)
        return _Sum([weights[place] for place in kept], [operation.places[place] for place in kept], constants, terms)

    def _terms_of(self, weight: Fraction) -> int:
        """Say as how many terms a product with a weight counts."""
        return 1 if self.is_exact(weight) else _SCALED_TERMS

    def is_exact(self, weight: Fraction) -> bool:
        """Say whether nothing but the product itself is rounded where a number is multiplied by a weight."""
        return not self._is_scaled or (abs(weight) <= 1 and weight.denominator == 1)

    def _short(self, one: _Sum) -> Callable[[Sequence[Box]], Box]:
        """Return a sum whose terms are bounded one by one; of one or two terms the bounds are exact."""
        pairs, constants, terms = list(zip(one.weights, one.places, strict=True)), one.constants, one.terms
        if not pairs and terms <= 1:
            (constant,) = constants or [(0, 0)]
            return lambda _: constant

        def total(boxes: Sequence[Box]) -> Box:
            self._check_factors(boxes[place] for _, place in pairs)
            found = [*(self.product(weight, boxes[place]) for weight, place in pairs), *constants]
            low, high = sum(low for low, _ in found), sum(high for _, high in found)
            if terms <= _TWO:
                return self._box(low, high)
            size = sum(max(-low, high) for low, high in found)
            return self._bounds(low, high, size, terms, self.places)

        return total

    def _check_factors(self, boxes: Iterable[Box]) -> None:
        """Stop where whole numbers, before they are multiplied by their scale, might lead to an overflow."""
        if self._is_scaled and any(max(-low, high) > self.unit << _FACTOR_DIGITS for low, high in boxes):
            raise Undecided(narrow=False)

    def _bounds(self, low: int, high: int, size: int, terms: int, places: int) -> Box:
        """Return what may come of terms whose exact sum lies between two ends, and whose sizes add up to `size`."""
        rest = (1 << self.form.digits) - terms
        if rest <= terms:
            raise TooCostly("a sum has too many terms for the format")
        left = self.places - places
        flushed = 4 * terms * self.least << (_SCALE_DIGITS if self._is_scaled else 0)
        off = -(-terms * size // rest) + -(-flushed >> left)
        if size << left > self.most:
            raise Undecided(narrow=False)
        return self._box(low - off << left, high + off << left)

    def _long(self, found: list[_Sum]) -> Run:
        """Return sums of several terms: numbers are taken as middles and widths, with as many digits as matter."""
        places = sorted({place for one in found for place in one.places})
        order = {place: index for index, place in enumerate(places)}
        terms, sizes = [self._terms(one, int) for one in found], [self._terms(one, abs) for one in found]
        digits, numbers, shift = self._coarse + _MOST_PACKED, getter(places), self.places - self._coarse
        packed = packed_sums(terms, places, digits), packed_sums(sizes, places, digits)
        slow = [_total(one, order) for one in terms], [_total(one, order) for one in sizes]
        most, counts = 1 << digits - 1, [one.terms for one in found]

        def run(boxes: list[Box]) -> list[Box]:
            self._check_factors(numbers(boxes))
            lows, highs = zip(*numbers(boxes), strict=True)
            lows, highs = [low >> shift for low in lows], [-(-high >> shift) for high in highs]
            each = [max(-low, high) for low, high in zip(lows, highs, strict=True)]
            if packed[0] is not None and packed[1] is not None and max(each) < most:
                totals, reaches = packed[0](lows, highs), packed[1](each, each)
            else:
                totals, reaches = [total(lows, highs) for total in slow[0]], [total(each, each) for total in slow[1]]
            ends = zip(totals, reaches, counts, strict=True)
            return [self._bounds(low, high, size, number, self._coarse) for (low, high), (_, size), number in ends]

        return run

    def _terms(self, one: _Sum, act: Callable[[int], int]) -> Terms:
        """Write a sum, or that of its sizes, in whole numbers over a power of two."""
        places, factors = self.places, [act(weight) for weight, _ in one.weights]
        constant = sum(act(constant) for constant, _ in one.constants) << self._coarse
        zeros = min(number & -number for number in (*factors, constant, 1 << places) if number).bit_length() - 1
        return Terms([factor >> zeros for factor in factors], one.places, constant >> zeros, 1 << places - zeros)

    def product(self, x: Box, y: Box) -> Box:
        """Multiply, rounded or not."""
        if x[0] == x[1] == self.unit or y[0] == y[1] == self.unit:
            return y if x[0] == x[1] == self.unit else x
        products = [p * q for p in x for q in y]
        low, high, places = min(products), max(products), self.places
        rounded = self._box(low, high, places)
        return min(low >> places, rounded[0]), max(-(-high >> places), rounded[1])

    def mean(self, share: Box, x: Box, y: Box) -> Box:
        """Return the mean, written (1 − s)·x + s·y or x + s·(y − x).

        Both are close to the real mean: no term goes through more than three roundings, and for 0 ≤ s ≤ 1 they add up to
        2·(|x| + |y|) at most.
        """
        rest = self._plus((self.unit, self.unit), (-share[1], -share[0]))
        one = self._plus(self.product(rest, x), self.product(share, y))
        other = self._plus(self.product(share, self._plus(y, (-x[1], -x[0]))), x)
        low, high = min(one[0], other[0]), max(one[1], other[1])
        (less, more), (a, b), (c, d), places = share, x, y, self.places
        if less < 0 or more > self.unit:
            return low, high
        size = max(-a, b) + max(-c, d)
        off = -(-8 * size // ((1 << self.form.digits) - 4)) + 8 * self.least
        least = a + ((less if c >= a else more) * (c - a) >> places)
        greatest = b - ((more if d >= b else less) * (b - d) >> places)
        around = self._box(least - off, greatest + off)
        return max(low, around[0]), min(high, around[1])

    # --- Functions --------------------------------------------------------------------------------------------------------

    def tanh(self, x: Box) -> Box:
        """Squash: 1 or −1 far from 0, and 0 at 0."""
        low, high = x
        if low == high == 0 or low >= self.saturated[0] or high <= -self.saturated[0]:
            sign = (low > 0) - (high < 0)
            return sign * self.unit, sign * self.unit
        least, greatest = self._near("tanh", x)
        least = -self.unit if least < -self.unit else least
        return self._with_zero(least, min(greatest, self.unit), FLUSHED)

    def sigmoid(self, x: Box) -> Box:
        """Squash to numbers from 0 to 1."""
        if x[0] >= self.saturated[1]:
            return self.unit, self.unit
        least, greatest = self._near("sigmoid", x)
        return self._with_zero(max(least, 0), min(greatest, self.unit), FLUSHED)

    def _near(self, name: str, x: Box) -> Box:
        """Return what may be found for the true values of a function: they are numbers of the format."""
        low, high = self._squash[name]((self._finer(x[0]), -self._finer(-x[1])))
        return -self._above(-low), self._above(high)

    def _finer(self, value: int) -> int:
        """Return a number in finer units, rounded down."""
        left = self._fine - self.places
        return value << left if left >= 0 else value >> -left

    def _above(self, value: int) -> int:
        """Return the greatest number that a function may give for a true value, which is given in finer units."""
        share, left = -(-2 * ULPS * abs(value) >> self.form.digits), self._fine - self.places
        value += share
        value = -(-value >> left) if left >= 0 else value << -left
        return -self._low(-value - (ULPS << self._left), 0)

    def shares_above(self, outputs: Sequence[Box], threshold: Fraction) -> list[bool | None]:
        """Say of each output whether a library finds its share in the softmax above a threshold.

        It computes e^(x − m) / Σ e^(y − m), m the greatest output. Let E be how far apart outputs are. That x − m is rounded
        changes a power by a factor of e^(u·E), and the exponential by a share of 2·ULPS·u, above and below the line. The sum of
        n powers adds n roundings, the quotient and reading the threshold one each, and a narrow format rounds some twice. All of
        this stays within a factor of 1 / (1 − off); what becomes 0 is at most `FLUSHED` times the least normal number.
        """
        number, least = len(outputs), Fraction(FLUSHED * self.least, self.unit)
        spread = Fraction(max(high for _, high in outputs) - min(low for low, _ in outputs), self.unit)
        off = (spread + 2 * ULPS + number + 6) * Fraction(2, 1 << self.form.digits) + 2 * number * least
        if 2 * off >= 1 or threshold < 4 * least:
            return [None] * number
        rest = 1 - off
        above = shares_above(outputs, self.places, threshold * Fraction(rest.denominator, rest.numerator))
        below = shares_above(outputs, self.places, threshold * rest)
        return [True if one else False if other is False else None for one, other in zip(above, below, strict=True)]

    # --- What is told -----------------------------------------------------------------------------------------------------

    def pairs(self, readout: Readout) -> Callable[[Boxes], tuple[bool | None, ...]]:
        """Compare outputs as they are executed."""
        places = tuple(range(len(readout.lines[0][0])))
        outputs = self.sums([Operation("sum", places, weights, bias) for weights, bias in readout.lines])

        def above(hidden: Boxes) -> tuple[bool | None, ...]:
            found = [*outputs(list(hidden)), (0, 0)]
            ends = [(found[greater], found[less]) for greater, less in readout.decision.pairs]
            return tuple(True if x[0] > y[1] else False if x[1] <= y[0] else None for x, y in ends)

        return above

    def is_narrow(self, box: Box) -> bool:
        """Say no: a format has as many digits as it has."""
        del box
        return False

    def time(self, operation: Operation) -> int:
        """Return the time of roundings, or of two bounds of a function."""
        if operation.name in SQUASHED:
            return 5000 + 2 * tanh_time(self._fine, self._fine)
        return 4000 + 600 * len(operation.places) + 2 * self.places


def _total(terms: Terms, order: dict[int, int]) -> Callable[[Sequence[int], Sequence[int]], Box]:
    """Return one sum, given the ends of numbers, and where those of its own stand among them."""
    chosen, weights, sizes = getter([order[place] for place in terms.places]), terms.weights, [*map(abs, terms.weights)]
    divisor, twice = 2 * terms.common, 2 * terms.bias

    def total(lows: Sequence[int], highs: Sequence[int]) -> Box:
        ends = chosen(lows), chosen(highs)
        middle, reach = sum(map(mul, weights, map(add, *ends)), twice), sum(map(mul, sizes, map(sub, *ends[::-1])))
        return (middle - reach) // divisor, -(-(middle + reach) // divisor)

    return total
