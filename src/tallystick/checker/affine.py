"""Networks whose step is U·h + s(x), with one matrix U for both tokens, in whole numbers.

With T the length of a string, and k the number of tokens after a bracket, the difference y of two outputs is

    y = C + Σ_{k<T} γ_k + Σ_{k: opening} δ_k,     δ_k = w·U^k·e,   γ_k = w·U^k·z,   C = c + w·h₀,

where e = s(() − s()) and z = s()) + (U − I)·h₀: without any opening bracket y is c + w·U^T·h₀ + Σ w·U^k·s()), and w·U^T·h₀ is
w·h₀ and the sum of w·U^k·(U − I)·h₀.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from operator import mul
from typing import NamedTuple

from .answers import TooCostly, require
from .claims import Network, Program
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
        columns: those of D·U.
        divisor: D.
        inputs: e and z, times one positive number.
        outputs: w of each pair of outputs, times a positive number.
        constants: C of each pair, times both.
    """

    columns: list[Row]
    divisor: int
    inputs: tuple[Row, Row]
    outputs: list[Row]
    constants: list[int]

    @property
    def size(self) -> int:
        """How many numbers a state has."""
        return len(self.columns)

    def after(self, row: Row) -> Row:
        """Return a row times D·U."""
        return [sum(map(mul, row, column)) for column in self.columns]

    def terms(self, row: Row) -> tuple[int, int]:
        """Return a row times e, and times z."""
        return sum(map(mul, row, self.inputs[0])), sum(map(mul, row, self.inputs[1]))


def affine_of(network: Network, limit: Limit) -> Affine:
    """Return a network whose programs are sums of multiples of the state; refuse any other."""
    programs, size = (*network.steps, network.hidden, *network.first), len(network.start)
    taken = [place for program in programs for operation in program.operations for place in operation.places]
    products = len(taken) + size * (sum(place >= size for place in taken) + len(network.readout.decision.pairs) * size)
    limit.allow(products * _TERM, "to read the step")
    (U, opening), (same, closing), (shown, offset), *before = (_affine_map(program, size) for program in programs)
    require(same == U, "sorting decides only for a step with one matrix for both tokens")
    start = list(network.start)
    for matrix, added in before:
        start = [_dot(row, start) + constant for row, constant in zip(matrix, added, strict=True)]
        _require_short(*start)
    e = [a - b for a, b in zip(opening, closing, strict=True)]
    z = [b + _dot(row, start) - h for row, b, h in zip(U, closing, start, strict=True)]
    divisor = common_denominator(*U)
    scale = common_denominator(e, z, start)
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
    return Affine(
        [[int(row[place] * divisor) for row in U] for place in range(size)],
        divisor,
        ([int(x * scale) for x in e], [int(x * scale) for x in z]),
        outputs,
        constants,
    )


def _affine_map(program: Program, size: int) -> tuple[list[list[Fraction]], list[Fraction]]:
    """Return the matrix of a program, and what it adds."""
    none = Fraction(0)
    numbers = [([Fraction(int(i == place)) for i in range(size)], none) for place in range(size)]
    for name, places, weights, bias in program.operations:
        require(name == "sum", "sorting decides only for a step that adds up multiples of the state")
        terms, total = [none] * size, bias
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
