"""Networks whose outputs follow the count: exact counters with any matrices, and monotone functions of the count.

With the matrices and steps of `affine`, w·g is s·(n − m) on every string iff each `(` adds s to it and each `)` takes s away:
w·a = s = −w·b, and u·g = 0 for u = w·(A − I), u = w·(B − I) and every g that a string leads to. Now u·(A·g + a) is 0 for all
such g iff u·a = 0 and (u·A)·g = 0 for all of them, and the same for B and b. So the rows u, u·A, u·B, u·A·A, … must all be 0
on a and on b. They span a space of at most d dimensions: a row that is a sum of multiples of rows seen before adds nothing.

The rows are worked out modulo a number P = 2^q − 1, whose pivots must have inverses, so that sums of multiples are what they
are in a field. Every row is then 0 on a and b modulo P. Times D, rows and steps are whole. The rows of at most d − 1 tokens
span all others, and what they give is at most |u|₁·(the greatest row sum of D·A and D·B)^(d−1)·(the greatest entry of a and b).
If P is above that, then it is 0.

**Monotone functions.** Where both matrices are diagonal, let each unit have factors p > 0 and q = 1/p and steps a and b = −q·a,
unless w or both steps are 0. Then `)` undoes what `(` does to the unit, which is a function h of the count k with h(k + 1) −
h(k) = a·p^k. If no two w·a of an output have different signs, y rises or falls with k, and is least at the k nearest to zero.
"""

from math import gcd
from operator import mul

from .affine import Affine, Demand, Row, demanding, is_met
from .answers import TooCostly, require
from .claims import Claim, Network
from .effort import Limit, product_time

METHOD = "matrices"

_EXPONENTS = (127, 521, 1279, 2203, 4423, 9689, 19937, 44497)
"""Those of Mersenne's primes, whose pivots always have inverses."""
_OVERHEAD = 200
"""Nanoseconds of a product and what is done with it."""


def check_matrices(claim: Claim, network: Network, limit: Limit) -> None:
    """Every output counts, and every counted length is right."""
    affine, demands = demanding(claim, network, limit, "matrices decide")
    if not all(_is_monotone(affine, demand, claim.stride) for demand in demands):
        require_counter(affine, demands, claim.stride, limit)


def _is_monotone(affine: Affine, demand: Demand, stride: int) -> bool:
    """Say whether an output is a monotone function of the count and meets a demand for every count."""
    w, D, side = affine.outputs[demand.pair], affine.divisor, demand.side
    least = affine.constants[demand.pair] * D * demand.direction
    for place, (x, a, b) in enumerate(zip(w, *affine.steps, strict=True)):
        p, q = (matrix[place][place] for matrix in affine.matrices)
        apart = any(y for matrix in affine.matrices for other, y in enumerate(matrix[place]) if other != place)
        undone = p > 0 and p * q == D * D and b * D == -q * a
        if apart or (x and (a or b) and not (undone and side * demand.direction * x * a >= 0)):
            return False
        step, factor = (a, p) if side > 0 else (b, q)
        least += 0 if side == 0 else demand.direction * x * step * (D if stride == 1 else D + factor)
    return least > 0 or (least == 0 and not demand.strict)


def require_counter(affine: Affine, demands: list[Demand], stride: int, limit: Limit) -> None:
    """Refuse a network unless every output that is asked for counts, and has the right sign next to zero."""
    (a, b), pairs = affine.steps, sorted({demand.pair for demand in demands})
    rows: list[Row] = []
    levels: dict[int, int] = {}
    for pair in pairs:
        row = affine.outputs[pair]
        added, taken = (sum(map(mul, row, step)) for step in (a, b))
        require(added == -taken, "no exact counter")
        levels[pair] = added - taken
        rows += [
            [x - affine.divisor * y for x, y in zip(affine.after(row, token), row, strict=True)] for token in (0, 1)
        ]
    for demand in demands:
        met = is_met(demand, levels[demand.pair], affine.constants[demand.pair], stride)
        require(met, "an exact counter with the wrong sign next to zero")
    _require_unseen(affine, rows, limit)


def _require_unseen(affine: Affine, rows: list[Row], limit: Limit) -> None:
    """Refuse a network unless all that rows become by the matrices is 0 on both steps."""
    exponent = _exponent(affine, rows)
    modulus, basis = (1 << exponent) - 1, list[tuple[int, Row]]()
    most = len(rows) + 2 * affine.size
    products = most * affine.size * (2 * affine.size + 2 * product_time(exponent, exponent) // _OVERHEAD * affine.size)
    limit.allow(products * _OVERHEAD, "the conditions of an exact counter")
    while rows:
        limit.go_on(len(basis), affine.size)
        row = [x % modulus for x in rows.pop()]
        require(not any(sum(map(mul, row, step)) % modulus for step in affine.steps), "no exact counter")
        for pivot, other in basis:
            if row[pivot]:
                row = [(x - row[pivot] * y) % modulus for x, y in zip(row, other, strict=True)]
        pivot = next((place for place, x in enumerate(row) if x), None)
        if pivot is not None:
            require(gcd(row[pivot], modulus) == 1, "a pivot without an inverse")
            inverse = pow(row[pivot], -1, modulus)
            basis.append((pivot, [x * inverse % modulus for x in row]))
            rows += [affine.after(row, token) for token in (0, 1)]


def _exponent(affine: Affine, rows: list[Row]) -> int:
    """Return a q for which P is above every number that decides."""
    growth = max(
        sum(abs(column[place]) for column in matrix) for matrix in affine.matrices for place in range(affine.size)
    )
    largest = max(sum(map(abs, row)) for row in rows) * max(abs(x) for step in affine.steps for x in step)
    digits = largest.bit_length() + (affine.size - 1) * growth.bit_length()
    found = next((exponent for exponent in _EXPONENTS if exponent > digits), None)
    if found is None:
        raise TooCostly("the conditions of an exact counter have too many digits")
    return found
