"""All strings of a network with one matrix per token, where the two matrices commute, by the least of all lattice paths.

The product of the matrices after a token depends only on how many `(` and `)` follow it, n and m. So the token adds w·A^n·B^m·a
or w·A^n·B^m·b to y, and a string is a path from (0, 0), its end, to its own numbers of brackets. The least sum over all
strings with n opening and m closing brackets follows from those that are one token shorter, the first token taken away: it is
the lesser of what `(` leads to from (n − 1, m) and `)` from (n, m − 1). A length is right if no y that a class asks for is
negative at any (n, m) of this class.

The rows w·A^n and the columns B^m·a and B^m·b, each brought to the size of 1, are whole numbers of 2^−places, rounded down,
with bounds on their errors. Where these do not tell, they are exact: then rows are multiplied by D^n, columns by D^m and sums
by D^(n+m).

**At every length** a network may be right though it does not count exactly, where both matrices are diagonal. A unit whose two
factors are 1 adds up its steps a and b. For these units together w·a = −w·b must hold; then they give L/2·(n − m) to y, with L =
w·a − w·b. Any other unit, unless w or both of its steps are 0, must have factors of less than 1 in size. With θ the larger of
them, tokens that have K or more after them leave at most |w|·max(|a|, |b|)·θ^K/(1 − θ) of it in y, which is added up over all
such units to τ.

The last K tokens of a string give at least the least sum E(n, m) of all paths with their numbers of brackets, of which
L/2·(n − m) is what they count. So for every string of K or more tokens with N opening and M closing brackets

    2·y ≥ 2·C + (N − M)·L + min over n + m = K of (2·E(n, m) − (n − m)·L) − 2·τ.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from operator import add, mul, sub

from .affine import Affine, Demand, Row, demanding, is_met
from .answers import TooCostly, Undecided, number_text, require
from .claims import Claim, Counterexample, Network
from .effort import Limit, product_time

METHOD = "lattice paths"

_SPARE = 64
"""Binary places that rounding does not reach."""
_OVERHEAD = 400
"""Nanoseconds that an entry of a table takes, besides its products."""
_TERM = 50
"""By how many nanoseconds a product within a sum of many is faster than one by itself."""
_MOST_MEMORY = 1 << 33
"""Binary digits of all rows and columns that are kept."""


def check_paths(claim: Claim, network: Network, limit: Limit) -> None:
    """The counterexample follows the horizon and fails, and every counted length to the horizon is right."""
    affine, demands = demanding(claim, network, limit, "lattice paths decide")
    _require_commuting(affine, limit)
    example, horizon = claim.counterexample, claim.horizon
    if example is not None:
        require(example.length == horizon + claim.stride, "the counterexample does not follow the horizon")
        require(claim.right_class(example.runs) == example.right, "the right class is not the string's")
        _decide(
            affine, example.length, 1, limit, lambda vectors: _check_counterexample(network, vectors, example, limit)
        )
    if horizon:
        _decide(affine, horizon, horizon, limit, lambda vectors: least_sums(vectors, demands, claim.stride, limit))


def _require_commuting(affine: Affine, limit: Limit) -> None:
    A, B = ([list(row) for row in zip(*columns, strict=True)] for columns in affine.matrices)
    limit.allow(2 * affine.size**3 * product_time(affine.largest, affine.largest), "the product of the matrices")
    same = [affine.after(row, 1) for row in A] == [affine.after(row, 0) for row in B]
    require(same, "lattice paths decide only for matrices that commute")


# --- Terms ----------------------------------------------------------------------------------------------------------------------


class Vectors:
    """The rows and columns up to a length: in units of 2^−places, or exact where places is None.

    Attributes:
        rows: w·A^n of each pair, for each n.
        columns: B^m·a and B^m·b, for each m.
        errors: for each T a bound on the error of every term whose n + m is T.
    """

    def __init__(self, affine: Affine, length: int, places: int | None) -> None:
        self.affine, self.length, self.places = affine, length, places
        self.shifts = (0, 0) if places is None else (_digits(affine.outputs), _digits(affine.steps))
        transposed = [list(row) for row in zip(*affine.matrices[1], strict=True)]
        found = [self._powers(row, affine.matrices[0], self.shifts[0]) for row in affine.outputs]
        self.rows = [powers for powers, _ in found]
        (opening, off), (closing, other) = (self._powers(step, transposed, self.shifts[1]) for step in affine.steps)
        self.columns = opening, closing
        self.errors = list(self._errors([of_row for _, of_row in found], [off, other]))

    def _powers(self, row: Row, columns: list[Row], shift: int) -> tuple[list[Row], list[tuple[int, int]]]:
        """Return a row times the powers of a matrix, and for each a bound on the error of an entry, and the sum of sizes."""
        growth = max(sum(map(abs, column)) for column in columns)
        unit, divisor = 0 if self.places is None else self.places, self.affine.divisor
        row, error = [(x << unit) >> shift for x in row], int(shift > 0)
        powers: list[Row] = []
        bounds: list[tuple[int, int]] = []
        for _ in range(self.length):
            powers.append(row)
            bounds.append((error, sum(map(abs, row))))
            row = [sum(map(mul, row, column)) for column in columns]
            if self.places is not None:
                # An entry that is off by g adds g times the sizes of its column, and rounding down less than 1.
                row, error = [x // divisor for x in row], -(-error * growth // divisor) + 1
        return powers, bounds

    def _errors(self, rows: list[list[tuple[int, int]]], columns: list[list[tuple[int, int]]]) -> Iterator[int]:
        greatest = [0, 0, 0, 0]
        for place in range(self.length):
            now = [max(of[place][part] for of in both) for both in (rows, columns) for part in (0, 1)]
            greatest = list(map(max, greatest, now))
            of_row, row, of_column, column = greatest
            yield of_row * column + of_column * row + self.affine.size * of_row * of_column

    def constant(self, pair: int, length: int) -> int:
        """Return C of a pair, in the units of sums of terms up to a length; rounded down by less than 1."""
        found = self.affine.constants[pair]
        if self.places is None:
            return found * self.affine.divisor**length
        return (found << 2 * self.places) >> sum(self.shifts)

    def diagonal(self, pair: int, total: int) -> tuple[Row, Row]:
        """Return what `(` and `)` add, for each n of those with n + m = total after them."""
        opening, closing = (
            [sum(map(mul, row, column)) for row, column in zip(self.rows[pair], columns[total::-1], strict=False)]
            for columns in self.columns
        )
        return opening, closing


def _decide(affine: Affine, length: int, width: int, limit: Limit, verify: Callable[[Vectors], object]) -> None:
    """Verify something on rounded terms, and if these do not tell on exact ones; `width` is how many n a length has."""
    grown = length * (affine.largest + affine.size.bit_length())
    places = _SPARE + (length * _digits_lost(affine) >> 5) + 2 * length.bit_length()
    for chosen, digits in ((places, places), (None, grown)):
        if chosen is not None and grown < places:
            continue
        if length * digits * affine.size * (len(affine.outputs) + 2) > _MOST_MEMORY:
            raise TooCostly(f"the terms of length {number_text(length)} have too many digits for the memory")
        limit.allow(time_of(affine, length, width, digits), f"length {number_text(length)}")
        try:
            verify(Vectors(affine, length, chosen))
        except Undecided:
            continue
        return
    raise AssertionError("exact terms decide")


def time_of(affine: Affine, length: int, width: int, digits: int) -> int:
    """Return about how many nanoseconds the terms take, whose vectors have so many digits."""
    entries, half = length * width // 2 * len(affine.outputs), digits // 2
    products = 2 * affine.size * (product_time(half, half) - _TERM)
    vectors = length * affine.size**2 * (len(affine.outputs) + 2) * product_time(affine.largest, digits)
    return entries * (_OVERHEAD + products) + vectors


def _digits(rows: Sequence[Row]) -> int:
    """Return the binary digits of the largest entry."""
    return max(abs(x) for row in rows for x in row).bit_length()


def _digits_lost(affine: Affine) -> int:
    """Return about how many binary digits errors and vectors grow by in 32 tokens."""
    sums = (sum(map(abs, line)) for matrix in affine.matrices for line in (*matrix, *zip(*matrix, strict=True)))
    ratio = -(-(max(sums) << 32) // affine.divisor)
    return max(0, (ratio**32).bit_length() - 32 * 32)


# --- Strings --------------------------------------------------------------------------------------------------------------------


def _check_counterexample(network: Network, vectors: Vectors, example: Counterexample, limit: Limit) -> None:
    values = [vectors.constant(pair, example.length) for pair in range(len(vectors.rows))]
    error, after = int(vectors.places is not None), [0, 0]
    for place, token in enumerate(reversed(list(example.tokens()))):
        limit.go_on(place, example.length)
        column = vectors.columns[token][after[1]]
        scale = vectors.affine.divisor ** (example.length - place) if vectors.places is None else 1
        values = [
            value + scale * sum(map(mul, rows[after[0]], column))
            for value, rows in zip(values, vectors.rows, strict=True)
        ]
        error += vectors.errors[place]
        after[token] += 1
    above = tuple(True if value > error else False if value <= -error else None for value in values)
    given = network.readout.decision.class_of(above)
    if given is None:
        raise Undecided
    require(given == example.given != example.right, "the counterexample does not fail as it is said to")


def least_sums(vectors: Vectors, demands: list[Demand], stride: int, limit: Limit) -> dict[tuple[int, int], Row]:
    """Check every counted length; return the least sums of the last, for each pair and direction and each number of `(`."""
    factor = vectors.affine.divisor if vectors.places is None else 1
    tables = {(pair, direction): [0] for pair, direction, _, _ in demands}
    pairs, error = sorted({demand.pair for demand in demands}), int(vectors.places is not None)
    constants = {pair: vectors.constant(pair, 0) for pair in pairs}
    for length in range(1, vectors.length + 1):
        limit.go_on(length, vectors.length)
        error += vectors.errors[length - 1]
        constants = {pair: factor * constant for pair, constant in constants.items()}
        terms = {pair: vectors.diagonal(pair, length - 1) for pair in pairs}
        tables = {
            (pair, direction): _least(table, terms[pair], direction, factor)
            for (pair, direction), table in tables.items()
        }
        for pair, direction, strict, side in demands if length % stride == 0 else ():
            if side or length % 2 == 0:
                first, last = {-1: (0, (length - 1) // 2), 0: (length // 2,) * 2, 1: (length // 2 + 1, length)}[side]
                least = direction * constants[pair] + min(tables[pair, direction][first : last + 1])
                if not (least > error or (least == error and not strict)):
                    require(not (least < -error or (least == -error and strict)), f"a string of length {length} fails")
                    raise Undecided
    return tables


def _least(table: Row, terms: tuple[Row, Row], direction: int, factor: int) -> Row:
    """Return the least sums of the next length from those of this one, for each number of `(`."""
    change = add if direction > 0 else sub
    opening, closing = (list(map(change, table, of_token)) for of_token in terms)
    found = [closing[0], *map(min, opening, closing[1:]), opening[-1]]
    return found if factor == 1 else [factor * x for x in found]


def check_fading(claim: Claim, network: Network, limit: Limit) -> None:
    """Every counted length is right: those to K one by one, and the others since all but the last K tokens have faded."""
    affine, demands = demanding(claim, network, limit, "lattice paths decide")
    for matrix in affine.matrices:
        apart = any(x for place, column in enumerate(matrix) for other, x in enumerate(column) if other != place)
        require(not apart, "only units with factors of their own are known to fade")
    K = claim.start
    digits = K * (affine.largest + affine.size.bit_length())
    limit.allow(time_of(affine, K, K, digits) + K * K * digits, "the paths of the last tokens")
    tables = least_sums(Vectors(affine, K, None), demands, claim.stride, limit)
    unit = affine.divisor**K
    for demand in demands:
        level, left = _level_and_rest(affine, affine.outputs[demand.pair], K)
        changed = demand.direction * level * unit
        sums = tables[demand.pair, demand.direction]
        least = min(2 * x - (2 * n - K) * changed for n, x in enumerate(sums))
        rest = least + -2 * left.numerator * unit // left.denominator
        met = is_met(demand, level * unit, affine.constants[demand.pair] * unit, claim.stride, rest)
        require(met, "some string may fail beyond the lengths that were looked at")


def _level_and_rest(affine: Affine, w: Row, K: int) -> tuple[int, Fraction]:
    """Return L and τ of an output."""
    factors = [[matrix[place][place] for matrix in affine.matrices] for place in range(affine.size)]
    counting = [x if of_unit == [affine.divisor] * 2 else 0 for x, of_unit in zip(w, factors, strict=True)]
    added, taken = (sum(map(mul, counting, step)) for step in affine.steps)
    require(added == -taken, "the drift has no end")
    left = Fraction(0)
    for x, one, of_unit, steps in zip(w, counting, factors, zip(*affine.steps, strict=True), strict=True):
        if x and not one and any(steps):
            larger = max(map(abs, of_unit))
            require(larger < affine.divisor, "a unit does not fade")
            theta, whole = Fraction(larger, affine.divisor), Fraction(affine.divisor, affine.divisor - larger)
            left += abs(x) * max(map(abs, steps)) * theta**K * whole  # which is 1/(1 − θ)
    return added - taken, left
