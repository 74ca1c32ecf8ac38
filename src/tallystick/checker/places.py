"""Places: a machine's configurations in finitely many parts, and which tokens may follow in all of a part.

A place is a state, and for each counter its value where that is below K in size, else the side of zero on which it lies. K is at
least the largest step, so that no token leads over zero.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from .answers import TooCostly, require
from .effort import Limit
from .futures import Futures
from .languages import Configuration, Language

UP, DOWN = "+", "-"
Counter = int | str
Place = tuple[int, tuple[Counter, ...]]

_MOST_PLACES = 1 << 14


class Bound(NamedTuple):
    """A counter lies between two numbers; None is no bound."""

    counter: int
    least: int | None
    most: int | None


class Way(NamedTuple):
    """One token may lead to another place: under which bounds, and what it adds to each counter (None sets it to zero)."""

    after: Place
    bounds: tuple[Bound, ...]
    updates: tuple[int | None, ...]


class Places:
    """The places of a machine."""

    def __init__(self, language: Language, near: int, limit: Limit) -> None:
        steps = [abs(added) for move in language.moves.values() for added in move.updates if added is not None]
        require(near >= max(1, *steps), "the places of a closed form are finer than the machine's steps")
        self.language, self.near, self.limit = language, near, limit
        self._every: dict[Place, list[list[Way]]] | None = None
        self._alive: set[Place] = set()
        self._hopeful: set[Place] = set()

    def of(self, configuration: Configuration) -> Place:
        """Return the place of a configuration."""
        return configuration[0], tuple(map(self._known, configuration[1]))

    def some(self, place: Place) -> Configuration:
        """Return a configuration of a place."""
        far = {UP: self.near, DOWN: -self.near}
        return place[0], tuple(far[c] if isinstance(c, str) else c for c in place[1])

    def bounds(self, place: Place) -> Iterator[Bound]:
        """Go through what a place says of its counters."""
        for at, counter in enumerate(place[1]):
            if isinstance(counter, int):
                yield Bound(at, counter, counter)
            else:
                yield Bound(at, *((self.near, None) if counter == UP else (None, -self.near)))

    def ways(self, place: Place, token: int) -> Iterator[Way]:
        """Go through where a token may lead."""
        state, counters = place
        updates, target = self.language.moves[token, state, tuple(counter != 0 for counter in counters)]
        choices = [list(self._changes(at, *pair)) for at, pair in enumerate(zip(counters, updates, strict=True))]
        for chosen in product(*choices):
            after = tuple(counter for counter, _ in chosen)
            yield Way((target, after), tuple(bound for _, bound in chosen if bound is not None), updates)

    def _changes(self, at: int, counter: Counter, added: int | None) -> Iterator[tuple[Counter, Bound | None]]:
        if added is None:
            yield 0, None
        elif isinstance(counter, int):
            yield self._known(counter + added), None
        else:
            side = 1 if counter == UP else -1
            inwards = max(0, -side * added)
            rest = self.near + inwards
            yield counter, Bound(at, *((rest, None) if side > 0 else (None, -rest)))
            for size in range(self.near, rest):
                yield side * size + added, Bound(at, side * size, side * size)

    def _known(self, counter: int) -> Counter:
        return counter if abs(counter) < self.near else UP if counter > 0 else DOWN

    # --- What may follow ----------------------------------------------------------------------------------------------------

    def is_live(self, place: Place) -> bool:
        """Say whether a member goes on from every configuration of a place, or from none; refuse to say it depends."""
        if self._every is None:
            self._every = self._go_through()
            self._hopeful = self._found_hopeful(self._every)
            self._alive = self._found_alive(self._every)
        if place in self._alive:
            return True
        if place in self._hopeful or place not in self._every:
            raise TooCostly("which tokens may follow depends on the counters")
        return False

    def allowed(self, place: Place) -> frozenset[int]:
        """Return the tokens that may follow, and the end, in all configurations of a place."""
        found = {self.language.end} if self.language.is_member(self.some(place)) else set[int]()
        for token in range(len(self.language.alphabet)):
            live = {self.is_live(way.after) for way in self.ways(place, token)}
            if len(live) > 1:
                raise TooCostly("which tokens may follow depends on the counters")
            found |= {token} if live == {True} else set()
        return frozenset(found)

    def _go_through(self) -> dict[Place, list[list[Way]]]:
        """Return every place that can be reached, with its ways for each token."""
        found: dict[Place, list[list[Way]]] = {}
        waiting = [self.of(self.language.start)]
        while waiting:
            place = waiting.pop()
            if place not in found:
                self.limit.stop_in_time()
                found[place] = [list(self.ways(place, token)) for token in range(len(self.language.alphabet))]
                waiting += [way.after for ways in found[place] for way in ways]
            if len(found) > _MOST_PLACES:
                raise TooCostly("a closed form has too many places")
        return found

    def _found_hopeful(self, every: dict[Place, list[list[Way]]]) -> set[Place]:
        """Return the places from which a chain of ways leads to members; from all others no member goes on."""
        leading: dict[Place, list[Place]] = {}
        for place, several in every.items():
            for ways in several:
                for way in ways:
                    leading.setdefault(way.after, []).append(place)
        found = {place for place in every if self.language.is_member(self.some(place))}
        waiting = list(found)
        while waiting:
            for earlier in leading.get(waiting.pop(), ()):
                if earlier not in found:
                    found.add(earlier)
                    waiting.append(earlier)
        return found

    def _found_alive(self, every: dict[Place, list[list[Way]]]) -> set[Place]:
        """Return places from every configuration of which a member goes on.

        That is so where a member ends, and where all counters are known and a member is found. It is so where some token leads to
        such places by all of its ways. And it is so in a set of places in each of which some token leads by all of its ways to
        such places, or to others of the set with a smaller sum of the counters' sizes, each multiplied by a weight.
        """
        futures = Futures(self.language, self.limit)
        found: set[Place] = set()
        for place in every:
            exact = all(isinstance(counter, int) for counter in place[1])
            if self.language.is_member(self.some(place)) or (exact and futures.is_live(self.some(place))):
                found.add(place)
        before = -1
        while len(found) != before:
            before = len(found)
            for weights in product((1, 2, 3), repeat=min(self.language.counters, 4)):
                found |= self._falling(every, found, weights)
        return found

    def _falling(self, every: dict[Place, list[list[Way]]], known: set[Place], weights: tuple[int, ...]) -> set[Place]:
        found = set(every) - known

        def leads_on(place: Place, way: Way) -> bool:
            return way.after in known or (way.after in found and _change(place, way, weights) < 0)

        while True:
            self.limit.stop_in_time()
            stuck = {
                place
                for place in found
                if not any(ways and all(leads_on(place, way) for way in ways) for ways in every[place])
            }
            if not stuck:
                return found
            found -= stuck


def _change(place: Place, way: Way, weights: tuple[int, ...]) -> int:
    """Return by how much the weighed sum of the counters' sizes changes, at most; no counter leads over zero from afar."""
    total = 0
    for counter, added, weight in zip(place[1], way.updates, weights, strict=False):
        if isinstance(counter, int):
            total += weight * ((0 if added is None else abs(counter + added)) - abs(counter))
        elif added is None:
            total -= weight
        else:
            total += weight * (added if counter == UP else -added)
    return total
