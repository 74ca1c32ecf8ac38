"""Groups of strings over any alphabet and the boxes around their states; the strings of a group share a configuration.

A group holds the strings of one length that lead the task's machine to the same configuration and have the same last k tokens.
Up to length k every string is a group of its own. `certificates.boxes.box_groups` does the same where the configuration is the
count n − m; its groups form a grid, so that no group needs to be looked up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Input, Recurrence
from tallystick.certificates.boxes.box_groups import images_of
from tallystick.certificates.languages.configurations import Configurations, Numbers
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states


@dataclass(frozen=True)
class Trail:
    """For each group the group that it came from and the last token, by its place; None before the first token."""

    origins: NDArray[np.int32]
    tokens: NDArray[np.int8]
    before: "Trail | None"

    def places(self, group: int) -> list[int]:
        """Return the tokens of one string of a group."""
        found: list[int] = []
        trail: Trail | None = self
        while trail is not None:
            found.append(int(trail.tokens[group]))
            group, trail = int(trail.origins[group]), trail.before
        return found[::-1]


@dataclass(frozen=True)
class TreeGroups:
    """The states of all strings of a length.

    Attributes:
        length: of the strings.
        suffix: how many last tokens a group's strings share, at most.
        state: one box per group.
        configurations: the number of each group's configuration.
        codes: the last tokens of each group's strings, as digits of one number.
        trail: how one string of each group came about.
    """

    length: int
    suffix: int
    state: Any
    configurations: Numbers
    codes: Numbers
    trail: Trail | None = None

    @classmethod
    def start(cls, state: Any, suffix: int) -> "TreeGroups":  # noqa: ANN401 -- each cell has its own kind of state
        """Return the group of the empty string, which leaves a cell in a state; at most `suffix` tokens are told apart."""
        zero = np.zeros(1, np.int64)
        return cls(0, suffix, map_states(_alone, state), zero, zero)

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.codes)

    @property
    def are_strings(self) -> bool:
        """Whether every group is a single string."""
        return self.length <= self.suffix

    def longer(self, cell: Recurrence, inputs: Sequence[Input], met: Configurations) -> "TreeGroups":
        """Return the groups of the strings with one more token."""
        tokens = len(inputs)
        state = map_states(_flatten, images_of(cell, self.state, self.size, inputs))
        configurations = met.after(self.configurations).reshape(-1)
        codes = (self.codes[:, None] * tokens + np.arange(tokens)).reshape(-1) % tokens**self.suffix
        origins = np.arange(len(codes))
        if self.length >= self.suffix:
            keys = configurations * tokens**self.suffix + codes
            order = np.argsort(keys, kind="stable")
            starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
            origins = order[starts]

            def join(box: Box) -> Box:
                low, high = (end[order] for end in box.ends)
                return Box(np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts))

            state, configurations, codes = map_states(join, state), configurations[origins], codes[origins]
        trail = Trail((origins // tokens).astype(np.int32), (origins % tokens).astype(np.int8), self.trail)
        return TreeGroups(self.length + 1, self.suffix, state, configurations, codes, trail)

    def example(self, group: int, alphabet: tuple[str, ...]) -> tuple[str, ...]:
        """Return one string of a group."""
        return () if self.trail is None else tuple(alphabet[place] for place in self.trail.places(group))


def groups_to(length: int, suffix: int, tokens: int) -> int:
    """Return about how many groups there are of all strings shorter than a length, for a machine of one counter.

    >>> groups_to(4, 4, 2), groups_to(4, 1, 2)
    (15, 19)
    """
    shorter = sum(tokens**one for one in range(min(length, suffix)))
    return shorter + sum(tokens**suffix * (one + 1) for one in range(suffix, length))


def _alone(number: Box | int) -> Box:
    """Return an array of one box; 0 is the only number that is not a box already."""
    low, high = number.ends if isinstance(number, Box) else (number, number)
    return Box(np.full(1, low, np.float64), np.full(1, high, np.float64))


def _flatten(box: Box) -> Box:
    return Box(*(end.reshape(-1) for end in box.ends))
