"""The horizons of many networks at once, in real arithmetic, by boxes around their states; for GRUs, LSTMs and tanh layers.

Networks go through the lengths side by side (`box_search`); those that the boxes leave open begin again with a finer grid, which
joins fewer boxes. Of those that the finest leaves open, a string of the next length may be known to fail, by so little that every
box around it is unsure; it is looked for among the strings that `certify` looks at. What is open then has the lengths that were
proved as a lower bound.

A horizon that is decided here is proved from both sides, so wherever `certify` gives an exact one it is the same.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Cell
from tallystick.certificates.boxes.box_proof import METHOD
from tallystick.certificates.boxes.box_search import BoxSearch, Found, Known, open_yet
from tallystick.certificates.boxes.joined_boxes import BoxedNetworks, Mask, Places
from tallystick.certificates.boxes.suspects import suspects_at
from tallystick.certificates.verdict import Horizons, Lengths
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.numbers import standard_floats
from tallystick.numbers.boxes import LARGEST
from tallystick.numbers.values import numbers_of

WIDTHS = (2**-7, 2**-9, 2**-11, 2**-13)
"""The widths of the first cells of the grid, one after the other."""

_LOOKING = BoundedSemaphore(4)
"""Threads that look for failing strings at once: Python lets one at a time begin an operation, and those that wait cost time."""

_STATES, _SHORT = 1 << 20, 24
"""How many numbers are kept while failing strings are looked for: enough that operations are long. A network keeps about as many
as the square of the length times the numbers of a state; lengths below the second number are taken for it."""

Search = Callable[[Network, int, Known], Known]
"""Goes through the lengths of many networks up to a limit; returns what is known then, and may write it into what was known."""

_AT_ONCE = 128
"""Networks that go through the lengths side by side with the first grid; with each further one half as many."""

_MOST_BOXES = 1 << 18
"""The boxes of all of them at one length; each may have its share."""


def has_box_horizons(kind: type[Cell]) -> bool:
    """Say whether many networks of this kind can be certified by boxes side by side."""
    return kind.deciders == (METHOD,)


def find_horizons(
    networks: Network, limit: int, asked: Sequence[Lengths] = tuple(Lengths), search: Search | None = None
) -> Known:
    """Decide networks whose weights are arrays of doubles, one entry per network, up to a limit, for the lengths asked for.

    The cores of this machine search, unless another search is given, such as a GPU's.

    >>> from tallystick.cells import LstmCell
    >>> from tallystick.networks import Readout
    >>> w, zero = np.array([3.0, 5.0]), np.zeros(2)
    >>> cells = LstmCell(((w, w), (w, w), (w, -w), (w, w)), ((zero,),) * 4, (zero,) * 4, (zero,) * 4)
    >>> networks = Network(cells, Readout(((zero + 1.0,),), (zero - np.tanh(0.5),)))
    >>> {str(lengths): found.reached.tolist() for lengths, found in find_horizons(networks, 100).items()}
    {'all': [6, 16], 'even': [6, 16]}
    """
    found = {lengths: Found.nothing(len(networks.readout.bias[0])) for lengths in asked}
    bounded = np.flatnonzero(_are_bounded(networks))
    # Boxes are told apart by the count n − m.
    if networks.task.machine is BB_COUNTER and bounded.size:
        chosen = some_of(networks, bounded)
        part = (search or search_on_cores)(chosen, limit, take(found, bounded))
        _look_for_failures(chosen, limit, part)
        _put(part, found, bounded)
    return found


def box_horizons(networks: Network, limit: int, search: Search | None = None) -> Horizons:
    """Return the horizons of networks whose weights are arrays; where a length stays open, those before it are a lower bound."""
    every, even = find_horizons(networks, limit, search=search).values()
    return Horizons(every.reached, even.reached, every.is_exact, even.is_exact)


def search_on_cores(networks: Network, limit: int, found: Known) -> Known:
    """Search with one grid after the other, some networks at a time on each core."""

    @standard_floats()  # a thread begins with the usual warnings
    def decide(places: Places) -> None:
        boxed, part = BoxedNetworks.of(some_of(networks, places)), take(found, places)
        for level, width in enumerate(WIDTHS):
            together = max(1, _AT_ONCE >> level)
            left = np.flatnonzero(open_yet(part))
            for start in range(0, len(left), together):
                search = BoxSearch(boxed, width, _MOST_BOXES // together, limit)
                part = search.run(left[start : start + together], part)
        _put(part, found, places)

    blocks = _blocks(np.arange(len(networks.readout.bias[0])), _AT_ONCE)
    if len(blocks) == 1:
        decide(*blocks)
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(decide, blocks))
    return found


@standard_floats()
def _look_for_failures(networks: Network, limit: int, found: Known) -> None:
    """Look for a string of the next length that surely fails, for every network that is open."""
    for lengths, one in found.items():
        following = np.where(one.is_open, one.reached + lengths.stride, limit + 1)
        for length in np.unique(following[following <= limit]).tolist():
            together = max(1, _STATES // (max(length, _SHORT) ** 2 * len(numbers_of(networks.cell.initial_state))))
            for places in _blocks(np.flatnonzero(following == length), together):
                chosen = some_of(networks, places)
                with _LOOKING:
                    strings, fails = suspects_at(chosen, length)
                    fails &= BoxedNetworks.of(chosen).failures(strings)
                one.is_exact[places[fails]], one.is_open[places[fails]] = True, False


def _blocks(places: Places, size: int) -> list[Places]:
    return [places[start : start + size] for start in range(0, len(places), size)]


def _are_bounded(networks: Network) -> Mask:
    """Say which networks have weights that can be bounded, as `box_of` asks of each."""
    fine: list[Mask] = []

    def look(weight: Any, _: str) -> Any:  # noqa: ANN401 -- arrays
        fine.append(np.abs(np.asarray(weight, np.float64)) <= LARGEST)
        return weight

    networks.map_weights(look)
    return np.all(fine, axis=0)


def some_of(networks: Network, places: Places) -> Network:
    """Return some of the networks, their weights as doubles."""

    def own(weight: Any, _: str) -> NDArray[np.float64]:  # noqa: ANN401 -- an array of any floats
        return np.asarray(weight, np.float64)[places]

    return networks.map_weights(own)


def take(found: Known, places: Places) -> Known:
    """Return what is known of some of the networks."""
    return {lengths: Found(*(array[places] for array in one)) for lengths, one in found.items()}


def _put(part: Known, found: Known, places: Places) -> None:
    for lengths, one in part.items():
        for whole, some in zip(found[lengths], one, strict=True):
            whole[places] = some
