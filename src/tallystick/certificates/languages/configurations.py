"""The configurations of a counter machine as whole numbers, so that arrays of strings are followed side by side."""

import numpy as np
from numpy.typing import NDArray

from tallystick.languages.counter_machine import Configuration
from tallystick.languages.tasks import Task

Numbers = NDArray[np.int64]

_OPEN = -1
"""In the place of a number: what follows has not been asked for yet."""


class Configurations:
    """Numbers for the configurations of a task's machine, given out as they are met; the start is 0.

    >>> from tallystick.languages.tasks import ready_task
    >>> met = Configurations(ready_task("anbn"))
    >>> after = met.after(np.array([0]))
    >>> met.right_classes(after).tolist(), met.after(after[:, 0]).tolist()
    ([[0, 0]], [[3, 4]])
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._met = [task.machine.start]
        self._numbers: dict[Configuration, int] = {task.machine.start: 0}
        self._after = np.full((1, len(task.alphabet)), _OPEN, np.int64)
        self._right = np.array([self._right_class(task.machine.start)], np.int64)

    def after(self, numbers: Numbers) -> Numbers:
        """Return where each token leads from each configuration, tokens along a new last axis."""
        found = self._after[numbers]
        if numbers.size and found.min() == _OPEN:
            self._look_further(np.unique(numbers[found[..., 0] == _OPEN]))
            found = self._after[numbers]
        return found

    def right_classes(self, numbers: Numbers) -> Numbers:
        """Return the index of the right class at each configuration."""
        return self._right[numbers]

    def _look_further(self, numbers: Numbers) -> None:
        rows = [self._numbers_after(self._met[int(number)]) for number in numbers]
        new = len(self._met) - len(self._after)
        self._after = np.concatenate([self._after, np.full((new, self._after.shape[1]), _OPEN, np.int64)])
        self._after[numbers] = rows
        right = [self._right_class(one) for one in self._met[len(self._right) :]]
        self._right = np.concatenate([self._right, np.array(right, np.int64)])

    def _numbers_after(self, configuration: Configuration) -> list[int]:
        machine = self._task.machine
        numbers: list[int] = []
        for token in machine.alphabet:
            after = machine.step(configuration, token).after
            if after not in self._numbers:
                self._numbers[after] = len(self._met)
                self._met.append(after)
            numbers.append(self._numbers[after])
        return numbers

    def _right_class(self, configuration: Configuration) -> int:
        return self._task.question(self._task.machine, configuration)
