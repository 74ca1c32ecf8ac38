"""Places: a counter machine's configurations in finitely many parts, in each of which a network may have one closed form.

A place knows the machine's state, each counter exactly where it is near zero and else on which side of zero it lies, the latest
tokens, and of each token with a border whether it was read more often than that. One token leads from a place to a few others,
each under conditions on the counters and on how often the token was read (`Move`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import NamedTuple

from tallystick.languages.counter_machine import Add, Case, Configuration, CounterMachine, TimesZero
from tallystick.languages.tasks import Task

UP, DOWN = "+", "-"
"""In the place of a counter: it is at least as large as `Grid.near`, on this side of zero."""

Counter = int | str


class Place(NamedTuple):
    """One part of the configurations.

    Attributes:
        state: the machine's state.
        counters: each counter, or on which side of zero it is.
        latest: the latest tokens, the last one last; fewer at the beginning.
        beyond: tokens with those of their borders that they were read more often than.
    """

    state: str
    counters: tuple[Counter, ...]
    latest: tuple[str, ...] = ()
    beyond: frozenset[tuple[str, int]] = frozenset()


class Bound(NamedTuple):
    """What a coordinate lies between; None is no bound. Coordinates are how often each token was read, then the counters."""

    coordinate: int
    least: int | Fraction | None
    most: int | Fraction | None


class Move(NamedTuple):
    """One token leads to another place.

    Attributes:
        after: that place.
        bounds: under which conditions.
        changes: what is added to each counter; None sets it to zero.
    """

    after: Place
    bounds: tuple[Bound, ...]
    changes: tuple[int | None, ...]


def largest_step(machine: CounterMachine) -> int:
    """Return the most by which one token moves a counter, at least 1."""
    steps = (u.amount for updates in machine.updates.values() for u in updates if isinstance(u, Add))
    return max(1, *map(abs, steps), 1)


@dataclass(frozen=True, eq=False)
class Grid:
    """How configurations are parted into places.

    Attributes:
        task: whose machine it is.
        near: counters below this size are known exactly; no step is larger.
        memory: how many of the latest tokens are known.
        borders: for some tokens, numbers up to which they are counted apart, in rising order.
        closed: leave out what is beyond a border.
    """

    task: Task
    near: int
    memory: int = 1
    borders: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    closed: bool = False

    @property
    def machine(self) -> CounterMachine:
        """The task's machine."""
        return self.task.machine

    @property
    def start(self) -> Place:
        """Where every string begins."""
        return Place(self.machine.initial_state, (0,) * self.machine.counters)

    def bounds(self, place: Place) -> Iterator[Bound]:
        """Go through what a place says of its coordinates."""
        tokens = self.machine.alphabet
        for coordinate, token in enumerate(tokens):
            passed = [border + 1 for border in self.borders.get(token, ()) if (token, border) in place.beyond]
            yield Bound(coordinate, max(passed, default=0), self._next_border(place, token))
        for coordinate, counter in enumerate(place.counters, start=len(tokens)):
            if isinstance(counter, int):
                yield Bound(coordinate, counter, counter)
            else:
                yield Bound(coordinate, *((self.near, None) if counter == UP else (None, -self.near)))

    def moves(self, place: Place, token: str) -> Iterator[Move]:
        """Go through the places that a token may lead to."""
        case = Case(token, place.state, tuple(int(counter != 0) for counter in place.counters))
        tokens = self.machine.alphabet
        ways: list[list[tuple[Counter, int | None, tuple[Bound, ...]]]] = []
        for at, (counter, update) in enumerate(zip(place.counters, self.machine.updates[case], strict=True)):
            ways.append(list(self._ways(len(tokens) + at, counter, update)))
        latest = (*place.latest, token)[-self.memory :]
        for chosen in product(*ways):
            counters, changes, conditions = zip(*chosen, strict=True)
            bounds = tuple(bound for several in conditions for bound in several)
            for beyond, border in self._crossings(place, token, tokens.index(token)):
                after = Place(self.machine.transitions[case], counters, latest, beyond)
                yield Move(after, (*bounds, *border), changes)

    def _ways(
        self, coordinate: int, counter: Counter, update: Add | TimesZero
    ) -> Iterator[tuple[Counter, int | None, tuple[Bound, ...]]]:
        if isinstance(update, TimesZero):
            yield 0, None, ()
        elif isinstance(counter, int):
            yield self._known(counter + update.amount), update.amount, ()
        else:
            side = 1 if counter == UP else -1
            inwards = -side * update.amount
            least = self.near + max(0, inwards)
            yield counter, update.amount, (Bound(coordinate, *((least, None) if side > 0 else (None, -least))),)
            for size in range(self.near, self.near + max(0, inwards)):
                before = side * size
                yield before + update.amount, update.amount, (Bound(coordinate, before, before),)

    def _known(self, counter: int) -> Counter:
        if abs(counter) < self.near:
            return counter
        return UP if counter > 0 else DOWN

    def _crossings(
        self, place: Place, token: str, coordinate: int
    ) -> Iterator[tuple[frozenset[tuple[str, int]], tuple[Bound, ...]]]:
        border = self._next_border(place, token)
        if border is None:
            yield place.beyond, ()
        else:
            yield place.beyond, (Bound(coordinate, None, border - 1),)
            if not self.closed:
                yield place.beyond | {(token, border)}, (Bound(coordinate, border, border),)

    def _next_border(self, place: Place, token: str) -> int | None:
        """Return the first border of a token that it was not read more often than in a place."""
        return next((border for border in self.borders.get(token, ()) if (token, border) not in place.beyond), None)

    def with_border(self, token: str, border: int) -> "Grid":
        """Return the same grid with one more border."""
        return replace(self, borders={**self.borders, token: tuple(sorted({*self.borders.get(token, ()), border}))})

    # --- Which places are live ----------------------------------------------------------------------------------------------

    def is_live(self, place: Place) -> bool | None:
        """Say whether some continuation is accepted from every configuration of a place, or from none; None if that is open."""
        bare = Place(place.state, place.counters)
        if bare in self._alive:
            return True
        return None if bare in self._perhaps_alive else False

    @cached_property
    def _bare(self) -> "Grid":
        """The same parts of the configurations alone."""
        return Grid(self.task, self.near, 1)

    def _bare_moves(self, place: Place) -> dict[str, list[Move]]:
        return {
            token: [
                move._replace(after=Place(move.after.state, move.after.counters))
                for move in self._bare.moves(place, token)
            ]
            for token in self.machine.alphabet
        }

    @cached_property
    def _every(self) -> dict[Place, dict[str, list[Move]]]:
        """Every place that can be reached, latest tokens and borders aside, with its moves."""
        found: dict[Place, dict[str, list[Move]]] = {}
        waiting = [self.start]
        while waiting:
            place = waiting.pop()
            if place not in found:
                found[place] = self._bare_moves(place)
                waiting.extend(move.after for moves in found[place].values() for move in moves)
        return found

    def is_accepted(self, place: Place) -> bool:
        """Say whether the machine accepts at a place."""
        return (place.state, tuple(int(counter != 0) for counter in place.counters)) in self.machine.accepting

    @cached_property
    def _perhaps_alive(self) -> set[Place]:
        """The places from which a chain of moves leads to acceptance; from all others nothing is accepted."""
        found = {place for place in self._every if self.is_accepted(place)}
        while True:
            more = {
                place
                for place, moves in self._every.items()
                if place not in found and any(move.after in found for several in moves.values() for move in several)
            }
            if not more:
                return found
            found |= more

    @cached_property
    def _alive(self) -> set[Place]:
        """The places from every configuration of which acceptance can be reached, each by a proof.

        Where all counters are known a continuation is at hand. Elsewhere a token leads, whatever the counters are, to places of
        which this is known; or always on to places among a set of such, while a weighed sum of the counters' sizes falls. That
        cannot go on for ever.
        """
        found = {
            place
            for place in self._every
            if self.is_accepted(place)
            or (all(isinstance(c, int) for c in place.counters) and self._is_live_configuration(place))
        }
        while True:
            before = len(found)
            for weights in product((1, 2, 3), repeat=self.machine.counters):
                found |= self._falling(found, weights)
            if len(found) == before:
                return found

    def _is_live_configuration(self, place: Place) -> bool:
        counters = tuple(int(counter) for counter in place.counters)
        return self.task.futures.is_live(Configuration(place.state, counters))

    def _falling(self, known: set[Place], weights: tuple[int, ...]) -> set[Place]:
        """Return the largest set of places from each of which some token leads to known ones, or on within the set and down."""
        found = set(self._every) - known

        def leads_on(place: Place, move: Move) -> bool:
            return move.after in known or (move.after in found and _falls(place, move, weights))

        while True:
            stuck = {
                place
                for place in found
                if not any(all(leads_on(place, move) for move in several) for several in self._every[place].values())
            }
            if not stuck:
                return found
            found -= stuck


def _falls(place: Place, move: Move, weights: tuple[int, ...]) -> bool:
    """Say whether a weighed sum of the counters' sizes falls with a move."""
    change = 0
    for counter, after, step, weight in zip(place.counters, move.after.counters, move.changes, weights, strict=True):
        if step is None:
            # Setting a counter to zero makes it smaller by at least 1, unless it was zero.
            change -= weight if counter != 0 else 0
        elif isinstance(counter, int) and isinstance(after, int):
            change += weight * (abs(after) - abs(counter))
        else:
            side = 1 if UP in (counter, after) else -1
            change += weight * side * step
    return change < 0
