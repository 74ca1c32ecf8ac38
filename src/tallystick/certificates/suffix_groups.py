"""Boxes around the states of all strings of a length, grouped by their count and their last tokens.

A group holds the strings of one length with the same last k tokens and as many closing brackets before those. There is one box
around all their states. A token more leads from two groups to one: the oldest of the k tokens is forgotten, and the new box
is the hull of two images. Up to length k every string is a group of its own; with more tokens kept, hulls are closer and
the groups more.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, Recurrence
from tallystick.languages.brackets import ALPHABET, CLOSE, OPEN
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states


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
        images = [cell.step(self.state, ONE_HOT[token]) for token in ALPHABET]
        if self.suffix < suffix:
            return Groups(self.length + 1, self.suffix + 1, map_states(_extend_suffix, *images))
        return Groups(self.length + 1, self.suffix, map_states(_move_suffix, *images))

    def example(self, closings: int, suffix: int) -> str:
        """Return a string of a group: the tokens before its suffix in sorted order, then the suffix."""
        openings = self.length - self.suffix - closings
        last = "".join(ALPHABET[suffix >> place & 1] for place in reversed(range(self.suffix)))
        return OPEN * openings + CLOSE * closings + last


def empty_string(cell: Recurrence) -> Groups:
    """Return the group of the empty string."""
    return Groups(0, 0, map_states(_alone, cell.initial_state))


def _alone(number: Box | int) -> Box:
    """Return the one box of the empty string's group; 0 is the only number that is not a box already."""
    low, high = number.ends if isinstance(number, Box) else (number, number)
    return Box(np.full((1, 1), low, np.float64), np.full((1, 1), high, np.float64))


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
