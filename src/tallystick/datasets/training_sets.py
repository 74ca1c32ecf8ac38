"""The paper's training sets: all strings of a few short lengths, smaller classes filled up with repeats, shuffled once."""

import numpy as np

from tallystick.errors import BadInput, check_whole
from tallystick.languages.brackets import BB
from tallystick.languages.tasks import Task

LONGEST_TRAINING = 14
"""All strings of a length are listed, so 2¹⁴ is where a training set stops being one."""


def training_set(task: Task, train_length: int, seed: int) -> list[str]:
    """Return the strings in the order in which every epoch reads them.

    >>> from tallystick.languages.tasks import TASKS
    >>> [len(training_set(TASKS[name], length, 0)) for name in ("binary", "ternary") for length in (2, 4, 8)]
    [6, 28, 354, 6, 24, 297]
    """
    lengths = training_lengths(train_length)
    generator = np.random.default_rng([seed, train_length, task.outputs])
    if task.outputs > 1:
        strings = _filled_at_random(task, [string for length in lengths for string in _strings(length)], generator)
    else:
        strings = [string for length in lengths for string in _filled_in_turn(task, _strings(length))]
    return [strings[place] for place in generator.permutation(len(strings))]


def training_lengths(train_length: int) -> list[int]:
    """Return the lengths that "length N" stands for: 2, 4, 8, … as far as they go, and N itself.

    >>> training_lengths(8), training_lengths(6)
    ([2, 4, 8], [2, 4, 6])
    """
    check_whole(train_length, "train_length", least=1)
    if train_length > LONGEST_TRAINING:
        raise BadInput(f"train_length: {train_length} is more than {LONGEST_TRAINING}: all 2^length strings are listed")
    doubled = [2**power for power in range(1, train_length.bit_length()) if 2**power < train_length]
    return [*doubled, train_length]


def _strings(length: int) -> list[str]:
    return [*BB.members(length), *BB.non_members(length)]


def _filled_in_turn(task: Task, strings: list[str]) -> list[str]:
    """Repeat the positive strings in turn until they are as many as the others (the binary task, length by length)."""
    positive = [string for string in strings if task.index_of_count(task.count(string)) > 0]
    others = [string for string in strings if task.index_of_count(task.count(string)) <= 0]
    smaller, larger = (positive, others) if len(positive) <= len(others) else (others, positive)
    filled = [smaller[place % len(smaller)] for place in range(len(larger))]
    return others + filled if smaller is positive else filled + positive


def _filled_at_random(task: Task, strings: list[str], generator: np.random.Generator) -> list[str]:
    """Add random repeats until the three classes are equal (the ternary task, over the merged set)."""
    classes = [[string for string in strings if task.right_class(string) == name] for name in task.classes]
    if not all(classes):
        raise BadInput("train_length: 1 has no string of the class Zero; the ternary task needs 2 or more")
    size = max(map(len, classes))
    return [
        string
        for members in classes
        for string in [
            *members,
            *(members[place] for place in generator.integers(len(members), size=size - len(members))),
        ]
    ]
