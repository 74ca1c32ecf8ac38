"""Other declarations of a network or a program, and how far its answers would be right under them.

What was run once on all strings up to a small length is enough to tell: with tokens in another order a string gets the answer of
the string that it is then read as, and with classes in another order another name for it.
"""

from collections.abc import Iterator, Mapping
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.running.string_blocks import RightClasses, all_rows
from tallystick.languages.tasks import READY_TASKS, Task

Answers = Mapping[int, NDArray[np.intp]]
"""By length, the index of the class that each string of that length gets, in the order of the tokens."""

_TWO = 2


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
    orders = product(permutations(range(size)), permutations(range(len(task.alphabet))))
    for classes, tokens in sorted(orders, key=lambda order: sum(map(_is_changed, order))):
        for other in (task, *(one for one in asked if one.name != task.name)):
            found = Variant(tokens, classes, other)
            if found.changes(task):
                yield found


def _is_changed(order: tuple[int, ...]) -> bool:
    return order != tuple(range(len(order)))
