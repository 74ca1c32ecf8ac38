"""The ready tasks: the sign of the count n − m, the count itself, membership in every ready machine, and prefixes of Dyck-1."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from tallystick.errors import BadInput
from tallystick.languages.brackets import BinaryClass, TernaryClass
from tallystick.languages.counter_machine import CounterMachine
from tallystick.languages.questions import Check, by_check
from tallystick.languages.ready_machines import BB_COUNTER, DYCK1_COUNTER, LOST, READY_MACHINES
from tallystick.languages.task import MembershipClass, Task, count, is_member, is_positive, sign


class PrefixClass(StrEnum):
    """The classes of a string as the beginning of a member, in the order of their index."""

    VALID = "valid"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


_SIGNS = {"ZeroNeg": "not positive", "Neg": "negative", "Zero": "zero", "Pos": "positive"}
"""What sentences call the paper's classes."""

BINARY = Task("binary", BB_COUNTER, tuple(BinaryClass), is_positive, words=_SIGNS)
TERNARY = Task("ternary", BB_COUNTER, tuple(TernaryClass), sign, words=_SIGNS)
COUNT = Task("count", BB_COUNTER, (), count)
BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP, *_OTHERS = (
    Task(name, READY_MACHINES[name], tuple(MembershipClass), is_member)
    for name in dict.fromkeys(("bb", "semidyck1", *READY_MACHINES))
)


def task_of_machine(
    machine: CounterMachine,
    name: str,
    classes: Mapping[str, Iterable[Check]] | None = None,
    words: Mapping[str, str] | None = None,
) -> Task:
    """Return a task of any machine.

    Args:
        machine: what counts.
        name: the word for the task.
        classes: for each class the states and zero checks that get it, each in exactly one; the default is membership.
        words: what sentences call the classes, where that is not their name.
    """
    if classes is None:
        return Task(name, machine, tuple(MembershipClass), is_member)
    if set(classes) == set(MembershipClass):
        raise BadInput("classes: what is accepted the machine itself says; leave the classes out to ask for membership")
    question = by_check(machine, {one: frozenset(of) for one, of in classes.items()})
    return Task(name, machine, tuple(classes), question, words=words or {})


DYCK1_PREFIX = task_of_machine(
    DYCK1_COUNTER,
    "dyck1-prefix",
    {
        PrefixClass.VALID: {("counting", (0,))},
        PrefixClass.INCOMPLETE: {("counting", (1,))},
        PrefixClass.INVALID: {(LOST, (0,)), (LOST, (1,))},
    },
)
"""Is a string in Dyck-1, can it still be completed, or did it close more than it opened?"""

READY_TASKS: dict[str, Task] = {
    task.name: task for task in (BINARY, TERNARY, COUNT, BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP, *_OTHERS, DYCK1_PREFIX)
}
"""The tasks that may be asked by name: the sign of the count n − m, the count itself, membership in every ready machine, and the
classes of prefixes of Dyck-1."""

TASKS: dict[str, Task] = {task.name: task for task in (BINARY, TERNARY, COUNT)}
"""The tasks that networks are trained on, by name."""


def ready_task(name: object) -> Task:
    """Return the ready task of that name."""
    return _task_of(READY_TASKS, name)


def task_named(name: object) -> Task:
    """Return the task of that name, among those that networks are trained on."""
    return _task_of(TASKS, name)


def _task_of(tasks: dict[str, Task], name: object) -> Task:
    if not isinstance(name, str) or name not in tasks:
        raise BadInput(f"task: {name!r} is not one of {', '.join(tasks)}")
    return tasks[name]


def ready_task_in_order(name: str, classes: tuple[str, ...]) -> Task:
    """Return a ready task with its classes in an order."""
    return READY_TASKS[name].in_order(classes)


__all__ = [
    "BB_MEMBERSHIP",
    "BINARY",
    "COUNT",
    "DYCK1_PREFIX",
    "READY_TASKS",
    "SEMI_DYCK1_MEMBERSHIP",
    "TASKS",
    "TERNARY",
    "MembershipClass",
    "PrefixClass",
    "Task",
    "ready_task",
    "ready_task_in_order",
    "task_named",
    "task_of_machine",
]
