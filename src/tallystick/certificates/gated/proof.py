"""From below: up to which length a gated model is right on every string, by boxes around the states of groups of strings."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.cells.gated import GatedCell
from tallystick.certificates.gated.boxes import box_of
from tallystick.certificates.gated.decisions import UNSURE, Comparisons, comparisons_of, right_classes, sure_classes
from tallystick.certificates.gated.suffix_groups import Groups, empty_string
from tallystick.certificates.verdict import Failure, Lengths, runs_of
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.models import GatedModel
from tallystick.readouts import LayerReadout

SUFFIXES = (1, 4, 8, 11, 14, 16)
"""How many last tokens are told apart: few at first, and more where the boxes do not decide."""

MOST_WORK = 25 * 10**7
"""Boxes times weights in one pass; some seconds."""


@dataclass(frozen=True)
class Bounded:
    """A model made ready for boxes."""

    cell: GatedCell
    readout: LayerReadout
    comparisons: Comparisons

    @classmethod
    def of(cls, model: GatedModel) -> "Bounded":
        """Enclose every weight, exactly where it is a double."""
        return cls(model.cell.converted(box_of), model.readout, comparisons_of(model.readout))

    @property
    def weights(self) -> int:
        """How many weights a step goes through."""
        return len(self.cell.recurrent_weight) * (self.cell.units + 2)

    def failure(self, string: str) -> Failure | None:
        """Run one string in boxes; return how it fails, or None if it does not fail for certain."""
        hidden = self.cell.trace(string)[-1].hidden
        count = string.count(OPEN) - string.count(CLOSE)
        found, right = int(sure_classes(self.comparisons, hidden)), int(right_classes(self.readout, np.array(count)))
        if found in (UNSURE, right):
            return None
        classes = list(self.readout.classes)
        return Failure(runs_of(string), classes[found], classes[right])


@dataclass(frozen=True)
class Reached:
    """How far a proof went: every counted length up to `length` is right, and what stopped it there."""

    length: int
    stop: str
    failure: Failure | None = None


LIMIT, WORK, UNDECIDED, FAILED = "limit", "work", "undecided", "failed"


def proved(model: Bounded, lengths: Lengths, limit: int) -> Reached:
    """Prove length after length up to a limit, with closer boxes as long as they decide more."""
    best = Reached(0, UNDECIDED)
    for suffix in SUFFIXES:
        found = _with_suffix(model, lengths, limit, suffix)
        if found.length >= best.length:
            best = found
        if found.stop != UNDECIDED:
            break
    return best


def _with_suffix(model: Bounded, lengths: Lengths, limit: int, suffix: int) -> Reached:
    groups, work, reached = empty_string(model.cell), 0, 0
    while groups.length < limit:
        work += 2 * groups.size * model.weights
        if work > MOST_WORK:
            return Reached(reached, WORK)
        groups = groups.longer(model.cell, suffix)
        if groups.length not in lengths.upto(limit):
            continue
        found = sure_classes(model.comparisons, groups.state.hidden)
        wrong = found != right_classes(model.readout, groups.counts)
        if wrong.any():
            failure = _failing_string(model, groups, wrong & (found != UNSURE))
            return Reached(reached, FAILED if failure else UNDECIDED, failure)
        reached = groups.length
    return Reached(reached, LIMIT)


def _failing_string(model: Bounded, groups: Groups, failing: NDArray[np.bool_]) -> Failure | None:
    """Return a string of a group that fails as a whole, if there is one: its tokens before the suffix in sorted order."""
    if not failing.any():
        return None
    closings, suffix = map(int, np.argwhere(failing)[0])
    openings = groups.length - groups.suffix - closings
    return model.failure(OPEN * openings + CLOSE * closings + groups.string(suffix))
