"""The few strings that decide a whole length of a linear cell with U > 0.

The token that i others follow has the weight U^i > 0, so exchanging one `)` for `(` moves h by (a − b)·U^i, in the same
direction everywhere: over the strings with n opening brackets both extremes move that way with n. And the extremes
themselves are the two sorted strings. Strings of one right class are those whose n lies in one range, so the extremes of
h over the whole class are found among the sorted strings at the two ends of the range. A readout's classes are intervals of h,
so a length is right iff these few strings are: no count in between needs a look.
"""

from dataclasses import dataclass
from typing import NamedTuple

from tallystick.certificates.verdict import Runs
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.languages.tasks import Task
from tallystick.networks import Network, Readout
from tallystick.networks.readout import GREATEST, SIGN, ZERO
from tallystick.numbers import Number


class Side(NamedTuple):
    """One comparison of a readout: weight·h + bias must be above 0, or at least 0 where it is not strict."""

    weight: Number
    bias: Number
    strict: bool


@dataclass(frozen=True)
class CriticalString:
    """A sorted string of length N = 2k + parity with k + `openings` and k + `closings` brackets, for every k at once.

    Attributes:
        first: the token of its first run.
        openings: n − k, or None where the string has no `)` at all.
        closings: m − k, or None where it has no `(`.
        right: the index of its right class.
    """

    first: str
    openings: int | None
    closings: int | None
    right: int

    def runs(self, length: int) -> Runs:
        """Write the string of a length out, as runs."""
        half = length // 2
        if self.openings is None or self.closings is None:
            return ((self.first, length),)
        sizes = {OPEN: half + self.openings, CLOSE: half + self.closings}
        order = (OPEN, CLOSE) if self.first == OPEN else (CLOSE, OPEN)
        return tuple((token, sizes[token]) for token in order if sizes[token])


def critical_strings(task: Task, parity: int) -> list[CriticalString]:
    """Return the strings that decide every length of one parity, for a task that asks for the sign of the count.

    >>> from tallystick.languages.tasks import BINARY
    >>> [(string.first, string.openings, string.closings) for string in critical_strings(BINARY, 0)[:3]]
    [(')', None, 0), ('(', 0, 0), (')', 0, 0)]
    """
    lowest, zero, highest = (task.index_of_count(sign) for sign in (-1, 0, 1))
    # The counts nearest to zero, and zero itself where it is one of them: there a class may end and another begin.
    nearest = [(0, 1, lowest), (1, 0, highest)] if parity else [(-1, 1, lowest), (0, 0, zero), (1, -1, highest)]
    turns = [
        count
        for place, count in enumerate(nearest)
        if any(other[-1] != count[-1] for other in nearest[max(0, place - 1) : place + 2])
    ]
    found = [CriticalString(first, *count) for count in turns for first in (OPEN, CLOSE)]
    return [CriticalString(CLOSE, None, 0, lowest), *found, CriticalString(OPEN, 0, None, highest)]


def is_usual(network: Network) -> bool:
    """Say whether the theorems speak of what a network is asked for.

    A zero check is asked for the language that its kind of cell can accept, and a binary or ternary readout for the sign of
    the count n − m, with each class right for some count. Then no comparison has one sign for all counts, so that the few
    counts next to zero tell which way it moves.
    """
    task, decision = network.task, network.readout.decision
    if decision == ZERO:
        return task == network.cell.membership
    classes = {task.index_of_count(sign) for sign in (-1, 0, 1)}
    return decision in (SIGN, GREATEST) and task.machine is BB_COUNTER and len(classes) == len(task.classes)


def sides(readout: Readout, index: int) -> list[Side]:
    """Return the comparisons that make a class of a single unit's h."""
    return [Side(form.weight[0], form.bias, form.strict) for form in readout.forms(index)]
