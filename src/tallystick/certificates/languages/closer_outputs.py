"""The order of a network's outputs and 0 among each other, found in balls with more and more digits until all is certain.

Every answer follows from this order: which output is the greatest, which are above 0, which are 0.
"""

from collections.abc import Callable
from itertools import combinations

from tallystick.networks import Network, Readout
from tallystick.numbers import Number
from tallystick.numbers.balls import Ball, ball_of, digits

_DIGITS = (106, 212, 424, 848)
"""How many binary digits are tried; a tie that all of these leave open is taken to be one that none decides."""

Order = tuple[int, ...]
"""For each output how many of the outputs and 0 lie below it, less how many lie below 0: whole numbers in the same order."""


class CloserOutputs:
    """A network whose outputs are put in order, whatever number of digits that takes."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._in_balls: dict[int, Network] = {}

    def order(self, outputs: Callable[[Network], list[Number]]) -> Order | None:
        """Return the order of what a function gives of the network in balls; None where it stays open."""
        for bits in _DIGITS:
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


def _order(outputs: list[Ball]) -> Order | None:
    """Put outputs in order; None where a comparison of two of them, or of one with 0, is open."""
    values = [*outputs, ball_of(0)]
    below = [0] * len(values)
    for (i, one), (j, other) in combinations(enumerate(values), 2):
        difference = one - other
        if not (difference > 0 or difference < 0 or difference == 0):
            return None
        below[i] += bool(difference > 0)
        below[j] += bool(difference < 0)
    return tuple(count - below[-1] for count in below[:-1])
