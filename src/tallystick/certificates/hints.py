"""How far a network would be right if it had been declared otherwise: a horizon of 0 to 2 may be that of a wrong encoding.

The network is run on all strings up to a small length, once. What it would answer under other declarations follows: with its
tokens in another order a string gets the class of the string that it is then read as, and with its classes in another order it
gets another name for it. A declaration that is right on all of these strings is certified, with little effort, and the one that
goes furthest is told; of two that go equally far the one that changes less, and both where nothing tells which was meant.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, LinearCell, Recurrence, ReluCell, SelectiveCell, Stack, TanhCell, TensorCell
from tallystick.certificates.verdict import Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.tasks import READY_TASKS, Task
from tallystick.networks import Network
from tallystick.networks.readout import ZERO
from tallystick.numbers import ARITHMETICS, Number, standard_floats
from tallystick.numbers.values import map_states

SUSPECT = 2
"""Up to this horizon a wrong encoding is thought of."""

LEAST = 4
"""So far another declaration must be right, so as not to be so by chance."""

_RUN = 8
"""Strings up to this length are run."""

_LIMIT = 16
"""How far another declaration is certified."""


class Variant(NamedTuple):
    """Another declaration: for each token and output the token and class that is meant instead, by its place, and the task."""

    tokens: tuple[int, ...]
    classes: tuple[int, ...]
    task: Task


def variants(task: Task) -> Iterator[Variant]:
    """Go through other orders of the tokens and of the classes, and other questions about the same tokens, the simplest first."""
    size = len(task.classes)
    others = [other for other in READY_TASKS.values() if other.alphabet == task.alphabet and len(other.classes) == size]
    orders = product(permutations(range(size)), permutations(range(len(task.alphabet))))
    for classes, tokens in sorted(orders, key=lambda order: sum(map(_is_changed, order))):
        for other in (task, *(one for one in others if one.name != task.name)):
            if other is not task or _is_changed(tokens) or _is_changed(classes):
                yield Variant(tokens, classes, other)


def _is_changed(order: tuple[int, ...]) -> bool:
    return order != tuple(range(len(order)))


def difference(variant: Variant, task: Task) -> str:
    """Say what differs from what was declared.

    >>> from tallystick.languages.tasks import BINARY
    >>> difference(Variant((1, 0), (1, 0), BINARY), BINARY)
    "classes=['Pos', 'ZeroNeg'] and the two tokens swapped"
    """
    parts: list[str] = []
    if variant.task is not task:
        parts.append(f"task={variant.task.name!r}")
    if _is_changed(variant.classes):
        parts.append(f"classes={[str(variant.task.classes[place]) for place in variant.classes]!r}")
    if _is_changed(variant.tokens):
        pairs = [f"{task.alphabet[a]} read as {task.alphabet[b]}" for a, b in enumerate(variant.tokens) if a != b]
        parts.append("the two tokens swapped" if len(variant.tokens) == len(ALPHABET) else ", ".join(pairs))
    return " and ".join(parts)


@standard_floats()
def hint_of(verdict: Verdict) -> str | None:
    """Say with which other declaration a network would be right further; None where nothing looks like a wrong one."""
    network = verdict.model
    if not isinstance(network, Network) or verdict.outcome is not Outcome.REFUTED or (verdict.horizon or 0) > SUSPECT:
        return None
    try:
        answers = _answers(network)
    except BadInput:  # weights that no double holds
        return None
    counted = [length for length in verdict.lengths.upto(_RUN) if length in answers]
    found: list[tuple[tuple[float, int], Variant, str]] = []
    for variant in variants(network.task):
        if network.readout.decision == ZERO and _is_changed(variant.classes):
            continue  # h = 0 accepts, whatever it is called
        seen = _horizon(variant, answers, counted)
        if seen >= LEAST:
            reached, said = _reach(variant, verdict, seen)
            changes = _is_changed(variant.classes) + _is_changed(variant.tokens) + (variant.task is not network.task)
            found.append(((reached, -changes), variant, said))
    if not found:
        return None
    best, _, said = max(found, key=lambda one: one[0])
    # Of two tasks that are right on the same strings, such as two machines for one language, the first is told.
    equals = {variant[:2]: variant for rank, variant, _ in reversed(found) if rank == best}
    return f"with {' or with '.join(difference(one, network.task) for one in reversed(equals.values()))} {said}"


def _answers(network: Network) -> dict[int, NDArray[np.int64]]:
    """Return the index of the class of every string by length, in the order of the tokens: exactly, or in float64."""
    cell = network.cell
    kind, dtype = ("rational", np.dtype(object)) if cell.is_rational else ("float64", np.dtype(np.float64))
    executed = network.in_arithmetic(kind)

    def alone(value: Number) -> NDArray[Any]:
        return np.array([ARITHMETICS[kind](value, "start")], dtype)

    state = map_states(alone, executed.cell.initial_state)
    found: dict[int, NDArray[np.int64]] = {}
    for length in range(1, _RUN + 1):
        images = [executed.cell.step(state, ONE_HOT[token]) for token in ALPHABET]
        state = map_states(_side_by_side(2 ** (length - 1)), *images)
        index = np.asarray(executed.readout.class_index(executed.cell.hidden(state)))
        found[length] = np.broadcast_to(index, 2**length).astype(np.int64)
    return found


def _side_by_side(size: int) -> Callable[..., Any]:
    """Return what puts the states after both tokens next to each other, so that the token is the last digit of their place."""

    def join(*parts: Any) -> Any:  # noqa: ANN401 -- arrays of numbers
        return np.stack([np.broadcast_to(part, size) for part in parts], axis=-1).reshape(-1)

    return join


def _horizon(variant: Variant, answers: dict[int, NDArray[np.int64]], counted: list[int]) -> int:
    """Return the length to which the answers are right under another declaration."""
    reached = 0
    for length in counted:
        rows = np.array(list(product(range(len(variant.tokens)), repeat=length)))
        read = np.array(variant.tokens)[rows] @ len(variant.tokens) ** np.arange(length)[::-1]
        strings = map("".join, product(variant.task.alphabet, repeat=length))
        right = np.array([variant.task.classes.index(variant.task.right_class(string)) for string in strings])
        if (np.array(variant.classes)[answers[length][read]] != right).any():
            break
        reached = length
    return reached


def _reach(variant: Variant, verdict: Verdict, seen: int) -> tuple[float, str]:
    """Return how far a network goes under another declaration, and that in words: certified where it can be."""
    from tallystick.certificates.certify import certify_network  # noqa: PLC0415 -- which imports this

    try:
        tried = certify_network(_network(variant, verdict.network), str(verdict.lengths), verdict.arithmetic, _LIMIT)
    except BadInput:  # a task or a cell that is outside what can be decided, so that the strings that were run must do
        return seen, _run_only(seen)
    if tried.horizon is None:
        return np.inf, "the horizon would be unlimited"
    if tried.horizon < seen and tried.outcome is Outcome.BOUNDED:  # bounds that do not decide
        return seen, _run_only(seen)
    at_least = "at least " if tried.outcome is Outcome.BOUNDED else ""
    return tried.horizon, f"the horizon would be {at_least}{tried.horizon}"


def _run_only(seen: int) -> str:
    return f"every string up to length {seen} would be right"


def _network(variant: Variant, network: Network) -> Network:
    """Return a network under another declaration."""
    cell = _swap_tokens(network.cell) if _is_changed(variant.tokens) else network.cell
    return Network(cell, network.readout, variant.task.in_order([variant.task.classes[i] for i in variant.classes]))


def _swap_tokens(cell: Recurrence) -> Recurrence:
    """Return a recurrence that reads each bracket as this one reads the other."""
    if isinstance(cell, Stack):
        return replace(cell, tokens=cell.tokens[::-1])
    if isinstance(cell, TensorCell):
        return replace(cell, input_weight=tuple(row[::-1] for row in cell.input_weight))
    if isinstance(cell, SelectiveCell):
        return SelectiveCell(cell.close_step, cell.open_step, cell.close_recurrent_weight, cell.open_recurrent_weight)
    if isinstance(cell, LinearCell | ReluCell | TanhCell):
        return type(cell)(cell.close_step, cell.open_step, cell.recurrent_weight)
    raise BadInput(f"cell: how a {cell.name} cell reads its tokens in another order is not known")
