"""The tasks: which class, or which number, a network is to give for a string."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from jaxtyping import Float, Int

from tallystick.errors import BadInput
from tallystick.languages.brackets import BinaryClass, TernaryClass, binary_class, bracket_difference, ternary_class


@dataclass(frozen=True)
class Task:
    """What is asked of a network.

    Attributes:
        name: the word for it in commands and files.
        classes: the labels, in the order of the outputs' classes; None where the count itself is asked for.
        outputs: how many outputs the readout has.
    """

    name: str
    classes: type[StrEnum] | None
    outputs: int

    def label(self, string: str) -> str:
        """Return the right answer for a string, as files write it."""
        count = bracket_difference(string)
        if self.classes is BinaryClass:
            return binary_class(count)
        return ternary_class(count) if self.classes is TernaryClass else str(count)

    def targets(self, strings: list[str]) -> Float[np.ndarray, "string output"]:
        """Return what each output should be: 0 or 1 for a class, the count itself for the count task."""
        return self.targets_of_counts(np.array([bracket_difference(string) for string in strings]))

    def targets_of_counts(self, counts: Int[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape output"]:
        """Return the same for strings of which only the counts are at hand, in an array of any shape."""
        if self.classes is BinaryClass:
            outputs = [counts > 0]
        elif self.classes is TernaryClass:
            outputs = [counts < 0, counts == 0, counts > 0]
        else:
            outputs = [counts]
        return np.stack(outputs, axis=-1).astype(np.float64)


BINARY = Task("binary", BinaryClass, 1)
TERNARY = Task("ternary", TernaryClass, 3)
COUNT = Task("count", None, 1)
TASKS: dict[str, Task] = {task.name: task for task in (BINARY, TERNARY, COUNT)}


def task_named(name: str) -> Task:
    """Return the task of that name."""
    if not isinstance(name, str) or name not in TASKS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"task: {name!r} is not one of {', '.join(TASKS)}")
    return TASKS[name]
