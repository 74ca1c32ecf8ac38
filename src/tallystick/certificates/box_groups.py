"""Groups of strings and the boxes around their states: one length after the other, every string alone or many in one box."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, Recurrence
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.numbers import standard_floats
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states

_AT_ONCE = 1 << 13
"""How many groups take a step together: what they need stays in a processor's cache."""

_THREADS = min(4, os.cpu_count() or 1)


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

    def longer(self, cell: Recurrence, suffix: int) -> "Groups":
        """Return the groups of the strings with one more token; no more than `suffix` last tokens are told apart."""
        images = self._images(cell)
        if self.suffix < suffix:
            return Groups(self.length + 1, self.suffix + 1, map_states(_extend_suffix, *images))
        return Groups(self.length + 1, self.suffix, map_states(_move_suffix, *images))

    def _images(self, cell: Recurrence) -> list[Any]:
        """Return the states after each token, some groups at a time; threads share them, since NumPy lets go of Python's lock."""
        starts = range(0, self.size, _AT_ONCE)

        def image(piece: tuple[str, int]) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
            token, start = piece
            found = cell.step(map_states(partial(_cut, start), self.state), ONE_HOT[token])
            return map_states(partial(_spread, min(_AT_ONCE, self.size - start)), found)

        pieces = list(product(ALPHABET, starts))
        if len(starts) == 1:
            images = list(map(image, pieces))
        else:
            with ThreadPoolExecutor(_THREADS) as pool:
                images = list(pool.map(standard_floats()(image), pieces))
        join = partial(_join, (self.length - self.suffix + 1, 2**self.suffix))
        return [map_states(join, *images[: len(starts)]), map_states(join, *images[len(starts) :])]

    def example(self, closings: int, suffix: int) -> str:
        """Return a string of a group: the tokens before its suffix in sorted order, then the suffix."""
        openings = self.length - self.suffix - closings
        last = "".join(ALPHABET[suffix >> place & 1] for place in reversed(range(self.suffix)))
        return OPEN * openings + CLOSE * closings + last


def groups_to(length: int, suffix: int) -> int:
    """Return how many groups there are of all strings shorter than a length.

    >>> groups_to(4, 4), groups_to(4, 1)
    (15, 13)
    """
    shorter, longer = min(length, suffix), max(0, length - suffix)
    return 2**shorter - 1 + longer * (longer + 1) // 2 * 2**suffix


def empty_string(cell: Recurrence) -> Groups:
    """Return the group of the empty string."""
    return Groups(0, 0, map_states(_alone, cell.initial_state))


def _alone(number: Box | int) -> Box:
    """Return the one box of the empty string's group; 0 is the only number that is not a box already."""
    low, high = number.ends if isinstance(number, Box) else (number, number)
    return Box(np.full((1, 1), low, np.float64), np.full((1, 1), high, np.float64))


def _cut(start: int, box: Box) -> Box:
    """Return the boxes of some groups, one after the other."""
    return Box(*(end.reshape(-1)[start : start + _AT_ONCE] for end in box.ends))


def _spread(size: int, box: Box) -> Box:
    """Return a box for each group; what a layer without memory gives is one for all."""
    return box if np.ndim(box.low) else Box(*(np.broadcast_to(end, size) for end in box.ends))


def _join(shape: tuple[int, int], *parts: Box) -> Box:
    """Put the boxes of all groups together again."""
    ends = zip(*(part.ends for part in parts), strict=True)
    low, high = (np.concatenate(pieces).reshape(shape) for pieces in ends)
    return Box(low, high)


def _extend_suffix(*images: Box) -> Box:
    """Tell the images under both tokens apart: the suffix grows by the new token, which becomes its last binary digit."""
    ends = zip(*(image.ends for image in images), strict=True)
    low, high = (np.stack(parts, axis=-1).reshape(len(parts[0]), -1) for parts in ends)
    return Box(low, high)


def _move_suffix(*images: Box) -> Box:
    """Forget the oldest token: strings whose oldest token was `)` count one closing bracket more before it."""
    return _extend_suffix(*map(_join_oldest, images))


def _join_oldest(image: Box) -> Box:
    """Join the groups that differ in the oldest token of their suffix, its first binary digit."""
    opening, closing = (_ends(image, half) for half in (0, 1))
    none = np.full((1, opening[0].shape[1]), np.inf)
    low = np.minimum(np.concatenate([opening[0], none]), np.concatenate([none, closing[0]]))
    high = np.maximum(np.concatenate([opening[1], -none]), np.concatenate([-none, closing[1]]))
    return Box(low, high)


def _ends(image: Box, half: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = (end.reshape(len(end), 2, -1)[:, half] for end in image.ends)
    return low, high


assert ALPHABET[1] == CLOSE, "a suffix is a binary number whose ones are closing brackets"
