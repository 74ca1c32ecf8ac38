"""How many of all 2^N strings does a linear cell get right, in real arithmetic? In closed form, but for the ones in question.

h = b·S_N + (a − b)·σ with σ = Σ U^i over the opening brackets, so each class of a readout is an interval of σ, the same for
every count. For n opening brackets the extremes of σ tell whether all strings, or none, lie in the interval of their right
class; only where they straddle an end are strings counted, by meeting in the middle (`subset_sums`). For U = 1 none straddles,
and what remains is a sum of binomials; U = 0 and U = −1 have few distinct σ, each with its own binomials.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.sorted_strings import sides
from tallystick.certificates.one_unit.subset_sums import Place, SubsetSums, is_above
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.numbers import exact

LONGEST = 56
"""The longest length counted: 2^28 sums of a half are 2 GiB."""


def right_strings(model: Network, length: int) -> tuple[list[int], list[int]]:
    """Return, class by class, how many strings of a length should get it and how many of these do; the weights are rationals."""
    strings, correct = ([0] * len(model.task.classes) for _ in range(2))
    counter = _Counter(model, length)
    for openings in range(length + 1):
        index = model.task.index_of_count(2 * openings - length)
        strings[index] += comb(length, openings)
        correct[index] += counter.in_class(openings, index)
    return strings, correct


@dataclass(frozen=True)
class _Interval:
    """The σ above one place and not above another; None is no end, and an interval may be empty."""

    above: Place | None
    not_above: Place | None
    empty: bool = False


class _Counter:
    """Counts the strings of one length whose class is a given one, by number of opening brackets."""

    def __init__(self, model: Network, length: int) -> None:
        assert isinstance(model.scalar_cell, LinearCell)
        self.model, self.length = model, length
        self.U = exact(model.scalar_cell.recurrent_weight)
        self.sums = SubsetSums(self.U, length)
        self.extremes = self.sums.extremes()
        self.intervals: dict[int, _Interval] = {}

    def in_class(self, openings: int, index: int) -> int:
        """Return how many strings with so many opening brackets get a class."""
        if not self.model.readout.comparisons[index]:  # rejected: whatever is not accepted
            return comb(self.length, openings) - self.in_class(openings, 1 - index)
        if index not in self.intervals:
            self.intervals[index] = self._interval(index)
        interval = self.intervals[index]
        if interval.empty:
            return 0
        over = comb(self.length, openings) if interval.above is None else self._above(openings, interval.above)
        return over - (0 if interval.not_above is None else self._above(openings, interval.not_above))

    def _interval(self, index: int) -> _Interval:
        """Return the σ of a class: where every line w·h + c of it is above 0."""
        cell = self.model.scalar_cell
        a, b = cell.open_step, cell.close_step
        start = b * Fraction(sum(self.sums.whole), self.sums.scale)
        lower, upper = list[Place](), list[Place]()
        for weight, bias, strict in sides(self.model.readout, index):
            slope, height = weight * (a - b), weight * start + bias
            if slope == 0:
                if height < 0 or (strict and height == 0):
                    return _Interval(None, None, empty=True)
            elif slope > 0:
                lower.append(Place(-height / slope, counts=not strict))
            else:
                upper.append(Place(-height / slope, counts=strict))
        # Of equal places the one that leaves the tie out binds.
        above = max(lower, key=lambda place: (place.value, not place.counts), default=None)
        not_above = min(upper, key=lambda place: (place.value, not place.counts), default=None)
        return _Interval(above, not_above, empty=_is_empty(above, not_above))

    def _above(self, openings: int, place: Place) -> int:
        """Return how many strings have σ above a place; all or none, where the extremes say so."""
        low, high = self.extremes[openings]
        if is_above(low, place, self.sums.scale):
            return comb(self.length, openings)
        if not is_above(high, place, self.sums.scale):
            return 0
        if self.U in (-1, 0, 1):
            return sum(size for value, size in self._few_sums(openings) if is_above(value, place, scale=1))
        if self.length > LONGEST:
            raise BadInput(f"length: {self.length} is too long to count; at most {LONGEST}")
        return self.sums.above(openings, place)

    def _few_sums(self, openings: int) -> list[tuple[int, int]]:
        """Return each distinct σ and how many strings have it, for U = −1, 0 or 1.

        The weights have two values, so σ follows from how many opening brackets stand on the first of them.
        """
        ones = {-1: (self.length + 1) // 2, 0: 1, 1: self.length}[int(self.U)]
        return [
            (j + (openings - j) * int(self.U), comb(ones, j) * comb(self.length - ones, openings - j))
            for j in range(openings + 1)
        ]


def _is_empty(above: Place | None, not_above: Place | None) -> bool:
    """Say whether no σ is above the one and not above the other."""
    if above is None or not_above is None:
        return False
    if above.value == not_above.value:
        return not above.counts or not_above.counts
    return above.value > not_above.value
