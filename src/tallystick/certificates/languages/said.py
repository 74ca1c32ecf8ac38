"""What a network says after prefixes: which tokens its outputs name for certain, in real arithmetic.

The states lie in boxes or balls, and an answer may stay open. `next` and `threshold` look at the differences
of two outputs alone, whose weights are subtracted before anything is bounded: p of output k is above T iff the sum of
exp(o_j − o_k) over all other j is below 1/T − 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import Recurrence
from tallystick.networks import Network
from tallystick.networks.steps import NEXT, SUPPORT, Steps
from tallystick.numbers import Number, exact
from tallystick.numbers.boxes import Box
from tallystick.numbers.operations import exponential
from tallystick.numbers.values import Matrix, Vector, layer

Truths = NDArray[np.bool_]


class Said(NamedTuple):
    """For each prefix and each place of a token, the end last: whether it is named, and whether it is not; neither is open."""

    yes: Truths
    no: Truths


def order_of(steps: Steps, alphabet: tuple[str, ...]) -> list[int]:
    """Return the outputs in the order of their tokens in the alphabet, that of the end last."""
    places = steps.places(alphabet)
    return sorted(range(len(places)), key=places.__getitem__)


def nothing_said(shape: tuple[int, ...]) -> Said:
    """Return answers of which all are open."""
    return Said(np.zeros(shape, bool), np.zeros(shape, bool))


class Signs(NamedTuple):
    """What is certain of a number; each a truth, or an array of them."""

    above: Any
    not_below: Any
    below: Any
    not_above: Any


def _signs(x: Number, least: Number = 0) -> Signs:
    """Compare a number, or all that lie in a box or ball, with another."""
    if not isinstance(x, Box):
        return Signs(x > least, x >= least, x < least, x <= least)
    low, high = least.ends if isinstance(least, Box) else (least, least)
    return Signs(x.low > high, x.low >= high, x.high < low, x.high <= low)


@dataclass(frozen=True)
class Enclosure:
    """A network in real arithmetic, whose weights are brought into one kind of number: boxes, balls, or rationals.

    Attributes:
        cell: the recurrence in these numbers.
        weight: one row per form that the answers look at: the outputs themselves for `support`, else their differences.
        bias: the same.
        network: what it came from.
        bound: 1/T − 1 for the decision `threshold`, else 0.
    """

    cell: Recurrence
    weight: Matrix
    bias: Vector
    network: Network
    bound: Number

    @classmethod
    def of(cls, network: Network, number: Callable[..., Number]) -> "Enclosure":
        """Bring a network into the numbers that a function makes: `box_of`, `ball_of` or `exact`."""
        readout, steps = network.readout.map_weights(exact), network.readout.steps
        assert steps is not None
        rows: list[Vector] = [(*row, term) for row, term in zip(readout.weight, readout.bias, strict=True)]
        if readout.decision != SUPPORT:
            pairs = combinations(rows, 2)
            rows = [tuple(x - y for x, y in zip(first, second, strict=True)) for first, second in pairs]
        numbers: list[Vector] = [tuple(map(number, row)) for row in rows]
        bound = number(1 / steps.threshold - 1) if steps.threshold is not None else 0
        cell = network.cell.map_weights(number)
        return cls(cell, tuple(row[:-1] for row in numbers), tuple(row[-1] for row in numbers), network, bound)

    def said(self, state: Any) -> list[tuple[Any, Any]]:  # noqa: ANN401 -- each cell has its own kind of state
        """Return for each place whether it is certainly named and whether it is certainly not."""
        readout, alphabet = self.network.readout, self.network.alphabet
        forms = layer(self.weight, self.bias, self.cell.hidden(state))
        if readout.decision == SUPPORT:
            found = [(signs.above, signs.not_above) for signs in map(_signs, forms)]
        elif readout.decision == NEXT:
            found = self._greatest(forms)
        else:
            found = self._above_threshold(forms)
        assert readout.steps is not None
        return [found[output] for output in order_of(readout.steps, alphabet)]

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.network.readout.bias)), 2))

    def _greatest(self, forms: list[Number]) -> list[tuple[Any, Any]]:
        """Say of each output whether it is above those before it, and not below those after it."""
        yes: list[list[Any]] = [[] for _ in self.network.readout.bias]
        no: list[list[Any]] = [[] for _ in self.network.readout.bias]
        for (first, second), form in zip(self._pairs, forms, strict=True):
            signs = _signs(form)
            yes[first].append(signs.not_below)
            no[first].append(signs.below)
            yes[second].append(signs.below)
            no[second].append(signs.not_below)
        return [(reduce(np.logical_and, y), reduce(np.logical_or, n)) for y, n in zip(yes, no, strict=True)]

    def _above_threshold(self, forms: list[Number]) -> list[tuple[Any, Any]]:
        totals: list[list[Number]] = [[] for _ in self.network.readout.bias]
        for (first, second), form in zip(self._pairs, forms, strict=True):
            totals[second].append(exponential(form))
            totals[first].append(exponential(-form))
        signs = [_signs(sum(powers[1:], start=powers[0]), self.bound) for powers in totals]
        return [(one.below, one.not_below) for one in signs]
