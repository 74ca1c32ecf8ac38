"""The first length at which some string fails, found length by length from the extremes of every group of strings.

A length is right if in every group the least and the greatest h get the right class (`extremes`) and all between them do. A wrong
end is walked back to a string that attains it, and that string is run.

**When do right ends make a whole interval of h right?** In exact arithmetic, where the class is an interval of h: its comparisons
are linear forms in h, so all that is needed is that the class has comparisons of its own. A class without any, such as the zero
check's `rejected`, gets what no other class gets, so the interval must lie beside each of the others. And in floating point two
outputs with slopes of one sign are rounded apart from each other: near their crossing they may change places several times.
Where this is not certain, the states themselves are listed, as long as they are few.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT
from tallystick.certificates.one_unit.executions import Execution
from tallystick.certificates.one_unit.extremes import ByOpenings, ByRunningCount, Ends, Grouping, first_row
from tallystick.certificates.verdict import Failure, Lengths, runs_of
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.ready_machines import SEMI_DYCK1_COUNTER
from tallystick.networks import Network, Readout
from tallystick.networks.readout import NOTHING, ZERO, Comparison
from tallystick.numbers import Number, format_of

Mask = NDArray[np.bool_]

MOST_STATES = 50_000
"""The most states that are listed where the ends of a group do not decide."""


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

    Where right ends do not make all between them right for certain, the states themselves are listed.
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
        unsure = not is_certain(readout, right, ends, rounded=execution.rounded).all()
        if unsure and not places and not execution.enclosed:
            listed = next((found for size, found in states if size == length), None)
            if listed is None:
                return Reached(_before(length, lengths), f"too many states to list at length {length}")
            strings, unsure = _wrong_states(readout, right, listed), False
        failure = next(filter(None, (failure_of(execution, grouping, string) for string in strings)), None)
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
        ends = grouping.advance(ends, execution.model_at(length).scalar_cell)
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


def is_certain(readout: Readout, right: NDArray[np.int64], ends: Ends, *, rounded: bool) -> Mask:
    """Say for which groups, both of whose ends are right, every h between them is surely right too."""
    if readout.decision == ZERO:  # what follows from its comparisons below, in fewer operations
        return (right == 1) | (ends.least > 0) | (ends.greatest < 0)
    if all(readout.comparisons) and (not rounded or is_steady(readout)):
        return np.ones(len(right), bool)
    classes = [
        _holds_between(readout, needed, ends, rounded=rounded)
        if needed
        else _lies_beside(readout, ends, rounded=rounded)
        for needed in readout.comparisons
    ]
    return np.choose(right, classes)


def _holds_between(readout: Readout, needed: tuple[Comparison, ...], ends: Ends, *, rounded: bool) -> Mask:
    """Say where comparisons that hold at both ends hold between them."""
    found = np.ones(len(ends.least), bool)
    for comparison in needed if rounded else ():
        found &= _order_holds(readout, comparison, ends)
    return found


def _lies_beside(readout: Readout, ends: Ends, *, rounded: bool) -> Mask:
    """Say where each class that has comparisons has one that fails at both ends, and between them."""
    found = np.ones(len(ends.least), bool)
    for needed in filter(None, readout.comparisons):
        beside = np.zeros(len(ends.least), bool)
        for greater, less, strict in needed:
            opposite = Comparison(less, greater, not strict)
            fails = _holds_at(readout, opposite, ends.least) & _holds_at(readout, opposite, ends.greatest)
            beside |= fails & _holds_between(readout, (opposite,), ends, rounded=rounded)
        found &= beside
    return found


def _holds_at(readout: Readout, comparison: Comparison, h: NDArray[Any]) -> Mask:
    greater, less = (_output(readout, place, h) for place in comparison[:2])
    return np.asarray(greater > less if comparison.strict else greater >= less, bool)


def is_steady(readout: Readout) -> bool:
    """Say whether every comparison of a readout is monotone in h however its outputs are rounded.

    Rounding keeps each output monotone. One output is compared with 0 by the binary readout; two outputs whose slopes
    are not of one sign move apart or stay, so their order changes at most once.
    """
    return all(_moves_apart(readout, comparison) for needed in readout.comparisons for comparison in needed)


def _moves_apart(readout: Readout, comparison: Comparison) -> bool:
    """Say whether the slopes of two outputs are not of one sign; the number 0 has no slope."""
    places = [place for place in comparison[:2] if place != NOTHING]
    signs = [float(np.sign(float(readout.weight[place][0]))) for place in places]
    return len(places) == 1 or signs[0] * signs[1] <= 0


def _order_holds(readout: Readout, comparison: Comparison, ends: Ends) -> Mask:
    """Say where one output stays above another: by slopes, or since the exact lines lie further apart than rounding.

    With u half a unit in the last place of 1 and η the least positive number, an executed v·h + c is off by at most
    2u·(|v·h| + |c|) + η, fused or not. The exact difference of two lines is least at an end, where the executed one
    shows it up to both errors; anywhere else the executed difference is off by both again. So twice both errors suffice,
    and the factor 8 in place of 2 covers this function's own rounding many times over. An output that overflows at an end
    shows nothing of how far the lines are apart there.
    """
    if _moves_apart(readout, comparison):
        return np.ones(len(ends.least), bool)
    form = format_of(readout.bias[0])
    size = np.maximum(*(np.abs(np.asarray(end, np.float64)) for end in (ends.least, ends.greatest)))
    error = np.zeros(len(size))
    for place in comparison[:2]:
        error += abs(float(readout.weight[place][0])) * size + abs(float(readout.bias[place]))
    allowed = 16 * float(form.unit) * error + 8 * float(form.least)
    gaps = [
        np.subtract(*(np.asarray(_output(readout, place, end), np.float64) for place in comparison[:2]))
        for end in ends.both
    ]
    return (np.minimum(*gaps) > allowed) & np.isfinite(gaps).all(axis=0)


def _output(readout: Readout, place: int, h: NDArray[Any]) -> Number:
    return 0 if place == NOTHING else readout.weight[place][0] * h + readout.bias[place]


def string_to(execution: Execution, grouping: Grouping, history: list[Ends], group: int, h: Number) -> str:
    """Walk back from an end: it is the image of an end one token before, in one of the groups that lead here.

    Where states are known between bounds only, the image that comes nearest is taken.
    """
    tokens: list[str] = []
    for length in range(len(history) - 1, 0, -1):
        cell, before = execution.model_at(length).scalar_cell, history[length - 1]
        ways = [
            (abs(image[0] - h), token, source, end[0])
            for token, source in grouping.sources(group)
            if 0 <= source < length
            for end in before.of(slice(source, source + 1)).both
            for image in Ends(end, end).after(cell, token).both
        ]
        _, token, group, h = min(ways, key=lambda way: way[0])
        tokens.append(token)
    return "".join(reversed(tokens))


def failure_of(execution: Execution, grouping: Grouping, string: str) -> Failure | None:
    """Run a string; return how it fails, or None if it does not fail for certain."""
    ends = first_row(execution.model_at(0).scalar_cell)
    group = 0
    for length, token in enumerate(string, start=1):
        ends = ends.after(execution.model_at(length).scalar_cell, token)
        group = grouping.target(group, token)
    network = execution.model_at(len(string))
    readout, classes = network.readout, network.task.classes
    right = int(grouping.right_classes(network.task, len(string))[group])
    found = readout.class_index((ends.least,))
    if int(found[0]) == right or not _one_class(readout, found, ends, rounded=execution.rounded):
        return None
    return Failure(runs_of(string), classes[int(found[0])], classes[right])


def _one_class(readout: Readout, found: NDArray[np.int64], ends: Ends, *, rounded: bool) -> bool:
    """Say whether every state between two ends surely gets the class that the lower one got."""
    if ends.least[0] == ends.greatest[0]:
        return True
    same = found == readout.class_index((ends.greatest,))
    return bool((same & is_certain(readout, found, ends, rounded=rounded))[0])
