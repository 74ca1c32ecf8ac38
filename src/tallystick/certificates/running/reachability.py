"""Networks that reach few states as a library runs them: each is looked at once, and strings of any length are decided.

What a network does after a string depends on its state, and what is right on the configuration of the task's machine. Strings
that lead to the same bits and the same configuration go on alike, so of each such **pair** one string is followed, a shortest.
In a narrow format, or with saturated gates, pairs are few: thousands of tokens take a moment, and where no new pair is reached,
every length is decided. Where every string leads to a state of its own, nothing is gained, and all strings are run instead
(`exhaustive`).

Here a network reads token by token, in batches of the pairs that are new; a string that fails is run again alone.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.progress import progress_line, report
from tallystick.certificates.running.executable import Executable
from tallystick.certificates.running.libraries import Build, States
from tallystick.certificates.running.library_arrays import Array, doubles_of, load_library
from tallystick.certificates.running.string_blocks import RightClasses
from tallystick.certificates.verdict import AS_EXECUTED, Failure, Lengths, Outcome, Verdict, runs_of
from tallystick.numbers.values import map_states, numbers_of

METHOD = "reachable states"
SECONDS = 10.0
"""How long to go on where nobody says how far."""

MOST_NEW = 4096
"""Where more pairs than this are new at one length, they are too many to follow."""

_ROOM = 512
"""JAX compiles for each number of pairs anew, so it is filled up to a multiple of this."""


def decide_by_reachability(
    program: Executable, build: Build, lengths: Lengths, upto: int | None = None
) -> Verdict | None:
    """Follow every pair of state and configuration, up to a length; None where they are too many."""
    search = _Search(program, build, lengths)
    started = perf_counter()
    outcome, reason = Outcome.BOUNDED, ""
    try:
        with progress_line():
            while True:
                search.read_token()
                if not search.is_finite:
                    return None
                if search.failure is not None:
                    outcome, reason = Outcome.REFUTED, search.failure_said()
                    break
                if not len(search.places):
                    outcome, reason = Outcome.PROVED, "no other is ever reached, and the network is right at each"
                    break
                if len(search.places) > MOST_NEW:
                    return None
                ended = search.length >= upto if upto is not None else perf_counter() - started > SECONDS
                if ended:
                    reason = f"every counted length to {search.reached} is right"
                    break
                report(search.length, upto or search.length, f"following states, right to length {search.reached}")
    except KeyboardInterrupt:
        reason = f"every counted length to {search.reached} is right; it was interrupted there"
    said = f"strings lead to {search.number:,} different states: {reason}; run token by token by {program}"
    horizon = None if outcome is Outcome.PROVED else search.reached
    return Verdict(program, lengths, AS_EXECUTED, outcome, horizon, search.failure, METHOD, said)


@dataclass
class _Search:
    """The pairs that strings lead to, one length after the other.

    Attributes:
        length: of the strings.
        reached: the last counted length at which every string is right.
        places: the numbers of the configurations of the pairs that strings of this length are the first to reach.
        failure: the first string that fails.
        number: how many pairs were found.
        is_finite: whether all outputs so far are finite.
    """

    program: Executable
    build: Build
    lengths: Lengths
    length: int = 0
    reached: int = 0
    number: int = 0
    failure: Failure | None = None
    is_finite: bool = True
    _seen: set[bytes] = field(default_factory=set[bytes])
    _steps: list[NDArray[np.intp]] = field(default_factory=list[NDArray[np.intp]])

    def __post_init__(self) -> None:
        """Begin with the empty string."""
        self._right = RightClasses(self.program.task)
        self._states, self.places = self.build.start(1), np.zeros(1, np.intp)

    def read_token(self) -> None:
        """Go on from every new pair with every token, in the order of the strings; keep the pairs that are new."""
        self.length += 1
        tokens = len(self.program.alphabet)
        # Pair after pair, and for each the tokens in their order.
        parents = np.repeat(np.arange(len(self.places)), tokens)
        read = np.tile(np.arange(tokens), len(self.places))
        states, outputs = self._step(_take(self._states, parents, self.build.library), read)
        places = self._right.after(self.places[parents], read)
        new = self._new(states, places)
        self._steps.append(parents[new] * tokens + read[new])
        self._states, self.places = _take(states, new, self.build.library), places[new]
        self.number += len(new)
        self.is_finite = bool(np.isfinite(outputs).all())
        if self.length % self.lengths.stride == 0:
            self._look_for_failure(outputs[new])

    def _step(self, states: States, read: NDArray[np.intp]) -> tuple[States, NDArray[Any]]:
        """Read a token for each string, filled up to a few sizes."""
        room = -len(read) % _ROOM if self.build.library == "jax" else 0
        filled = np.pad(np.arange(len(read)), (0, room))
        states, outputs = self.build.step(_take(states, filled, self.build.library), read[filled])
        return states, outputs[: len(read)]

    def _new(self, states: States, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the rows whose pairs were not found before, of equal ones the first."""
        columns = [doubles_of(array)[: len(places)].reshape(len(places), -1) for array in numbers_of(states)]
        when = np.full(len(places), self.length % self.lengths.stride)
        rows = np.hstack([*columns, places[:, None], when[:, None]])
        written, width, seen = rows.tobytes(), rows.shape[1] * rows.itemsize, self._seen
        new: list[int] = []
        for place in range(len(rows)):
            key = written[place * width : (place + 1) * width]
            if key not in seen:
                seen.add(key)
                new.append(place)
        return np.array(new, np.intp)

    def _look_for_failure(self, outputs: NDArray[Any]) -> None:
        classes, right = self.program.classes(np.asarray(outputs, np.float64)), self._right.classes_of(self.places)
        for place in np.flatnonzero(classes != right).tolist():
            found = self._class_alone(row := self._row(place))
            if found != right[place]:
                string = [self.program.alphabet[token] for token in row]
                names = self.program.task.classes
                self.failure = Failure(runs_of(tuple(string)), names[found], names[int(right[place])])
                return
        self.reached = self.length

    def _class_alone(self, row: list[int]) -> int:
        """Run one string token by token, alone."""
        states, outputs = self.build.start(1), np.zeros(0)
        for token in row:
            states, outputs = self.build.step(states, np.array([token]))
        return int(self.program.classes(np.asarray(outputs, np.float64))[0])

    def _row(self, place: int) -> list[int]:
        """Return the string that leads to a new pair of this length."""
        tokens, row = len(self.program.alphabet), list[int]()
        for steps in reversed(self._steps):
            place, token = divmod(int(steps[place]), tokens)
            row.append(token)
        return row[::-1]

    def failure_said(self) -> str:
        """Say how a string fails."""
        assert self.failure is not None
        found, right = self.failure.found, self.failure.right
        return f"a string of length {self.failure.length} gets {found} instead of {right}, run alone, and no shorter one fails"


def _take(states: States, rows: NDArray[np.intp], library: str) -> States:
    """Return some rows of every array of the states; JAX would compile for each number of them anew."""
    index: Any = load_library("torch").from_numpy(rows) if library == "torch" else rows

    def take(array: Array) -> Array:
        return (array if library == "torch" else np.asarray(array))[index]

    return map_states(take, states)
