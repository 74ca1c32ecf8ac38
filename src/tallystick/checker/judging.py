"""What a network says after a prefix, in boxes, and what is right there.

- At the end of a string (`class` and its like) every string matters.
- With a threshold a rejected prefix is not followed: all that goes on from it is rejected. Then no member of a counted length up
  to the horizon may go on from it.
- With `next` and `support` the prefixes of members matter.
"""

from collections.abc import Callable, Iterable, Iterator

from .answers import TooCostly, Undecided, require
from .any_order import ANY_ORDER, AnyOrder
from .arithmetic import SQUASHED, Arithmetic, Boxes
from .asked import NEXT, SUPPORT, THRESHOLD, Asked
from .boxes import BoxedNetwork
from .claims import Program
from .effort import Limit
from .executed import Executed
from .floating import FORMATS
from .futures import Futures, Members
from .language_claims import LanguageClaim
from .languages import Configuration
from .rounded import Rounded

PLACES = (80, 320, 1280, 5120)

Said = frozenset[int]
"""What is said: the index of a class alone, or the places of the tokens that are named or allowed."""


def is_squashed(programs: Iterable[Program]) -> bool:
    """Say whether programs leave the rationals."""
    return any(operation.name in SQUASHED for program in programs for operation in program.operations)


def said_by(asked: Asked, boxed: BoxedNetwork, state: Boxes, needed: Said | None = None) -> Said:
    """Return what is said at every state in some boxes, unless they do not tell; with a threshold at some places alone."""
    kind = asked.readout.kind
    if kind == THRESHOLD:
        assert asked.threshold is not None
        above: Iterable[bool | None] = boxed.arithmetic.shares_above(boxed.outputs(state), asked.threshold)
    elif kind == SUPPORT:
        above = boxed.above(state)
    else:
        found = boxed.class_of(state)
        if found is None:
            raise Undecided(narrow=boxed.is_narrow(state))
        return frozenset({asked.places[found] if kind == NEXT else found})
    told = dict(zip(asked.places, above, strict=True))
    if kind == THRESHOLD and needed is not None:
        told = {place: told[place] for place in needed}
    if None in told.values():
        raise Undecided(narrow=boxed.is_narrow(state))
    return frozenset(place for place, one in told.items() if one)


def needed_after(claim: LanguageClaim, length: int, last: int | None, *, counted: bool) -> Said | None:
    """Return what matters after a prefix with a threshold: the end where it counts, tokens where prefixes go on; else None."""
    if claim.network.readout.kind != THRESHOLD:
        return None
    language = claim.network.language
    tokens = range(len(language.alphabet)) if last is None or length < last else ()
    return frozenset([*tokens, language.end] if counted else tokens)


def arithmetics(claim: LanguageClaim) -> Iterator[Arithmetic]:
    """Go through the arithmetics: one for floats; for real numbers several of more and more digits, at last of all digits."""
    if claim.arithmetic.endswith(ANY_ORDER):
        yield AnyOrder(claim.arithmetic)
        return
    if claim.arithmetic != "real":
        yield Executed(FORMATS[claim.arithmetic])
        return
    rational = not is_squashed(claim.network.programs) and claim.network.readout.kind != THRESHOLD
    yield from map(Rounded, (PLACES[0], None) if rational else PLACES)


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
