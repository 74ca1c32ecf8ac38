"""The horizons of every network of an ensemble, of any scalar cell, in real arithmetic.

- **Linear cells with classes** are decided completely (`linear_ensemble`).
- **Exact counters** of any cell need no lengths: their theorem decides.
- **All others** are searched length by length, in boxes around the extremes of all networks at once, up to a limit. The least and
  the greatest h of each group of strings are attained (`extremes`), and each is known between two doubles (`numbers.boxes`).
  A length is surely right for a network if both boxes of every group lie in the group's class, and surely wrong if one lies
  outside. Where neither is sure the certifier decides in rationals, one by one; for a tanh cell, which has none, the lengths
  before it stand as a lower bound. A network that fails has an exact horizon, one that lasts to the limit a lower bound.

A network's horizon depends on its own weights alone, whatever stands beside it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell, Input, LinearCell, Recurrence, ReluCell, ScalarCell, TanhCell
from tallystick.certificates.deciders import certify_network, is_usual
from tallystick.certificates.one_unit.executions import Bounds, Enclosed
from tallystick.certificates.one_unit.extremes import Ends
from tallystick.certificates.one_unit.linear_ensemble import Floats, HeadStart, Mask, linear_horizons, size_of, some_of
from tallystick.certificates.one_unit.search import grouping_of
from tallystick.certificates.one_unit.sorted_strings import right_at_zero, sides
from tallystick.certificates.verdict import REAL, UNLIMITED, Horizons, Lengths, Outcome
from tallystick.errors import BadInput, check_whole
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.networks import Network, Readout
from tallystick.networks.readout import ZERO
from tallystick.numbers import Number, standard_floats
from tallystick.numbers.boxes import Box

__all__ = ["SEARCHED", "UNLIMITED", "Horizons", "has_horizons", "has_theorem", "horizons", "meets_conditions"]

SEARCHED = 100
"""How far an ensemble is searched; a network that is right to there has at least this horizon."""

_AT_ONCE = 512
"""Models that are searched side by side: what is known of them stays in the cache."""


def has_horizons(kind: type[Cell]) -> bool:
    """Say whether many networks of this kind can be certified at once: one unit, and deciders that know the cell."""
    return issubclass(kind, ScalarCell) and bool(kind.deciders)


@standard_floats()
def horizons(networks: Network, limit: int = SEARCHED, *, head_start: HeadStart | None = None) -> Horizons:
    """Return the horizons of networks given as arrays, one entry per network, as `certify` finds them one by one.

    A head start may go through the first lengths of linear cells elsewhere, such as on a GPU.

    >>> import numpy as np
    >>> from tallystick.networks import Readout
    >>> cells = LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([1.0, 0.5]))
    >>> found = horizons(Network(cells, Readout.binary(np.array([1.0, 1.0]), np.array([-0.5, -0.5]))))
    >>> (found.all == UNLIMITED).tolist(), found.even.tolist()[1:], found.even_exact.tolist()
    ([True, False], [2], [True, True])
    """
    check_whole(limit, "limit", least=2)
    if not has_horizons(type(networks.scalar_cell)):
        raise BadInput(f"cells: a {type(networks.scalar_cell).__name__} is outside what can be decided")
    networks.require_usual()
    models = _read_weights(networks)
    if isinstance(networks.scalar_cell, LinearCell) and networks.readout.decision != ZERO and is_usual(networks):
        return linear_horizons(models, head_start)
    return _search_horizons(models, limit)


def _read_weights(networks: Network) -> Network:
    """Return the ensemble with its weights as float64, which holds every float32 exactly; refuse anything but an ensemble."""
    shape = np.shape(networks.scalar_cell.open_step)

    def read(value: object, _: str) -> Floats:
        return _array(value, shape)

    return networks.map_weights(read)


def _array(value: object, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind != "f" or array.itemsize > np.dtype(np.float64).itemsize or len(shape) != 1:
        raise BadInput("models: an ensemble's weights are arrays of one dimension, of float64 or less")
    if not np.isfinite(array).all():
        raise BadInput("models: a weight is not a finite number")
    return np.broadcast_to(array.astype(np.float64), shape)


def has_theorem(kind: type[Recurrence]) -> bool:
    """Say whether a theorem tells when this kind of cell counts exactly."""
    return kind.conditions is not Recurrence.conditions


@standard_floats()
def meets_conditions(cells: ScalarCell) -> Mask:
    """Say which cells of arrays meet the conditions of their theorem; none do where there is no theorem.

    Every theorem asks that `()` ends at 0. Where it does in real numbers, it does in doubles: Q·a is the double −b, which no
    rounding moves. So the few that rationals are asked about are picked in doubles.

    >>> meets_conditions(LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -0.5]), np.array([1.0, 0.5]))).tolist()
    [True, False]
    """
    kind = type(cells)
    doubles = [np.asarray(weight, np.float64) for weight in vars(cells).values()]
    if not has_theorem(kind):
        return np.zeros(len(doubles[0]), bool)
    # A state that overflows or is not a number does not end at 0.
    met = np.asarray(kind(*doubles).final_state(OPEN + CLOSE) == 0)
    for place in np.flatnonzero(met):
        met[place] = all(condition.holds for condition in kind(*(float(w[place]) for w in doubles)).conditions())
    return met


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


def _search_horizons(models: Network, limit: int) -> Horizons:
    """Return the horizons of an ensemble of any decidable cell, with any readout, searched up to a limit."""
    found = {lengths: _Progress.start(size_of(models)) for lengths in Lengths}
    _prove_exact_counters(models, found)
    left = np.flatnonzero(_is_searched(found))
    for start in range(0, len(left), _AT_ONCE):  # what overflows is not decided in boxes
        _search(models, left[start : start + _AT_ONCE], limit, found)
    if not isinstance(models.scalar_cell, TanhCell):
        _ask_the_certifier(models, limit, found)
    every, even = found[Lengths.ALL], found[Lengths.EVEN]
    return Horizons(every.horizon, even.horizon, every.exact, even.exact)


_Found = dict[Lengths, _Progress]


def _is_searched(found: _Found) -> Mask:
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
                sure &= _decide_class(readout, right, cell.final_state(token * length)).passes
        progress.prove(counters[sure])


def _search(models: Network, places: NDArray[np.int64], limit: int, found: _Found) -> None:
    """Go through the lengths until the models at these places have failed, were not decided, or reach the limit."""
    grouping, models = grouping_of(models), some_of(models, places)
    nothing = np.zeros((1, 2, len(places)))  # the empty string's h₀ = 0, between 0 and 0
    ends = Ends(nothing, nothing)
    for length in range(1, limit + 1):
        ends = grouping.advance(ends, _BoxedCell(models.scalar_cell.map_weights(_point)))
        decided = _decide(models.readout, grouping.right_classes(models.task, length), ends)
        for lengths, progress in found.items():
            if length % lengths.stride == 0:
                progress.note(places, length, decided)
        left = _is_searched(found)[places]
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


def _decide(readout: Readout, right: NDArray[np.int64], ends: Ends) -> _Decided:
    """Say which networks surely give every string its group's right class, and which surely do not."""
    groups = {int(index): np.flatnonzero(right == index) for index in np.unique(right)}
    decided = [
        _decide_class(readout, index, _box_of_ends(Ends(ends.least[places], ends.greatest[places])))
        for index, places in groups.items()
    ]
    return _Decided(
        np.logical_and.reduce([one.passes.all(axis=(0, 1)) for one in decided]),
        np.logical_or.reduce([one.fails.any(axis=(0, 1)) for one in decided]),
    )


def _decide_class(readout: Readout, index: int, h: Box) -> _Decided:
    """Decide a class at both ends, which are the first axis.

    A class without comparisons gets what no other class gets: both ends must lie on one side of each of the others.
    """
    if readout.decision == ZERO:
        return _check_zero(index, h)
    if readout.comparisons[index]:
        passes, fails = zip(*_decide_comparisons(readout, index, h), strict=True)
        return _Decided(np.logical_and.reduce(passes), np.logical_or.reduce(fails))
    others = [_decide_comparisons(readout, other, h) for other, needed in enumerate(readout.comparisons) if needed]
    beside = [np.logical_or.reduce([one.fails.all(axis=0, keepdims=True) for one in found]) for found in others]
    inside = [np.logical_and.reduce([one.passes for one in found]) for found in others]
    return _Decided(np.logical_and.reduce(beside), np.logical_or.reduce(inside))


def _check_zero(index: int, h: Box) -> _Decided:
    """Decide h = 0 at both ends for what is accepted, and 0 outside of them for what is rejected; nothing is rounded."""
    is_zero, is_not = (h.low == 0) & (h.high == 0), (h.low > 0) | (h.high < 0)
    if index == 1:  # accepted
        return _Decided(is_zero, is_not)
    beside = (h.low > 0).all(axis=0, keepdims=True) | (h.high < 0).all(axis=0, keepdims=True)
    return _Decided(beside, is_zero)


def _decide_comparisons(readout: Readout, index: int, h: Box) -> list[_Decided]:
    """Decide each comparison that makes up a class. At h = 0 it is that of the biases, which nothing rounds."""
    at_zero = (h.low == 0) & (h.high == 0)
    found: list[_Decided] = []
    for weight, bias, strict in sides(readout.map_weights(_point), index):
        form = weight * h + bias
        form = Box(np.where(at_zero, bias.low, form.low), np.where(at_zero, bias.high, form.high))
        found.append(_Decided(form.low > 0, form.high <= 0) if strict else _Decided(form.low >= 0, form.high < 0))
    return found


def _ask_the_certifier(models: Network, limit: int, found: _Found) -> None:
    """Put what the boxes did not decide to the certifier, one by one."""
    for lengths, progress in found.items():
        for place in np.flatnonzero(~progress.searched & ~progress.exact).tolist():
            verdict = certify_network(models.place(place), lengths, REAL, limit)
            if verdict.horizon is None:
                progress.prove(np.array([place]))
            else:
                progress.horizon[place] = max(verdict.horizon, progress.horizon[place])
                progress.exact[place] = verdict.outcome is Outcome.REFUTED
