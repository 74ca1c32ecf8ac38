"""Linear networks that are right at every length, exact counters and others.

The terms δ_k and γ_k of an output and its demands are as in `sorting`, where for every number M and every string with n
opening brackets

    2·y ≥ 2·C + (2·n − T)·M + Σ_{k<T} t_k,     t_k = 2·γ_k + M − 2·max(0, M − δ_k).

Let M = L be the limit of δ. A demand on strings with a count above 0 has 2·n − T ≥ 1 (2 where only even lengths count), and
one on strings below 0 has 2·n − T ≤ −1. If L has the sign of the count, or the count is 0, then (2·n − T)·L ≥ |L|, 2·|L| or
0, whatever the length. So the demand is met at **every** length T ≥ K if

    2·C + |L|·(0, 1 or 2) + Σ_{k<K} t_k − Σ_{k≥K} |t_k|  is above 0, or at least 0 where the demand is not strict.

With the lengths below K decided one by one, that is a proof. It needs the limit, and a bound on the tail:

- **An exact counter** has δ_k = L and γ_k = −L/2 for all k, so t_k = 0 and K = 0 will do (`matrices`).
- **Any other network** needs the eigenvalue 1. Let E be the projection onto its eigenvectors that commutes with U: U·E = E·U
  = E = E·E. Then N = U − E has N^k = U^k − E for k ≥ 1, so for an output w and a column x, w·U^k·x = w·E·x + w·N^k·x. So L =
  w·E·(a − b), and t_k → 0 needs w·E·b = −L/2, which rationals decide. Let θ < 1 be the greatest row sum of the
  sizes of N^m, for some m. For k = K + m·j + i the entry |w·N^k·x| is at most |w·N^(K+i)|₁·θ^j·|x|_∞, so Σ_{k≥K} |w·N^k·x| ≤
  Σ_{i<m} |w·N^(K+i)|₁·|x|_∞/(1 − θ); and |t_k| ≤ 2·|γ_k + L/2| + 2·|δ_k − L|.

So from two dimensions on there are networks that are right on every string without computing the count. Equality, where the
tail takes all that is left, stays open.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from tallystick.certificates.linear.affine import AffineNetwork
from tallystick.certificates.linear.matrices import COUNTS, is_exact_counter, is_met
from tallystick.certificates.linear.responses import Precision, ResponseMaker
from tallystick.certificates.linear.whole_products import Whole
from tallystick.certificates.verdict import Lengths

Rows = list[list[Fraction]]

_PRIME = 2**61 - 1
_STARTS = (1, 4, 16, 64, 256, 1024)
_POWERS = tuple(2**place for place in range(11))
_MOST_DIGITS = 1 << 25
"""The most binary digits of all entries of a power that is worked out exactly."""


@dataclass(frozen=True)
class Proof:
    """What proves that a network is right at every length from some K on.

    Attributes:
        limit: E, one row per number of the state; None for an exact counter.
        power: m.
        start: K.
    """

    limit: Rows | None = None
    power: int = 0
    start: int = 0

    @property
    def reason(self) -> str:
        """The proof in a sentence."""
        if self.limit is None:
            return COUNTS
        return (
            f"every counted length to {self.start} is right, and what brackets add converges so fast that beyond it nothing can "
            "go wrong, though the network does not compute the count"
        )


def proof_of(network: AffineNetwork, lengths: Lengths) -> Proof | None:
    """Return what proves a network right at every length from the least K on that is tried, or None."""
    return Proof() if is_exact_counter(network, lengths) else _tail(network, lengths)


def _tail(network: AffineNetwork, lengths: Lengths) -> Proof | None:
    projection = eigenprojection(network)
    if projection is None:
        return None
    decay = _Decay.of(network, projection)
    if decay is None:
        return None
    for start in _STARTS:
        proves = decay.proves(start, lengths)
        if proves:
            return Proof(projection, decay.power, start)
        if proves is None:
            break
    return None


@dataclass(frozen=True)
class _Decay:
    """A network's limit and what is left of it: N = `rest` / `divisor`, and θ = `bound` as a ratio.

    Attributes:
        network: the network.
        levels: for each output L times `scale`.
        scale: the denominator of E.
        rest: N times `divisor`.
        divisor: a common denominator of N.
        power: m.
        bound: θ.
    """

    network: AffineNetwork
    levels: Whole
    scale: int
    rest: Whole
    divisor: int
    power: int
    bound: Fraction

    @classmethod
    def of(cls, network: AffineNetwork, projection: Rows) -> "_Decay | None":
        """Return them where δ and γ have the limits that a proof needs, and some power of N is small."""
        scale = lcm(*(entry.denominator for row in projection for entry in row))
        limit = np.array([[int(entry * scale) for entry in row] for row in projection], object)
        levels = network.outputs @ limit @ network.inputs
        divisor = lcm(scale, network.divisor)
        rest = network.matrix * (divisor // network.divisor) - limit * (divisor // scale)
        if (2 * levels[:, 1] != -levels[:, 0]).any() or not _shrinks(rest, divisor):
            return None
        for power, (entries, unit) in zip(_POWERS, _squares(rest, divisor), strict=False):
            bound = Fraction(int(np.abs(entries).sum(axis=1).max()), unit)
            if 2 * bound <= 1:
                return cls(network, levels[:, 0], scale, rest, divisor, power, bound)
        return None

    def proves(self, start: int, lengths: Lengths) -> bool | None:
        """Say whether every demand is met at all lengths from K on, or None where no later K will do either.

        From K on the sum moves by no more than the tail: a demand that fails even with the tail added fails from every K.
        """
        terms = ResponseMaker(self.network).upto(start, Precision.EXACT)
        if terms is None:
            return None
        unit = self.network.divisor ** (start - 1)
        tails, proved = self._tails(start), True
        for demand in self.network.demands:
            output, direction = demand.output, demand.direction
            opening, drift = (direction * part[output] * self.scale for part in (terms.openings, terms.drifts))
            level = direction * self.levels[output] * unit
            head = int((2 * drift + level - 2 * np.maximum(level - opening, 0)).sum())
            tail = _ceiling(tails[output] * unit * self.scale)
            constant = terms.constants[output] * self.scale
            if not is_met(demand, self.levels[output] * unit, constant, lengths, head + tail):
                return None
            proved = proved and is_met(demand, self.levels[output] * unit, constant, lengths, head - tail)
        return proved

    def _tails(self, start: int) -> list[Fraction]:
        """Return for each output a bound on the sum of |t_k| from K on."""
        rows, sizes = self.network.outputs, np.zeros(len(self.network.outputs), object)
        for k in range(start + self.power):
            if k >= start:
                sizes = sizes + np.abs(rows).sum(axis=1) * self.divisor ** (start + self.power - 1 - k)
            rows = rows @ self.rest
        columns = int(np.abs(self.network.inputs).max(axis=0).sum())
        unit = self.divisor ** (start + self.power - 1)
        return [Fraction(2 * int(size) * columns, unit) / (1 - self.bound) for size in sizes]


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def _shrinks(entries: Whole, divisor: int) -> bool:
    """Say whether the powers of a matrix seem to shrink, as far as doubles tell: if not, no power is worked out."""
    try:
        doubles = np.array([[entry / divisor for entry in row] for row in entries], np.float64)
        return bool(np.abs(np.linalg.eigvals(doubles)).max() < 1)
    except (OverflowError, np.linalg.LinAlgError):
        return False


def _squares(entries: Whole, divisor: int) -> Iterator[tuple[Whole, int]]:
    """Go through the powers 1, 2, 4, … of a matrix, each with its denominator, as long as they are not too long."""
    while entries.size * len(entries) * divisor.bit_length() < _MOST_DIGITS:
        yield entries, divisor
        entries, divisor = entries @ entries, divisor**2


def eigenprojection(network: AffineNetwork) -> Rows | None:
    """Return E, or None where 1 is no eigenvalue of U, or one whose eigenvectors are too few.

    With the columns of R and the rows of S spanning the right and left eigenvectors, E = R·(S·R)⁻¹·S.
    """
    shifted = network.matrix - network.divisor * np.identity(network.size, int).astype(object)
    if _has_full_rank(shifted.tolist()):
        return None
    right, left = _kernel(shifted).T, _kernel(shifted.T)
    joint = np.concatenate([left @ right, left], axis=1)
    pivots, divisor = _reduce(joint, len(left))
    if len(pivots) < len(left):
        return None
    limit = right @ joint[:, len(left) :]
    return [[Fraction(int(entry), int(divisor)) for entry in row] for row in limit]


def _has_full_rank(matrix: list[list[int]]) -> bool:
    """Say whether a matrix has full rank modulo a prime, and so in rationals; if not, it may still have."""
    rows = [[entry % _PRIME for entry in row] for row in matrix]
    for column in range(len(rows)):
        pivot = next((place for place in range(column, len(rows)) if rows[place][column]), None)
        if pivot is None:
            return False
        rows[column], rows[pivot] = rows[pivot], rows[column]
        inverse = pow(rows[column][column], -1, _PRIME)
        for place in range(column + 1, len(rows)):
            factor = rows[place][column] * inverse % _PRIME
            if factor:
                rows[place] = [(x - factor * y) % _PRIME for x, y in zip(rows[place], rows[column], strict=True)]
    return True


def _reduce(rows: Whole, columns: int) -> tuple[list[int], int]:
    """Bring rows to reduced echelon form as far as some columns go, times the number that then stands in every pivot.

    Return the columns of the pivots, and that number. All stays whole (Bareiss): each division is exact, since the entries are
    determinants of parts of the first rows.
    """
    pivots: list[int] = []
    divisor = 1
    for column in range(columns):
        top = len(pivots)
        found = next((place for place in range(top, len(rows)) if rows[place, column]), None)
        if found is None:
            continue
        rows[[top, found]] = rows[[found, top]]
        pivot, others = rows[top, column], np.arange(len(rows)) != top
        rows[others] = (pivot * rows[others] - np.outer(rows[others, column], rows[top])) // divisor
        divisor = pivot
        pivots.append(column)
    return pivots, divisor


def _kernel(matrix: Whole) -> Whole:
    """Return a basis of the columns that a square matrix takes to 0, one per row."""
    rows = matrix.copy()
    pivots, divisor = _reduce(rows, len(rows))
    free = [column for column in range(len(rows)) if column not in pivots]
    basis = np.zeros((len(free), len(rows)), object)
    for vector, column in zip(basis, free, strict=True):
        vector[column] = divisor
        vector[pivots] = -rows[: len(pivots), column]
        vector[:] = vector // gcd(*vector)
    return basis
