"""Strings over any alphabet that may fail, found by running the network in float64. A suspect is then tried in boxes.

For each length and configuration the strings that lead furthest in each direction are kept: up and down in every output and
every number of the state. `certificates.boxes.suspects` searches in the same way where the configuration is the count n − m.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.boxes.suspects import Rough
from tallystick.certificates.languages.configurations import Configurations, Numbers
from tallystick.certificates.languages.tree_groups import Trail
from tallystick.networks import Network
from tallystick.numbers.values import map_states, numbers_of

_LONGEST = 300
_MOST_WORK = 3 * 10**8
"""States times weights in one search; about a second."""


def suspects(network: Network, met: Configurations, limit: int) -> Iterator[tuple[str, ...]]:
    """Go through strings that fail in float64, at most one per length, the shortest first; none of padded strings."""
    if network.cell.is_padded:
        return
    executed, inputs = network.in_arithmetic("float64"), list(inputs_of(network.alphabet).values())
    state, configurations = map_states(_alone, executed.cell.initial_state), np.zeros(1, np.int64)
    trail: Trail | None = None
    work = 0
    for _ in range(min(limit, _LONGEST) + 1):
        outputs = executed.readout.outputs(executed.cell.hidden(state))
        found = np.broadcast_to(executed.readout.class_index(executed.cell.hidden(state)), configurations.shape)
        failing = np.flatnonzero(found != met.right_classes(configurations))
        if failing.size:
            places = [] if trail is None else trail.places(int(failing[0]))
            yield tuple(network.alphabet[place] for place in places)
        kept = _extremes(configurations, [*numbers_of(state), *outputs])
        work += len(kept) * len(inputs) * network.cell.matrix_entries
        if work > _MOST_WORK:
            return
        kept_state = map_states(partial(_take, kept), state)
        images = [executed.cell.step(kept_state, token) for token in inputs]
        state = map_states(partial(_side_by_side, len(kept)), *images)
        configurations = met.after(configurations[kept]).reshape(-1)
        origins, tokens = np.divmod(np.arange(len(configurations)), len(inputs))
        trail = Trail(kept[origins].astype(np.int32), tokens.astype(np.int8), trail)


def _extremes(configurations: Numbers, scores: list[Any]) -> Numbers:
    """Return the places of the strings that have the least or the greatest of a score among those of their configuration."""
    kept = [
        np.lexsort((np.broadcast_to(sign * np.asarray(score), configurations.shape), configurations))
        for score in scores
        for sign in (1, -1)
    ]
    starts = np.flatnonzero(np.diff(np.sort(configurations), prepend=-1))
    return np.unique(np.concatenate([order[starts] for order in kept]))


def _take(places: Numbers, part: NDArray[Any]) -> NDArray[Any]:
    return part[places]


def _alone(number: float) -> NDArray[np.float64]:
    return np.full(1, number, np.float64).view(Rough)


def _side_by_side(strings: int, *images: Any) -> NDArray[Any]:  # noqa: ANN401 -- arrays, or one number for all strings
    """Return the numbers of all strings with one more token."""
    return np.stack([np.broadcast_to(image, strings) for image in images], axis=1).reshape(-1).view(Rough)
