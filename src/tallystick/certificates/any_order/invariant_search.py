"""The search for an invariant that proves a network to count (`invariants`).

A guess comes first: the counting numbers and their slopes are read off the first two tokens. The boxes around the others grow
until a step of every box by every token stays inside, at first by what steps give, later up to fixed marks, so that they come to
rest.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.any_order.invariants import (
    Doubles,
    Invariant,
    Slopes,
    image_of,
    is_closed,
    proves,
    state_numbers,
    stops_at,
)
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import Task
from tallystick.numbers.any_order import SATURATED
from tallystick.numbers.boxes import Box
from tallystick.numbers.operations import to_format

_FURTHEST_EDGE = 64
_ROUNDS, _PLAIN_ROUNDS = 40, 6
"""How often boxes may grow, and how often by no more than a step gives."""

_SPARE = 64
"""How many units in the last place boxes are made wider in the end, so that others can check them with bounds of their own."""


def invariant_of(executions: Executions, task: Task) -> Invariant | None:
    """Find an invariant that proves a network to be right to a depth; None where none is found."""
    guess = _guess(executions)
    found = None if guess is None else _closure(executions, guess)
    if found is None:
        return None
    wider = _widen_a_little(found, executions)
    for one in (wider, found):
        if (one is found or is_closed(executions, one)) and proves(executions, one, task):
            return replace(one, stops=all(stops_at(executions, one, side) for side in (1, -1)))
    return None


def _guess(executions: Executions) -> Invariant | None:
    """Read slopes off the first two tokens, and put states on the lines through them."""
    form, start = executions.form, state_numbers(executions.initial_state)
    after: dict[int, tuple[list[Box], Slopes]] = {}
    for side, token in ((1, OPEN), (-1, CLOSE)):
        one = executions.step(executions.initial_state, executions.inputs[token])
        if not any(box.low == box.high != 0 for box in state_numbers(one)):
            return None
        two = executions.step(one, executions.inputs[token])
        slopes = tuple(_slope(x, y, side) for x, y in zip(state_numbers(one), state_numbers(two), strict=True))
        if not any(slopes):
            return None
        after[side] = state_numbers(one), slopes
    least = min(abs(slope) for _, slopes in after.values() for slope in slopes if slope)
    edge = min(ceil(Fraction(SATURATED[form.name][0]) / least) + 2, _FURTHEST_EDGE)
    low, high = (np.empty((len(start), 2 * edge + 1)) for _ in range(2))
    depth = None
    for place, box in enumerate(start):
        low[place, edge], high[place, edge] = box.ends
        for side, (one, slopes) in after.items():
            slope, columns = slopes[place], edge + side * np.arange(1, edge + 1)
            along = float(slope * side) * np.arange(edge) if slope else 0.0
            low[place, columns], high[place, columns] = one[place].low + along, one[place].high + along
            if slope:
                far = Fraction(float(low[place, columns[-1]]))
                steps = edge + form.exact_steps(slope, far)
                depth = steps if depth is None else min(depth, steps)
    if depth is None or depth <= edge:
        return None
    return Invariant(edge, depth, low, high, after[1][1], after[-1][1])


def _slope(one: Box, two: Box, side: int) -> Fraction | None:
    """Return how much a number grows with the count, between its values after one and two tokens; None where it is no counter."""
    if not (one.low == one.high and two.low == two.high) or one.low == two.low:
        return None
    return side * (Fraction(float(two.low)) - Fraction(float(one.low)))


def _closure(executions: Executions, guess: Invariant) -> Invariant | None:
    """Let boxes grow until a step of each stays inside; None where the counting numbers leave their lines, or nothing settles."""
    found = guess
    for growth in range(-2, _ROUNDS):
        image = image_of(executions, found)
        if image is None:
            return None
        low, high = image
        # Twice the guess is replaced by what it leads to: the states of short strings at great counts are no part of it.
        if growth < 0:
            found = replace(found, low=low, high=high)
            continue
        if (low >= found.low).all() and (high <= found.high).all():
            return found
        marks = _marks(executions) if growth >= _PLAIN_ROUNDS else None
        found = _grow(found, low, high, marks)
    return None


def _grow(found: Invariant, low: Doubles, high: Doubles, marks: Doubles | None) -> Invariant:
    """Take in what a step gives; with marks, as far as the next of them."""
    less, more = low < found.low, high > found.high
    if marks is not None:
        low = np.minimum(low, marks[np.maximum(np.searchsorted(marks, low, "right") - 1, 0)])
        high = np.maximum(high, marks[np.minimum(np.searchsorted(marks, high, "left"), len(marks) - 1)])
    return replace(found, low=np.where(less, low, found.low), high=np.where(more, high, found.high))


def _marks(executions: Executions) -> Doubles:
    """Return where growing boxes may come to rest: at ±1, where tanh ends, and where adding to a number no longer changes it."""
    powers = 2.0 ** np.array([-2, -1, 0, 3, 7, executions.form.digits + 2])
    return np.concatenate([-powers[::-1], [0.0], powers])


def _widen_a_little(found: Invariant, executions: Executions) -> Invariant:
    """Make every box wider that is not a single number."""
    spare = _SPARE * 2 * float(executions.form.unit) * np.maximum(np.abs(found.low), np.abs(found.high))
    spare = np.where(found.low < found.high, spare, 0)
    return replace(
        found, low=to_format(found.low - spare, executions.form), high=to_format(found.high + spare, executions.form)
    )
