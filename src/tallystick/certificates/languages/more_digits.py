"""What doubles leave open, decided with more digits: in balls of 106 binary digits, then of 212, and so on.

- `Deeper` finds out what is said after one prefix at a time, from its first token. Where rational weights make rational states
  and no power is taken, rationals come after the first balls, which also decide a tie. Prefixes share what they have in common:
  each state is computed once.
- `CloserOutputs` puts the outputs of a network and 0 in order. Every answer follows from it: which output is the greatest, which
  are above 0, which are 0.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.languages.prefixes import Trail
from tallystick.certificates.languages.said import Enclosure
from tallystick.networks import Network, Readout
from tallystick.networks.steps import THRESHOLD
from tallystick.numbers import Number, exact
from tallystick.numbers.balls import ball_of, digits

FIRST_DIGITS, MOST_DIGITS = 106, 4096

_MOST_FOR_ORDER = 848
"""The most for an order of outputs, as every string of a tree may be tied; what these leave open stays open."""

_RATIONAL = 0
"""In the place of a number of digits."""

Order = tuple[int, ...]
"""For each output how many of the outputs and 0 lie below it, less how many lie below 0: whole numbers in the same order."""


def numbers_of_digits(most: int = MOST_DIGITS) -> Iterator[int]:
    """Go through the numbers of binary digits that are tried, each twice the one before.

    >>> list(numbers_of_digits(500))
    [106, 212, 424, 500]
    """
    bits = FIRST_DIGITS
    while bits < most:
        yield bits
        bits *= 2
    yield most


class Deeper:
    """Decides with as many digits as it takes; what decided one prefix is where the next one starts.

    All prefixes are of one trail that grows: a state is known by the length of its prefix and the place among those.
    """

    def __init__(self, network: Network) -> None:
        """Start with few digits."""
        self.network = network
        self.asked = 0
        self._tokens = list(inputs_of(network.alphabet).values())
        self._stages = list(_stages(network))
        self._enclosures: dict[int, Enclosure] = {}
        self._states: dict[int, dict[tuple[int, int], Any]] = {}

    @property
    def digits(self) -> int:
        """How many binary digits the latest answer needed; 0 stands for rationals."""
        return self._stages[0]

    def said(self, trail: Trail, place: int, needed: NDArray[np.bool_]) -> tuple[list[bool], list[bool]]:
        """Return which places are named after a prefix and which are not, and be certain of those that are needed if possible."""
        self.asked += 1
        while True:
            found = self._said(self._stages[0], trail, place)
            yes, no = ([bool(pair[side]) for pair in found] for side in (0, 1))
            if len(self._stages) == 1 or all(y or n or not need for y, n, need in zip(yes, no, needed, strict=True)):
                return yes, no
            self._states.pop(self._stages.pop(0), None)

    def _said(self, bits: int, trail: Trail, place: int) -> list[tuple[Any, Any]]:
        with digits(bits or FIRST_DIGITS):
            if bits not in self._enclosures:
                self._enclosures[bits] = Enclosure.of(self.network, ball_of if bits else exact)
                self._states[bits] = {(0, 0): self._enclosures[bits].cell.initial_state}
            return self._enclosures[bits].said(self._state(bits, trail, place))

    def _state(self, bits: int, trail: Trail | None, place: int) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        known, step = self._states[bits], self._enclosures[bits].cell.step
        missing: list[tuple[int, int, int]] = []
        while trail is not None and (trail.length, place) not in known:
            missing.append((trail.length, place, int(trail.tokens[place])))
            place, trail = int(trail.origins[place]), trail.before
        assert trail is not None  # the state of the empty string is known
        state = known[trail.length, place]
        for length, at, token in reversed(missing):
            state = known[length, at] = step(state, self._tokens[token])
        return state


def _stages(network: Network) -> Iterator[int]:
    if network.cell.shows_rationals and network.readout.decision != THRESHOLD:
        yield from (FIRST_DIGITS, _RATIONAL)
    else:
        yield from numbers_of_digits()


class CloserOutputs:
    """A network whose outputs are put in order, whatever number of digits that takes."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._in_balls: dict[int, Network] = {}

    def order(self, outputs: Callable[[Network], list[Number]]) -> Order | None:
        """Return the order of what a function gives of the network in balls; None where it stays open."""
        for bits in numbers_of_digits(_MOST_FOR_ORDER):
            with digits(bits):
                if bits not in self._in_balls:
                    self._in_balls[bits] = self._network.map_weights(ball_of)
                found = _order(outputs(self._in_balls[bits]))
            if found is not None:
                return found
        return None


def class_of_order(readout: Readout, order: Order) -> int:
    """Return the index of the class of outputs that stand in an order."""
    places = range(len(order))
    alone = tuple(tuple(int(row == column) for column in places) for row in places)
    return int(Readout(alone, (0,) * len(order), readout.decision).class_index(order))


def _order(outputs: list[Number]) -> Order | None:
    """Put outputs in order; None where a comparison of two of them, or of one with 0, is open."""
    values: list[Number] = [*outputs, 0]
    below = [0] * len(values)
    for (i, one), (j, other) in combinations(enumerate(values), 2):
        difference = one - other
        if not (difference > 0 or difference < 0 or difference == 0):
            return None
        below[i] += bool(difference > 0)
        below[j] += bool(difference < 0)
    return tuple(count - below[-1] for count in below[:-1])
