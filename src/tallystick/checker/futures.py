"""What may follow a configuration of a counter machine: is it live, and how far is the next member?

A configuration is **live** if some string leads from it to a member. Both answers are proved:

- Dead: a coarser machine knows a counter exactly only near zero, elsewhere its sign and its remainder. It can do whatever the
  machine can do. Where it never comes to a member, the machine does not either. Or all that can be reached has been gone through.
- Live: a string is found that leads to a member, or to a configuration that is live.

Whether a machine with two counters ever accepts is undecidable in general, so a search that does not end soon is too costly.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import product

from .answers import TooCostly
from .effort import Limit
from .languages import Configuration, Language

_MOST_COARSE, _MOST_VISITED, _MOST_NODES = 1 << 19, 1 << 18, 1 << 21

Node = tuple[Configuration, int]
"""A configuration, and the phase of the length at which it is reached (`Members`)."""


class Futures:
    """What may follow each configuration."""

    def __init__(self, language: Language, limit: Limit) -> None:
        self.language, self.limit = language, limit
        self._live: set[Configuration] = set()
        self._dead: set[Configuration] = set()
        amounts = [abs(added) for move in language.moves.values() for added in move.updates if added is not None]
        self._near = max(amounts, default=1) or 1
        self._period = 2 * self._near
        self._hopeful = self._coarse_live()

    def is_live(self, configuration: Configuration) -> bool:
        """Say whether some string leads from here to a member."""
        if configuration in self._live:
            return True
        if configuration in self._dead or not self.may_live(configuration):
            return False
        return self._search(configuration)

    def allowed(self, configuration: Configuration) -> frozenset[int]:
        """Return the places of the tokens that may come next in a member, and that of the end where it may end here."""
        language = self.language
        tokens = range(len(language.alphabet))
        found = {token for token in tokens if self.is_live(language.after(configuration, token))}
        return frozenset(found | ({language.end} if language.is_member(configuration) else set()))

    def may_live(self, configuration: Configuration) -> bool:
        """Say whether the coarser machine can come to a member from here."""
        return self._hopeful is None or self._coarse(configuration) in self._hopeful

    def _search(self, start: Configuration) -> bool:
        """Look for a member, those with small counters first, and remember what is found along the way."""
        before: dict[Configuration, Configuration | None] = {start: None}
        waiting = [(_size(start), start)]
        while waiting:
            self.limit.stop_in_time()
            _, here = heappop(waiting)
            if here in self._live or self.language.is_member(here):
                found: Configuration | None = here
                while found is not None:
                    self._live.add(found)
                    found = before[found]
                return True
            for token in range(len(self.language.alphabet)):
                after = self.language.after(here, token)
                if after not in before and after not in self._dead and self.may_live(after):
                    before[after] = here
                    heappush(waiting, (_size(after), after))
            if len(before) > _MOST_VISITED:
                raise TooCostly("whether the machine accepts some continuation is not decided here")
        self._dead.update(before)
        return False

    # --- The coarser machine ----------------------------------------------------------------------------------------------------

    def _coarse_of(self, counter: int) -> int:
        """Return the least number, in size, that stands for a counter: itself near zero, else one of its sign and remainder."""
        size = abs(counter)
        if size > self._near:
            size = self._near + 1 + (size - self._near - 1) % self._period
        return size if counter > 0 else -size

    def _coarse(self, configuration: Configuration) -> Configuration:
        return configuration[0], tuple(map(self._coarse_of, configuration[1]))

    def _coarse_live(self) -> set[Configuration] | None:
        """Return the coarse configurations that may lead to a member; None where there are too many to go through."""
        largest, language = self._near + self._period, self.language
        values = range(-largest, largest + 1)
        if language.states * len(values) ** min(language.counters, 32) > _MOST_COARSE:
            return None
        leading: dict[Configuration, list[Configuration]] = {}
        found: set[Configuration] = set()
        for here in product(range(language.states), product(values, repeat=language.counters)):
            self.limit.stop_in_time()
            if language.is_member(here):
                found.add(here)
            for after in self._coarse_after(here):
                leading.setdefault(after, []).append(here)
        waiting = list(found)
        while waiting:
            for earlier in leading.get(waiting.pop(), ()):
                if earlier not in found:
                    found.add(earlier)
                    waiting.append(earlier)
        return found

    def _coarse_after(self, here: Configuration) -> Iterator[Configuration]:
        """Go through what one token may lead to: a number that stands for larger ones may be any of them."""
        for token in range(len(self.language.alphabet)):
            state, counters = self.language.after(here, token)
            updates = self.language.moves[token, here[0], tuple(counter != 0 for counter in here[1])].updates
            ways: list[set[int]] = []
            for old, new, added in zip(here[1], counters, updates, strict=True):
                further = self._period if old > 0 else -self._period
                larger = abs(old) > self._near and added is not None
                ways.append({self._coarse_of(new), *([self._coarse_of(new + further)] if larger else [])})
            yield from ((state, found) for found in product(*ways))


def _size(configuration: Configuration) -> int:
    return sum(map(abs, configuration[1]))


class Members:
    """How many tokens lead from a configuration to the next member of a counted length, up to a horizon.

    A length counts from `first` on where it is a multiple of the stride. Its **phase** is the length itself before `first`, and
    from there on only its remainder. All configurations that can lead to a member of a length up to the horizon are gone through
    once, and the distances found backwards from the members.
    """

    def __init__(self, futures: Futures, first: int, stride: int, horizon: int, limit: Limit) -> None:
        self.first, self.stride, self.horizon, self.limit = first, stride, horizon, limit
        self.language, self._futures = futures.language, futures
        self._to_zero = self._steps_to_zero()
        self._distances = self._found_backwards()

    def fails_within(self, configuration: Configuration, length: int) -> bool:
        """Say whether a member of a counted length, at most the horizon, goes on from here after so many tokens."""
        distance = self._distances.get((configuration, self._phase(length)))
        return distance is not None and length + distance <= self.horizon

    def _phase(self, length: int) -> int:
        return length if length < self.first else self.first + (length - self.first) % self.stride

    def _is_counted(self, phase: int) -> bool:
        return phase >= self.first and phase % self.stride == 0

    def _steps_to_zero(self) -> list[int]:
        """Return for each counter that is zero in every member and never set to zero its largest step; 0 for the others."""
        found: list[int] = []
        for place in range(self.language.counters):
            added = [move.updates[place] for move in self.language.moves.values()]
            ends = all(not check[place] for _, check in self.language.accepting)
            found.append(max(abs(step or 0) for step in added) if ends and None not in added else 0)
        return found

    def _least(self, configuration: Configuration) -> int:
        """Return how many tokens a member is away at least."""
        steps = zip(configuration[1], self._to_zero, strict=True)
        return max((-(-abs(counter) // step) for counter, step in steps if step), default=0)

    def _found_backwards(self) -> dict[Node, int]:
        leading: dict[Node, list[Node]] = {}
        start = self.language.start, self._phase(0)
        level, seen = [start], {start}
        for length in range(1, self.horizon + 1):
            longer: list[Node] = []
            for here in level:
                self.limit.go_on(length, self.horizon)
                for token in range(len(self.language.alphabet)):
                    after = self.language.after(here[0], token)
                    if length + self._least(after) > self.horizon or not self._futures.may_live(after):
                        continue
                    node = after, self._phase(length)
                    leading.setdefault(node, []).append(here)
                    if node not in seen:
                        seen.add(node)
                        longer.append(node)
            if len(seen) > _MOST_NODES:
                raise TooCostly("the machine has too many configurations to go through")
            level = longer
            if not level:
                break
        level = [node for node in seen if self._is_counted(node[1]) and self.language.is_member(node[0])]
        found, distance = dict.fromkeys(level, 0), 0
        while level:
            distance += 1
            level = [earlier for node in level for earlier in leading.get(node, ())]
            level = [earlier for earlier in dict.fromkeys(level) if earlier not in found]
            found.update(dict.fromkeys(level, distance))
        return found
