"""All strings of a linear network with one matrix for both tokens, by sorting what each bracket adds.

What the opening brackets of a string add to y is the sum of their δ_k (`affine`), and any n of the T terms are those of a
string. So over all strings of length T with n opening brackets the least y has the n least terms. Their sum falls with n as
long as the terms are negative and rises from there on; so over the n of one right class, which lie on one side of T/2, the
least y is at the number of negative terms, or at the end of the range that is nearest to it. If no y that a class asks for is
negative there, the length is right.

Terms are whole numbers of 2^−places, rounded down, with a bound on their errors: sums of sorted terms are off by no more than
all errors together. Where this does not tell, terms are exact, over the common denominator of the longest length.
"""

from collections.abc import Callable, Iterator
from heapq import heappush, heappushpop
from operator import mul

from .affine import Affine, Demand, Row, demanding
from .answers import TooCostly, Undecided, number_text, require
from .claims import Claim, Counterexample, Network
from .effort import Limit, product_time, total_time

METHOD = "sorting"

_SPARE = 96
"""Binary places that rounding does not reach."""
_OVERHEAD = 5000
"""Nanoseconds that the sorted sums of a length take."""
_MOST_MEMORY = 1 << 33
"""Binary digits of all terms that are kept."""


def check_sorting(claim: Claim, network: Network, limit: Limit) -> None:
    """The counterexample follows the horizon and fails, and every counted length to the horizon is right."""
    affine, demands = sortable(claim, network, limit)
    example = claim.counterexample
    if example is not None:
        require(example.length == claim.horizon + claim.stride, "the counterexample does not follow the horizon")
        require(claim.right_class(example.runs) == example.right, "the right class is not the string's")
        _decide(affine, example.length, limit, lambda terms: _check_counterexample(network, terms, example, limit))
    check_lengths(affine, demands, claim.stride, claim.horizon, limit)


def sortable(claim: Claim, network: Network, limit: Limit) -> tuple[Affine, list[Demand]]:
    """Return a network as an affine one, and what its task asks; refuse a claim that sorting does not speak of."""
    return demanding(claim, network, limit, "sorting decides", one_matrix=True)


# --- Terms ----------------------------------------------------------------------------------------------------------------------


class Terms:
    """The terms δ_k and γ_k of every pair up to a length: in units of 2^−places, or exact where places is None.

    Attributes:
        error: a bound on the error of a row's entries so far.
    """

    def __init__(self, affine: Affine, length: int, places: int | None) -> None:
        self.affine, self.length, self.places, self.error = affine, length, places, 0
        self.unit = affine.divisor ** max(length - 1, 0) if places is None else 1 << places
        self.constants = [constant * self.unit for constant in affine.constants]
        self.growth = max(sum(map(abs, column)) for column in affine.columns)
        self.input_sizes = [sum(map(abs, column)) for column in affine.inputs]

    def __iter__(self) -> Iterator[tuple[list[tuple[int, int]], int]]:
        """Go through k = 0, 1, …: for every pair δ_k and γ_k, and a bound on the sum of both errors."""
        rows, exact, scale = [list(row) for row in self.affine.outputs], self.places is None, self.unit
        rows = rows if exact else [[x * self.unit for x in row] for row in rows]
        error, (opening, drift) = 0, self.affine.inputs
        for _ in range(self.length):
            found = [(sum(map(mul, row, opening)), sum(map(mul, row, drift))) for row in rows]
            yield [(x * scale, y * scale) for x, y in found] if exact else found, error * sum(self.input_sizes)
            rows = [self._after(row) for row in rows]
            scale //= self.affine.divisor
            # An entry that is off by g adds g times the sizes of its column, and rounding down less than 1.
            error = 0 if exact else -(-error * self.growth // self.affine.divisor) + 1

    def _after(self, row: Row) -> Row:
        after = self.affine.after(row)
        return after if self.places is None else [x // self.affine.divisor for x in after]

    def time(self, k: int) -> int:
        """Return about how many nanoseconds a length takes."""
        weight = self.affine.largest
        digits = k * (weight + self.affine.size.bit_length()) if self.places is None else self.places
        whole = self.unit.bit_length() if self.places is None else digits
        products = self.affine.size * (self.affine.size + 2) * product_time(weight, digits + weight)
        return _OVERHEAD + len(self.affine.outputs) * (
            products + whole // 2 + product_time(digits, max(0, whole - digits))
        )


def _decide(affine: Affine, length: int, limit: Limit, verify: Callable[[Terms], None]) -> None:
    """Verify something on rounded terms, and if these do not tell on exact ones."""
    lost = length * _digits_lost(affine)
    sizes = sum(abs(x) for column in affine.inputs for x in column).bit_length()
    places, exact = _SPARE + (lost >> 6) + sizes + 2 * length.bit_length(), length * affine.divisor.bit_length()
    for chosen, digits in ((places, places), (None, exact)):
        if chosen is not None and exact < places:
            continue
        if length * digits * len(affine.outputs) > _MOST_MEMORY:
            raise TooCostly(f"the terms of length {number_text(length)} have too many digits for the memory")
        terms = Terms(affine, length, chosen)
        limit.allow(total_time(terms.time, length), f"length {number_text(length)}")
        try:
            return verify(terms)
        except Undecided:
            continue
    raise AssertionError("exact terms decide")


def _digits_lost(affine: Affine) -> int:
    """Return about how many binary digits errors grow by in 64 tokens."""
    growth = max(sum(map(abs, column)) for column in affine.columns)
    ratio = -(-(growth << 32) // affine.divisor)
    return max(0, (ratio**64).bit_length() - 64 * 32)


# --- Strings --------------------------------------------------------------------------------------------------------------------


def _check_counterexample(network: Network, terms: Terms, example: Counterexample, limit: Limit) -> None:
    values, error = list(terms.constants), 0
    tokens = list(example.tokens())
    for (found, off), token in zip(terms, reversed(tokens), strict=True):
        limit.go_on(len(tokens), len(tokens))
        error += off
        values = [
            value + drift + (0 if token else opening) for value, (opening, drift) in zip(values, found, strict=True)
        ]
    above = tuple(True if value > error else False if value <= -error else None for value in values)
    given = network.readout.decision.class_of(above)
    if given is None:
        raise Undecided
    require(given == example.given != example.right, "the counterexample does not fail as it is said to")


def check_lengths(affine: Affine, demands: list[Demand], stride: int, horizon: int, limit: Limit) -> None:
    """Every counted length to the horizon is right."""
    if horizon:
        _decide(affine, horizon, limit, lambda terms: _check_lengths(terms, demands, stride, limit))


def _check_lengths(terms: Terms, demands: list[Demand], stride: int, limit: Limit) -> None:
    sums = {(pair, direction): _Sums() for pair, direction, _, _ in demands}
    error = 0
    for length, (found, off) in enumerate(terms, start=1):
        limit.go_on(length, terms.length)
        error += off
        for (pair, direction), of_pair in sums.items():
            opening, drift = found[pair]
            of_pair.add(direction * opening, direction * drift)
        for pair, direction, strict, side in demands if length % stride == 0 else ():
            if side or length % 2 == 0:
                least = direction * terms.constants[pair] + sums[pair, direction].least(side)
                if not (least > error or (least == error and not strict)):
                    require(not (least < -error or (least == -error and strict)), f"a string of length {length} fails")
                    raise Undecided


class _Sums:
    """The sum of the least terms among those seen so far, half of them or one more or less, and of the negative ones.

    The lesser half, rounded down, is a heap of the terms with the other sign, so that the greatest is on top; the rest is a heap
    with the least on top.
    """

    def __init__(self) -> None:
        self.lesser, self.greater = list[int](), list[int]()
        self.of_lesser = self.of_negative = self.negative = self.drift = 0

    def add(self, opening: int, drift: int) -> None:
        """See one more term."""
        self.drift += drift
        if opening < 0:
            self.negative += 1
            self.of_negative += opening
        # The lesser half grows with every other term: what leaves one heap for the other is on top of it.
        if len(self.lesser) == len(self.greater):
            pushed = -heappushpop(self.lesser, -opening) if self.lesser else opening
            self.of_lesser += opening - pushed if self.lesser else 0
            heappush(self.greater, pushed)
        else:
            pushed = heappushpop(self.greater, opening)
            self.of_lesser += pushed
            heappush(self.lesser, -pushed)

    def least(self, side: int) -> int:
        """Return the least that strings with a count of some sign can add."""
        half, length = len(self.lesser), len(self.lesser) + len(self.greater)
        first, last = {-1: (0, (length - 1) // 2), 0: (half, half), 1: (half + 1, length)}[side]
        number = min(max(self.negative, first), last)
        if number == self.negative:
            return self.drift + self.of_negative
        more = {half - 1: self.lesser[0] if self.lesser else 0, half: 0, half + 1: self.greater[0]}[number]
        return self.drift + self.of_lesser + more
