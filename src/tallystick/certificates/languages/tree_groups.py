"""Strings over any alphabet, many at once: groups of them with boxes around their states, and strings that may fail.

A group holds the strings of one length that lead the task's machine to the same configuration and have the same last k tokens.
Up to length k every string is a group of its own. `certificates.boxes.box_groups` does the same where the configuration is the
count n − m; its groups form a grid, so that no group needs to be looked up.

Strings that may fail are found by running the network in float64, and then tried in boxes. For each length and configuration the
strings that lead furthest in each direction are kept: up and down in every output and every number of the state.
`certificates.boxes.suspects` searches in the same way where the configuration is the count n − m.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Input, Recurrence, inputs_of
from tallystick.certificates.boxes.box_groups import images_of
from tallystick.certificates.boxes.box_proof import SUFFIXES
from tallystick.certificates.boxes.suspects import Rough
from tallystick.certificates.languages.machine_arrays import MetConfigurations, Whole
from tallystick.certificates.languages.prefixes import Trail
from tallystick.networks import Network
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states, numbers_of

_MOST_LENGTHS, _LONGEST = 300, 3000
"""At how many lengths suspects are looked for, from the first that counts on, and how long they are at most, to spare memory."""

_MOST_WORK = 3 * 10**8
"""States times weights in one search; about a second."""


@dataclass(frozen=True)
class TreeGroups:
    """The states of all strings of a length.

    Attributes:
        suffix: how many last tokens a group's strings share, at most.
        state: one box per group.
        configurations: the number of each group's configuration.
        codes: the last tokens of each group's strings, as digits of one number.
        trail: how one string of each group came about.
    """

    suffix: int
    state: Any
    configurations: Whole
    codes: Whole
    trail: Trail

    @classmethod
    def start(cls, state: Any, suffix: int) -> "TreeGroups":  # noqa: ANN401 -- each cell has its own kind of state
        """Return the group of the empty string, which leaves a cell in a state; at most `suffix` tokens are told apart."""
        zero = np.zeros(1, np.int64)
        return cls(suffix, map_states(_alone, state), zero, zero, Trail())

    @property
    def length(self) -> int:
        """The length of the strings."""
        return self.trail.length

    @property
    def size(self) -> int:
        """How many groups there are."""
        return len(self.codes)

    @property
    def are_strings(self) -> bool:
        """Whether every group is a single string."""
        return self.length <= self.suffix

    def longer(self, cell: Recurrence, inputs: Sequence[Input], met: MetConfigurations) -> "TreeGroups":
        """Return the groups of the strings with one more token."""
        tokens = len(inputs)
        state = map_states(_flatten, images_of(cell, self.state, self.size, inputs))
        configurations = met.after(self.configurations).reshape(-1)
        codes = (self.codes[:, None] * tokens + np.arange(tokens)).reshape(-1) % tokens**self.suffix
        origins = np.arange(len(codes))
        if self.length >= self.suffix:
            state, origins, _ = joined_alike(configurations * tokens**self.suffix + codes, state)
            configurations, codes = configurations[origins], codes[origins]
        trail = self.trail.longer(*np.divmod(origins, tokens))
        return TreeGroups(self.suffix, state, configurations, codes, trail)


def joined_alike(keys: Whole, state: Any) -> tuple[Any, Whole, Whole]:  # noqa: ANN401 -- each cell has its own kind of state
    """Put one box around all that have the same key; return the boxes, the first place that is in each, and how many are."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))

    def join(box: Box) -> Box:
        low, high = (end[order] for end in box.ends)
        return Box(np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts))

    return map_states(join, state), order[starts], np.diff(starts, append=len(keys))


def suffixes_for(tokens: int) -> list[int]:
    """Return how many last tokens are told apart, few first.

    >>> suffixes_for(2), suffixes_for(4)
    ([1, 4, 8, 11, 14, 16], [1, 2, 4, 5, 7, 8])
    """
    return sorted({max(1, int(suffix / np.log2(max(2, tokens)))) for suffix in SUFFIXES})


def groups_to(length: int, suffix: int, tokens: int) -> int:
    """Return about how many groups there are of all strings shorter than a length, for a machine of one counter.

    >>> groups_to(4, 4, 2), groups_to(4, 1, 2)
    (15, 19)
    """
    shorter = sum(tokens**one for one in range(min(length, suffix)))
    return shorter + sum(tokens**suffix * (one + 1) for one in range(suffix, length))


def suspects(network: Network, met: MetConfigurations, counted: range) -> Iterator[tuple[str, ...]]:
    """Go through strings that fail in float64, at most one per length that counts, the shortest first; none of padded strings."""
    if network.cell.is_padded:
        return
    executed, inputs = network.in_arithmetic("float64"), list(inputs_of(network.alphabet).values())
    state, configurations = map_states(_rough_alone, executed.cell.initial_state), np.zeros(1, np.int64)
    trail, work = Trail(), 0
    for length in range(min(counted[-1], counted[0] + _MOST_LENGTHS, _LONGEST) + 1):
        outputs = executed.readout.outputs(executed.cell.hidden(state))
        found = np.broadcast_to(executed.readout.class_index(executed.cell.hidden(state)), configurations.shape)
        failing = np.flatnonzero(found != met.right_classes(configurations))
        if failing.size and length in counted:
            yield trail.string(int(failing[0]), network.alphabet)
        kept = extremes(configurations, [*numbers_of(state), *outputs])
        work += len(kept) * len(inputs) * network.cell.matrix_entries
        if work > _MOST_WORK:
            return
        kept_state = map_states(partial(_take, kept), state)
        state = map_states(_rough, states_after(executed.cell, kept_state, inputs, len(kept)))
        configurations = met.after(configurations[kept]).reshape(-1)
        origins, tokens = np.divmod(np.arange(len(configurations)), len(inputs))
        trail = trail.longer(kept[origins], tokens)


def extremes(configurations: Whole, scores: list[Any]) -> Whole:
    """Return the places of the strings that have the least or the greatest of a score among those of their configuration."""
    kept = [
        np.lexsort((np.broadcast_to(sign * np.asarray(score), configurations.shape), configurations))
        for score in scores
        for sign in (1, -1)
    ]
    starts = np.flatnonzero(np.diff(np.sort(configurations), prepend=-1))
    return np.unique(np.concatenate([order[starts] for order in kept]))


def _take(places: Whole, part: NDArray[Any]) -> NDArray[Any]:
    return part[places]


def _rough(part: NDArray[Any]) -> NDArray[Any]:
    return part.view(Rough)


def states_after(cell: Recurrence, state: Any, inputs: Sequence[Input], strings: int) -> Any:  # noqa: ANN401
    """Return the states of all strings with one more token, the tokens of a string in the order of the alphabet."""

    def side_by_side(*images: Any) -> NDArray[Any]:  # noqa: ANN401 -- arrays, or one number for all strings
        return np.stack([np.broadcast_to(image, strings) for image in images], axis=1).reshape(-1)

    return map_states(side_by_side, *(cell.step(state, token) for token in inputs))


def _rough_alone(number: float) -> NDArray[Any]:
    return _rough(np.full(1, number, np.float64))


def _alone(number: Box | int) -> Box:
    """Return an array of one box; 0 is the only number that is not a box already."""
    low, high = number.ends if isinstance(number, Box) else (number, number)
    return Box(np.full(1, low, np.float64), np.full(1, high, np.float64))


def _flatten(box: Box) -> Box:
    return Box(*(end.reshape(-1) for end in box.ends))
