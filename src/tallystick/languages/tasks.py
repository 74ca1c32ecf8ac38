"""A task: a counter machine, and the question that is asked of it once the string is read.

The right answer follows from the machine's configuration. Most questions here look at the sign of one counter: is it above
zero (binary), which sign has it (ternary), is it zero (membership)? The task `count` asks for the counter itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.languages.brackets import BB, SEMI_DYCK1, BinaryClass, BracketLanguage, TernaryClass
from tallystick.languages.counter_machine import Configuration, CounterMachine
from tallystick.languages.ready_machines import BB_COUNTER, SEMI_DYCK1_COUNTER


class MembershipClass(StrEnum):
    """The classes of a membership task, in the order of their index."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"


_TRIED = 16
"""Counts up to this size are tried when a task is made."""

Question = Callable[[CounterMachine, Configuration], int]
"""From a machine and its last configuration to the index of the right class."""


@dataclass(frozen=True)
class Task:
    """What is asked of a network.

    Attributes:
        name: the word for it in commands and files.
        machine: what counts.
        classes: the labels, in the order of their index; none where the count itself is asked for.
        question: the index of the right class.

    >>> [str(BINARY.right_class(string)) for string in ("(()", "())")]
    ['Pos', 'ZeroNeg']
    """

    name: str
    machine: CounterMachine
    classes: tuple[StrEnum, ...]
    question: Question

    def __post_init__(self) -> None:
        """Refuse a question whose answer does not follow from the sign of the count, which is all that is looked at later."""
        _ = self.language  # refuses a machine that is not known
        for count in range(-_TRIED, _TRIED + 1) if self.classes else ():
            sign = (count > 0) - (count < 0)
            if self.index_of_count(count) != self.index_of_count(sign):
                raise BadInput(
                    f"question: the class of the count {count} is not that of {sign}; only its sign may decide"
                )

    def __hash__(self) -> int:
        """Hash the name: a machine's tables have no hash of their own."""
        return hash(self.name)

    def __reduce__(self) -> Any:  # noqa: ANN401 -- as pickle has it
        """Pickle a ready task as its name, so that another process has the same object."""
        return (ready_task, (self.name,)) if READY_TASKS.get(self.name) is self else super().__reduce__()

    @property
    def language(self) -> BracketLanguage:
        """The bracket language of the machine, which counts a string without running the machine."""
        found = (language for machine, language in _LANGUAGES if machine is self.machine or machine == self.machine)
        language = next(found, None)
        if language is None:
            raise BadInput(f"machine: the task {self.name!r} counts as neither the machine bb nor semidyck1 does")
        return language

    @property
    def outputs(self) -> int:
        """How many outputs a network has that is trained on the task: one decides between two classes, or is the count."""
        return len(self.classes) if len(self.classes) > 2 else 1  # noqa: PLR2004

    def count(self, string: str) -> int:
        """Return the machine's counter after a string."""
        return self.language.count(string)

    def index_of_count(self, count: int) -> int:
        """Return the index of the right class for a count."""
        return self.question(self.machine, Configuration(self.machine.initial_state, (count,)))

    def right_class(self, string: str) -> StrEnum:
        """Return the class that a string should get."""
        return self.classes[self.index_of_count(self.count(string))]

    def label(self, string: str) -> str:
        """Return the right answer for a string, as files write it."""
        return self.right_class(string) if self.classes else str(self.count(string))

    def right_classes(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the right class for each count, which its sign decides."""
        return self._by_sign[np.sign(counts) + 1]

    @cached_property
    def _by_sign(self) -> NDArray[np.int64]:
        return np.array([self.index_of_count(sign) for sign in (-1, 0, 1)])

    def classes_along(self, closing: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the index of the right class after each token of many strings, tokens along the first axis, true for `)`.

        >>> SEMI_DYCK1_MEMBERSHIP.classes_along(np.array([[True], [False], [True]])).ravel().tolist()
        [1, 0, 1]
        """
        counts = np.where(closing, -1, 1).cumsum(axis=0)
        if self.language is SEMI_DYCK1:  # whose count is n − m, less the least value that this has had below zero
            counts = counts - np.minimum(np.minimum.accumulate(counts, axis=0), 0)
        return self.right_classes(counts)

    def targets(self, strings: list[str]) -> NDArray[np.float64]:
        """Return what each output should be, one row per string: 0 or 1 for a class, the count itself for the task `count`."""
        return self.targets_of_counts(np.array([self.count(string) for string in strings]))

    def targets_of_counts(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the same along a new last axis for strings of which only the counts are at hand, in an array of any shape."""
        if not self.classes:
            return counts[..., None].astype(np.float64)
        right = self.right_classes(counts)[..., None]
        return (right if self.outputs == 1 else right == np.arange(self.outputs)).astype(np.float64)


def _is_positive(_: CounterMachine, configuration: Configuration) -> int:
    return int(configuration.counters[0] > 0)


def _sign(_: CounterMachine, configuration: Configuration) -> int:
    return int(np.sign(configuration.counters[0])) + 1


def _is_member(machine: CounterMachine, configuration: Configuration) -> int:
    return int(machine.accepts_configuration(configuration))


def _count(_: CounterMachine, configuration: Configuration) -> int:
    return configuration.counters[0]


_LANGUAGES = ((BB_COUNTER, BB), (SEMI_DYCK1_COUNTER, SEMI_DYCK1))

BINARY = Task("binary", BB_COUNTER, tuple(BinaryClass), _is_positive)
TERNARY = Task("ternary", BB_COUNTER, tuple(TernaryClass), _sign)
COUNT = Task("count", BB_COUNTER, (), _count)
BB_MEMBERSHIP = Task("bb", BB_COUNTER, tuple(MembershipClass), _is_member)
SEMI_DYCK1_MEMBERSHIP = Task("semidyck1", SEMI_DYCK1_COUNTER, tuple(MembershipClass), _is_member)

READY_TASKS: dict[str, Task] = {
    task.name: task for task in (BINARY, TERNARY, COUNT, BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP)
}
TASKS: dict[str, Task] = {task.name: task for task in (BINARY, TERNARY, COUNT)}
"""The tasks that networks are trained on, by name."""


def ready_task(name: str) -> Task:
    """Return the ready task of that name."""
    return READY_TASKS[name]


def task_named(name: str) -> Task:
    """Return the task of that name."""
    if not isinstance(name, str) or name not in TASKS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"task: {name!r} is not one of {', '.join(TASKS)}")
    return TASKS[name]
