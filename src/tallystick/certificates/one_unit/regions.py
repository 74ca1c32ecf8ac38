"""The regions R_N: the linear cells with a binary readout and no bias that are right on all strings up to length N.

The threshold is 0, so no class changes when a and b are scaled by a positive number, or when a, b and v all change their
sign (h is turned over, and its reading too). A network with v·a ≤ 0 fails at the first length that counts: on `(`, or on
`((` where U > 0. One with v·a > 0 gives every string the class that a = v = 1 with the same b/a and U would: it is a point
of the plane (a/b, U).

**A slice is an interval.** At a fixed U > 0 the state of a string is h = α + β·(b/a), with α, β ≥ 0 its states in the cells
(1, 0, U) and (0, 1, U). A critical string that must come out positive asks for b/a > −α/β, one that must not for b/a ≤ −α/β.
So R_N at U holds the b/a from one end to another, the lower end left out and the upper end kept.

**The last lengths decide.** A string read backwards by the cell with 1/U has the state U^(1−N)·h, so R_N is the same at U
and at 1/U; let U ≥ 1, and S_k = 1 + U + … + U^(k−1). Length 2k has the ends −(1 + U)/(U^(k+1)·S_(k−1)) − U^(1−k) and −U^k;
length 2k + 1 has the lower end −1/(U^(k+1)·S_k) − U^(−k), and its upper end lies above that of length 2k. As k grows all of
them close in, so the last counted length of either parity decides for the shorter ones.

**Shape.** For N ≥ 2 the upper end is −max(U, 1/U)^⌊N/2⌋, which makes it the *left* side of the region in the plane:
a/b ≥ −min(U, 1/U)^⌊N/2⌋. The exact counter (−1, 1) is the leftmost point of every R_N, R_(N+1) ⊆ R_N, and no other point is in
all of them. U ≤ 0 fails by length 2, as `certify` shows.

**Why this plane only.** A bias moves the threshold, which is a third coordinate. And a ternary readout without any bias has no
region: three lines through 0 give one class to h < 0, one to h > 0, and Neg to the tie at h = 0, so Zero and Pos must be
the two halves and Neg the point. Then (1 + U)·b = 0 for `))` and (1 + U)·a ≠ 0 for `((` make b = 0, and U·a and a, the states
of `()` and `)(`, must have one sign and (1 + U)·a the other: such a network fails by length 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.sorted_strings import critical_strings, sides
from tallystick.certificates.verdict import Lengths, Runs, lengths_of
from tallystick.errors import check_whole
from tallystick.languages.brackets import CLOSE
from tallystick.languages.tasks import BINARY
from tallystick.networks import Readout
from tallystick.numbers import Number, exact, standard_floats

Floats = NDArray[np.float64]

_READOUT = Readout.binary(1)
_SHORT = 2
_HALVINGS = 60


@dataclass(frozen=True)
class Slice:
    """R_N at one U: the b/a above one number and up to another, where v·a > 0.

    Attributes:
        above: the open lower end of b/a; None where there is none.
        upto: the closed upper end of b/a.
    """

    above: Fraction | None
    upto: Fraction

    def __contains__(self, ratio: object) -> bool:
        """Say whether a b/a lies in the slice; the number is read exactly."""
        value = exact(ratio, "b/a")
        return (self.above is None or self.above < value) and value <= self.upto


class Outline(NamedTuple):
    """The sides of R_N in the plane: the a/b from `left` to just before `right`, NaN where no a/b is in R_N."""

    left: Floats
    right: Floats


def slice_at(recurrent_weight: object, longest: int, lengths: str = "all") -> Slice | None:
    """Return R_N at U = `recurrent_weight` exactly, or None where it is empty; N is the longest length.

    >>> slice_at("1/2", 2), slice_at("1/2", 3), slice_at(1, 6, "even")
    (Slice(above=None, upto=Fraction(-2, 1)), None, Slice(above=Fraction(-2, 1), upto=Fraction(-1, 1)))
    """
    counted = _counted_lengths(longest, lengths)
    U = exact(recurrent_weight, "recurrent_weight")
    if U <= 0 and longest >= _SHORT:
        return None
    lower, upper = _ends(U, longest, counted)
    above, upto = max(lower, default=None), min(upper)
    return Slice(above, upto) if above is None or above < upto else None


@standard_floats()
def outline(recurrent_weights: Floats, longest: int, lengths: str = "all") -> Outline:
    """Return the sides of R_N at many U > 0 at once, in floats, for drawing; N ≥ 2.

    >>> outline(np.array([0.5, 1.0]), 4).left.tolist(), outline(np.array([0.5, 1.0]), 4).right.tolist()
    ([nan, -1.0], [nan, -0.5])
    """
    check_whole(longest, "longest", least=_SHORT)
    lower, upper = _ends(recurrent_weights, longest, _counted_lengths(longest, lengths))
    above = np.max(lower, axis=0) if lower else np.full_like(recurrent_weights, -np.inf)
    upto = np.min(upper, axis=0)
    inside = above < upto
    return Outline(*(np.where(inside, 1 / end, np.nan) for end in (upto, above)))


@cache
def reach(longest: int, lengths: str = "all") -> float:
    """Return the greatest U in R_N, in floats; R_N then holds those from 1/U to U. Infinite where nothing bounds it.

    >>> reach(2), round(reach(4), 4), round(reach(4, "even"), 4)
    (inf, 1.2207, 1.3247)
    """
    inside, outside = 1.0, 2.0  # the widest bounded region ends at the real root of U³ = U + 1
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        empty = bool(np.isnan(outline(np.array([middle]), longest, lengths).left[0]))
        inside, outside = (inside, middle) if empty else (middle, outside)
    return inside if outside < 2.0 else float("inf")  # noqa: PLR2004 -- where it began


def _counted_lengths(longest: int, lengths: str) -> Lengths:
    counted = lengths_of(lengths)
    check_whole(longest, "longest", least=counted.stride)
    return counted


def _ends(U: Number, longest: int, lengths: Lengths) -> tuple[list[Number], list[Number]]:
    """Return all lower and all upper bounds on b/a, from the last counted lengths; U is one number or an array."""
    lower: list[Number] = []
    upper: list[Number] = []
    for runs, positive in _deciding_strings(longest, lengths):
        if all(token != CLOSE for token, _ in runs):
            continue  # b has no part in it, and h > 0
        string = "".join(token * size for token, size in runs)
        alpha, beta = (LinearCell(*steps, U).final_state(string) for steps in ((1, 0), (0, 1)))
        (lower if positive else upper).append(-alpha / beta)
    return lower, upper


def _deciding_strings(longest: int, lengths: Lengths) -> Iterator[tuple[Runs, bool]]:
    """Go through the strings that decide R_N, and say of each whether it must come out positive."""
    for length in lengths.upto(longest)[-(_SHORT // lengths.stride) :]:
        for string in critical_strings(BINARY, length % 2):
            for side in sides(_READOUT, string.right):
                yield string.runs(length), side.strict
