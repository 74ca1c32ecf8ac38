"""Runs of a network on many prefixes at once: in boxes for real arithmetic or any order, or as executed in floating point.

As executed, every answer is `networks.steps.said_places`, in arrays, and none is open.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Input, Recurrence
from tallystick.certificates.any_order.answers import said_in_any_order
from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.languages.said import Enclosure, Said, Truths, order_of
from tallystick.certificates.verdict import ANY_ORDERS, REAL
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.networks.steps import NEXT, SUPPORT
from tallystick.numbers import Number, float_format
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.boxes import Box, box_of
from tallystick.numbers.values import map_states


class Runner(Protocol):
    """Runs a network on many prefixes at once, its states in arrays with one entry per prefix."""

    def start(self) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the state before the first token, of one prefix."""
        ...

    def step(self, states: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the states after one more token."""
        ...

    def said(self, states: Any) -> Said:  # noqa: ANN401
        """Return what the network says after each prefix."""
        ...


@dataclass(frozen=True)
class Boxed:
    """A network in real arithmetic, each prefix in its own box."""

    enclosure: Enclosure

    @classmethod
    def of(cls, network: Network) -> "Boxed":
        """Bound the weights."""
        return cls(Enclosure.of(network, box_of))

    @property
    def cell(self) -> Recurrence:
        """The recurrence in boxes."""
        return self.enclosure.cell

    def start(self) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the initial state, of one prefix."""
        return _rows(self.cell.initial_state, 1)

    def step(self, states: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the states after one more token."""
        return _rows(self.cell.step(states, token), size_of(states))

    def said(self, states: Any) -> Said:  # noqa: ANN401
        """Return what is certain after each prefix."""
        found, size = self.enclosure.said(states), size_of(states)
        yes, no = (np.stack([np.broadcast_to(pair[side], size) for pair in found], axis=1) for side in (0, 1))
        return Said(yes, no)


@dataclass(frozen=True)
class Executed:
    """A network as executed in a floating-point format by its own step, every operation rounded, sums from the left."""

    network: Network
    kind: type[np.generic]

    @classmethod
    def of(cls, network: Network, arithmetic: str) -> "Executed":
        """Round the weights, once."""
        return cls(network.in_arithmetic(arithmetic), float_format(arithmetic).kind)

    @property
    def cell(self) -> Recurrence:
        """The recurrence in floats."""
        return self.network.cell

    def start(self) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the initial state, of one prefix."""
        return self._floats(self.cell.initial_state, 1)

    def step(self, states: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the states after one more token."""
        return self._floats(self.cell.step(states, token), size_of(states))

    def _floats(self, state: Any, size: int) -> Any:  # noqa: ANN401
        def spread(number: Number) -> NDArray[Any]:
            return _spread(number, self.kind, size)

        return map_states(spread, state)

    def said(self, states: Any) -> Said:  # noqa: ANN401
        """Return what the network says after each prefix."""
        readout, size = self.network.readout, size_of(states)
        outputs = [_spread(output, self.kind, size) for output in self.network.outputs_of_state(states)]
        assert readout.steps is not None
        found: list[Truths]
        if readout.decision == SUPPORT:
            found = [output > 0 for output in outputs]
        else:
            greatest, place = outputs[0], np.zeros(size, int)
            for output, values in enumerate(outputs):
                place = np.where(values > greatest, output, place)
                greatest = np.where(values > greatest, values, greatest)
            if readout.decision == NEXT:
                found = [place == output for output in range(len(outputs))]
            else:
                powers = [np.exp(output - greatest) for output in outputs]
                total: NDArray[Any] = sum(powers[1:], start=powers[0])
                found = [(power / total).astype(np.float64) > self._threshold for power in powers]
        yes = np.stack([found[output] for output in order_of(readout.steps, self.network.alphabet)], axis=1)
        return Said(yes, ~yes)

    @cached_property
    def _threshold(self) -> float:
        """The greatest double that is not above the threshold: a double is above the one iff it is above the other."""
        assert self.network.readout.steps is not None
        threshold = self.network.readout.steps.threshold
        assert threshold is not None
        near = float(threshold)
        return near if Fraction(near) <= threshold else float(np.nextafter(near, -np.inf))


@dataclass(frozen=True)
class AnyOrder:
    """A network in a floating-point format, each prefix in a box of all that any library may compute."""

    network: Network
    executions: Executions

    @property
    def cell(self) -> Executions:
        """The recurrence in boxes."""
        return self.executions

    def start(self) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        """Return the initial state, of one prefix."""
        return _rows(self.executions.initial_state, 1)

    def step(self, states: Any, token: Input) -> Any:  # noqa: ANN401
        """Return the states after one more token."""
        return _rows(self.executions.step(states, token), size_of(states))

    def said(self, states: Any) -> Said:  # noqa: ANN401
        """Return what every execution says after each prefix."""
        readout, size = self.network.readout, size_of(states)
        assert readout.steps is not None
        found = said_in_any_order(readout, self.executions.outputs(states), self.executions.form)
        order = order_of(readout.steps, self.network.alphabet)
        yes, no = (np.stack([np.broadcast_to(found[at][side], size) for at in order], axis=1) for side in (0, 1))
        return Said(yes, no)


@dataclass(frozen=True)
class Balled:
    """A network in real arithmetic, each prefix in balls of its own, one after the other: states are a list."""

    network: Network
    bits: int

    def start(self) -> list[Any]:
        """Return the initial state, of one prefix."""
        return [self._enclosure.cell.initial_state]

    def step(self, states: list[Any], token: Input) -> list[Any]:
        """Return the states after one more token."""
        with digits(self.bits):
            return [self._enclosure.cell.step(state, token) for state in states]

    def said(self, states: list[Any]) -> Said:
        """Return what is certain after each prefix."""
        with digits(self.bits):
            found = np.array([self._enclosure.said(state) for state in states], bool)
        return Said(found[:, :, 0], found[:, :, 1])

    @cached_property
    def _enclosure(self) -> Enclosure:
        with digits(self.bits):
            return Enclosure.of(self.network, ball_of)


def runner_of(network: Network, arithmetic: str) -> Runner | None:
    """Return what runs a network on many prefixes at once; None where its weights are too large for boxes of doubles."""
    if arithmetic in ANY_ORDERS:
        return AnyOrder(network, Executions.of(network, arithmetic))
    if arithmetic != REAL:
        return Executed.of(network, arithmetic)
    try:
        return Boxed.of(network)
    except BadInput:
        return None


def _rows(state: Any, size: int) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    """Give every number of a state of boxes one entry per prefix."""

    def spread(number: Number) -> Box:
        low, high = number.ends if isinstance(number, Box) else (number, number)
        return Box(*(_spread(end, np.float64, size) for end in (low, high)))

    return map_states(spread, state)


def _spread(number: Number, kind: type[np.generic], size: int) -> NDArray[Any]:
    """Give a number one entry per prefix, where it has not as many already."""
    found = np.asarray(number, kind)
    return found if found.shape == (size,) else np.broadcast_to(found, size)


def size_of(states: Any) -> int:  # noqa: ANN401
    """Return how many prefixes states are of."""
    first = _first_number(states)
    return len(first.low if isinstance(first, Box) else first)


def _first_number(states: Any) -> Any:  # noqa: ANN401
    """Return the first number of states; a part of them may be empty."""
    if not isinstance(states, tuple):
        return states
    parts = cast("tuple[Any, ...]", states)
    return next((found for part in parts if (found := _first_number(part)) is not None), None)


Rows = NDArray[np.intp] | slice


def quick_rows(rows: NDArray[np.intp], size: int) -> Rows:
    """Return rows as a slice where they are neighbours and most of all: nothing is copied then, and little is kept in vain."""
    count = len(rows)
    return slice(int(rows[0]), int(rows[-1]) + 1) if 2 * count > size and rows[-1] - rows[0] + 1 == count else rows


def chosen(states: Any, rows: Rows) -> Any:  # noqa: ANN401
    """Return the states of some prefixes."""
    if isinstance(states, list):
        listed = cast("list[Any]", states)
        return listed[rows] if isinstance(rows, slice) else [listed[row] for row in rows]

    def choose(number: Number) -> Number:
        return Box(number.low[rows], number.high[rows]) if isinstance(number, Box) else number[rows]

    return map_states(choose, states)


def joined(parts: list[Any]) -> Any:  # noqa: ANN401
    """Put the states of several groups of prefixes one after the other."""
    if isinstance(parts[0], list):
        return [state for part in parts for state in part]

    def join(*numbers: Number) -> Number:
        if not isinstance(numbers[0], Box):
            return np.concatenate(numbers)
        return Box(*(np.concatenate([number.ends[end] for number in numbers]) for end in (0, 1)))

    return map_states(join, *parts)
