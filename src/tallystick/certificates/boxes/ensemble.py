"""The horizons of many networks at once, in real arithmetic, by boxes around their states; for GRUs, LSTMs and tanh layers.

All networks go through the lengths side by side (`box_search`). Those that the boxes leave open begin again with a finer grid,
which joins fewer boxes. Of those that the finest leaves open, a string of the next length may be known to fail, by so little that
every box around it is unsure; it is looked for as `certify` does. What is open then has the lengths that were proved as a lower
bound.

A horizon that is decided here is proved from both sides, so wherever `certify` gives an exact one it is the same.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell
from tallystick.certificates.boxes.box_proof import METHOD, Bounded, known_failure
from tallystick.certificates.boxes.box_search import BoxSearch, Found
from tallystick.certificates.boxes.joined_boxes import BoxedNetworks, Mask, Places
from tallystick.certificates.boxes.suspects import suspects
from tallystick.certificates.verdict import Horizons, Lengths
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.numbers import standard_floats
from tallystick.numbers.boxes import LARGEST

WIDTHS = (2**-7, 2**-9, 2**-11, 2**-13)
"""The widths of the first cells of the grid, one after the other."""

_AT_ONCE = 128
"""Networks that go through the lengths side by side with the first grid; with each further one half as many."""

_MOST_BOXES = 1 << 18
"""The boxes of all of them at one length; each may have its share."""


def has_box_horizons(kind: type[Cell]) -> bool:
    """Say whether many networks of this kind can be certified by boxes side by side."""
    return kind.deciders == (METHOD,)


def find_horizons(networks: Network, limit: int, asked: Sequence[Lengths] = tuple(Lengths)) -> dict[Lengths, Found]:
    """Decide networks whose weights are arrays of doubles, one entry per network, up to a limit, for the lengths asked for.

    >>> from tallystick.cells import LstmCell
    >>> from tallystick.networks import Readout
    >>> w, zero = np.array([3.0, 5.0]), np.zeros(2)
    >>> cells = LstmCell(((w, w), (w, w), (w, -w), (w, w)), ((zero,),) * 4, (zero,) * 4, (zero,) * 4)
    >>> networks = Network(cells, Readout(((zero + 1.0,),), (zero - np.tanh(0.5),)))
    >>> {str(lengths): found.reached.tolist() for lengths, found in find_horizons(networks, 100).items()}
    {'all': [6, 16], 'even': [6, 16]}
    """
    size = len(networks.readout.bias[0])
    found = {lengths: Found.nothing(size) for lengths in asked}
    if networks.task.machine is not BB_COUNTER:  # boxes are told apart by the count n − m
        return found
    bounded = np.flatnonzero(_are_bounded(networks))
    blocks = [bounded[start : start + _AT_ONCE] for start in range(0, len(bounded), _AT_ONCE)]

    @standard_floats()  # a thread begins with the usual warnings
    def decide(places: Places) -> None:
        def own(weight: Any, _: str) -> NDArray[np.float64]:  # noqa: ANN401 -- an array of any floats
            return np.asarray(weight, np.float64)[places]

        part = {lengths: Found.nothing(len(places)) for lengths in found}
        _decide_block(networks.map_weights(own), limit, part)
        for lengths, one in part.items():
            for whole, some in zip(found[lengths], one, strict=True):
                whole[places] = some

    if len(blocks) == 1:
        decide(*blocks)
    elif blocks:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(decide, blocks))
    return found


def box_horizons(networks: Network, limit: int) -> Horizons:
    """Return the horizons of networks whose weights are arrays; where a length stays open, those before it are a lower bound."""
    every, even = find_horizons(networks, limit).values()
    return Horizons(every.reached, even.reached, every.is_exact, even.is_exact)


def _are_bounded(networks: Network) -> Mask:
    """Say which networks have weights that can be bounded, as `box_of` asks of each."""
    fine: list[Mask] = []

    def look(weight: Any, _: str) -> Any:  # noqa: ANN401 -- arrays
        fine.append(np.abs(np.asarray(weight, np.float64)) <= LARGEST)
        return weight

    networks.map_weights(look)
    return np.all(fine, axis=0)


def _decide_block(networks: Network, limit: int, found: dict[Lengths, Found]) -> None:
    """Search with one grid after the other."""
    boxed = BoxedNetworks.of(networks)
    for level, width in enumerate(WIDTHS):
        together = max(1, _AT_ONCE >> level)
        left = np.flatnonzero(np.any([one.is_open for one in found.values()], axis=0))
        for start in range(0, len(left), together):
            BoxSearch(boxed, width, _MOST_BOXES // together, limit, found).run(left[start : start + together])
    for lengths, one in found.items():
        for place in np.flatnonzero(one.is_open).tolist():
            reached = int(one.reached[place])
            following = lengths.upto(limit, reached + 1)[:1]
            if _fails_at(networks.place(place), following):
                one.note(np.array([place]), reached, is_exact=True)


def _fails_at(network: Network, lengths: range) -> bool:
    """Say whether a string of one of these lengths is found that fails for certain."""
    strings = suspects(network, lengths[-1]) if lengths else ()
    return known_failure(strings, lengths, Bounded.of(network).failure) is not None
