"""Goes through the lengths with many networks, length after length, and notes the horizons of those that boxes decide.

A network passes a length where each of its boxes (`joined_boxes`) lies in the right class. It fails where a box lies wholly in a
wrong one, since every string of that box fails then. Where neither is sure, the search leaves it open.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from tallystick.certificates.boxes.box_proof import UNSURE
from tallystick.certificates.boxes.joined_boxes import BoxedNetworks, JoinedBoxes, Places
from tallystick.certificates.verdict import Lengths
from tallystick.numbers.boxes import choose


class Found(NamedTuple):
    """The horizons of networks for some lengths.

    Attributes:
        reached: the longest counted length to which every string is proved to be right.
        is_exact: whether the next counted length is known to fail.
        is_open: whether neither that is known, nor that the network lasts to the limit.
    """

    reached: Any
    is_exact: Any
    is_open: Any

    @classmethod
    def nothing(cls, size: int) -> "Found":
        """Return what is known of so many networks before anything is decided."""
        return cls(np.zeros(size, np.int64), np.zeros(size, np.bool_), np.ones(size, np.bool_))


Known = dict[Lengths, Found]
"""What is known for each kind of lengths that is asked for."""


class Seen(NamedTuple):
    """What boxes show of each network at a length.

    Attributes:
        fits: whether it has boxes, and no more than it may have.
        fails: whether some string surely fails.
        passes: whether every string is surely right.
    """

    fits: Any
    fails: Any
    passes: Any


def note(found: Known, length: Any, limit: int, seen: Seen) -> tuple[Known, Any]:  # noqa: ANN401
    """Note what is seen at a length, the same for all networks or each network's own; return also which networks go on.

    Arrays may be those of NumPy or of another library. A length at which a network is not asked, since no kind of lengths that
    counts it is open, is passed over.
    """
    counting = {lengths: one.is_open & (length % lengths.stride == 0) for lengths, one in found.items()}
    asked = _any(counting.values())
    going_on = seen.fits & (seen.passes | seen.fails | ~asked)
    noted: Known = {}
    for lengths, one in found.items():
        counts = counting[lengths] & seen.fits
        fails, passes = counts & seen.fails, counts & seen.passes & (one.reached < length)
        reached = choose(fails, length - lengths.stride, choose(passes, length, one.reached))
        lasts = going_on & one.is_open & ~fails & (length >= limit)
        reached = choose(lasts, max(lengths.upto(limit), default=0), reached)
        noted[lengths] = Found(reached, one.is_exact | fails, one.is_open & ~fails & ~lasts)
    return noted, going_on & open_yet(noted)


def open_yet(found: Known) -> Any:  # noqa: ANN401 -- truths
    """Say of which networks something is not decided yet."""
    return _any(one.is_open for one in found.values())


def _any(truths: Iterable[Any]) -> Any:  # noqa: ANN401
    return reduce(lambda one, other: one | other, truths)


@dataclass(frozen=True)
class BoxSearch:
    """A search with one grid.

    Attributes:
        networks: the networks.
        width: of the first cells of the grid.
        most: how many boxes a network may have at a length; it is left open where there are more.
        limit: the last length.
    """

    networks: BoxedNetworks
    width: float
    most: int
    limit: int

    def run(self, places: Places, found: Known) -> Known:
        """Go through the lengths with the networks at some places; return what is known of all networks then."""
        boxes = JoinedBoxes.at_start(self.networks, places)
        while len(boxes.owners):
            boxes = boxes.longer(self.networks)
            found, going_on = note(found, boxes.length, self.limit, self._look(boxes, found))
            boxes = boxes.some(going_on[boxes.owners])
            boxes = boxes.join(self.width) if len(boxes.owners) else boxes
        return found

    def _look(self, boxes: JoinedBoxes, found: Known) -> Seen:
        """Look at the boxes of those networks of which something is open at this length."""
        counting = {lengths: one for lengths, one in found.items() if boxes.length % lengths.stride == 0}
        sizes = np.bincount(boxes.owners, minlength=self.networks.size)
        fits = (sizes > 0) & (sizes <= self.most)
        fails, passes = np.zeros(len(fits), np.bool_), np.ones(len(fits), np.bool_)
        if counting and (asked := fits & open_yet(counting)).any():
            boxes = boxes.some(asked[boxes.owners])
            given = boxes.classes(self.networks)
            wrong = given != self.networks.network.task.right_classes(boxes.counts)
            fails[boxes.owners[wrong & (given != UNSURE)]] = True
            passes[boxes.owners[wrong]] = False
        return Seen(fits, fails, passes)
