"""Networks whose step is A·h + a for `(` and B·h + b for `)`, in whole numbers, and what their task asks of their outputs.

Seen from the start h₀, the state g = h − h₀ starts at 0 and steps the same way, with a + (A − I)·h₀ and b + (B − I)·h₀ in the
place of a and b; from here on these are a and b. The difference y of two outputs is C + w·g, with C = c + w·h₀.

Where both tokens have one matrix U, and k is the number of tokens after a bracket of a string of length T,

    y = C + Σ_{k<T} γ_k + Σ_{k: opening} δ_k,     δ_k = w·U^k·(a − b),   γ_k = w·U^k·b.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from operator import mul
from typing import NamedTuple

from .answers import TooCostly, require
from .claims import COUNT, GREATEST, Claim, Network, Program
from .effort import Limit

_MOST_DIGITS = 1 << 16
"""The most binary digits of a denominator."""
_TERM = 2000
"""Nanoseconds of a product of rationals."""

Row = list[int]
Rationals = Sequence[Fraction]


class Affine(NamedTuple):
    """A network in whole numbers; each y may be multiplied by a positive number, which leaves its sign as it is.

    Attributes:
        matrices: the columns of D·A and of D·B.
        divisor: D.
        steps: a and b, times one positive number.
        outputs: w of each pair of outputs, times a positive number.
        constants: C of each pair, times both.
    """

    matrices: tuple[list[Row], list[Row]]
    divisor: int
    steps: tuple[Row, Row]
    outputs: list[Row]
    constants: list[int]

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.matrices[0])

    @property
    def columns(self) -> list[Row]:
        """Those of D·U, where both tokens have one matrix."""
        return self.matrices[0]

    @property
    def inputs(self) -> tuple[Row, Row]:
        """The columns a − b and b."""
        a, b = self.steps
        return [x - y for x, y in zip(a, b, strict=True)], b

    @property
    def largest(self) -> int:
        """The binary digits of the largest entry of both matrices."""
        return max(abs(x) for matrix in self.matrices for column in matrix for x in column).bit_length()

    def after(self, row: Row, token: int = 0) -> Row:
        """Return a row times the matrix of a token, times D."""
        return [sum(map(mul, row, column)) for column in self.matrices[token]]


def affine_of(network: Network, limit: Limit, who: str = "sorting decides", *, one_matrix: bool = True) -> Affine:
    """Return a network whose programs are sums of multiples of the state, or refuse it; most methods need one matrix."""
    programs, size = (*network.steps, network.hidden, *network.first), len(network.start)
    taken = [place for program in programs for operation in program.operations for place in operation.places]
    products = len(taken) + size * (sum(place >= size for place in taken) + len(network.readout.decision.pairs) * size)
    limit.allow(products * _TERM, "to read the step")
    for program in programs:
        sums = all(operation.name == "sum" for operation in program.operations)
        require(sums, f"{who} only for a step that adds up multiples of the state")
    (A, opening), (B, closing), (shown, offset), *before = (_affine_map(program, size) for program in programs)
    require(A == B or not one_matrix, f"{who} only for a step with one matrix for both tokens")
    start = list(network.start)
    for matrix, added in before:
        start = [_dot(row, start) + constant for row, constant in zip(matrix, added, strict=True)]
        _require_short(*start)
    a, b = (
        [x + _dot(row, start) - h for row, x, h in zip(matrix, added, start, strict=True)]
        for matrix, added in ((A, opening), (B, closing))
    )
    divisor = common_denominator(*A, *B)
    scale = common_denominator(a, b, start)
    outputs: list[Row] = []
    constants: list[int] = []
    for weights, bias in _differences(network):
        w = [
            sum((x * row[place] for x, row in zip(weights, shown, strict=True)), start=Fraction(0))
            for place in range(size)
        ]
        c = bias + _dot(weights, offset)
        common = common_denominator(w, (c,))
        outputs.append([int(x * common) for x in w])
        constants.append(int((c + _dot(w, start)) * common * scale))
    first, second = ([[int(row[place] * divisor) for row in matrix] for place in range(size)] for matrix in (A, B))
    return Affine(
        (first, second), divisor, ([int(x * scale) for x in a], [int(x * scale) for x in b]), outputs, constants
    )


def _affine_map(program: Program, size: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return the matrix of a program, and what it adds."""
    none = Fraction(0)
    numbers = [([Fraction(int(i == place)) for i in range(size)], none) for place in range(size)]
    for _, places, weights, bias, constants in program.operations:
        terms, total = [none] * size, bias + sum(constants)
        for weight, place in zip(weights, places, strict=True):
            if weight and place < size:  # a number of the state, as most are
                terms[place] += weight
            elif weight:
                row, constant = numbers[place]
                terms = [x + weight * y if y else x for x, y in zip(terms, row, strict=True)]
                total += weight * constant
        _require_short(total, *terms)
        numbers.append((terms, total))
    found = [numbers[place] for place in program.results]
    return [row for row, _ in found], [constant for _, constant in found]


def _differences(network: Network) -> Iterator[tuple[list[Fraction], Fraction]]:
    """Go through the pairs of outputs: the first less the second, where the last of all stands for 0."""
    lines = [*network.readout.lines, ((Fraction(0),) * len(network.readout.lines[0][0]), Fraction(0))]
    for greater, less in network.readout.decision.pairs:
        (v, c), (u, d) = lines[greater], lines[less]
        yield [x - y for x, y in zip(v, u, strict=True)], c - d


def _dot(first: Rationals, second: Rationals) -> Fraction:
    return sum((x * y for x, y in zip(first, second, strict=True) if x and y), start=Fraction(0))


def common_denominator(*vectors: Rationals) -> int:
    """Return the least common denominator, unless it would make very long numbers."""
    common = 1
    for vector in vectors:
        for x in vector:
            common = lcm(common, x.denominator)
            _require_short(Fraction(1, common))
    return common


def _require_short(*numbers: Fraction) -> None:
    if any(number.denominator.bit_length() > _MOST_DIGITS for number in numbers):
        raise TooCostly("the weights have too many digits")


class Demand(NamedTuple):
    """For strings whose count has the sign `side`, direction·y of a pair must be above 0, or at least 0 if not strict."""

    pair: int
    direction: int
    strict: bool
    side: int


def demanding(
    claim: Claim, network: Network, limit: Limit, who: str, *, one_matrix: bool = False
) -> tuple[Affine, list[Demand]]:
    """Return a network as an affine one, and what its task asks; refuse a claim that those who decide do not speak of."""
    require(claim.arithmetic == "real", f"{who} in real numbers only")
    known = network.readout.kind in ("binary", "ternary", GREATEST, COUNT) and not network.task.floored
    require(known, f"{who} only for the sign of n − m, by one output or the greatest of several")
    return affine_of(network, limit, who, one_matrix=one_matrix), list(_demands(network))


def _demands(network: Network) -> Iterator[Demand]:
    """Go through what right classes ask for: a strict comparison wants its pair above 0, any other wants it not above 0."""
    pairs, comparisons = network.readout.decision.pairs, network.readout.decision.comparisons
    for side, right in zip((-1, 0, 1), network.task.right, strict=True):
        for greater, less, strict in comparisons[right]:
            pair = pairs.index((greater, less) if strict else (less, greater))
            yield Demand(pair, 1 if strict else -1, strict, side)


def is_met(demand: Demand, level: int, constant: int, stride: int, rest: int = 0) -> bool:
    """Say whether 2·y ≥ 2·C + (2·n − T)·L + `rest` meets a demand at every length, all times one positive number."""
    level *= demand.direction
    least = 2 * demand.direction * constant + abs(level * demand.side) * stride + rest
    return level * demand.side >= 0 and (least > 0 or (least == 0 and not demand.strict))
