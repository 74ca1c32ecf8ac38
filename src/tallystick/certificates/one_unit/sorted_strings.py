"""The horizon of a linear cell in real arithmetic, decided completely, by a few sorted strings per length.

**Few strings decide a length.** Let U > 0. The token that i others follow has the weight U^i > 0, so exchanging one `)` for `(`
moves h by (a − b)·U^i, in the same direction everywhere: over the strings with n opening brackets both extremes move that way
with n. And the extremes themselves are the two sorted strings. Strings of one right class are those whose n lies in one range,
so the extremes of h over the whole class are found among the sorted strings at the two ends of the range. A readout's classes
are intervals of h, so a length is right iff these few strings are: no count in between needs a look.

**All lengths at once**, in steps that grow with the logarithm of the horizon. Let N = 2k + r and x = U^k. By the closed form each
critical string has (U − 1)·h = A·x² + B·x + C, with A, B, C free of k:

    (ⁿ)ᵐ   a·U^(n+m) + (b − a)·U^m − b        )ᵐ(ⁿ   b·U^(n+m) + (a − b)·U^n − a        (a single run: B = 0)

A comparison of a readout asks for the sign of such a quadratic (`powers`). It has one turning point, and x moves one way with k,
so along k the quadratic is monotone up to some place and monotone after it: on each side a first failing k is found by doubling
and halving, and whether there is one at all follows from the first value and the limit. For U = 1 h is linear in k.

**Without a failing k the horizon is unlimited, and then U = 1 and b = −a.** For a = b all strings of a length share one
state, and the first counted length fails. Let a ≠ b and U < 1. The limits of h over (ᴹ)ʲ and )ᴹ(ʲ for
M → ∞ come as near to B = b/(1 − U) and A = a/(1 − U) as we like, with positive and with negative counts; so do those of )ᴹ
and (ᴹ the other way round. Both outer classes then hold points at both ends of the interval between A and B, and intervals
that share so much are not disjoint. Let U > 1 and a ≠ 0. Then (ʲ)ᴹ for a large j and (ᴹ go to infinity in the direction of
a, one with a negative and one with a positive count: two unbounded intervals in one direction. For a = 0 and b ≠ 0, )(ᴹ
and )ᴹ do the same in the direction of b. Let U = 1: with a + b ≠ 0 the counts 0 and 1 run off in one direction.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import LinearCell
from tallystick.certificates.one_unit.powers import Line, Quadratic
from tallystick.certificates.verdict import Failure, Lengths, Runs
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import Task
from tallystick.networks import Network, Readout
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


def sides(readout: Readout, index: int) -> list[Side]:
    """Return the comparisons that make a class of a single unit's h."""
    return [Side(form.weight[0], form.bias, form.strict) for form in readout.forms(index)]


def right_at_zero(models: Network) -> NDArray[np.bool_]:
    """Say which networks give h = 0 the class of the count 0: a comparison of biases, whose sign floats get right."""
    needed = sides(models.readout, models.task.index_of_count(0))
    return np.logical_and.reduce([side.bias > 0 if side.strict else side.bias >= 0 for side in needed])


def first_failure(model: Network, lengths: Lengths) -> Failure | None:
    """Return a shortest failing string of a linear cell with U > 0 and a binary or ternary readout, or None.

    The weights must be rationals.
    """
    best: tuple[int, CriticalString] | None = None
    for parity in range(0, 2, lengths.stride):
        for string in critical_strings(model.task, parity):
            for side in sides(model.readout, string.right):
                # No need to look for a later failure than the best one so far.
                last = None if best is None else (best[0] - 1 - parity) // 2
                k = _first_failing(model.cell, string, side, parity, last)
                if k is not None:
                    best = (2 * k + parity, string)
    return None if best is None else _failure(model, *best)


def _failure(model: Network, length: int, string: CriticalString) -> Failure:
    classes = model.task.classes
    wrong = next(
        index for index in range(len(classes)) if index != string.right and _holds(model, length, string, index)
    )
    return Failure(string.runs(length), classes[wrong], classes[string.right])


def _holds(model: Network, length: int, string: CriticalString, index: int) -> bool:
    """Say whether a string gets a class."""
    k, parity = divmod(length, 2)
    return not any(_comparison(model.cell, string, side, parity).fails(k) for side in sides(model.readout, index))


def _first_failing(cell: object, string: CriticalString, side: Side, parity: int, last: int | None) -> int | None:
    first = 1 - parity  # the lengths start at 2 and at 1
    if last is not None and last < first:
        return None
    return _comparison(cell, string, side, parity).first_failing(first, last)


def _comparison(cell: object, string: CriticalString, side: Side, parity: int) -> Quadratic | Line:
    assert isinstance(cell, LinearCell)
    a, b, U = cell.open_step, cell.close_step, cell.recurrent_weight
    w, c = Fraction(side.weight), Fraction(side.bias)
    if U == 1:
        per_step, start = _line(a, b, string, parity)
        return Line(w * per_step, w * start + c, side.strict)
    A, B, C = _quadratic(a, b, U, string, parity)
    # Divided by U − 1: its sign matters, its size does not.
    sign = 1 if U > 1 else -1
    return Quadratic(sign * w * A, sign * w * B, sign * (w * C + c * (U - 1)), U, side.strict)


def _line(a: Fraction, b: Fraction, string: CriticalString, parity: int) -> tuple[Fraction, Fraction]:
    """Return the slope and the start of h = n·a + m·b as a line in k."""
    if string.closings is None or string.openings is None:
        step = a if string.first == OPEN else b
        return 2 * step, parity * step
    return a + b, string.openings * a + string.closings * b


def _quadratic(
    a: Fraction, b: Fraction, U: Fraction, string: CriticalString, parity: int
) -> tuple[Fraction, Fraction, Fraction]:
    """Return A, B and C in (U − 1)·h = A·x² + B·x + C."""
    older, younger = (a, b) if string.first == OPEN else (b, a)
    if string.closings is None or string.openings is None:
        return older * U**parity, Fraction(0), -older
    size = string.closings if string.first == OPEN else string.openings  # of the younger run, less k
    return older * U**parity, (younger - older) * U**size, -younger
