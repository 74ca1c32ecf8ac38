"""What boxes of doubles leave open, decided with more digits: one prefix at a time, from its first token.

A prefix runs in balls of 106 binary digits, then of 212, and so on. Where rational weights make rational states and no power is
taken, rationals come next, which also decide a tie. Prefixes share what they have in common: each state is computed once.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.cells import inputs_of
from tallystick.certificates.languages.said import Enclosure
from tallystick.networks import Network
from tallystick.networks.steps import THRESHOLD
from tallystick.numbers import exact

FIRST_DIGITS, MOST_DIGITS = 106, 4096

_RATIONAL = 0
"""In the place of a number of digits."""


class Tree:
    """Prefixes of every length, each as the place of the prefix before it and its last token, by its place in the alphabet."""

    def __init__(self) -> None:
        """Hold the empty string alone."""
        nothing = np.zeros(1, np.intp)
        self.levels: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = [(nothing, nothing)]

    def grow(self, before: NDArray[np.intp], tokens: NDArray[np.intp]) -> None:
        """Add the prefixes of the next length."""
        self.levels.append((before, tokens))

    def path(self, length: int, place: int) -> tuple[int, ...]:
        """Return the tokens of a prefix, by their places."""
        found: list[int] = []
        for before, tokens in self.levels[length:0:-1]:
            found.append(int(tokens[place]))
            place = int(before[place])
        return tuple(reversed(found))


class Deeper:
    """Decides with as many digits as it takes; what decided one prefix is where the next one starts."""

    def __init__(self, network: Network, tree: Tree) -> None:
        """Start with few digits."""
        self.network, self.tree = network, tree
        self.asked = 0
        self._tokens = list(inputs_of(network.alphabet).values())
        self._stages = list(_stages(network))
        self._enclosures: dict[int, Enclosure] = {}
        self._states: dict[int, dict[tuple[int, int], Any]] = {}

    @property
    def digits(self) -> int:
        """How many binary digits the latest answer needed; 0 stands for rationals."""
        return self._stages[0]

    def said(self, length: int, place: int, needed: NDArray[np.bool_]) -> tuple[list[bool], list[bool]]:
        """Return which places are named after a prefix and which are not, and be certain of those that are needed if possible."""
        self.asked += 1
        while True:
            found = self._said(self._stages[0], length, place)
            yes, no = ([bool(pair[side]) for pair in found] for side in (0, 1))
            if len(self._stages) == 1 or all(y or n or not need for y, n, need in zip(yes, no, needed, strict=True)):
                return yes, no
            self._states.pop(self._stages.pop(0), None)

    def _said(self, bits: int, length: int, place: int) -> list[tuple[Any, Any]]:
        from tallystick.numbers.balls import ball_of, digits  # noqa: PLC0415 -- which takes a moment to load

        with digits(bits or FIRST_DIGITS):
            if bits not in self._enclosures:
                self._enclosures[bits] = Enclosure.of(self.network, ball_of if bits else exact)
                self._states[bits] = {(0, 0): self._enclosures[bits].cell.initial_state}
            return self._enclosures[bits].said(self._state(bits, length, place))

    def _state(self, bits: int, length: int, place: int) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
        known, step = self._states[bits], self._enclosures[bits].cell.step
        missing: list[tuple[int, int]] = []
        while (length, place) not in known:
            missing.append((length, place))
            length, place = length - 1, int(self.tree.levels[length][0][place])
        state = known[length, place]
        for at in reversed(missing):
            state = known[at] = step(state, self._tokens[int(self.tree.levels[at[0]][1][at[1]])])
        return state


def _stages(network: Network) -> Iterator[int]:
    bits, by_rationals = FIRST_DIGITS, network.cell.shows_rationals and network.readout.decision != THRESHOLD
    while bits < MOST_DIGITS and not (by_rationals and bits > FIRST_DIGITS):
        yield bits
        bits *= 2
    yield _RATIONAL if by_rationals else MOST_DIGITS
