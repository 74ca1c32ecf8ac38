"""How many of all 2^N strings does a network get right? Whole numbers, and how they move with N.

A linear network of any size in real arithmetic is counted in closed form (`linear.accuracy`). For any other cell with one unit,
and in any other arithmetic, every state is listed, which goes less far: strings of one group that share a state are kept as one
state with a number, so that a counter's few states stay few.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import LinearCell, ScalarCell
from tallystick.certificates.counts import asked_for_a_class
from tallystick.certificates.languages.whole_tree import right_strings as strings_by_class
from tallystick.certificates.linear.accuracy import has_one_matrix, right_strings
from tallystick.certificates.one_unit.executions import Execution, execution
from tallystick.certificates.one_unit.extremes import Ends, Grouping, first_row
from tallystick.certificates.one_unit.search import grouping_of, is_certain
from tallystick.certificates.verdict import REAL
from tallystick.errors import BadInput, check_whole
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network
from tallystick.networks.readout import COUNT
from tallystick.numbers import standard_floats

LONGEST = 1000
"""The longest length asked for, where nothing has to be counted: the powers of U have N times the digits of U."""

MOST_FLOATS = 1 << 22
MOST_OBJECTS = 1 << 17
"""The most states listed: floats, and rationals, which take a hundred times as long."""


@dataclass(frozen=True)
class ExactAccuracy:
    """The numbers of strings of one length and of right ones among them, class by class.

    Attributes:
        length: N.
        strings: how many strings should get each class.
        correct: how many of them do.
    """

    length: int
    strings: dict[str, int]
    correct: dict[str, int]

    @property
    def total(self) -> int:
        """How many strings there are: of N brackets 2^N."""
        return sum(self.strings.values())

    @property
    def total_correct(self) -> int:
        """How many of all strings are right."""
        return sum(self.correct.values())

    @property
    def accuracy(self) -> Fraction:
        """The share of right strings among all, each as likely as any other."""
        return Fraction(self.total_correct, self.total)

    @property
    def balanced_accuracy(self) -> Fraction:
        """The mean of the classes' accuracies, over the classes that have strings of this length."""
        shares = [Fraction(self.correct[name], size) for name, size in self.strings.items() if size]
        return sum(shares, Fraction(0)) / len(shares)


def exact_accuracy(model: Network, length: int, arithmetic: str = REAL) -> ExactAccuracy:
    """Return how many of all strings of a length a model gets right, of brackets 2^N.

    In real arithmetic a linear network of any size is counted up to length 56, and further where few strings are in question; to
    26 where a class depends on several outputs that are no multiples of each other. Other cells with one unit, and floating
    point as executed, go as far as their states can be listed: 16 to 21, further where strings share them. Every string is looked
    at of a network over another alphabet, or whose task the sign of n − m does not decide.

    >>> from tallystick.networks import Readout
    >>> found = exact_accuracy(Network(LinearCell(1, -1, 0.5), Readout.binary(1)), length=4)
    >>> found.total_correct, found.accuracy
    (11, Fraction(11, 16))
    """
    check_whole(length, "length", least=1, most=LONGEST)
    if not model.is_usual:
        return _tree_accuracy(model, length, arithmetic)
    linear = _linear_network(model, arithmetic)
    if linear is not None:
        return _linear_accuracy(linear, length)
    *_, last = _list_accuracies(model, length, arithmetic)
    return last


def accuracy_curve(model: Network, longest: int, arithmetic: str = REAL) -> list[ExactAccuracy]:
    """Return the exact accuracy at every length from 1 to the longest.

    >>> from tallystick.networks import Readout
    >>> curve = accuracy_curve(Network(LinearCell(1, -1, 0.5), Readout.binary(1)), longest=4)
    >>> [found.total_correct for found in curve]
    [2, 3, 6, 11]
    """
    return list(accuracies(model, longest, arithmetic))


def accuracies(model: Network, longest: int, arithmetic: str = REAL) -> Iterator[ExactAccuracy]:
    """Go through the curve from length 1 on; where a length cannot be counted, the shorter ones have been given."""
    check_whole(longest, "length", least=1, most=LONGEST)
    if not model.is_usual:
        return (_tree_accuracy(model, length, arithmetic) for length in range(1, longest + 1))
    linear = _linear_network(model, arithmetic)
    if linear is not None:
        return (_linear_accuracy(linear, length) for length in range(1, longest + 1))
    return _list_accuracies(model, longest, arithmetic)


def is_counted_in_closed_form(network: Network, arithmetic: str = REAL) -> bool:
    """Say whether the strings of a network are counted by their number of opening brackets, which has to decide what is right."""
    if arithmetic != REAL or network.task.machine is not BB_COUNTER:
        return False
    return isinstance(network.cell, LinearCell) or (
        not isinstance(network.cell, ScalarCell) and has_one_matrix(network)
    )


def _linear_network(model: Network, arithmetic: str) -> Network | None:
    """Return a network in rationals where its strings are counted in closed form; None where its states are listed."""
    if is_counted_in_closed_form(model, arithmetic):
        return asked_for_a_class(model).in_arithmetic("rational")
    if not isinstance(model.cell, ScalarCell) and model.cell.is_affine:
        raise BadInput(
            f"cell: the strings of a {model.cell.name} network with several units are counted in real arithmetic, where both "
            "tokens have one matrix"
        )
    if model.scalar_cell and model.readout.decision == COUNT:
        raise BadInput("task: right answers to 'count' are counted for linear networks in real arithmetic alone")
    return None


@standard_floats()
def _tree_accuracy(model: Network, length: int, arithmetic: str) -> ExactAccuracy:
    """Look at every string over any alphabet."""
    if arithmetic != REAL:
        raise BadInput(
            f"arithmetic: {arithmetic!r} is for tasks that the sign of n − m decides; all others are counted in {REAL} arithmetic"
        )
    strings, correct = (dict(zip(model.task.classes, sizes, strict=True)) for sizes in strings_by_class(model, length))
    return ExactAccuracy(length, strings, correct)


@standard_floats()
def _linear_accuracy(model: Network, length: int) -> ExactAccuracy:
    strings, correct = (dict(zip(model.task.classes, sizes, strict=True)) for sizes in right_strings(model, length))
    return ExactAccuracy(length, strings, correct)


@dataclass(frozen=True)
class _Listed:
    """The states of a group, or bounds of them, and how many strings end in each."""

    states: Ends
    sizes: NDArray[Any]  # Python's whole numbers, since there are 2^N strings

    def after(self, run: Execution, length: int, token: str) -> "_Listed":
        return _Listed(self.states.after(run.model_at(length).scalar_cell, token), self.sizes)


def _list_accuracies(model: Network, longest: int, arithmetic: str) -> Iterator[ExactAccuracy]:
    """Go through the lengths from 1, counting the right strings of each."""
    run = execution(model, arithmetic)
    grouping = grouping_of(run.model_at(0))
    groups = {0: _Listed(first_row(run.model_at(0).scalar_cell), np.array([1], object))}
    for length in range(1, longest + 1):
        with standard_floats():
            groups = _advance(groups, run, grouping, length)
            _require_few(groups, length)
            found = _count(groups, run, grouping, length)
        yield found


def _advance(groups: dict[int, _Listed], run: Execution, grouping: Grouping, length: int) -> dict[int, _Listed]:
    parts: dict[int, list[_Listed]] = {}
    for group, listed in groups.items():
        for token in ALPHABET:
            parts.setdefault(grouping.target(group, token), []).append(listed.after(run, length, token))
    return {group: _merge(listed, distinct=run.enclosed) for group, listed in parts.items()}


def _merge(parts: list[_Listed], *, distinct: bool) -> _Listed:
    """Join the states of several ways into a group, equal ones into one; bounds are left as they are."""
    states, sizes = Ends.join(*(part.states for part in parts)), np.concatenate([part.sizes for part in parts])
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


def _count(groups: dict[int, _Listed], run: Execution, grouping: Grouping, length: int) -> ExactAccuracy:
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
    sure = (found == readout.class_index((states.greatest,))) & is_certain(readout, found, states, rounded=run.rounded)
    if not sure.all():
        raise BadInput(f"length: the bounds on tanh do not decide every string of length {length}")
