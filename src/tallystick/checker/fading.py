"""Networks with a factor per token and unit that are right at every length, though they do not count exactly.

Both matrices are diagonal. A unit whose two factors are 1 adds up its steps a and b. For these units together w·a = −w·b must
hold; then they give L/2·(n − m) to y, with L = w·a − w·b. Any other unit, unless w or both of its steps are 0, must have factors
of less than 1 in size. With θ the larger of them, tokens that have K or more after them leave at most |w|·max(|a|, |b|)·θ^K/(1 −
θ) of it in y, which is added up over all such units to τ.

The last K tokens of a string give at least the least sum E(n, m) of all paths with their numbers of brackets (`paths`), of which
L/2·(n − m) is what they count. So for every string of K or more tokens with N opening and M closing brackets

    2·y ≥ 2·C + (N − M)·L + min over n + m = K of (2·E(n, m) − (n − m)·L) − 2·τ.
"""

from fractions import Fraction
from operator import mul

from .affine import Affine, Row
from .answers import require
from .claims import Claim, Network
from .demands import demanding, is_met
from .effort import Limit
from .paths import Vectors, least_sums, time_of


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
            theta = Fraction(max(map(abs, of_unit)), affine.divisor)
            require(theta < 1, "a unit does not fade")
            left += abs(x) * max(map(abs, steps)) * theta**K / (1 - theta)
    return added - taken, left
