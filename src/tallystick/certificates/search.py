"""The first length at which some string fails, found length by length from the extremes of every group of strings."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT
from tallystick.certificates.certainty import certain
from tallystick.certificates.executions import Execution
from tallystick.certificates.extremes import ByOpenings, ByRunningCount, Ends, Grouping, first_row
from tallystick.certificates.verdict import Failure, Lengths
from tallystick.certificates.witnesses import judged, string_to
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.ready_machines import SEMI_DYCK1_COUNTER
from tallystick.networks import Network, Readout
from tallystick.numbers import Number

MOST_STATES = 50_000


@dataclass(frozen=True)
class Reached:
    """Every counted length up to `length` is right, and why the search went no further."""

    length: int
    reason: str


def grouping_of(model: Network) -> Grouping:
    """Return how strings are grouped, so that those of a group have one right class."""
    return ByRunningCount() if model.task.machine is SEMI_DYCK1_COUNTER else ByOpenings()


def search(execution: Execution, lengths: Lengths, limit: int) -> Failure | Reached:
    """Return a shortest failing string, or how far every string is right.

    A length is right iff in every group the least and the greatest h get the right class and all between them do. Where
    the last is not certain the states themselves are listed, as long as they are few.
    """
    grouping = grouping_of(execution.model_at(0))
    history: list[Ends] = []
    states = _states(execution, grouping)
    for length, ends in enumerate(rows_of(execution, grouping, limit)):
        history.append(ends)
        if execution.rounded and not (np.isfinite(ends.least) & np.isfinite(ends.greatest)).all():
            return Reached(_before(length, lengths), f"h overflows at length {length}")
        if length not in lengths.upto(limit):
            continue
        network = execution.model_at(length)
        readout, right = network.readout, grouping.right_classes(network.task, length)
        places = list(wrong_ends(readout, right, ends))
        strings = _in_order(string_to(execution, grouping, history, *place) for place in places)
        unsure = not certain(readout, right, ends, rounded=execution.rounded).all()
        if unsure and not places and not execution.enclosed:
            listed = next((found for size, found in states if size == length), None)
            if listed is None:
                return Reached(_before(length, lengths), f"too many states to list at length {length}")
            strings, unsure = _wrong_states(readout, right, listed), False
        failure = next(filter(None, (judged(execution, grouping, string) for string in strings)), None)
        if failure is not None:
            return failure
        if places or unsure:
            return Reached(_before(length, lengths), f"the bounds on tanh do not decide length {length}")
    return Reached(
        limit - limit % lengths.stride, f"every counted length to {limit} is right; the search went no further"
    )


def rows_of(execution: Execution, grouping: Grouping, limit: int) -> Iterator[Ends]:
    """Go through the extremes of every group, for each length from 0 to a limit."""
    ends = first_row(execution.model_at(0).scalar_cell)
    yield ends
    for length in range(1, limit + 1):
        ends = grouping.advanced(ends, execution.model_at(length).scalar_cell)
        yield ends


def _before(length: int, lengths: Lengths) -> int:
    return (length - 1) // lengths.stride * lengths.stride


def wrong_ends(readout: Readout, right: NDArray[np.int64], ends: Ends) -> Iterator[tuple[int, Number]]:
    """Go through the groups with an end that gets a wrong class."""
    wrong = [np.asarray(readout.class_index((states,))) != right for states in ends.both]
    for group in np.flatnonzero(wrong[0] | wrong[1]):
        yield from ((int(group), states[group]) for states, at in zip(ends.both, wrong, strict=True) if at[group])


def _in_order(strings: Iterator[str]) -> Iterator[str]:
    """Take the first of the first two in the order of the tokens, since cells that treat `(` and `)` alike fail in pairs."""
    yield from sorted(islice(strings, 2))
    yield from strings


_Listed = list[dict[Any, str]]
"""For each group its distinct states, each with a string that leads there."""


def _states(execution: Execution, grouping: Grouping) -> Iterator[tuple[int, _Listed]]:
    """Go through the states of all strings, length by length, until they are too many."""
    listed: _Listed = [{first_row(execution.model_at(0).scalar_cell).least[0]: ""}]
    length = 0
    while sum(map(len, listed)) <= MOST_STATES:
        yield length, listed
        length += 1
        cell = execution.model_at(length).scalar_cell
        longer: _Listed = [{} for _ in range(length + 1)]
        for group, states in enumerate(listed):
            for token in ALPHABET:
                target = longer[grouping.target(group, token)]
                for h, string in states.items():
                    target.setdefault(cell.step(h, ONE_HOT[token]), string + token)
        listed = longer


def _wrong_states(readout: Readout, right: NDArray[np.int64], listed: _Listed) -> Iterator[str]:
    for index, states in zip(right, listed, strict=True):
        yield from (string for h, string in states.items() if int(readout.class_index((h,))) != index)
