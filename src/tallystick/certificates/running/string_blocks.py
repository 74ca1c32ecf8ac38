"""All strings of a length in blocks, and the classes that are right for them, as arrays.

A string is a row of token numbers, the places of its tokens in the alphabet. A **block** holds all strings of a length that begin
with the same tokens. The right classes follow from the machine's configurations: strings are many, and the configurations that
they lead to are few, so each configuration gets a number, and its successors are found once.
"""

from collections.abc import Iterator
from itertools import product
from typing import cast

import numpy as np
from numpy.typing import NDArray

from tallystick.languages.counter_machine import Configuration
from tallystick.languages.machine_text import has_long_names, string_text
from tallystick.languages.tasks import Task

Rows = NDArray[np.intp]
"""Strings of one length, one row of token numbers each."""

_UNKNOWN = -1


def strings_of(rows: Rows, alphabet: tuple[str, ...]) -> list[str]:
    """Write rows out as strings; spaces separate tokens where one has a longer name.

    >>> strings_of(np.array([[0, 1], [1, 1]]), ("(", ")")), strings_of(np.array([[0, 1]]), ("push", "pop"))
    (['()', '))'], ['push pop'])
    """
    if has_long_names(alphabet):
        listed = cast("list[list[int]]", rows.tolist())
        return [string_text(tuple(alphabet[token] for token in row), alphabet) for row in listed]
    tokens = np.array(alphabet)[rows]
    return np.ascontiguousarray(tokens).view(f"<U{rows.shape[1]}").ravel().tolist()


def all_rows(tokens: int, length: int) -> Rows:
    """Return all strings of a length, in order."""
    rows = np.empty((tokens**length, length), np.intp)
    for place in range(length):
        rows[:, place] = np.arange(tokens**length) // tokens ** (length - 1 - place) % tokens
    return rows


def suffix_length(tokens: int, length: int, most: int) -> int:
    """Return how many last tokens vary within a block of at most so many strings."""
    varied = 0
    while varied < length and tokens ** (varied + 1) <= most:
        varied += 1
    return varied


def blocks(tokens: int, length: int, most: int) -> Iterator[Rows]:
    """Go through all strings of a length in order, in blocks of one size, at most so many strings each.

    >>> [block.tolist() for block in blocks(2, 2, most=2)]
    [[[0, 0], [0, 1]], [[1, 0], [1, 1]]]
    """
    varied = suffix_length(tokens, length, most)
    suffixes = all_rows(tokens, varied)
    for prefix in product(range(tokens), repeat=length - varied):
        block = np.empty((len(suffixes), length), np.intp)
        block[:, : length - varied] = prefix
        block[:, length - varied :] = suffixes
        yield block


class RightClasses:
    """The right classes of many strings at once.

    >>> from tallystick.languages.tasks import BINARY
    >>> RightClasses(BINARY).of_rows(np.array([[0, 1, 0], [0, 1, 1]])).tolist()
    [1, 0]
    """

    def __init__(self, task: Task) -> None:
        self._task, self._alphabet = task, task.machine.alphabet
        self._numbers: dict[Configuration, int] = {}
        self._configurations: list[Configuration] = []
        self._successors = np.full((64, len(self._alphabet)), _UNKNOWN)
        self._classes = np.zeros(64, np.intp)
        self._number(task.machine.start)

    def of_rows(self, rows: Rows) -> NDArray[np.intp]:
        """Return the index of the right class of each string."""
        return self.classes_of(self.configurations(rows))

    def classes_of(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the index of the right class of each configuration, by its number."""
        return self._classes[places]

    def configurations(self, rows: Rows) -> NDArray[np.intp]:
        """Return the number of the configuration that each string leads to."""
        shared = self._shared_tokens(rows)
        places = np.zeros(1, np.intp)
        for column in range(shared):
            places = self.after(places, rows[:1, column])
        places = np.repeat(places, len(rows))
        for column in range(shared, rows.shape[1]):
            places = self.after(places, rows[:, column])
        return places

    @staticmethod
    def _shared_tokens(rows: Rows) -> int:
        """Return how many first tokens all strings share, which is quickly seen where they are in order."""
        differs = rows[0] != rows[-1]
        first = int(differs.argmax()) if differs.any() else rows.shape[1]
        return first if bool((rows[:, :first] == rows[0, :first]).all()) else 0

    def after(self, places: NDArray[np.intp], tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the numbers of the configurations that follow, one token later."""
        found = self._successors[places, tokens]
        if (found == _UNKNOWN).any():
            for place in np.unique(places[found == _UNKNOWN]).tolist():
                self._add_successors(place)
            found = self._successors[places, tokens]
        return found

    def _add_successors(self, place: int) -> None:
        machine, configuration = self._task.machine, self._configurations[place]
        for token, name in enumerate(self._alphabet):
            number = self._number(machine.step(configuration, name).after)  # which may lengthen the table
            self._successors[place, token] = number

    def _number(self, configuration: Configuration) -> int:
        if configuration in self._numbers:
            return self._numbers[configuration]
        number = self._numbers[configuration] = len(self._configurations)
        self._configurations.append(configuration)
        if number == len(self._classes):
            self._successors = np.vstack([self._successors, np.full_like(self._successors, _UNKNOWN)])
            self._classes = np.concatenate([self._classes, np.zeros_like(self._classes)])
        self._classes[number] = self._task.question(self._task.machine, configuration)
        return number
