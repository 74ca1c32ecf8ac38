"""A task: a counter machine, and the question that is asked of it once the string is read.

The right answer follows from the machine's configuration. Most questions here look at the sign of one counter: is it above
zero (binary), which sign has it (ternary), is it zero (membership)? The task `count` asks for the counter itself. Membership
may be asked of every ready machine; what rests on the sign of the counter of bb or semidyck1, which is most of this package,
refuses a task that it does not decide (`Task.is_by_sign`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.display import Chart, Shown, Token, View
from tallystick.errors import BadInput
from tallystick.languages.brackets import BB, SEMI_DYCK1, BinaryClass, BracketLanguage, TernaryClass
from tallystick.languages.counter_machine import Configuration, CounterMachine, String
from tallystick.languages.futures import Futures
from tallystick.languages.questions import ByCheck, Check, Question, by_check, indices_by_check
from tallystick.languages.ready_machines import BB_COUNTER, DYCK1_COUNTER, LOST, READY_MACHINES, SEMI_DYCK1_COUNTER


class MembershipClass(StrEnum):
    """The classes of a membership task, in the order of their index."""

    REJECTED = "rejected"
    ACCEPTED = "accepted"


class PrefixClass(StrEnum):
    """The classes of a string as the beginning of a member, in the order of their index."""

    VALID = "valid"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


@dataclass(frozen=True)
class Reordered:
    """A question whose classes stand in another order: the class that had index i has places[i]."""

    question: Question
    places: tuple[int, ...]

    def __call__(self, machine: CounterMachine, configuration: Configuration) -> int:
        """Return the new index of the right class."""
        return self.places[self.question(machine, configuration)]


def is_member(machine: CounterMachine, configuration: Configuration) -> int:
    """Ask whether the machine accepts."""
    return int(machine.accepts_configuration(configuration))


def is_positive(_: CounterMachine, configuration: Configuration) -> int:
    """Ask whether the first counter is above zero."""
    return int(configuration.counters[0] > 0)


def sign(_: CounterMachine, configuration: Configuration) -> int:
    """Ask for the sign of the first counter: 0, 1 or 2."""
    counter = configuration.counters[0]
    return int(counter > 0) - int(counter < 0) + 1


def count(_: CounterMachine, configuration: Configuration) -> int:
    """Ask for the first counter itself."""
    return configuration.counters[0]


_SAMPLE = 12
"""The tokens of a string that shows what a task asks."""

_TRIED = 16
"""Counts up to this size are tried to see whether their sign decides a task."""


@dataclass(frozen=True, repr=False)
class Task(Shown):
    """What is asked of a network.

    Attributes:
        name: the word for it in commands and files.
        machine: what counts.
        classes: the labels, in the order of their index; none where the count itself is asked for.
        question: the index of the right class.
        empty: whether the empty string is a member, where that was said; None where nobody asks about it.
        words: what sentences call the classes; a class that is not there is called by its name.

    >>> BINARY.in_words("ZeroNeg")
    'not positive'
    >>> [str(BINARY.right_class(string)) for string in ("(()", "())")]
    ['Pos', 'ZeroNeg']
    """

    name: str
    machine: CounterMachine
    classes: tuple[str, ...]
    question: Question
    empty: bool | None = None
    words: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Task({self.name}: {self.answers_in_words}, over {' '.join(self.alphabet)})"

    def view(self) -> View:
        """Return what a notebook shows: the question, and the machine's counters along a short string."""
        string = self.sample()
        right = [self.right_class(string[:length]) for length in range(1, len(string) + 1)]
        counters = [step.after.counters for step in self.machine.run(string)]
        lines = {f"counter {i + 1}": [float(one[i]) for one in counters] for i in range(self.machine.counters)}
        numbers = {"state": len(self.machine.states), "counter": self.machine.counters}
        facts = {
            "answers": self.answers_in_words,
            "tokens": " ".join(self.alphabet),
            "machine": ", ".join(f"{number} {name}{'s' * (number != 1)}" for name, number in numbers.items()),
        }
        tokens = [Token(token, note=self.in_words(name)) for token, name in zip(string, right, strict=True)]
        label = "count" if len(lines) == 1 else "counters"
        chart = Chart(list(range(1, len(string) + 1)), lines, "tokens read", label, guide=0.0)
        return View(f"Task {self.name}", (), facts, tokens, "its counters along: ", chart)

    def sample(self) -> tuple[str, ...]:
        """Return a short string to try a network on: every token in turn, each some times.

        >>> "".join(BINARY.sample())
        '(((((())))))'
        """
        times = max(1, _SAMPLE // len(self.alphabet))
        return tuple(token for token in self.alphabet[:_SAMPLE] for _ in range(times))

    def __hash__(self) -> int:
        """Hash the name: a machine's tables have no hash of their own."""
        return hash(self.name)

    def __reduce__(self) -> Any:  # noqa: ANN401 -- as pickle has it
        """Pickle a ready task as its name and the order of its classes, so that another process has the same object."""
        ready = READY_TASKS.get(self.name)
        if ready is None or sorted(ready.classes) != sorted(self.classes) or ready.in_order(self.classes) != self:
            return Task, (self.name, self.machine, self.classes, self.question, self.empty, self.words)
        return _ready_task_in_order, (self.name, self.classes)

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The tokens that strings are made of."""
        return self.machine.alphabet

    def in_order(self, classes: Sequence[str]) -> "Task":
        """Return this task with its classes in another order, such as that of a network's outputs.

        >>> BINARY.in_order(["Pos", "ZeroNeg"]).right_classes(np.array([-1, 0, 1])).tolist()
        [1, 1, 0]
        """
        listed = isinstance(classes, list | tuple) and all(isinstance(name, str) for name in classes)  # pyright: ignore[reportUnnecessaryIsInstance]
        if not listed or sorted(classes) != sorted(self.classes):
            raise BadInput(
                f"classes: {classes!r} is not a list of the classes of the task {self.name!r}, each once: "
                f"{', '.join(self.classes)}"
            )
        if list(classes) == list(self.classes):
            return self
        question, places = self.question, tuple(classes.index(name) for name in self.classes)
        if isinstance(question, ByCheck):
            question, places = question.in_order(places), tuple(range(len(places)))
        if isinstance(question, Reordered):
            question, places = question.question, tuple(places[place] for place in question.places)
        named = tuple(next(label for label in self.classes if label == name) for name in classes)
        if places == tuple(range(len(places))):
            return replace(self, classes=named, question=question)
        return replace(self, classes=named, question=Reordered(question, places))

    @property
    def answers_in_words(self) -> str:
        """What may be answered, in words."""
        return " or ".join(map(self.in_words, self.classes)) or "the count itself"

    def in_words(self, name: str) -> str:
        """Return what sentences call a class: 'not positive' for the paper's ZeroNeg."""
        return self.words.get(name, str(name))

    @property
    def is_membership(self) -> bool:
        """Whether it asks for membership in the language of its machine."""
        return set(self.classes) == set(MembershipClass)

    def with_empty(self, member: bool) -> "Task":
        """Return this task with the empty string a member, or not; every other string stays what it was.

        >>> [str(ready_task("anbn").with_empty(False).right_class(string)) for string in ("", "ab")]
        ['rejected', 'accepted']
        """
        if not self.is_membership:
            raise BadInput(
                f"empty: {self.name!r} has the classes {', '.join(self.classes)}; only membership of the empty string is a choice"
            )
        is_member = self.right_class("") == MembershipClass.ACCEPTED
        return replace(
            self, machine=self.machine if is_member == member else self.machine.with_other_start(), empty=member
        )

    @cached_property
    def indices_by_check(self) -> dict[Check, int] | None:
        """The index of the right class for every state and zero check of the machine; None where these do not decide it."""
        return indices_by_check(self.machine, self.question) if self.classes else None

    def table(self) -> dict[Check, str]:
        """Return the right class for every state and zero check of the machine, where these decide it.

        >>> [str(name) for name in ready_task("dyck1-prefix").table().values()]
        ['valid', 'incomplete', 'invalid', 'invalid']
        """
        found = self.indices_by_check
        if found is None:
            raise BadInput(f"task: {self.name!r} asks for more of the counters than which of them are zero")
        return {check: self.classes[index] for check, index in found.items()}

    @cached_property
    def is_by_sign(self) -> bool:
        """Whether the sign of the counter of bb or semidyck1 decides it; the task `count` asks for that counter itself."""
        if self._language is None:
            return False
        return not self.classes or all(
            self._index_at(count) == self._index_at((count > 0) - (count < 0)) for count in range(-_TRIED, _TRIED + 1)
        )

    def require_sign(self) -> None:
        """Refuse a task that the sign of one counter does not decide."""
        if not self.is_by_sign:
            raise BadInput(
                f"task: {self.name!r} is not decided by the sign of one count, n − m or that of semi-Dyck-1, which this needs; "
                "ts.certify(module_or_function, task=..., upto=N) runs every string up to N"
            )

    @property
    def language(self) -> BracketLanguage:
        """The bracket language of the machine, which counts a string without running the machine."""
        self.require_sign()
        assert self._language is not None
        return self._language

    @cached_property
    def _language(self) -> BracketLanguage | None:
        return next((language for machine, language in _LANGUAGES if machine == self.machine), None)

    @cached_property
    def futures(self) -> Futures:
        """What may follow a prefix in a member of the machine's language."""
        return Futures(self.machine)

    def configuration(self, string: String) -> Configuration:
        """Return where the machine stands after a string."""
        configuration = self.machine.start
        for step in self.machine.run(string):
            configuration = step.after
        return configuration

    @property
    def outputs(self) -> int:
        """How many outputs a network has that is trained on the task: one decides between two classes, or is the count."""
        return len(self.classes) if len(self.classes) > 2 else 1  # noqa: PLR2004

    def count(self, string: str) -> int:
        """Return the machine's counter after a string."""
        return self.language.count(string)

    def index_of_count(self, count: int) -> int:
        """Return the index of the right class for a count."""
        self.require_sign()
        return self._index_at(count)

    def _index_at(self, count: int) -> int:
        return self.question(self.machine, Configuration(self.machine.initial_state, (count,)))

    def name_of(self, index: Any) -> str:  # noqa: ANN401 -- a number of any kind
        """Return the name of the class with an index; where the count is asked for, the number itself.

        >>> COUNT.name_of(-2), COUNT.name_of(1.5), str(BINARY.name_of(1))
        ('-2', '3/2', 'Pos')
        """
        return self.classes[int(index)] if self.classes else str(Fraction(index))

    def right_class(self, string: String) -> str:
        """Return the class that a string should get, or the number where the count is asked for.

        >>> [str(ready_task("anbn").right_class(string)) for string in ("aabb", "abab")]
        ['accepted', 'rejected']
        """
        if self.is_by_sign:
            return self.name_of(self._index_at(self.count("".join(string))))
        return self.name_of(self.question(self.machine, self.configuration(string)))

    def label(self, string: str) -> str:
        """Return the right answer for a string, as files write it."""
        return self.right_class(string)

    def right_classes(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the index of the right class for each count, which its sign decides; or the count itself."""
        return self._by_sign[np.sign(counts) + 1] if self.classes else counts

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


_LANGUAGES = ((BB_COUNTER, BB), (SEMI_DYCK1_COUNTER, SEMI_DYCK1))

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


def _ready_task_in_order(name: str, classes: tuple[str, ...]) -> Task:
    return READY_TASKS[name].in_order(classes)
