"""The search for an invariant that proves a network to count (`invariants`).

A guess comes first: the counting numbers and their slopes are read off the first three tokens. The boxes around the others grow
until a step of every box by every token stays inside, at first by what steps give, later up to fixed marks, so that they come to
rest.
"""

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.any_order.invariants import (
    Doubles,
    Invariant,
    image_of,
    proves,
    state_numbers,
    state_of,
    stops_at,
)
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.languages.tasks import Task
from tallystick.numbers.any_order import SATURATED
from tallystick.numbers.arithmetics import to_format
from tallystick.numbers.boxes import Box
from tallystick.numbers.floats import FloatFormat

_FURTHEST_EDGE = 64
_ROUNDS, _PLAIN_ROUNDS = 40, 6
"""How often boxes may grow, and how often by no more than a step gives."""

_SPARE = 8
"""How many units in the last place boxes are made wider, so that others can check them with bounds of their own."""


def invariant_of(executions: Executions, task: Task) -> Invariant | None:
    """Find an invariant that proves a network to be right to a depth; None where none is found."""
    guess = _guess(executions)
    found = None if guess is None else _closure(executions, guess)
    if found is None or not proves(executions, found, task):
        return None
    return replace(found, stops=all(stops_at(executions, found, side) for side in (1, -1)))


class _Line(NamedTuple):
    """How a number of the state moves on one side of zero.

    Attributes:
        one: what it is after one token.
        step: how far it moves with each of the next two; None where that is 0, differs or is not known exactly.
        comes_back: whether the other token brings it back to the start.
    """

    one: Box
    step: Fraction | None
    comes_back: bool


def _guess(executions: Executions) -> Invariant | None:
    """Read lines off the first three tokens, and put states on them; None where nothing counts."""
    lines = _lines(executions)
    if lines is None:
        return None
    above, below = lines
    counts = [x.comes_back and y.comes_back for x, y in zip(above, below, strict=True)]
    steps = [
        [line.step if is_one else None for line, is_one in zip(side, counts, strict=True)] for side in (above, below)
    ]
    if not all(any(side) for side in steps):
        return None
    form, start = executions.form.state, state_numbers(executions.initial_state)
    least = min(abs(step) for side in steps for step in side if step)
    edge = min(ceil(Fraction(SATURATED[executions.form.name][0]) / least) + 2, _FURTHEST_EDGE)
    low, high = (np.empty((len(start), 2 * edge + 1)) for _ in range(2))
    for place, box in enumerate(start):
        low[place, edge], high[place, edge] = box.ends
        for sign, side, moves in ((1, above, steps[0]), (-1, below, steps[1])):
            columns, along = edge + sign * np.arange(1, edge + 1), float(moves[place] or 0) * np.arange(edge)
            low[place, columns], high[place, columns] = side[place].one.low + along, side[place].one.high + along
        ways = [line.step > 0 for line in (above[place], below[place]) if line.step is not None and not counts[place]]
        if ways:  # it counts something else, such as the length, and may go as far as it can
            far = _furthest(form)
            low[place], high[place] = box.low if all(ways) else -far, far if any(ways) else box.high
    depths = [
        edge + form.exact_steps(step, Fraction(float(low[place, column])))
        for column, moves in ((-1, steps[0]), (0, steps[1]))
        for place, step in enumerate(moves)
        if step
    ]
    slopes = tuple(steps[0]), tuple(None if step is None else -step for step in steps[1])
    return Invariant(edge, min(depths), low, high, *slopes) if min(depths) > edge else None


def _lines(executions: Executions) -> tuple[list[_Line], list[_Line]] | None:
    """Return how each number moves above and below zero; None where no number is known exactly and not zero."""
    start, tokens = executions.initial_state, [executions.inputs[token] for token in (OPEN, CLOSE)]
    ones: list[list[Box]] = []
    for token in tokens:
        ones.append(state_numbers(executions.step(start, token)))
        if not any(_is_point(box) and box.low != 0 for box in ones[-1]):
            return None
    after = [state_numbers(executions.step(_both(executions, ones), token)) for token in tokens]
    twos = [[_at(box, side) for box in after[side]] for side in (0, 1)]
    threes = [state_numbers(executions.step(_both(executions, twos), token)) for token in tokens]
    sides = [
        [
            _Line(x, _step(x, y, _at(z, side)), bool(_at(back, side).low == _at(back, side).high == w.low))
            for w, x, y, z, back in zip(
                state_numbers(start), ones[side], twos[side], threes[side], after[1 - side], strict=True
            )
        ]
        for side in (0, 1)
    ]
    return sides[0], sides[1]


def _both(executions: Executions, sides: list[list[Box]]) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    """Return two states as one, so that a step is made of both."""
    both = [Box(np.stack([x.low, y.low]), np.stack([x.high, y.high])) for x, y in zip(*sides, strict=True)]
    return state_of(executions, both)


def _at(box: Box, side: int) -> Box:
    """Return one of two boxes, which may be one for both."""
    return Box(*(np.broadcast_to(end, 2)[side] for end in box.ends))


def _is_point(box: Box) -> bool:
    return bool(box.low == box.high)


def _step(one: Box, two: Box, three: Box) -> Fraction | None:
    """Return how far a number moves with each of two tokens; None where that differs, is 0 or is not known exactly."""
    found = _difference(one, two)
    return found if found == _difference(two, three) else None


def _difference(x: Box, y: Box) -> Fraction | None:
    """Return how far it is from one number to another; None where it is 0 or not known exactly."""
    return (Fraction(float(y.low)) - Fraction(float(x.low)) or None) if _is_point(x) and _is_point(y) else None


def _closure(executions: Executions, guess: Invariant) -> Invariant | None:
    """Let boxes grow until a step of each stays inside; None where the counting numbers leave their lines, or nothing settles."""
    found, form = guess, executions.form.state
    for growth in range(-2, _ROUNDS):
        image = image_of(executions, found)
        if image is None:
            return None
        low, high = image
        if (low >= found.low).all() and (high <= found.high).all():
            return found
        low, high = _with_spare(low, high, form)
        if growth >= 0:
            low, high = _grow(found, low, high, _marks(form) if growth >= _PLAIN_ROUNDS else None)
        # At first the guess is replaced by what it leads to: it holds states that no string leads to.
        found = replace(found, low=low, high=high)
    return None


def _with_spare(low: Doubles, high: Doubles, form: FloatFormat) -> tuple[Doubles, Doubles]:
    """Make every box wider that is not a single number."""
    share, furthest = np.where(low < high, 2 * _SPARE * float(form.unit), 0), _furthest(form)
    return (
        np.minimum(low, np.maximum(to_format(low - share * np.abs(low), form), -furthest)),
        np.maximum(high, np.minimum(to_format(high + share * np.abs(high), form), furthest)),
    )


def _grow(found: Invariant, low: Doubles, high: Doubles, marks: Doubles | None) -> tuple[Doubles, Doubles]:
    """Take in what steps lead to; with marks, as far as the next of them."""
    if marks is not None:
        less, more = low < found.low, high > found.high
        low = np.where(less, np.minimum(low, marks[np.maximum(np.searchsorted(marks, low, "right") - 1, 0)]), low)
        high = np.where(more, np.maximum(high, marks[np.minimum(np.searchsorted(marks, high), len(marks) - 1)]), high)
    return np.minimum(low, found.low), np.maximum(high, found.high)


def _marks(form: FloatFormat) -> Doubles:
    """Return where growing boxes may come to rest: at ±1, where tanh ends, and where adding to a number no longer changes it."""
    powers = np.array([0.25, 0.5, 1.0, 8.0, 128.0, _furthest(form)])
    return np.concatenate([-powers[::-1], [0.0], powers])


def _furthest(form: FloatFormat) -> float:
    """Return how far a number gets by adding 1 and less: there the next number of the format is 8 away."""
    return 2.0 ** (form.digits + 2)
