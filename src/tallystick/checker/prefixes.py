"""All prefixes that matter to a claim about a language, length by length, and what the network says after each.

- At the end of a string (`class` and its like) every string matters.
- With a threshold a rejected prefix is not followed: all that goes on from it is rejected. Then no member of a counted length up
  to the horizon may go on from it.
- With `next` and `support` the prefixes of members matter.

A prefix is followed by itself, between bounds of its own: where they do not decide it is run again from its first token, with
more digits. Or its state is exact. Or the prefixes with one configuration and the same last tokens share boxes (`suffixes`).
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from math import ceil, floor
from typing import NamedTuple, Protocol, TypeVar

from .answers import TooCostly, Undecided, number_text, require
from .asked import NEXT, SUPPORT, THRESHOLD, Asked
from .boxes import Arithmetic, BoxedNetwork, Boxes, Executed, Rounded
from .claims import Program
from .effort import Limit
from .exponential import shares_above
from .floating import FORMATS
from .futures import Futures, Members
from .language_claims import LanguageClaim
from .languages import Configuration

_PLACES = (80, 320, 1280, 5120)
MOST_NUMBERS = 1 << 23
"""As many boxes as fit into the memory of any machine."""
_SQUASHED = ("tanh", "sigmoid")

Said = frozenset[int]
"""What is said: the index of a class alone, or the places of the tokens that are named or allowed."""


def is_squashed(programs: Iterable[Program]) -> bool:
    """Say whether programs leave the rationals."""
    return any(operation.name in _SQUASHED for program in programs for operation in program.operations)


def said_by(asked: Asked, boxed: BoxedNetwork, state: Boxes) -> Said:
    """Return what is said at every state in some boxes, unless they do not tell."""
    kind = asked.readout.kind
    if kind == THRESHOLD:
        assert asked.threshold is not None
        places = boxed.arithmetic.unit.bit_length() - 1
        above: Iterable[bool | None] = shares_above(boxed.outputs(state), places, asked.threshold)
    elif kind == SUPPORT:
        above = boxed.above(state)
    else:
        found = boxed.class_of(state)
        if found is None:
            raise Undecided(narrow=boxed.is_narrow(state))
        return frozenset({asked.places[found] if kind == NEXT else found})
    told = list(above)
    if None in told:
        raise Undecided(narrow=boxed.is_narrow(state))
    return frozenset(place for place, one in zip(asked.places, told, strict=True) if one)


def arithmetics(claim: LanguageClaim) -> Iterator[Arithmetic]:
    """Go through the arithmetics: one for floats; for real numbers several of more and more digits, at last of all digits."""
    if claim.arithmetic != "real":
        yield Executed(FORMATS[claim.arithmetic])
        return
    rational = not is_squashed(claim.network.programs) and claim.network.readout.kind != THRESHOLD
    yield from map(Rounded, (_PLACES[0], None) if rational else _PLACES)


# --- What is right ------------------------------------------------------------------------------------------------------------


class Judge:
    """What is right after a prefix, and how it goes on."""

    def __init__(self, claim: LanguageClaim, limit: Limit) -> None:
        self.claim, self.asked, self.language = claim, claim.network, claim.network.language
        self._tokens = range(len(self.language.alphabet))
        self._futures = Futures(self.language, limit) if self.asked.is_stepwise else None
        self._allowed: dict[Configuration, frozenset[int]] = {}
        self._members: Members | None = None
        if self.asked.readout.kind == THRESHOLD and self._futures and claim.horizon is not None:
            self._members = Members(self._futures, claim.first, claim.stride, claim.horizon, limit)

    def right(self, configuration: Configuration) -> frozenset[int] | None:
        """Return what a network should say; with a threshold, whether the end is allowed. None where nothing is asked."""
        if not self.asked.is_stepwise:
            return frozenset({self.language.right_class(configuration)})
        if self.asked.readout.kind == THRESHOLD:
            return frozenset({self.language.end} if self.language.is_member(configuration) else ())
        allowed = self.allowed(configuration)
        return allowed if allowed and (self.asked.readout.kind == SUPPORT or len(allowed) == 1) else None

    def allowed(self, configuration: Configuration) -> frozenset[int]:
        """Return the tokens that may come next in a member."""
        if configuration not in self._allowed:
            assert self._futures is not None
            self._allowed[configuration] = self._futures.allowed(configuration)
        return self._allowed[configuration]

    def visit(
        self, configuration: Configuration, length: int, said: Callable[[], Said], *, counted: bool
    ) -> Iterable[int]:
        """Refuse a prefix of that length after which something wrong is said; return the tokens by which it goes on.

        Args:
            configuration: where the machine stands.
            length: how many tokens were read.
            said: finds out what is said, which takes time.
            counted: whether what is said here is asked for.
        """
        if self.asked.readout.kind == THRESHOLD:
            return self._visit_allowed(configuration, length, said(), counted)
        right = self.right(configuration) if counted else None
        require(right is None or said() == right, f"a string of length {length} fails")
        if not self.asked.is_stepwise:
            return self._tokens
        return [token for token in self.allowed(configuration) if token != self.language.end]

    def _visit_allowed(self, configuration: Configuration, length: int, said: Said, counted: bool) -> list[int]:
        if counted:
            right = self.language.is_member(configuration) == (self.language.end in said)
            require(right, f"a string of length {length} fails")
        for token in self._tokens:
            if token not in said:
                self._require_no_member(self.language.after(configuration, token), length + 1)
        return [token for token in self._tokens if token in said]

    def _require_no_member(self, configuration: Configuration, length: int) -> None:
        """Refuse a prefix that is rejected though a member goes on from it."""
        if self._members is not None:
            fails = self._members.fails_within(configuration, length)
            require(not fails, f"a member that begins with {length} tokens is rejected")
            return
        assert self._futures is not None
        if self._futures.is_live(configuration):
            every = self.claim.stride == 1 and self.claim.first <= length
            require(not every, f"a member that begins with {length} tokens is rejected")
            raise TooCostly("whether a rejected member has a counted length is not decided here")


# --- Prefixes one by one --------------------------------------------------------------------------------------------------------


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

    def say(self, state: State) -> tuple[State, Said]:
        """Return what is said at a state, and the state, perhaps between closer bounds."""
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

    def say(self, state: Enclosed) -> tuple[Enclosed, Said]:
        """Return what is said, with as many digits as that takes."""
        while True:
            boxed = self._boxed(state.level)
            try:
                return state, said_by(self.asked, boxed, state.boxes)
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
        self._seen = [] if not rounded else [BoxedNetwork(asked, Rounded(places)) for places in _PLACES]

    def start(self, length: int) -> Boxes:
        """Return the state before the first token."""
        return start_of(self.asked, self._exact, length)

    def step(self, state: Boxes, token: int) -> Boxes:
        """Return the next state."""
        return self._exact.step(state, token)

    def key(self, state: Boxes) -> object:
        """Return the state."""
        return state

    def say(self, state: Boxes) -> tuple[Boxes, Said]:
        """Return what is said: exactly, or between bounds that are drawn closer."""
        for boxed in self._seen:
            unit = boxed.arithmetic.unit
            boxes = tuple((floor(low * unit), ceil(high * unit)) for low, high in state)
            try:
                return state, said_by(self.asked, boxed, boxes)
            except Undecided:
                continue
        if self._seen:
            raise TooCostly("the bounds of an output do not decide what is said")
        return state, said_by(self.asked, self._exact, state)


def start_of(asked: Asked, boxed: BoxedNetwork, length: int) -> Boxes:
    """Return the boxes before the first token of a string of that length."""
    if asked.padding is None or length >= asked.padded_to:
        return boxed.start
    before, state = boxed.function(asked.padding), boxed.unread
    for _ in repeat(None, asked.padded_to - length):
        state = before(state)
    for program in asked.first:
        state = boxed.function(program)(state)
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
            found = [state]

            def say(found: list[State] = found) -> Said:
                found[0], said = runner.say(found[0])
                return said

            counted = length >= least and claim.is_counted(length)
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
