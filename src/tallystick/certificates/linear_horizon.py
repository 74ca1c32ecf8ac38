"""The horizon of a linear cell in real arithmetic, decided completely, in steps that grow with its logarithm.

Let N = 2k + r and x = U^k. By the closed form each critical string has (U − 1)·h = A·x² + B·x + C, with A, B, C free of k:

    (ⁿ)ᵐ   a·U^(n+m) + (b − a)·U^m − b        )ᵐ(ⁿ   b·U^(n+m) + (a − b)·U^n − a        (a single run: B = 0)

A comparison of a readout asks for the sign of such a quadratic. It has one turning point, and x moves one way with k, so
along k the quadratic is monotone up to some place and monotone after it: on each side a first failing k is found by doubling
and halving, and whether there is one at all follows from the first value and the limit. For U = 1 h is linear in k.

**Without a failing k the horizon is unlimited, and then U = 1 and b = −a.** For a = b all strings of a length share one
state, and the first counted length fails. Let a ≠ b and U < 1. The limits of h over (ᴹ)ʲ and )ᴹ(ʲ for
M → ∞ come as near to B = b/(1 − U) and A = a/(1 − U) as we like, with positive and with negative counts; so do those of )ᴹ
and (ᴹ the other way round. Both outer classes then hold points at both ends of the interval between A and B, and intervals
that share so much are not disjoint. Let U > 1 and a ≠ 0. Then (ʲ)ᴹ for a large j and (ᴹ go to infinity in the direction of
a, one with a negative and one with a positive count: two unbounded intervals in one direction. For a = 0 and b ≠ 0, )(ᴹ
and )ᴹ do the same in the direction of b. Let U = 1: with a + b ≠ 0 the counts 0 and 1 run off in one direction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from tallystick.cells import LinearCell
from tallystick.certificates.critical_strings import CriticalString, Side, critical_strings, sides
from tallystick.certificates.powers import sign_at_power
from tallystick.certificates.verdict import Failure, Lengths
from tallystick.languages.brackets import OPEN
from tallystick.networks import Network


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


def _comparison(cell: object, string: CriticalString, side: Side, parity: int) -> "Quadratic | Line":
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
    """H = n·a + m·b as a line in k."""
    if string.closings is None or string.openings is None:
        step = a if string.first == OPEN else b
        return 2 * step, parity * step
    return a + b, string.openings * a + string.closings * b


def _quadratic(
    a: Fraction, b: Fraction, U: Fraction, string: CriticalString, parity: int
) -> tuple[Fraction, Fraction, Fraction]:
    """A, B, C in (U − 1)·h = A·x² + B·x + C."""
    older, younger = (a, b) if string.first == OPEN else (b, a)
    if string.closings is None or string.openings is None:
        return older * U**parity, Fraction(0), -older
    size = string.closings if string.first == OPEN else string.openings  # of the younger run, less k
    return older * U**parity, (younger - older) * U**size, -younger


@dataclass(frozen=True)
class Line:
    """The claim α·k + β > 0, or ≥ 0 where it is not strict."""

    slope: Fraction
    start: Fraction
    strict: bool

    def fails(self, k: int) -> bool:
        """Say whether the claim fails at k."""
        value = self.slope * k + self.start
        return value < 0 or (self.strict and value == 0)

    def first_failing(self, first: int, last: int | None) -> int | None:
        """Return the least k from `first` to `last` at which the claim fails."""
        if self.fails(first):
            return first
        if self.slope >= 0:
            return None
        root = self.start / -self.slope
        k = ceil(root) if self.strict else floor(root) + 1
        return k if last is None or k <= last else None


@dataclass(frozen=True)
class Quadratic:
    """The claim A·x² + B·x + C > 0 at x = U^k, or ≥ 0 where it is not strict; U > 0 and U ≠ 1."""

    A: Fraction
    B: Fraction
    C: Fraction
    U: Fraction
    strict: bool

    def fails(self, k: int) -> bool:
        """Say whether the claim fails at k."""
        sign = sign_at_power((self.C, self.B, self.A), self.U, k)
        return sign < 0 or (self.strict and sign == 0)

    def first_failing(self, first: int, last: int | None) -> int | None:
        """Return the least k from `first` to `last` at which the claim fails.

        On a stretch where the quadratic is monotone along k, either the claim fails at the start, or it fails from
        some k on, or nowhere.
        """
        if self.fails(first):
            return first
        turn = self._turning_point(first)
        if turn is not None and (last is None or turn < last):
            early = self._on_stretch(first, turn)
            return self._on_stretch(turn + 1, last) if early is None else early
        return self._on_stretch(first, last)

    def _on_stretch(self, first: int, last: int | None) -> int | None:
        if self.fails(first):
            return first
        if last is None:
            return _first_true(self.fails, first) if self._fails_in_the_end() else None
        return _halved(self.fails, first, last) if self.fails(last) else None

    def _turning_point(self, first: int) -> int | None:
        """Return the last k with x on the first side of the turning point −B/2A, if x ever passes it."""
        if self.A == 0:
            return None
        place = -self.B / (2 * self.A)
        towards = 1 if self.U > 1 else -1  # x rises to infinity, or falls to 0

        def passed(k: int) -> bool:
            return sign_at_power((-place, Fraction(1)), self.U, k) == towards

        if place <= 0 or passed(first):
            return None
        return _first_true(passed, first) - 1

    def _fails_in_the_end(self) -> bool:
        """Say whether the claim fails as k → ∞, given that it holds at the start of a monotone stretch without end.

        For U < 1 the values tend to C from one side: a limit of 0 is never passed. For U > 1 the highest power decides.
        """
        if self.U < 1:
            return self.C < 0
        return next((power < 0 for power in (self.A, self.B) if power), False)


def _first_true(holds: Callable[[int], bool], first: int) -> int:
    """Return the least k from which a claim holds: it does not at `first`, it will, and then it stays."""
    reach = 1
    while not holds(first + reach):
        reach *= 2
    return _halved(holds, first + reach // 2, first + reach)


def _halved(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least k at which a claim holds, between one where it does not and one where it does."""
    while high - low > 1:
        middle = _roundest(low, high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _roundest(low: int, high: int) -> int:
    """Return the number between two that ends in the most binary zeros: its power takes one product more than one before it.

    >>> _roundest(low=5, high=13), _roundest(low=8, high=13)
    (8, 12)
    """
    place = (low ^ (high - 1)).bit_length() - 1
    return (high - 1) >> place << place
