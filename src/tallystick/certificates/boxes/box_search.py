"""Goes through the lengths with many networks, length after length, and notes the horizons of those that boxes decide.

A network passes a length where each of its boxes (`joined_boxes`) lies in the right class. It fails where a box lies wholly in a
wrong one, since every string of that box fails then. Where neither is sure, the search leaves it open.
"""

from typing import NamedTuple

import numpy as np

from tallystick.certificates.boxes.box_proof import UNSURE
from tallystick.certificates.boxes.joined_boxes import BoxedNetworks, JoinedBoxes, Mask, Places
from tallystick.certificates.verdict import Lengths


class Found(NamedTuple):
    """The horizons of networks for some lengths.

    Attributes:
        reached: the longest counted length to which every string is proved to be right.
        is_exact: whether the next counted length is known to fail.
        is_open: whether neither that is known, nor that the network lasts to the limit.
    """

    reached: Places
    is_exact: Mask
    is_open: Mask

    @classmethod
    def nothing(cls, size: int) -> "Found":
        """Return what is known of so many networks before anything is decided."""
        return cls(np.zeros(size, np.int64), np.zeros(size, np.bool_), np.ones(size, np.bool_))

    def note(self, networks: Mask | Places, horizon: int, *, is_exact: bool) -> None:
        """Note the horizon of some networks."""
        self.reached[networks], self.is_exact[networks], self.is_open[networks] = horizon, is_exact, False


class BoxSearch:
    """A search with one grid.

    Attributes:
        networks: the networks.
        width: of the first cells of the grid.
        most: how many boxes a network may have at a length; it is left open where there are more.
        limit: the last length.
        found: the horizons so far; each array has one entry per network.
    """

    def __init__(
        self, networks: BoxedNetworks, width: float, most: int, limit: int, found: dict[Lengths, Found]
    ) -> None:
        self.networks, self.width, self.most, self.limit, self.found = networks, width, most, limit, found
        self.size = len(networks.network.readout.bias[0])

    def run(self, places: Places) -> None:
        """Go through the lengths with the networks at some places."""
        boxes = JoinedBoxes.at_start(self.networks, places)
        while len(boxes.owners):
            boxes = boxes.longer(self.networks)
            going_on = self._note(boxes)[boxes.owners]
            boxes = boxes.some(going_on).join(self.width) if going_on.any() else boxes.some(going_on)

    def _note(self, boxes: JoinedBoxes) -> Mask:
        """Note what is decided at this length; return which networks go on."""
        length, sizes = boxes.length, np.bincount(boxes.owners, minlength=self.size)
        counting = {lengths: one for lengths, one in self.found.items() if length % lengths.stride == 0}
        going_on = (sizes > 0) & (sizes <= self.most)
        asked = going_on & self._is_open(counting)
        if asked.any():
            fails, passes = self._judge(boxes, asked)
            for lengths, one in counting.items():
                one.note(fails & one.is_open, lengths.before(length), is_exact=True)
                further = passes & one.is_open & (one.reached < length)
                one.reached[further] = length
            going_on &= passes | fails | ~asked
        if length >= self.limit:
            for lengths, one in self.found.items():
                one.note(going_on & one.is_open, lengths.upto(self.limit)[-1], is_exact=False)
        return going_on & self._is_open(self.found)

    def _is_open(self, found: dict[Lengths, Found]) -> Mask:
        open_yet = np.zeros(self.size, np.bool_)
        for one in found.values():
            open_yet |= one.is_open
        return open_yet

    def _judge(self, boxes: JoinedBoxes, asked: Mask) -> tuple[Mask, Mask]:
        """Return which of the networks asked about surely fail, and which surely pass."""
        boxes = boxes.some(asked[boxes.owners])
        given = boxes.classes(self.networks)
        wrong = given != self.networks.network.task.right_classes(boxes.counts)
        fails, passes = np.zeros(self.size, np.bool_), asked.copy()
        fails[boxes.owners[wrong & (given != UNSURE)]] = True
        passes[boxes.owners[wrong]] = False
        return fails, passes
