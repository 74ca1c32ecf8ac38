"""The horizons of an ensemble, searched length by length in boxes around the extremes of all models at once.

The least and the greatest h of each group of strings are attained (`extremes`), and each is known between two doubles
(`arithmetic.boxes`). A length is surely right for a model if both boxes of every group lie in the group's class, and surely
wrong if one lies outside. Where neither is sure the certifier decides in rationals; for a tanh cell, which has none,
the lengths before it stand as a lower bound. Exact counters need no search: their theorem decides.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell, Input, ReluCell, TanhCell
from tallystick.certificates.critical_strings import is_usual, sides
from tallystick.certificates.enclosed import Bounds, Enclosed
from tallystick.certificates.ensemble_models import UNLIMITED, Horizons, Mask, right_at_zero, size_of, some_of
from tallystick.certificates.exact_counters import meets_conditions
from tallystick.certificates.extremes import Ends
from tallystick.certificates.horizon import certify
from tallystick.certificates.search import grouping_of
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.networks import Network, Readout
from tallystick.networks.readout import ZERO
from tallystick.numbers import Number
from tallystick.numbers.boxes import Box

_AT_ONCE = 512
"""Models that are searched side by side: what is known of them stays in the cache."""


@dataclass(frozen=True)
class _Progress:
    """How far each model is right, whether that is all, and whether it is still searched; changed in place.

    A model that is neither searched on nor exact is one that the boxes did not decide.
    """

    horizon: NDArray[np.int64]
    exact: Mask
    searched: Mask

    @classmethod
    def start(cls, size: int) -> "_Progress":
        return cls(np.zeros(size, np.int64), np.zeros(size, bool), np.ones(size, bool))

    def prove(self, places: NDArray[np.int64]) -> None:
        """Note models that are right at every length."""
        self.horizon[places], self.exact[places], self.searched[places] = UNLIMITED, True, False

    def note(self, places: NDArray[np.int64], length: int, decided: "_Decided") -> None:
        """Note what a length showed of some models."""
        searched = self.searched[places]
        self.horizon[places[searched & decided.passes]] = length
        self.exact[places[searched & decided.fails]] = True
        self.searched[places] = searched & decided.passes


class _Decided(NamedTuple):
    """Where something surely holds and where it surely does not."""

    passes: Mask
    fails: Mask


def searched_horizons(models: Network, limit: int) -> Horizons:
    """Return the horizons of an ensemble of any decidable cell, with any readout, searched up to a limit."""
    found = {lengths: _Progress.start(size_of(models)) for lengths in Lengths}
    _prove_exact_counters(models, found)
    left = np.flatnonzero(_searched(found))
    for start in range(0, len(left), _AT_ONCE):  # what overflows is not decided in boxes
        _search(models, left[start : start + _AT_ONCE], limit, found)
    if not isinstance(models.scalar_cell, TanhCell):
        _ask_the_certifier(models, limit, found)
    every, even = found[Lengths.ALL], found[Lengths.EVEN]
    return Horizons(every.horizon, even.horizon, every.exact, even.exact)


_Found = dict[Lengths, _Progress]


def _searched(found: _Found) -> Mask:
    return np.logical_or.reduce([progress.searched for progress in found.values()])


def _prove_exact_counters(models: Network, found: _Found) -> None:
    """Prove what the theorems do: as `certify`, which says why lengths 1 and 2 are enough.

    The balanced strings of these lengths end at 0 itself, where the biases decide; the others are run in boxes.
    """
    zero_check = models.readout.decision == ZERO
    if not is_usual(models) or (isinstance(models.scalar_cell, ReluCell) and not zero_check):
        return
    counters = np.flatnonzero(meets_conditions(models.scalar_cell))
    chosen = some_of(models, counters)
    cell, readout = chosen.scalar_cell.map_weights(_point), chosen.readout
    for lengths, progress in found.items():
        sure = np.ones(len(counters), bool) if zero_check else right_at_zero(chosen)
        for token, sign in ((OPEN, 1), (CLOSE, -1)) if not zero_check else ():
            right = models.task.index_of_count(sign)
            for length in lengths.upto(2):
                sure &= _compared(readout, right, cell.final_state(token * length)).passes
        progress.prove(counters[sure])


def _search(models: Network, places: NDArray[np.int64], limit: int, found: _Found) -> None:
    """Go through the lengths until the models at these places have failed, were not decided, or reach the limit."""
    grouping, models = grouping_of(models), some_of(models, places)
    nothing = np.zeros((1, 2, len(places)))  # the empty string's h₀ = 0, between 0 and 0
    ends = Ends(nothing, nothing)
    for length in range(1, limit + 1):
        ends = grouping.advanced(ends, _BoxedCell(models.scalar_cell.map_weights(_point)))
        decided = _decided(models.readout, grouping.right_classes(models.task, length), ends)
        for lengths, progress in found.items():
            if length % lengths.stride == 0:
                progress.note(places, length, decided)
        left = _searched(found)[places]
        places, models = places[left], some_of(models, left)
        ends = Ends(*(end[..., left] for end in ends.both))
        if not len(places):
            return


@dataclass(frozen=True)
class _BoxedCell(Enclosed):
    """The cells of an ensemble on boxes. An end is an array of the axes group, bound (from below, from above) and model."""

    cell: Cell

    def image(self, least: Number, greatest: Number, token: Input) -> Bounds:
        """Return the ends of the image: a map rises or falls, so they are the images of the ends, in one order or the other."""
        low, high = self.cell.step(_box_of_ends(Ends(least, greatest)), token).ends
        return np.stack([low.min(axis=0), high.min(axis=0)], axis=1), np.stack(
            [low.max(axis=0), high.max(axis=0)], axis=1
        )


def _point(weight: Number, _: str) -> Box:
    """A weight is a double, and its box no wider than that."""
    return Box(weight, weight)


def _box_of_ends(ends: Ends) -> Box:
    """Return both ends as boxes, with the axes end, group and model."""
    both = np.stack(ends.both)
    return Box(both[:, :, 0], both[:, :, 1])


def _decided(readout: Readout, right: NDArray[np.int64], ends: Ends) -> _Decided:
    """Say which models surely give every string its group's right class, and which surely do not."""
    judge = _zero_checked if readout.decision == ZERO else _compared
    groups = {int(index): np.flatnonzero(right == index) for index in np.unique(right)}
    judged = [
        judge(readout, index, _box_of_ends(Ends(ends.least[places], ends.greatest[places])))
        for index, places in groups.items()
    ]
    return _Decided(
        np.logical_and.reduce([one.passes.all(axis=(0, 1)) for one in judged]),
        np.logical_or.reduce([one.fails.any(axis=(0, 1)) for one in judged]),
    )


def _compared(readout: Readout, index: int, h: Box) -> _Decided:
    """Decide each comparison that makes up a class. At h = 0 it is that of the biases, which nothing rounds."""
    at_zero = (h.low == 0) & (h.high == 0)
    passes, fails = np.ones(at_zero.shape, bool), np.zeros(at_zero.shape, bool)
    for side in sides(readout.map_weights(_point), index):
        form = side.weight * h + side.bias
        form = Box(np.where(at_zero, side.bias.low, form.low), np.where(at_zero, side.bias.high, form.high))
        passes &= form.low > 0 if side.strict else form.low >= 0
        fails |= form.high <= 0 if side.strict else form.high < 0
    return _Decided(passes, fails)


def _zero_checked(_: Readout, index: int, h: Box) -> _Decided:
    """Decide h = 0 at both ends for what is accepted, and 0 outside of them for what is rejected."""
    is_zero, is_not = (h.low == 0) & (h.high == 0), (h.low > 0) | (h.high < 0)
    if index == 1:  # accepted
        return _Decided(is_zero, is_not)
    beside = (h.low > 0).all(axis=0, keepdims=True) | (h.high < 0).all(axis=0, keepdims=True)
    return _Decided(beside, is_zero)


def _ask_the_certifier(models: Network, limit: int, found: _Found) -> None:
    """Put what the boxes did not decide to the certifier, one by one."""
    for lengths, progress in found.items():
        for place in np.flatnonzero(~progress.searched & ~progress.exact).tolist():
            verdict = certify(models.place(place), lengths, limit=limit)
            if verdict.horizon is None:
                progress.prove(np.array([place]))
            else:
                progress.horizon[place] = max(verdict.horizon, progress.horizon[place])
                progress.exact[place] = verdict.outcome is Outcome.REFUTED
