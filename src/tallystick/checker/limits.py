"""Linear networks that are right at every length.

For every number M, the sum of n of the terms δ_0 … δ_(T−1) is at least n·M − Σ max(0, M − δ_k). So (`affine`)

    2·y ≥ 2·C + (2·n − T)·M + Σ_{k<T} t_k,     t_k = 2·γ_k + M − 2·max(0, M − δ_k).

Let M = L have the sign of the strings' count, or let that be 0. Then (2·n − T)·L is at least |L| times 1 (2 for even
lengths), or 0, and a demand is met at every length from K on if 2·C and that and Σ_{k<K} t_k − Σ_{k≥K} |t_k| together are
above 0, or not below it.

**Exact counters** (`counters`) have δ_k = L and 2·γ_k = −L. So t_k = 0, and K = 0.

**Others**: the certificate has a matrix E with U·E = E·U = E·E = E. By induction N = U − E has N^k = U^k − E for k ≥ 1. So
δ_k − w·E·(a − b) = w·N^k·(a − b), and the same for b. With L = w·E·(a − b) and w·E·b = −L/2, t_k is twice the lesser of w·N^k·a
and w·N^k·b. If the sizes in no row of N^m add up to more than θ < 1, then |w·N^(K+m·j+i)·x| ≤ |w·N^(K+i)|₁·θ^j·|x|_∞, which is
added up over i < m and all j.
"""

from math import lcm
from operator import mul

from .affine import Affine, Demand, Row, common_denominator, is_met
from .answers import require
from .claims import Claim, Network, Tail
from .counters import require_counter
from .effort import Limit, product_time
from .sorting import Terms, check_lengths, sortable

Matrix = list[Row]


def check_all_lengths(claim: Claim, network: Network, limit: Limit) -> None:
    """Every counted length is right."""
    affine, demands = sortable(claim, network, limit)
    if claim.tail is None:
        require_counter(affine, demands, claim.stride, limit)
    else:
        check_lengths(affine, demands, claim.stride, claim.tail.start, limit)
        _check_tail(affine, demands, claim.stride, claim.tail, limit)


def _check_tail(affine: Affine, demands: list[Demand], stride: int, tail: Tail, limit: Limit) -> None:
    size, start, power = affine.size, tail.start, tail.power
    divisor = lcm(common_denominator(*tail.limit), affine.divisor)
    digits = divisor.bit_length() + affine.largest
    work = size**3 * (4 + 2 * power.bit_length()) + len(affine.outputs) * size**2 * (start + power)
    limit.allow(work * product_time(digits, digits * (start + power)), "the powers of a matrix")
    U = [[x * (divisor // affine.divisor) for x in row] for row in zip(*affine.columns, strict=True)]
    E = [[int(x * divisor) for x in row] for row in tail.limit]
    scaled = [[x * divisor for x in row] for row in E]
    require(_product(U, E) == _product(E, U) == _product(E, E) == scaled, "the limit is not one of the powers of U")
    N = [[x - y for x, y in zip(row, other, strict=True)] for row, other in zip(U, E, strict=True)]
    whole = divisor**power
    theta = max(sum(map(abs, row)) for row in _power(N, power))  # times `whole`
    require(theta < whole, "the power does not shrink what it is applied to")
    terms = Terms(affine, start, None)
    heads, levels = _heads(affine, demands, E, divisor, terms, limit)
    for demand, head in zip(demands, heads, strict=True):
        row = affine.outputs[demand.pair]
        left = 2 * _sizes(row, N, divisor, start, power) * max(max(map(abs, x)) for x in affine.steps) * whole
        rest = head + -left * terms.unit * divisor // (divisor ** (start + power - 1) * (whole - theta))
        constant = terms.constants[demand.pair] * divisor
        met = is_met(demand, levels[demand.pair] * terms.unit, constant, stride, rest)
        require(met, "some string may fail beyond the lengths that were looked at")


def _heads(
    affine: Affine, demands: list[Demand], E: Matrix, divisor: int, terms: Terms, limit: Limit
) -> tuple[list[int], list[int]]:
    """Return Σ_{k<K} t_k of each demand, and L of each pair; refuse limits of γ that are not −L/2."""
    levels: list[int] = []
    for row in affine.outputs:
        limited = _row_times(row, E)
        level, drift = (sum(map(mul, limited, column)) for column in affine.inputs)
        levels.append(level)
        require(2 * drift == -level, "the drift has no end")
    heads = [0] * len(demands)
    for k, (found, _) in enumerate(terms):
        limit.go_on(k, terms.length)
        for place, (pair, direction, _, _) in enumerate(demands):
            opening, drift = (direction * x * divisor for x in found[pair])
            level = direction * levels[pair] * terms.unit
            heads[place] += 2 * drift + level - 2 * max(0, level - opening)
    return heads, levels


def _sizes(row: Row, N: Matrix, divisor: int, start: int, power: int) -> int:
    """Return Σ_{i<m} |w·N^(K+i)|₁, times `divisor`^(K+m−1)."""
    total = 0
    for k in range(start + power):
        if k >= start:
            total = total * divisor + sum(map(abs, row))
        row = _row_times(row, N)
    return total


def _row_times(row: Row, matrix: Matrix) -> Row:
    return [sum(map(mul, row, column)) for column in zip(*matrix, strict=True)]


def _product(first: Matrix, second: Matrix) -> Matrix:
    return [_row_times(row, second) for row in first]


def _power(matrix: Matrix, exponent: int) -> Matrix:
    """Return a power, by squaring."""
    if exponent == 1:
        return matrix
    half = _power(matrix, exponent // 2)
    square = _product(half, half)
    return _product(square, matrix) if exponent % 2 else square
