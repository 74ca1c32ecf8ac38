"""Many prefixes in few numbers.

A `Trail` has the prefixes of each length, each as the prefix before its last token and that token. `PrefixRuns` has prefixes by
their last run of equal tokens and their length; a run begins after a prefix, which is itself a run and a length, and the empty
string is run 0.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.verdict import Runs

Whole = NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max


def _empty_string() -> NDArray[np.int32]:
    return np.zeros(1, np.int32)


@dataclass(frozen=True, eq=False, repr=False)
class Trail:
    """The prefixes of one length; at first the empty string alone.

    Attributes:
        length: of the prefixes.
        origins: for each prefix the place of the one before its last token.
        tokens: the last token of each, by its place in the alphabet.
        before: the prefixes that are one token shorter.
    """

    length: int = 0
    origins: NDArray[np.int32] = field(default_factory=_empty_string)
    tokens: NDArray[np.int32] = field(default_factory=_empty_string)
    before: "Trail | None" = None

    def longer(self, origins: NDArray[np.integer], tokens: NDArray[np.integer]) -> "Trail":
        """Return prefixes that have one more token."""
        return Trail(self.length + 1, origins.astype(np.int32), tokens.astype(np.int32), self)

    def string(self, place: int, alphabet: tuple[str, ...]) -> tuple[str, ...]:
        """Return one of the prefixes."""
        found: list[str] = []
        trail = self
        while trail.before is not None:
            found.append(alphabet[int(trail.tokens[place])])
            place, trail = int(trail.origins[place]), trail.before
        return tuple(reversed(found))


class Position(NamedTuple):
    """A prefix: its last run, and its length."""

    run: int
    length: int


class PrefixRuns:
    """Runs, and marks at prefixes.

    After `finish` it knows which prefixes members begin with, and the first mark on the way to each.
    """

    def __init__(self) -> None:
        """Hold the empty string."""
        self._begun: list[tuple[Whole, Whole, Whole]] = [
            (np.zeros(1, np.int64), np.zeros(1, np.int64), -np.ones(1, np.int64))
        ]
        self._marks: list[tuple[Whole, Whole]] = []
        self._size = 1

    def begin(self, before: Whole, lengths: Whole, token: int) -> Whole:
        """Begin a run of a token after each of some prefixes; return the runs."""
        found = np.arange(self._size, self._size + len(before))
        self._begun.append((before, lengths, np.full(len(before), token)))
        self._size += len(before)
        return found

    def mark(self, runs: Whole, lengths: Whole) -> None:
        """Mark prefixes as wrong."""
        if len(runs):
            self._marks.append((runs, lengths))

    def finish(self, runs: Whole, lengths: Whole) -> None:
        """Say where the members end; no run begins after this."""
        before, starts, tokens = (np.concatenate(arrays) for arrays in zip(*self._begun, strict=True))
        self._before: list[int] = before.tolist()
        self._starts: list[int] = starts.tolist()
        self._tokens: list[int] = tokens.tolist()
        reach = np.full(self._size, -1)
        np.maximum.at(reach, runs, lengths)
        self._reach: list[int] = reach.tolist()
        for run in range(self._size - 1, 0, -1):
            if self._reach[run] >= 0:
                self._reach[self._before[run]] = max(self._reach[self._before[run]], self._starts[run])
        self._next = {(self._before[run], self._starts[run], self._tokens[run]): run for run in range(1, self._size)}

    def is_live(self, at: Position) -> bool:
        """Say whether a member begins with a prefix."""
        return self._reach[at.run] >= at.length

    def goes_on(self, at: Position, token: int) -> bool:
        """Say whether a member begins with a prefix and a token."""
        if token == self._tokens[at.run]:
            return self._reach[at.run] > at.length
        after = self._next.get((at.run, at.length, token))
        return after is not None and self._reach[after] >= 0

    def first_mark(self, at: Position) -> int | None:
        """Return the length of the first marked prefix on the way to a prefix; None where there is none."""
        own, inherited = self._first_marks()
        found = min(inherited[at.run], own[at.run] if own[at.run] <= at.length else _NEVER)
        return None if found == _NEVER else found

    def _first_marks(self) -> tuple[list[int], list[int]]:
        """Return the first mark in each run, and the first on the way to it."""
        if len(self._marks) != getattr(self, "_counted", -1):
            first = np.full(self._size, _NEVER)
            for runs, lengths in self._marks:
                np.minimum.at(first, runs, lengths)
            own: list[int] = first.tolist()
            inherited = [_NEVER] * self._size
            for run in range(1, self._size):
                before, start = self._before[run], self._starts[run]
                inherited[run] = min(inherited[before], own[before] if own[before] <= start else _NEVER)
            self._counted, self._found = len(self._marks), (own, inherited)
        return self._found

    def string(self, at: Position, alphabet: tuple[str, ...]) -> Runs:
        """Return a prefix as runs of tokens."""
        found: list[tuple[str, int]] = []
        run, length = at
        while run:
            found.append((alphabet[self._tokens[run]], length - self._starts[run]))
            run, length = self._before[run], self._starts[run]
        return tuple(reversed(found))

    def prefix(self, at: Position, length: int) -> Position:
        """Return the prefix of a length of a prefix."""
        run = at.run
        while run and self._starts[run] >= length:
            run = self._before[run]
        return Position(run, length)
