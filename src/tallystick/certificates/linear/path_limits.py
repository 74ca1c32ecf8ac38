"""Selective networks that are right at every length, though they do not compute the count.

Let the matrices be diagonal, with factors λ and μ for `(` and `)`. A unit whose factors are both 1 counts: it adds up the steps
a and b. Let w·a = −w·b for these units alone, and L = w·a − w·b; then they add L/2·(n − m) to an output. Any other unit that
an output sees must fade: θ = max(|λ|, |μ|) < 1. Of what it gets from tokens with at least K others after them, at most

    τ = |w|·max(|a|, |b|)·θ^K / (1 − θ)

is left in an output. So of a string with K tokens or more, all but the last K leave at most Σ τ beside what they count. What
the last K leave beside what they count is at least the least of E(n, m) − L/2·(n − m) over all paths of length K
(`lattice_paths`), whatever came before them. Both together are a bound for all lengths from K on, as in `limits`:

    2·y ≥ 2·C + (n − m)·L + min over n + m = K of (2·E(n, m) − (n − m)·L) − 2·Σ τ.
"""

from fractions import Fraction

import numpy as np

from tallystick.certificates.linear.affine import AffineNetwork, Demand
from tallystick.certificates.linear.matrices import is_met
from tallystick.certificates.linear.path_table import Table
from tallystick.certificates.linear.path_terms import Diagonal, diagonals, exact_time
from tallystick.certificates.linear.responses import Precision
from tallystick.certificates.linear.whole_products import Whole, is_diagonal
from tallystick.certificates.verdict import Lengths

_STARTS = (2, 4, 16, 64, 256)
_MOST_TIME = 1 << 30
"""Nanoseconds in which the paths of K tokens are worked out."""


class Fading:
    """A network of units that count and units that fade.

    Attributes:
        levels: L of each output.
        fading: the places of the units that fade.
        factors: θ of each.
    """

    def __init__(self, network: AffineNetwork, counting: Whole, fading: list[int]) -> None:
        self.network, self.fading = network, fading
        self.levels = network.outputs[:, counting] @ network.inputs[counting, 0]
        both = [matrix.diagonal() for matrix in network.matrices]
        self.factors = [Fraction(max(abs(of[place]) for of in both), network.divisor) for place in fading]

    @classmethod
    def of(cls, network: AffineNetwork) -> "Fading | None":
        """Return a network as such a one, or None."""
        if not all(is_diagonal(matrix) for matrix in network.matrices):
            return None
        opening, closing = (matrix.diagonal() for matrix in network.matrices)
        seen = (network.outputs != 0).any(axis=0) & (network.steps != 0).any(axis=1)
        counting = np.flatnonzero((opening == network.divisor) & (closing == network.divisor))
        fading = [int(place) for place in np.flatnonzero(seen) if place not in counting]
        if any(max(abs(opening[place]), abs(closing[place])) >= network.divisor for place in fading):
            return None
        drifts = network.outputs[:, counting] @ network.steps[counting].sum(axis=1)
        return None if drifts.any() else cls(network, counting, fading)

    def is_proved(self, demand: Demand, table: Table, diagonal: Diagonal, unit: int, lengths: Lengths) -> bool:
        """Say whether a demand is met at every length from that of a table on, whose sums are multiplied by a unit."""
        level, length = demand.direction * self.levels[demand.output] * unit, table.length
        least = table.least[table.rows.index((demand.output, demand.direction))]
        counts = 2 * np.arange(length + 1).astype(object) - length
        tail = 2 * unit * self._left(demand.output, length)
        rest = int((2 * least - counts * level).min()) + -tail.numerator // tail.denominator
        constant = diagonal.constants[demand.output]
        return is_met(demand, demand.direction * level, constant, lengths, rest)

    def _left(self, output: int, length: int) -> Fraction:
        """Return Σ τ."""
        row, steps = self.network.outputs[output], np.abs(self.network.steps).max(axis=1)
        return sum(
            (abs(row[place]) * steps[place] * factor**length / (1 - factor))
            for place, factor in zip(self.fading, self.factors, strict=True)
        ) + Fraction(0)


def start_of_proof(network: AffineNetwork, lengths: Lengths) -> int | None:
    """Return the least K that is tried from which on every length is right, or None."""
    fading = Fading.of(network)
    if fading is None:
        return None
    table, unit = Table(network), 1
    last = max((start for start in _STARTS if exact_time(network, start) <= _MOST_TIME), default=0)
    for diagonal in diagonals(network, last, Precision.EXACT):
        table.advance(diagonal)
        unit *= diagonal.factor
        if table.length in _STARTS and all(
            fading.is_proved(demand, table, diagonal, unit, lengths) for demand in network.demands
        ):
            return table.length
    return None
