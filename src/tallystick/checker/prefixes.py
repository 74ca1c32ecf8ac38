"""All prefixes that matter to a claim about a language (`judging`), length by length.

A prefix is followed by itself, between bounds of its own: where they do not decide it is run again from its first token, with
more digits. Or its state is exact. Or the prefixes with one configuration and the same last tokens share boxes (`suffixes`).
"""

from collections.abc import Iterable, Iterator
from itertools import repeat
from math import ceil, floor
from typing import NamedTuple, Protocol, TypeVar

from .answers import TooCostly, Undecided, number_text
from .arithmetic import Arithmetic, Boxes
from .asked import THRESHOLD, Asked
from .boxes import BoxedNetwork
from .effort import Limit
from .judging import PLACES, Judge, Said, is_squashed, needed_after, said_by
from .language_claims import LanguageClaim
from .languages import Configuration
from .rounded import Rounded

MOST_NUMBERS = 1 << 23
"""As many boxes as fit into the memory of any machine."""

State = TypeVar("State")


class Runner(Protocol[State]):
    """A network that runs: its states can be told apart by `key`, and `say` may find a closer one first."""

    def start(self, length: int) -> State:
        """Return the state before the first token of a string of that length."""
        ...

    def step(self, state: State, token: int) -> State:
        """Return the next state."""
        ...

    def key(self, state: State) -> object:
        """Return what two prefixes must share to be followed as one."""
        ...

    def say(self, state: State, needed: Said | None) -> tuple[State, Said]:
        """Return what is said at a state, of what is needed, and the state, perhaps between closer bounds."""
        ...


Chain = tuple["Chain", int] | None
"""A prefix: all but its last token, and that."""


class Enclosed(NamedTuple):
    """A state between bounds: how close, the boxes, the length that strings have, and the prefix that leads to it."""

    level: int
    boxes: Boxes
    length: int
    prefix: Chain


class Bounds:
    """A network between bounds; where they do not decide, a prefix is run again with more digits."""

    def __init__(self, asked: Asked, arithmetics: Iterable[Arithmetic]) -> None:
        self.asked, self._more, self.levels = asked, iter(arithmetics), list[BoxedNetwork]()

    def _boxed(self, level: int) -> BoxedNetwork:
        while len(self.levels) <= level:
            arithmetic = next(self._more, None)
            if arithmetic is None:
                raise TooCostly("the bounds of a state do not decide what is said")
            self.levels.append(BoxedNetwork(self.asked, arithmetic))
        return self.levels[level]

    def start(self, length: int) -> Enclosed:
        """Return the state before the first token."""
        return Enclosed(0, start_of(self.asked, self._boxed(0), length), length, None)

    def step(self, state: Enclosed, token: int) -> Enclosed:
        """Return the next state."""
        boxes = self._boxed(state.level).step(state.boxes, token)
        return Enclosed(state.level, boxes, state.length, (state.prefix, token))

    def key(self, state: Enclosed) -> object:
        """Return the boxes: from the same ones the same follows."""
        return state.level, state.boxes

    def say(self, state: Enclosed, needed: Said | None) -> tuple[Enclosed, Said]:
        """Return what is said, with as many digits as that takes."""
        while True:
            boxed = self._boxed(state.level)
            try:
                return state, said_by(self.asked, boxed, state.boxes, needed)
            except Undecided:
                state = self._closer(state)

    def _closer(self, state: Enclosed) -> Enclosed:
        boxed = self._boxed(state.level + 1)
        tokens: list[int] = []
        prefix = state.prefix
        while prefix is not None:
            prefix, token = prefix
            tokens.append(token)
        boxes = start_of(self.asked, boxed, state.length)
        for token in reversed(tokens):
            boxes = boxed.step(boxes, token)
        return state._replace(level=state.level + 1, boxes=boxes)


class Exact:
    """A network whose states are rationals; what the readout sees of them may still be squashed."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self._exact = asked, BoxedNetwork(asked, Rounded(None))
        rounded = is_squashed([asked.hidden]) or asked.readout.kind == THRESHOLD
        self._seen = [] if not rounded else [BoxedNetwork(asked, Rounded(places)) for places in PLACES]

    def start(self, length: int) -> Boxes:
        """Return the state before the first token."""
        return start_of(self.asked, self._exact, length)

    def step(self, state: Boxes, token: int) -> Boxes:
        """Return the next state."""
        return self._exact.step(state, token)

    def key(self, state: Boxes) -> object:
        """Return the state."""
        return state

    def say(self, state: Boxes, needed: Said | None) -> tuple[Boxes, Said]:
        """Return what is said: exactly, or between bounds that are drawn closer."""
        for boxed in self._seen:
            unit = boxed.arithmetic.unit
            boxes = tuple((floor(low * unit), ceil(high * unit)) for low, high in state)
            try:
                return state, said_by(self.asked, boxed, boxes, needed)
            except Undecided:
                continue
        if self._seen:
            raise TooCostly("the bounds of an output do not decide what is said")
        return state, said_by(self.asked, self._exact, state, needed)


def start_of(asked: Asked, boxed: BoxedNetwork, length: int) -> Boxes:
    """Return the boxes before the first token of a string of that length."""
    if asked.padding is None or length >= asked.padded_to:
        return boxed.start
    before, state = boxed.step_of(asked.padding), boxed.unread
    for _ in repeat(None, asked.padded_to - length):
        state = before(state)
    for program in asked.first:
        state = boxed.step_of(program)(state)
    return state


def trees(claim: LanguageClaim) -> Iterator[tuple[int, int | None]]:
    """Go through (least length, last length) of what share a start: each length that is filled up, and all the others."""
    padded_to, last = claim.network.padded_to, claim.horizon
    for length in range(claim.first, padded_to if last is None else min(padded_to, last + 1)):
        if claim.is_counted(length):
            yield length, length
    if last is None or last >= padded_to:
        yield padded_to, last


def check_prefixes(claim: LanguageClaim, runner: Runner[State], limit: Limit) -> None:
    """Every counted length to the horizon is right; without a horizon, until nothing new comes."""
    judge = Judge(claim, limit)
    for least, last in trees(claim):
        _check_tree(claim, judge, runner, least, last, limit)


def _check_tree(
    claim: LanguageClaim, judge: Judge, runner: Runner[State], least: int, last: int | None, limit: Limit
) -> None:
    language = claim.network.language
    start = runner.start(least)
    level: dict[tuple[Configuration, object], State] = {(language.start, runner.key(start)): start}
    seen: set[object] = set()
    length = 0
    while level:
        longer: dict[tuple[Configuration, object], State] = {}
        for (configuration, _), state in level.items():
            limit.go_on(length, length if last is None else last)
            found, counted = [state], length >= least and claim.is_counted(length)
            needed = needed_after(claim, length, last, counted=counted)

            def say(found: list[State] = found, needed: Said | None = needed) -> Said:
                found[0], said = runner.say(found[0], needed)
                return said

            tokens = judge.visit(configuration, length, say, counted=counted)
            for token in tokens if last is None or length < last else ():
                after = runner.step(found[0], token)
                longer.setdefault((language.after(configuration, token), runner.key(after)), after)
        length += 1
        level = longer
        if last is None:
            phase = claim.phase(length)
            level = {key: state for key, state in level.items() if (key, phase) not in seen}
            seen.update((key, phase) for key in level)
        if (len(level) + len(seen)) * len(claim.network.start) > MOST_NUMBERS:
            raise TooCostly(f"length {number_text(length)} has too many prefixes for the memory")
