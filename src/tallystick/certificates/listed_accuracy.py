"""How many of all 2^N strings are right, by listing every state: any cell, any arithmetic, short lengths.

Strings of one group that share a state are kept as one state with a number, so that a counter's few states stay few. What is
exact in closed form is counted by `exact_accuracy`, which goes much further.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.certainty import certain
from tallystick.certificates.executions import Execution, execution
from tallystick.certificates.extremes import Ends, Grouping, first_row
from tallystick.certificates.search import grouping_of
from tallystick.certificates.tallies import ExactAccuracy
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.networks import Network
from tallystick.numbers import standard_floats

MOST_FLOATS = 1 << 22
MOST_OBJECTS = 1 << 17
"""The most states listed: floats, and rationals, which take a hundred times as long."""


@dataclass(frozen=True)
class _Listed:
    """The states of a group, or bounds of them, and how many strings end in each."""

    states: Ends
    sizes: NDArray[Any]  # Python's whole numbers, since there are 2^N strings

    def after(self, run: Execution, length: int, token: str) -> "_Listed":
        return _Listed(self.states.after(run.model_at(length).scalar_cell, token), self.sizes)


def listed_accuracies(model: Network, longest: int, arithmetic: str) -> Iterator[ExactAccuracy]:
    """Go through the lengths from 1, counting the right strings of each."""
    run = execution(model, arithmetic)
    grouping = grouping_of(run.model_at(0))
    groups = {0: _Listed(first_row(run.model_at(0).scalar_cell), np.array([1], object))}
    for length in range(1, longest + 1):
        with standard_floats():
            groups = _advanced(groups, run, grouping, length)
            _require_few(groups, length)
            found = _counted(groups, run, grouping, length)
        yield found


def _advanced(groups: dict[int, _Listed], run: Execution, grouping: Grouping, length: int) -> dict[int, _Listed]:
    parts: dict[int, list[_Listed]] = {}
    for group, listed in groups.items():
        for token in ALPHABET:
            parts.setdefault(grouping.target(group, token), []).append(listed.after(run, length, token))
    return {group: _merged(listed, distinct=run.enclosed) for group, listed in parts.items()}


def _merged(parts: list[_Listed], *, distinct: bool) -> _Listed:
    """Join the states of several ways into a group, equal ones into one; bounds are left as they are."""
    states, sizes = Ends.joined(*(part.states for part in parts)), np.concatenate([part.sizes for part in parts])
    if distinct:
        return _Listed(states, sizes)
    order = np.argsort(states.least, kind="stable")
    ordered = states.least[order]
    first = np.concatenate([[True], np.asarray(ordered[1:] != ordered[:-1], bool)])
    kept = ordered[first]
    return _Listed(Ends(kept, kept), np.add.reduceat(sizes[order], np.flatnonzero(first)))


def _require_few(groups: dict[int, _Listed], length: int) -> None:
    kind = groups[max(groups)].states.least.dtype
    rational = kind.kind == "O"
    most = MOST_OBJECTS if rational else MOST_FLOATS
    if sum(len(listed.sizes) for listed in groups.values()) > most:
        raise BadInput(f"length: {length} has more than {most} states to list; only shorter lengths can be counted")
    if not rational and not all(np.isfinite(listed.states.greatest).all() for listed in groups.values()):
        raise BadInput(f"length: h overflows at length {length}; only shorter lengths can be counted")


def _counted(groups: dict[int, _Listed], run: Execution, grouping: Grouping, length: int) -> ExactAccuracy:
    network = run.model_at(length)
    readout, classes = network.readout, network.task.classes
    right = grouping.right_classes(network.task, length)
    strings, correct = dict.fromkeys(classes, 0), dict.fromkeys(classes, 0)
    for group, listed in groups.items():
        found = np.asarray(readout.class_index((listed.states.least,)))
        if run.enclosed:
            _require_decided(run, length, found, listed.states)
        name = classes[int(right[group])]
        strings[name] += int(listed.sizes.sum())
        correct[name] += int(listed.sizes[found == right[group]].sum())
    return ExactAccuracy(length, strings, correct)


def _require_decided(run: Execution, length: int, found: NDArray[np.int64], states: Ends) -> None:
    readout = run.model_at(length).readout
    sure = (found == readout.class_index((states.greatest,))) & certain(readout, found, states, rounded=run.rounded)
    if not sure.all():
        raise BadInput(f"length: the bounds on tanh do not decide every string of length {length}")
