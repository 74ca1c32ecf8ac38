"""Groups of strings and the boxes around their states: one length after the other, every string alone or many in one box."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, Input
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.numbers import standard_floats
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states

_AT_ONCE = 1 << 13
"""How many groups take a step together: what they need stays in a processor's cache."""

_THREADS = min(4, os.cpu_count() or 1)


class BoxedCell(Protocol):
    """A cell that steps from boxes to boxes."""

    @property
    def initial_state(self) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """The state before the first token."""
        ...

    @property
    def matrix_entries(self) -> int:
        """How many weights a step multiplies with."""
        ...

    def step(self, state: Any, token: Any) -> Any:  # noqa: ANN401
        """Return the boxes after one more token."""
        ...

    def final_state(self, string: str) -> Any:  # noqa: ANN401
        """Return the boxes after a string."""
        ...


@dataclass(frozen=True)
class Groups:
    """The states of all strings of a length.

    Attributes:
        length: of the strings.
        suffix: how many last tokens a group's strings share.
        state: boxes of the shape "closing brackets before the suffix" × "suffix", of which the latter stand in the order of the
            tokens, `(` first.
    """

    length: int
    suffix: int
    state: Any

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of each group's strings."""
        closing = np.array([number.bit_count() for number in range(2**self.suffix)])
        return self.length - 2 * (np.arange(self.length - self.suffix + 1)[:, None] + closing)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return (self.length - self.suffix + 1) * 2**self.suffix

    def longer(self, cell: BoxedCell, suffix: int) -> "Groups":
        """Return the groups of the strings with one more token; no more than `suffix` last tokens are told apart."""
        images = images_of(cell, self.state, self.size, [ONE_HOT[token] for token in ALPHABET])
        rows = self.length - self.suffix + 1
        if self.suffix < suffix:
            return Groups(self.length + 1, self.suffix + 1, map_states(partial(_extend_suffix, rows), images))
        return Groups(self.length + 1, self.suffix, map_states(partial(_move_suffix, rows), images))

    def example(self, closings: int, suffix: int) -> str:
        """Return a string of a group: the tokens before its suffix in sorted order, then the suffix."""
        openings = self.length - self.suffix - closings
        last = "".join(ALPHABET[suffix >> place & 1] for place in reversed(range(self.suffix)))
        return OPEN * openings + CLOSE * closings + last


def images_of(cell: BoxedCell, state: Any, size: int, inputs: Sequence[Input]) -> Any:  # noqa: ANN401 -- each cell has its own
    """Return the boxes after a step, of the shape "group" × "new token", found some groups at a time.

    Threads share the work, since NumPy lets go of Python's lock.
    """

    def empty(_: Box) -> Box:
        low, high = np.empty((2, size, len(inputs)))
        return Box(low, high)

    images = map_states(empty, state)

    def step(piece: tuple[int, int]) -> None:
        place, start = piece
        found = cell.step(map_states(partial(_cut, start), state), inputs[place])
        map_states(partial(_put, place, start), images, found)

    starts = range(0, size, _AT_ONCE)
    pieces = list(product(range(len(inputs)), starts))
    if len(starts) == 1:
        list(map(step, pieces))
    else:
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(standard_floats()(step), pieces))
    return images


def groups_to(length: int, suffix: int) -> int:
    """Return how many groups there are of all strings shorter than a length.

    >>> groups_to(4, 4), groups_to(4, 1)
    (15, 13)
    """
    shorter, longer = min(length, suffix), max(0, length - suffix)
    return 2**shorter - 1 + longer * (longer + 1) // 2 * 2**suffix


def empty_string(cell: BoxedCell) -> Groups:
    """Return the group of the empty string."""
    return Groups(0, 0, map_states(_alone, cell.initial_state))


def _alone(number: Box | int) -> Box:
    """Return the one box of the empty string's group; 0 is the only number that is not a box already."""
    low, high = number.ends if isinstance(number, Box) else (number, number)
    return Box(np.full((1, 1), low, np.float64), np.full((1, 1), high, np.float64))


def _cut(start: int, box: Box) -> Box:
    """Return the boxes of some groups, one after the other."""
    return Box(*(end.reshape(-1)[start : start + _AT_ONCE] for end in box.ends))


def _put(place: int, start: int, images: Box, found: Box) -> None:
    """Write the boxes of some groups to their places; what a layer without memory gives is one box for all of them."""
    for end, value in zip(images.ends, found.ends, strict=True):
        end[start : start + _AT_ONCE, place] = value


def _extend_suffix(rows: int, image: Box) -> Box:
    """Tell the images under both tokens apart: the suffix grows by the new token, which becomes its last binary digit."""
    return Box(*(end.reshape(rows, -1) for end in image.ends))


def _move_suffix(rows: int, image: Box) -> Box:
    """Forget the oldest token, the first binary digit: groups that differ in it are joined.

    Strings whose oldest token was `)` count one closing bracket more before the suffix.
    """
    low, high = (end.reshape(rows, len(ALPHABET), -1) for end in image.ends)
    none = np.full((1, low.shape[2]), np.inf)
    low = np.minimum(np.concatenate([low[:, 0], none]), np.concatenate([none, low[:, 1]]))
    high = np.maximum(np.concatenate([high[:, 0], -none]), np.concatenate([-none, high[:, 1]]))
    return Box(low, high)


assert ALPHABET[1] == CLOSE, "a suffix is a binary number whose ones are closing brackets"
