"""How far a network or a program would be right if it had been declared otherwise: an early end may be a wrong encoding.

It is run on all strings up to a small length, once, and its answers are held against every other declaration (`variants`): with
tokens in another order a string gets the answer of the string that it is then read as, and with classes in another order another
name for it. Where a network would be right on all of these strings, it is certified under that declaration, with little effort.
The declaration that goes furthest is told; of two that go equally far the one that changes less, and both where nothing tells
which was meant.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import (
    AffineLayer,
    LinearCell,
    MatrixLayer,
    Recurrence,
    ReluCell,
    SelectiveCell,
    SelectiveLayer,
    Stack,
    TanhCell,
    TensorCell,
    inputs_of,
)
from tallystick.certificates.deciders import certify_network
from tallystick.certificates.running.calling import NotRun
from tallystick.certificates.running.executable import Executable
from tallystick.certificates.running.string_blocks import RightClasses, all_rows
from tallystick.certificates.verdict import Lengths, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.languages.tasks import READY_TASKS, Task
from tallystick.networks import Network
from tallystick.networks.readout import ZERO
from tallystick.numbers import ARITHMETICS, Number, standard_floats
from tallystick.numbers.values import map_states

Answers = Mapping[int, NDArray[np.intp]]
"""By length, the index of the class that each string of that length gets, in the order of the tokens."""

LEAST = 4
"""So far another declaration must be right, so as not to be so by chance."""

_TWO = 2
_RUN = 8
"""Strings of brackets up to this length are run by a network, and of other tokens about as many."""

_LIMIT = 16
"""How far another declaration of a network is certified."""

_STRINGS, _LONGEST = 1024, 10
"""How many strings of a length are run by a program at most, and how long."""


class Variant(NamedTuple):
    """Another declaration: for each token and output the token and class that is meant instead, by its place, and the task."""

    tokens: tuple[int, ...]
    classes: tuple[int, ...]
    task: Task

    @property
    def has_other_tokens(self) -> bool:
        """Whether a token is read as another."""
        return _is_changed(self.tokens)

    @property
    def has_other_classes(self) -> bool:
        """Whether the classes stand in another order than the task's own."""
        return _is_changed(self.classes)

    def changes(self, task: Task) -> int:
        """Return how many things differ from what was declared."""
        return self.has_other_tokens + self.has_other_classes + (self.task is not task)

    def difference(self, task: Task) -> str:
        """Say what differs from what was declared.

        >>> from tallystick.languages.tasks import BINARY
        >>> Variant((1, 0), (1, 0), BINARY).difference(BINARY)
        "classes=['Pos', 'ZeroNeg'] and the two tokens swapped"
        """
        parts: list[str] = []
        if self.task is not task:
            parts.append(f"task={self.task.name!r}")
        if self.has_other_classes:
            parts.append(f"classes={[str(self.task.classes[place]) for place in self.classes]!r}")
        if self.has_other_tokens:
            pairs = [f"{task.alphabet[a]} read as {task.alphabet[b]}" for a, b in enumerate(self.tokens) if a != b]
            parts.append("the two tokens swapped" if len(self.tokens) == _TWO else ", ".join(pairs))
        return " and ".join(parts)

    def horizon(self, answers: Answers) -> int:
        """Return the length to which the answers are right under this declaration."""
        right, reached, base = RightClasses(self.task), 0, len(self.tokens)
        for length, classes in answers.items():
            rows = all_rows(base, length)
            read = np.array(self.tokens)[rows] @ base ** np.arange(length)[::-1]
            if (np.array(self.classes)[classes[read]] != right.of_rows(rows)).any():
                break
            reached = length
        return reached


def variants(task: Task) -> Iterator[Variant]:
    """Go through other orders of the tokens and of the classes, and other questions about the same tokens, the simplest first."""
    size = len(task.classes)
    asked = [other for other in READY_TASKS.values() if other.alphabet == task.alphabet and len(other.classes) == size]
    asked = [
        other for other in asked if other.is_by_sign or other.is_membership
    ]  # prefix classes are asked for by name
    orders = product(permutations(range(size)), permutations(range(len(task.alphabet))))
    for classes, tokens in sorted(orders, key=lambda order: sum(map(_is_changed, order))):
        for other in (task, *(one for one in asked if one.name != task.name)):
            found = Variant(tokens, classes, other)
            if found.changes(task):
                yield found


def _is_changed(order: tuple[int, ...]) -> bool:
    return order != tuple(range(len(order)))


class _Found(NamedTuple):
    """A declaration that goes further, how far, and that in words."""

    variant: Variant
    reached: float
    said: str


def hint_of_program(program: Executable, lengths: Lengths) -> str | None:
    """Say with which other declaration a program would be right further; None where there is none."""
    answers = _answers_of_program(program, lengths)
    found: list[_Found] = []
    for variant in variants(program.task):
        seen = variant.horizon(answers)
        at_least = "at least " if seen == max(answers, default=0) else ""
        found.append(_Found(variant, seen, f"the horizon would be {at_least}{seen}"))
    return _best([one for one in found if one.reached >= LEAST], program.task)


@standard_floats()
def hint_of(verdict: Verdict, network: Network) -> str | None:
    """Say with which other declaration a network that fails early would be right further; None where there is none."""
    if not network.readout.comparisons or network.cell.is_padded:  # a number is no other number under another name
        return None
    # h = 0 accepts, whatever it is called
    left = [one for one in variants(network.task) if network.readout.decision != ZERO or not one.has_other_classes]
    answers: dict[int, NDArray[np.intp]] = {}
    try:
        for length, classes in _answers_of_network(network, verdict.lengths):
            answers[length] = classes
            # Most networks are right under no declaration, and the longest strings take most of the time.
            if length <= LEAST:
                left = [variant for variant in left if variant.horizon(answers) == length]
            if not left:
                return None
    except BadInput:  # weights that no double holds
        return None
    found: list[_Found] = []
    for variant in left:
        seen = variant.horizon(answers)
        if seen >= LEAST:
            found.append(_Found(variant, *_reach(variant, verdict, seen)))
    return _best(found, network.task)


def _best(found: list[_Found], task: Task) -> str | None:
    if not found:
        return None
    furthest = max((one.reached, -one.variant.changes(task)) for one in found)
    # Of tasks that are right on the same strings, such as those of two machines for one language, the first is told.
    equals = {one.variant[:2]: one for one in reversed(found) if (one.reached, -one.variant.changes(task)) == furthest}
    first, *others = reversed(equals.values())
    likewise = "".join(f", and likewise with {other.variant.difference(task)}" for other in others)
    return f"with {first.variant.difference(task)} {first.said}{likewise}"


def _answers_of_program(program: Executable, lengths: Lengths) -> Answers:
    """Return the classes that a program gives to all strings, as far as it reads them and there are not too many."""
    found: dict[int, NDArray[np.intp]] = {}
    tokens = len(program.alphabet)
    for length in lengths.upto(_LONGEST):
        if tokens**length > _STRINGS:
            break
        try:
            found[length] = program.classes(program.outputs(all_rows(tokens, length)))
        except NotRun:
            break
    return found


def _answers_of_network(network: Network, lengths: Lengths) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Go through the lengths: the classes of all strings, exactly, or in float64 where a network has no rational states."""
    kind, dtype = ("rational", np.dtype(object)) if network.cell.shows_rationals else ("float64", np.dtype(np.float64))
    executed = network.in_arithmetic(kind)

    def alone(value: Number) -> NDArray[Any]:
        return np.array([ARITHMETICS[kind](value, "start")], dtype)

    state, tokens = map_states(alone, executed.cell.initial_state), len(network.alphabet)
    longest = max(length for length in range(_RUN + 1) if tokens**length <= _TWO**_RUN)
    for length in range(1, longest + 1):
        images = [executed.cell.step(state, token) for token in inputs_of(network.alphabet).values()]
        state = map_states(_side_by_side(tokens ** (length - 1)), *images)
        if length in lengths.upto(longest):
            index = np.asarray(executed.readout.class_index(executed.cell.hidden(state)))
            yield length, np.broadcast_to(index, tokens**length).astype(np.intp)


def _side_by_side(size: int) -> Callable[..., Any]:
    """Return what puts the states after all tokens next to each other, so that the token is the last digit of their place."""

    def join(*parts: Any) -> Any:  # noqa: ANN401 -- arrays of numbers
        return np.stack([np.broadcast_to(part, size) for part in parts], axis=-1).reshape(-1)

    return join


def _reach(variant: Variant, verdict: Verdict, seen: int) -> tuple[float, str]:
    """Return how far a network goes under another declaration, and that in words: certified where it can be."""
    run_only = seen, f"every string up to length {seen} would be right"
    try:
        tried = certify_network(
            _network(variant, verdict.network), str(verdict.lengths), verdict.arithmetic, _LIMIT, verdict.first
        )
    except BadInput:  # a task or a cell that is outside what can be decided
        return run_only
    if tried.horizon is None:
        return np.inf, "the horizon would be unlimited"
    if tried.outcome is Outcome.BOUNDED and tried.horizon < seen:  # bounds that do not decide
        return run_only
    at_least = "at least " if tried.outcome is Outcome.BOUNDED else ""
    return tried.horizon, f"the horizon would be {at_least}{tried.horizon}"


def _network(variant: Variant, network: Network) -> Network:
    """Return a network under another declaration."""
    cell = _reorder_tokens(network.cell, variant.tokens) if variant.has_other_tokens else network.cell
    return Network(cell, network.readout, variant.task.in_order([variant.task.classes[i] for i in variant.classes]))


def _reorder_tokens(cell: Recurrence, tokens: tuple[int, ...]) -> Recurrence:
    """Return a recurrence that reads each token as this one reads another, by their places."""

    def reorder(entries: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(entries[place] for place in tokens)

    if isinstance(cell, Stack):
        return replace(cell, tokens=reorder(cell.tokens))
    if isinstance(cell, TensorCell | AffineLayer):
        read = replace(cell, input_weight=tuple(map(reorder, cell.input_weight)))
        if isinstance(read, SelectiveLayer):
            return replace(read, recurrent_weight=tuple(map(reorder, read.recurrent_weight)))
        return replace(read, recurrent_weight=reorder(read.recurrent_weight)) if isinstance(read, MatrixLayer) else read
    if isinstance(cell, SelectiveCell):
        return SelectiveCell(cell.close_step, cell.open_step, cell.close_recurrent_weight, cell.open_recurrent_weight)
    if isinstance(cell, LinearCell | ReluCell | TanhCell):
        return type(cell)(cell.close_step, cell.open_step, cell.recurrent_weight)
    raise BadInput(f"cell: how a {cell.name} cell reads its tokens in another order is not known")
