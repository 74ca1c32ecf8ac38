"""Networks that answer at the end of a string over any alphabet: boxes from below, failing strings from above.

A network that cannot reject a prefix for good may be right or wrong about any string, so every string counts.

**In real numbers** this goes as in `certificates.boxes`: groups of strings in one box each, first large ones and then smaller
ones, down to every string alone (`tree_groups`). A string whose own box does not decide is run again, in rationals where the
cell has rational states, otherwise in balls of more and more digits.

**In floating point** every string is run on the cell's own step, in NumPy's numbers of that format; or, in any order, the groups
are those of real numbers, in boxes of all that any library may compute.

Where short strings are filled up on the left, each length shorter than the padding has a start, and hence a tree, of its own.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Recurrence, inputs_of
from tallystick.certificates.any_order.executions import Executions, said_of
from tallystick.certificates.boxes.box_proof import (
    FAILED,
    INTERRUPTED,
    LIMIT,
    MOST_WORK,
    UNDECIDED,
    UNSURE,
    WORK,
    Reached,
    boxed_forms,
    furthest,
    known_failure,
    sure_classes,
    verdict_between,
    work_of,
)
from tallystick.certificates.languages.machine_arrays import MetConfigurations
from tallystick.certificates.languages.more_digits import CloserOutputs, class_of_order
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.languages.tree_groups import TreeGroups, groups_to, states_after, suffixes_for, suspects
from tallystick.certificates.verdict import REAL, Failure, Outcome, Verdict, runs_of
from tallystick.errors import BadInput, check_whole
from tallystick.languages.counter_machine import String
from tallystick.networks import Network
from tallystick.networks.readout import Form
from tallystick.numbers import FORMATS, float_format
from tallystick.numbers.boxes import Box, box_of
from tallystick.numbers.values import map_states

METHOD = "whole tree"
"""The method's name in certificates."""

_FAR_LESS = 4
_MOST_RUN_AGAIN = 2000
"""How many strings of a length are run again with more digits."""


def decide_by_tree(network: Network, scope: Scope) -> Verdict | None:
    """Decide a network that gives a class at the end of a string; None for any other."""
    if network.readout.steps is not None or not network.readout.comparisons:
        return None
    limit = scope.reach
    nothing = scope.start
    asked = Verdict(
        network, scope.lengths, scope.arithmetic, Outcome.BOUNDED, nothing, None, METHOD, "", first=scope.first
    )
    if scope.arithmetic in FORMATS:
        below = furthest([_run(network, scope, limit, nothing)], Reached(nothing, UNDECIDED), limit)
        found = verdict_between(asked, below, None, limit)
        return replace(found, reason=f"{found.reason}; every operation of a step is NumPy's in {scope.arithmetic}")
    tree = Tree(network, scope.arithmetic)
    try:
        counted = scope.lengths.upto(limit, scope.first)
        known = known_failure(suspects(network, tree.met, counted), counted, tree.failure)
    except KeyboardInterrupt:
        known, below = None, Reached(nothing, INTERRUPTED)
    else:
        most = limit if known is None else known.length - 1
        suffixes = _suffixes(tree, most) if scope.lengths.upto(most, scope.first) else ()
        passes = (_prove(tree, scope, most, suffix, nothing) for suffix in suffixes)
        below = furthest(passes, Reached(nothing, UNDECIDED), most)
    found = verdict_between(asked, below, known, limit)
    return (
        found if scope.arithmetic == REAL else replace(found, reason=f"{found.reason}; in {said_of(scope.arithmetic)}")
    )


def wrong_strings(network: Network, length: int) -> int:
    """Return on how many strings of a length a network is wrong, in real numbers; each is looked at.

    >>> from tallystick.cells import LinearCell
    >>> from tallystick.networks import Readout
    >>> [wrong_strings(Network(LinearCell(1, -2, 1), Readout.binary(1)), length) for length in (1, 2, 3)]
    [0, 0, 3]
    """
    sizes, right = right_strings(network, length)
    return sum(sizes) - sum(right)


def right_strings(network: Network, length: int) -> tuple[list[int], list[int]]:
    """Return how many strings of a length should get each class, and how many of them do, in real numbers."""
    if network.readout.steps is not None or not network.readout.comparisons:
        raise BadInput(
            "network: right strings are counted where one class is given at the end of a string, not an answer after every token"
        )
    check_whole(length, "length", least=0)
    tree = Tree(network)
    strings = len(network.alphabet) ** min(length, MOST_WORK.bit_length())
    if work_of(network.cell, strings) > MOST_WORK:
        raise BadInput(f"length: {length} has too many strings over {len(network.alphabet)} tokens to look at each")
    *_, groups = tree.groups(tree.cell.start_of(length), length, length)
    found, right = tree.classes(groups)
    if (found == UNSURE).any():
        raise BadInput(f"length: {length} has strings whose class is too close to call")
    classes = range(len(network.task.classes))
    return [int((right == one).sum()) for one in classes], [
        int(((right == one) & (found == one)).sum()) for one in classes
    ]


class Tree:
    """A network made ready for boxes, and the configurations that its strings lead to."""

    def __init__(self, network: Network, arithmetic: str = REAL) -> None:
        self.network, self.task, self.arithmetic = network, network.task, arithmetic
        self.cell: Any = network.cell.map_weights(box_of) if arithmetic == REAL else Executions.of(network, arithmetic)
        self.met = MetConfigurations(network.task)
        self.inputs = list(inputs_of(network.alphabet).values())

    def groups(self, state: Any, suffix: int, limit: int) -> Iterator[TreeGroups]:  # noqa: ANN401 -- each cell has its own
        """Go through the groups of the strings of every length up to a limit, from the empty string on."""
        groups = TreeGroups.start(state, suffix)
        yield groups
        while groups.length < limit:
            groups = groups.longer(self.cell, self.inputs, self.met)
            yield groups

    def classes(self, groups: TreeGroups) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the index of the class that each group gets, or `UNSURE`, and of the one that is right."""
        sure = self._sure_classes(groups.state)
        # Where no unit tells the groups apart, there is one class for all of them.
        found = np.broadcast_to(sure, groups.configurations.shape).copy()
        unsure = np.flatnonzero(found == UNSURE)
        if groups.are_strings and len(unsure) <= _MOST_RUN_AGAIN:
            for group in unsure:
                found[group] = self.closer_class(groups.trail.string(int(group), self.task.alphabet))
        return found, self.met.right_classes(groups.configurations)

    def _sure_classes(self, state: Any) -> NDArray[np.int64]:  # noqa: ANN401
        if isinstance(self.cell, Executions):
            return self.cell.classes(state)
        # Before the first token a state may be the number 0 itself.
        hidden = tuple(x if isinstance(x, Box) else box_of(x) for x in self.cell.hidden(state))
        return sure_classes(self._forms, hidden)

    @cached_property
    def _forms(self) -> tuple[tuple[Form, ...], ...]:
        return boxed_forms(self.network.readout)

    def closer_class(self, string: String) -> int:
        """Return the index of the class of one string, or `UNSURE`, by more digits than boxes have."""
        if self.arithmetic != REAL:
            return UNSURE
        if self._exact is not None:
            return int(self._exact.readout.class_index(self._exact.cell.hidden(self._exact.trace(string)[-1])))
        order = self._closer.order(lambda balls: balls.outputs(string))
        return UNSURE if order is None else class_of_order(self.network.readout, order)

    @cached_property
    def _exact(self) -> Network | None:
        return self.network.in_arithmetic("rational") if self.network.cell.shows_rationals else None

    @cached_property
    def _closer(self) -> CloserOutputs:
        return CloserOutputs(self.network)

    def failure(self, string: String) -> Failure | None:
        """Run one string in boxes; return how it fails, or None if it does not fail for certain."""
        found = int(self._sure_classes(self.cell.final_state(string, self.task.alphabet)))
        found = self.closer_class(string) if found == UNSURE else found
        right = self.task.question(self.task.machine, self.task.configuration(string))
        if found in (UNSURE, right):
            return None
        return Failure(runs_of(string), self.task.classes[found], self.task.classes[right])


def _suffixes(tree: Tree, limit: int) -> Iterator[int]:
    """Go through the numbers of last tokens to tell apart; the last one, if possible, tells all strings apart."""
    tokens = len(tree.inputs)
    fitting = suffixes_for(tokens)
    longest = int(MOST_WORK.bit_length() / np.log2(max(2, tokens)))
    alone = groups_to(limit + 1, limit + 1, tokens) if limit <= longest else None
    if alone is None or work_of(tree.cell, alone) > MOST_WORK:
        yield from fitting
        return
    yield from (suffix for suffix in fitting if _FAR_LESS * groups_to(limit, suffix, tokens) < alone)
    yield limit


def _prove(tree: Tree, scope: Scope, limit: int, suffix: int, reached: int) -> Iterator[Reached]:
    """Go through the lengths that are proved; the last says what stopped it."""
    counted, work = scope.lengths.upto(limit, scope.first), 0
    for first, last in _trees(tree.cell, limit):
        for groups in tree.groups(tree.cell.start_of(last), suffix, last):
            if groups.length >= first and groups.length in counted:
                found, right = tree.classes(groups)
                wrong = found != right
                if wrong.any():
                    failing = np.flatnonzero(wrong & (found != UNSURE))
                    string = groups.trail.string(int(failing[0]), tree.task.alphabet) if failing.size else None
                    failure = None if string is None else tree.failure(string)
                    yield Reached(reached, FAILED if failure else UNDECIDED, failure)
                    return
                reached = groups.length
                yield Reached(reached, UNDECIDED)
            if groups.length < last:
                work += work_of(tree.cell, groups.size)
                if work > MOST_WORK:
                    yield Reached(reached, WORK)
                    return
    yield Reached(reached, LIMIT)


def _trees(cell: Recurrence, limit: int) -> Iterator[tuple[int, int]]:
    """Go through the lengths whose strings start alike, as the first and the last of them.

    Strings shorter than the padding have a start for each length; all others start alike.
    """
    longest = getattr(cell, "padded_to", 0)
    yield from ((length, length) for length in range(min(longest, limit + 1)))
    if longest <= limit:
        yield longest, limit


def _run(network: Network, scope: Scope, limit: int, reached: int) -> Iterator[Reached]:
    """Run every string in floating point, length by length."""
    executed, met = network.in_arithmetic(scope.arithmetic), MetConfigurations(network.task)
    kind, inputs = float_format(scope.arithmetic).kind, list(inputs_of(network.alphabet).values())
    counted, work = scope.lengths.upto(limit, scope.first), 0
    for first, last in _trees(network.cell, limit):
        state = map_states(partial(np.full, 1, dtype=kind), executed.cell.start_of(last))
        configurations = np.zeros(1, np.int64)
        for length in range(last + 1):
            if length >= first and length in counted:
                found = np.broadcast_to(executed.readout.class_index(executed.cell.hidden(state)), configurations.shape)
                right = met.right_classes(configurations)
                failing = np.flatnonzero(found != right)
                if failing.size:
                    yield Reached(reached, FAILED, _failure_at(network, int(failing[0]), length, found, right))
                    return
                reached = length
                yield Reached(reached, UNDECIDED)
            if length < last:
                work += work_of(network.cell, len(configurations))
                if work > MOST_WORK:
                    yield Reached(reached, WORK)
                    return
                state = states_after(executed.cell, state, inputs, len(configurations))
                configurations = met.after(configurations).reshape(-1)
    yield Reached(reached, LIMIT)


def _failure_at(
    network: Network, place: int, length: int, found: NDArray[np.int64], right: NDArray[np.int64]
) -> Failure:
    """Return how the string at a place among all strings of a length fails: its tokens are the digits of the place."""
    tokens, classes, rest = len(network.alphabet), network.task.classes, place
    digits: list[str] = []
    for _ in range(length):
        rest, digit = divmod(rest, tokens)
        digits.append(network.alphabet[digit])
    return Failure(runs_of(tuple(digits[::-1])), classes[int(found[place])], classes[int(right[place])])
