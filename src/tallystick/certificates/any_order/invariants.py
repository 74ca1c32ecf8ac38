"""Invariants over the count: what proves that a network in floating point counts, without stepping to where it ends.

An **invariant** has one box for each count d from −E to E around the states of all strings of that count, whatever else the
strings look like, and one family of states on each side beyond: the counting numbers of the state are exactly on a line, such
as s·d, for d up to the **depth** K where such sums begin to round, and every other number stays in the box of E (or −E), as tanh
of such a memory is exactly ±1.

It is proved by a step of every box by every token, which must stay inside, and for the families by one step of numbers that count
(`counted`). Every class must be right. How it is found (`invariant_search`) does not matter for that.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.any_order.counted import Counted, counted
from tallystick.certificates.any_order.executions import Executions
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import Task
from tallystick.numbers import Number
from tallystick.numbers.any_order import Span, span_between
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import map_states, numbers_of

Doubles = NDArray[np.float64]
Slopes = tuple[Fraction | None, ...]
"""For each number of the state how much it grows with the count; None where it stays in its box."""


@dataclass(frozen=True)
class Invariant:
    """What proves that a network counts.

    Attributes:
        edge: E, the greatest count with a box of its own.
        depth: K, the greatest count to which the families go.
        low, high: the boxes, one row per number of the state and one column per count from −E to E.
        above: the slopes of the family of counts from E on.
        below: those of the family of counts up to −E.
        stops: whether a count of ±K stays what it is under the token that would raise it.
    """

    edge: int
    depth: int
    low: Doubles
    high: Doubles
    above: Slopes
    below: Slopes
    stops: bool = False

    def slopes(self, side: int) -> Slopes:
        """Return the slopes of the family above (1) or below (−1)."""
        return self.above if side > 0 else self.below

    @property
    def sets(self) -> "Invariant":
        """The same with the whole families, as boxes, at both edges."""
        low, high = self.low.copy(), self.high.copy()
        for side, column in ((1, -1), (-1, 0)):
            for place, slope in enumerate(self.slopes(side)):
                if slope is not None:
                    end = self.low[place, column] + float(slope * side * (self.depth - self.edge))
                    low[place, column] = min(low[place, column], end)
                    high[place, column] = max(high[place, column], end)
        return replace(self, low=low, high=high)


def image_of(executions: Executions, found: Invariant) -> tuple[Doubles, Doubles] | None:
    """Return the boxes around what every box leads to, and the start; None where a counting number leaves its line."""
    sets, edge = found.sets, found.edge
    counting = _counting(found)
    low, high = np.full_like(found.low, np.inf), np.full_like(found.high, -np.inf)
    start = state_numbers(executions.initial_state)
    low[:, edge], high[:, edge] = [box.low for box in start], [box.high for box in start]
    for token, side in ((OPEN, 1), (CLOSE, -1)):
        ends = _step(executions, sets, token)
        inner = slice(1, -1)
        into = slice(2, None) if side > 0 else slice(None, -2)
        for new, end, join in ((low, ends[0], np.minimum), (high, ends[1], np.maximum)):
            lines = counting[:, into]
            if not (end[:, inner] == found.low[:, into])[lines].all():
                return None
            new[:, into] = join(new[:, into], end[:, inner])
            # What a family leads to stays in it, and comes back to the box beside it.
            for column in (0, -1):
                new[:, column] = join(new[:, column], end[:, column])
            beside, column = (1, 0) if side > 0 else (-2, -1)
            new[:, beside] = join(new[:, beside], end[:, column])
    if np.isnan(low).any() or np.isnan(high).any():
        return None
    return np.where(counting, found.low, low), np.where(counting, found.high, high)


def proves(executions: Executions, found: Invariant, task: Task) -> bool:
    """Say whether boxes that no step leaves show that a network is right."""
    return _classes_are_right(executions, found, task) and _families_hold(executions, found)


def _counting(found: Invariant) -> NDArray[np.bool_]:
    """Say which numbers lie on lines, at which counts."""
    above, below = (np.array([slope is not None for slope in slopes])[:, None] for slopes in (found.above, found.below))
    counts = np.arange(-found.edge, found.edge + 1)
    return np.where(counts > 0, above, np.where(counts < 0, below, above & below))


def _classes_are_right(executions: Executions, found: Invariant, task: Task) -> bool:
    """Say whether every box and both families get the right class in every execution."""
    classes = executions.classes(_boxes(executions, found.sets))
    return bool((classes == task.right_classes(np.arange(-found.edge, found.edge + 1))).all())


def _families_hold(executions: Executions, found: Invariant) -> bool:
    """Step both families by both tokens: each counting number must move by exactly its slope."""
    reach = found.depth - found.edge
    return all(_moves(executions, found, side, shift, 0, reach - (shift > 0)) for side in (1, -1) for shift in (1, -1))


def stops_at(executions: Executions, found: Invariant, side: int) -> bool:
    """Say whether the last state of a family stays what it is."""
    return _moves(executions, found, side, 1, found.depth - found.edge, 0, stays=True)


def _moves(
    executions: Executions, found: Invariant, side: int, shift: int, first: int, last: int, *, stays: bool = False
) -> bool:
    """Step the states first to first + last of a family outward (1) or inward (−1); say whether each gets where it should."""
    column, form = -1 if side > 0 else 0, executions.form
    lines = [
        None if slope is None else (Fraction(float(low)) + first * side * slope, side * slope)
        for slope, low in zip(found.slopes(side), found.low[:, column], strict=True)
    ]
    boxes = [Box(low, high) for low, high in zip(found.low[:, column], found.high[:, column], strict=True)]
    numbers = [
        span_between(box, form) if line is None else counted(*line, last, form)
        for box, line in zip(boxes, lines, strict=True)
    ]
    token = executions.inputs[OPEN if side == shift else CLOSE]
    after = numbers_of(executions.recurrence.step(state_of(executions, numbers), token))
    for number, line, box in zip(after, lines, boxes, strict=True):
        if line is None:
            if not _is_within(number, box):
                return False
            continue
        base, slope = line
        kept = number.line if isinstance(number, Counted) else None
        if kept is None or kept[0] != (base if stays else base + shift * slope) or (last and kept[1] != slope):
            return False
    return True


def _is_within(number: Number, box: Box) -> bool:
    found = number.stored if isinstance(number, Span) else Box(float(number), float(number))
    return bool(found.low >= box.low and found.high <= box.high)


def state_numbers(state: Any) -> list[Box]:  # noqa: ANN401 -- each cell has its own kind of state
    """Return the boxes of a state one after the other."""
    return numbers_of(state)


def state_of(executions: Executions, numbers: list[Any]) -> Any:  # noqa: ANN401
    """Return a state with these numbers."""
    given = iter(numbers)

    def number(_: Box) -> Any:  # noqa: ANN401
        return next(given)

    return map_states(number, executions.initial_state)


def _boxes(executions: Executions, found: Invariant) -> Any:  # noqa: ANN401
    """Return the boxes as a state."""
    return state_of(executions, [Box(*ends) for ends in zip(found.low, found.high, strict=True)])


def _step(executions: Executions, found: Invariant, token: str) -> tuple[Doubles, Doubles]:
    """Step every box by a token."""
    after = state_numbers(executions.step(_boxes(executions, found), executions.inputs[token]))
    shape = found.low.shape[1:]
    low, high = (np.array([np.broadcast_to(box.ends[end], shape) for box in after]) for end in (0, 1))
    return low, high
