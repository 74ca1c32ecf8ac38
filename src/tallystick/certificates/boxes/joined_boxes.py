"""Boxes around the states of all strings of a length, of many networks side by side; boxes that lie close together are joined.

A box holds the states of some strings of one network with the same number of closing brackets. A token more makes two boxes of
each. Those of one network and count whose middles lie in the same cell of a grid are then joined to their hull, so that their
number grows with the room that the states take, not with the number of strings. Whichever boxes are joined, every state lies in
one of them, and every box holds at least one: the grid decides how much work there is and how much stays open, not what is true.

**The grid.** What is joined early is widened by every later step, while short strings are few: the cells grow with the length.
They also grow with the count's distance from 0, where the classes change.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Recurrence
from tallystick.cells.cell import mixture
from tallystick.certificates.boxes.box_proof import UNSURE, sure_classes
from tallystick.languages.brackets import ALPHABET, CLOSE
from tallystick.networks import Network
from tallystick.networks.readout import Form
from tallystick.numbers import Number
from tallystick.numbers.boxes import Box, names_for
from tallystick.numbers.values import Matrix, Vector, map_states, numbers_of

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

_AT_ONCE = 1 << 12
"""How many boxes take a step together: what they need stays in a processor's cache."""

_WIDER_BY_LENGTH, _WIDER_BY_COUNT = 1.3, 1.25
_LONGEST_GROWTH = 24
"""How many times the length makes the cells wider; a network that lasts longer is close to a counter."""

_MIX, _SHIFT, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(32)


class _Tokens(ABC):
    """The tokens of many boxes at once, whose weights are arrays."""

    @abstractmethod
    def choose(self, *weights: Box) -> Box:
        """Return the number that belongs to each token."""

    def weigh(self, weight: Matrix, bias: Vector) -> list[Number]:
        """Return the numbers that belong to each token, a bias added to each."""
        return [self.choose(*row) + term for row, term in zip(weight, bias, strict=True)]

    def mixture(self, matrices: tuple[Matrix, ...]) -> Matrix:
        """Return the matrix that belongs to each token."""
        return mixture(matrices, self.choose)


class _EitherToken(_Tokens):
    """Both tokens side by side, along a new first axis: what hangs on the state alone is worked out once for the two."""

    def choose(self, *weights: Box) -> Box:
        """Return the numbers of both tokens."""
        stack = names_for(weights[0].low).stack
        return Box(*(stack(ends) for ends in zip(*(weight.ends for weight in weights), strict=True)))


class _OwnToken(_Tokens):
    """A token for each box."""

    def __init__(self, closing: Mask) -> None:
        self.closing = closing

    def choose(self, *weights: Box) -> Box:
        """Return the number of each box's token."""
        opening, closing = weights
        return Box(*(np.where(self.closing, *ends) for ends in zip(closing.ends, opening.ends, strict=True)))


EITHER_TOKEN = _EitherToken()


@dataclass(frozen=True)
class BoxedNetworks:
    """Many networks made ready for boxes: their weights as arrays, and the linear forms that make each class, as boxes."""

    network: Network
    forms: tuple[tuple[Form, ...], ...]

    @classmethod
    def of(cls, network: Network) -> "BoxedNetworks":
        """Enclose what makes a class; the weights themselves are doubles, and so exact."""
        readout = network.readout.map_weights(_exact)
        return cls(network, tuple(tuple(readout.forms(index)) for index in range(len(readout.comparisons))))

    @property
    def size(self) -> int:
        """How many networks there are."""
        return len(self.network.readout.bias[0])

    def cell_of(self, owners: Any) -> Recurrence:  # noqa: ANN401 -- an array of numbers
        """Return the cell whose weights are those of each box's network."""

        def own(weight: NDArray[np.float64], _: str) -> Box:
            return _exact(weight[owners])

        return self.network.cell.map_weights(own)

    def classes(self, owners: Any, state: Any) -> Any:  # noqa: ANN401 -- arrays; each cell has its own kind of state
        """Return the class that all states in each box get, or `UNSURE`."""
        forms = map_states(partial(_of_owners, owners), self.forms)
        return sure_classes(forms, self.network.cell.hidden(state))

    def failures(self, strings: Mask) -> Mask:
        """Run a string with each network, a row each, true where a closing bracket stands; return which surely fail."""
        every = np.arange(self.size)
        cell, state = self.cell_of(every), map_states(partial(_repeat, self.size), self.network.cell.initial_state)
        for closing in strings.T:
            state = cell.step(state, _OwnToken(closing))
        given, counts = self.classes(every, state), np.where(strings, -1, 1).sum(axis=1)
        return (given != UNSURE) & (given != self.network.task.right_classes(counts))


@dataclass(frozen=True)
class JoinedBoxes:
    """The boxes of all strings of a length.

    Attributes:
        length: of the strings.
        owners: the place of the network that each box belongs to.
        closings: how many closing brackets its strings have.
        state: the boxes.
    """

    length: int
    owners: Places
    closings: Places
    state: Any

    @classmethod
    def at_start(cls, networks: BoxedNetworks, places: Places) -> "JoinedBoxes":
        """Return the boxes of the empty string, one per network."""
        state = map_states(partial(_repeat, len(places)), networks.network.cell.initial_state)
        return cls(0, places, np.zeros(len(places), np.int64), state)

    @property
    def counts(self) -> Places:
        """The count of each box's strings."""
        return self.length - 2 * self.closings

    def some(self, chosen: Mask | Places) -> "JoinedBoxes":
        """Return some of the boxes."""
        state = map_states(partial(_cut, chosen), self.state)
        return JoinedBoxes(self.length, self.owners[chosen], self.closings[chosen], state)

    def longer(self, networks: BoxedNetworks) -> "JoinedBoxes":
        """Return the boxes after one more token, not yet joined: first all that end with `(`, then all that end with `)`."""
        size = len(self.owners)
        images = map_states(partial(_room, size), self.state)
        for piece in _pieces(size):
            cell, state = networks.cell_of(self.owners[piece]), map_states(partial(_cut, piece), self.state)
            map_states(partial(_put, piece), images, cell.step(state, EITHER_TOKEN))
        closings = np.concatenate([self.closings, self.closings + 1])
        return JoinedBoxes(self.length + 1, np.tile(self.owners, 2), closings, map_states(_flatten, images))

    def classes(self, networks: BoxedNetworks) -> Places:
        """Return the class that all states in each box get, or `UNSURE`."""
        found = np.empty(len(self.owners), np.int64)
        for piece in _pieces(len(found)):
            found[piece] = networks.classes(self.owners[piece], map_states(partial(_cut, piece), self.state))
        return found

    def join(self, width: float) -> "JoinedBoxes":
        """Join the boxes of each network and count whose middles lie in one cell of the grid, of so wide first cells."""
        groups = self.owners * (self.length + 1) + self.closings
        assert groups.max() >> 32 == 0, "networks and counts are told apart by the upper 32 bits"
        keys = keys_of(groups, self.state, width_at(width, self.length, self.counts))
        order = np.argsort(keys)
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        kept, state = order[first], map_states(partial(_hulls, order, first), self.state)
        return JoinedBoxes(self.length, self.owners[kept], self.closings[kept], state)


def width_at(width: float, length: Any, counts: Any) -> Any:  # noqa: ANN401 -- numbers, or arrays of them
    """Return how wide the cells of the grid are at a length, for each count."""
    grown = names_for(counts).minimum(length, _LONGEST_GROWTH)
    return width * _WIDER_BY_LENGTH**grown * _WIDER_BY_COUNT ** abs(counts)


def keys_of(groups: Any, state: Any, widths: Any) -> Any:  # noqa: ANN401 -- arrays
    """Return a number for each box: the group that it is in, and 32 bits for the cell of the grid that its middle lies in.

    Boxes with one key are joined, also where two cells happen to have the same 32 bits.
    """
    names, per_unit = names_for(widths), 0.5 / widths
    numbers = names.zeros(groups.shape, np.uint64)
    for box in numbers_of(state):
        numbers ^= names.floor((box.low + box.high) * per_unit).astype(np.int64).view(np.uint64)
        numbers *= _MIX
        numbers ^= numbers >> _SHIFT
    return groups.view(np.uint64) << _HALF | numbers >> _HALF


def _pieces(size: int) -> Iterator[slice]:
    return (slice(start, start + _AT_ONCE) for start in range(0, size, _AT_ONCE))


def _exact(numbers: NDArray[np.float64], _: str = "") -> Box:
    return Box(numbers, numbers)


def _of_owners(owners: Places, number: Any) -> Any:  # noqa: ANN401 -- boxes, and whether a form is strict
    if not isinstance(number, Box):
        return number
    low = number.low[owners]
    return Box(low, low if number.high is number.low else number.high[owners])


def _repeat(size: int, number: float) -> Box:
    return _exact(np.full(size, number, np.float64))


def _room(size: int, _: Box) -> Box:
    return Box(np.empty((len(ALPHABET), size)), np.empty((len(ALPHABET), size)))


def _cut(piece: slice | Mask | Places, box: Box) -> Box:
    return Box(box.low[piece], box.high[piece])


def _put(piece: slice, images: Box, found: Box) -> None:
    for end, value in zip(images.ends, found.ends, strict=True):
        end[:, piece] = value


def _flatten(images: Box) -> Box:
    return Box(*(end.reshape(-1) for end in images.ends))


def _hulls(order: Places, first: Places, box: Box) -> Box:
    low, high = (end[order] for end in box.ends)
    return Box(np.minimum.reduceat(low, first), np.maximum.reduceat(high, first))


assert ALPHABET[1] == CLOSE, "the second half of the longer boxes has one closing bracket more"
