"""Boxes around the states of all strings of a length, grouped by their count and their last tokens.

A group holds the strings of one length with the same last k tokens and as many closing brackets before those. There is one box
around all their states. A token more leads from two groups to one: the oldest of the k tokens is forgotten, and the new box
is the hull of two images. Up to length k every string is a group of its own; with more tokens kept, hulls are closer and
the groups more.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT
from tallystick.cells.gated import GatedCell, State
from tallystick.certificates.gated.boxes import Box
from tallystick.languages.brackets import ALPHABET, CLOSE


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
    state: State

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of each group's strings."""
        closing = np.array([number.bit_count() for number in range(2**self.suffix)])
        return self.length - 2 * (np.arange(self.length - self.suffix + 1)[:, None] + closing)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return (self.length - self.suffix + 1) * 2**self.suffix

    def longer(self, cell: GatedCell, suffix: int) -> "Groups":
        """Return the groups of the strings with one more token; no more than `suffix` last tokens are told apart."""
        images = [cell.step(self.state, ONE_HOT[token]) for token in ALPHABET]
        if self.suffix < suffix:
            return Groups(self.length + 1, self.suffix + 1, _combined(images, _told_apart))
        return Groups(self.length + 1, self.suffix, _combined(images, _oldest_forgotten))

    def string(self, suffix: int) -> str:
        """Return the string of a suffix, where it is the whole string."""
        return "".join(ALPHABET[suffix >> place & 1] for place in reversed(range(self.suffix)))


def empty_string(cell: GatedCell) -> Groups:
    """The group of the empty string."""
    zero = Box(np.zeros((1, 1)), np.zeros((1, 1)))
    start = cell.initial_state
    return Groups(0, 0, State((zero,) * len(start.hidden), (zero,) * len(start.memory)))


_Combine = Callable[[list[Box]], Box]


def _combined(images: list[State], combine: _Combine) -> State:
    """Combine the images under both tokens, unit by unit."""
    hidden, memory = (
        tuple(combine(list(boxes)) for boxes in zip(*parts, strict=True))
        for parts in (tuple(image.hidden for image in images), tuple(image.memory for image in images))
    )
    return State(hidden, memory)


def _told_apart(images: list[Box]) -> Box:
    """The suffix grows by the new token, which becomes its last binary digit."""
    ends = zip(*(image.ends for image in images), strict=True)
    low, high = (np.stack(parts, axis=-1).reshape(len(parts[0]), -1) for parts in ends)
    return Box(low, high)


def _oldest_forgotten(images: list[Box]) -> Box:
    """The suffix moves on: strings whose oldest token was `)` count one closing bracket more before it."""
    return _told_apart([_joined(image) for image in images])


def _joined(image: Box) -> Box:
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
