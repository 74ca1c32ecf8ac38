"""The tasks: which class, or which number, a network is to give for a string."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from jaxtyping import Float

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
        counts = np.array([bracket_difference(string) for string in strings], dtype=np.float64)
        if self.classes is BinaryClass:
            return (counts > 0)[:, None].astype(np.float64)
        if self.classes is TernaryClass:
            return np.stack([counts < 0, counts == 0, counts > 0], axis=1).astype(np.float64)
        return counts[:, None]


BINARY = Task("binary", BinaryClass, 1)
TERNARY = Task("ternary", TernaryClass, 3)
COUNT = Task("count", None, 1)
TASKS: dict[str, Task] = {task.name: task for task in (BINARY, TERNARY, COUNT)}


def task_named(name: str) -> Task:
    """Return the task of that name."""
    if not isinstance(name, str) or name not in TASKS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"task: {name!r} is not one of {', '.join(TASKS)}")
    return TASKS[name]
