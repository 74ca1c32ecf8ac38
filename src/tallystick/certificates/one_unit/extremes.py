"""The least and greatest h over all strings with given numbers of brackets, exactly.

A string with n opening and m closing brackets ends in `(` after one with n − 1 and m, or in `)` after one with n and
m − 1. Each token's map is monotone in h, rising or falling, so it takes the least and greatest of a set to the ends of
the image: apply it to both ends and keep the outermost. The ends are attained, so this is no bound but the answer.
Rounding is monotone too, so the same recursion run in floating point, by the cell's own step, gives the extremes of the
network as executed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import ONE_HOT, LinearCell, ScalarCell
from tallystick.certificates.one_unit.executions import Enclosed
from tallystick.errors import BadInput, check_whole
from tallystick.languages.brackets import CLOSE, OPEN, SEMI_DYCK1
from tallystick.languages.tasks import Task
from tallystick.numbers import Number, exact

_FLOATING = "fV"
"""The letters of NumPy's floats and of bfloat16, which NumPy does not count among its own."""

States = NDArray[Any]
"""One state per group of strings: floats, or whole numbers and rationals as objects."""


@dataclass(frozen=True)
class Ends:
    """The least and greatest h of each group of strings of one length."""

    least: States
    greatest: States

    @property
    def both(self) -> tuple[States, States]:
        """The two ends."""
        return self.least, self.greatest

    def after(self, cell: ScalarCell | Enclosed, token: str) -> "Ends":
        """Return the ends of the image under one more token: a falling map exchanges them."""
        if isinstance(cell, Enclosed):
            return Ends(*cell.image(*self.both, ONE_HOT[token]))
        if self.least is self.greatest:  # single states
            image = cell.step(self.least, ONE_HOT[token])
            return Ends(image, image)
        images = [cell.step(end, ONE_HOT[token]) for end in self.both]
        return Ends(np.minimum(*images), np.maximum(*images))

    def of(self, groups: slice) -> "Ends":
        """Return the ends of some of the groups."""
        return Ends(self.least[groups], self.greatest[groups])

    def union(self, other: "Ends") -> "Ends":
        """Return the ends of each group's union with the other's."""
        return Ends(np.minimum(self.least, other.least), np.maximum(self.greatest, other.greatest))

    @staticmethod
    def join(*parts: "Ends") -> "Ends":
        """Return the groups of the parts, one part after the other."""
        return Ends(np.concatenate([part.least for part in parts]), np.concatenate([part.greatest for part in parts]))


class Grouping(ABC):
    """How the strings of one length fall into groups that have one right class each; the groups are 0 … length."""

    @abstractmethod
    def advance(self, ends: Ends, cell: ScalarCell | Enclosed) -> Ends:
        """Return the ends of every group of strings one token longer."""

    @abstractmethod
    def sources(self, group: int) -> list[tuple[str, int]]:
        """Return the last token and the group before it, for every way into a group."""

    @abstractmethod
    def target(self, group: int, token: str) -> int:
        """Return the group that a string comes to with one more token."""

    @abstractmethod
    def right_classes(self, task: Task, length: int) -> NDArray[np.int64]:
        """Return the index of the class that the strings of each group should get."""


@final
class ByOpenings(Grouping):
    """Group n holds the strings with n opening brackets, whose count is n − m = 2n − N."""

    def advance(self, ends: Ends, cell: ScalarCell | Enclosed) -> Ends:
        """Group n is reached by `(` from n − 1 and by `)` from n."""
        opened, closed = (ends.after(cell, token) for token in (OPEN, CLOSE))
        both = opened.of(slice(None, -1)).union(closed.of(slice(1, None)))
        return Ends.join(closed.of(slice(None, 1)), both, opened.of(slice(-1, None)))

    def sources(self, group: int) -> list[tuple[str, int]]:
        """Return the two ways into a group."""
        return [(OPEN, group - 1), (CLOSE, group)]

    def target(self, group: int, token: str) -> int:
        """Count the opening brackets."""
        return group + (token == OPEN)

    def right_classes(self, task: Task, length: int) -> NDArray[np.int64]:
        """Return the class of the count n − m."""
        return task.right_classes(2 * np.arange(length + 1) - length)


@final
class ByRunningCount(Grouping):
    """Group κ holds the strings whose count, never below zero, ends at κ: what semi-Dyck-1 asks about.

    κ does not follow from n and m, so the extremes are kept for each κ instead; the recursion is the same.
    """

    def advance(self, ends: Ends, cell: ScalarCell | Enclosed) -> Ends:
        """Group κ is reached by `(` from κ − 1 and by `)` from κ + 1; group 0 by `)` from 0 and 1."""
        opened, closed = (ends.after(cell, token) for token in (OPEN, CLOSE))
        low = closed.of(slice(0, 1))
        if len(ends.least) == 1:
            return Ends.join(low, opened)
        both = opened.of(slice(None, -2)).union(closed.of(slice(2, None)))
        return Ends.join(low.union(closed.of(slice(1, 2))), both, opened.of(slice(-2, None)))

    def sources(self, group: int) -> list[tuple[str, int]]:
        """Return the ways into a group."""
        return [(OPEN, group - 1), (CLOSE, group + 1), *([(CLOSE, 0)] if group == 0 else [])]

    def target(self, group: int, token: str) -> int:
        """Count as semi-Dyck-1 does."""
        return SEMI_DYCK1.step(group, token)

    def right_classes(self, task: Task, length: int) -> NDArray[np.int64]:
        """Return the class of the count κ."""
        return task.right_classes(np.arange(length + 1))


def rows(cell: ScalarCell, longest: int) -> Iterator[Ends]:
    """Go through the extremes by number of opening brackets, for each length from 0 to the longest.

    >>> [row.greatest.tolist() for row in rows(LinearCell(1, -1, 2), 2)]
    [[0], [-1, 1], [-3, 1, 3]]
    """
    check_whole(longest, "length", least=0)
    ends = first_row(cell)
    yield ends
    for _ in range(longest):
        ends = ByOpenings().advance(ends, cell)
        yield ends


def extremes(cell: ScalarCell, openings: int, closings: int) -> tuple[Number, Number]:
    """Return the least and greatest h over all strings with these numbers of brackets, in the cell's own arithmetic.

    >>> extremes(LinearCell(1, -1, Fraction(1, 2)), openings=1, closings=1)
    (Fraction(-1, 2), Fraction(1, 2))
    """
    check_whole(openings, "openings", least=0)
    check_whole(closings, "closings", least=0)
    *_, last = rows(cell, openings + closings)
    return last.least[openings], last.greatest[openings]


def first_row(cell: ScalarCell) -> Ends:
    """Return the empty string's state, h₀ = 0, in the kind of number that the cell's weights have."""
    kind = np.asarray(cell.open_step).dtype
    state = np.zeros(1, kind if kind.kind in _FLOATING else object)
    return Ends(state, state)


def closed_form(cell: LinearCell, openings: int, closings: int) -> tuple[Fraction, Fraction]:
    """Return the same extremes of a linear cell without the recursion: h = b·S_N + (a − b)·Σ U^i over the `(`.

    The token that i others follow has the weight U^i. The sum is greatest with `(` on the n greatest weights and least
    with `(` on the n least ones. For U > 0 the weights are sorted along the string, so the extremes are the sorted
    strings (ⁿ)ᵐ and )ᵐ(ⁿ; U = 0 and U < 0 only need the sorting.

    >>> closed_form(LinearCell(1, -1, 2), openings=1, closings=1)
    (Fraction(-1, 1), Fraction(1, 1))
    """
    check_whole(openings, "openings", least=0)
    check_whole(closings, "closings", least=0)
    if not isinstance(cell, LinearCell):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"cell: no closed form is known for a {type(cell).__name__}")
    cell = cell.map_weights(exact)
    a, b, U = cell.open_step, cell.close_step, cell.recurrent_weight
    weights = sorted(U**i for i in range(openings + closings))
    picked = [sum(weights[:openings]), sum(weights[closings:])]
    ends = [b * sum(weights) + (a - b) * part for part in picked]
    return min(ends), max(ends)
