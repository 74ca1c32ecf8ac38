"""What may follow: whether a counter machine accepts some continuation of a prefix, by which tokens, and a shortest one.

A prefix is **live** if some continuation of it is accepted. Whether that is so depends on the configuration alone. Two searches
tell:

- An **abstract machine** knows a counter exactly where it is near zero, and otherwise only on which side it lies and its
  remainder modulo a small number. It can do whatever the machine can, and more. A configuration from which it accepts nothing is
  dead.
- Elsewhere a best-first search for a shortest continuation runs the machine itself. What it finds is remembered for every
  configuration along it.

Whether a machine with two counters ever accepts is undecidable in general, so the second search has a bound, beyond which
`BadInput` says that the question is open. No ready machine comes near it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from itertools import product
from operator import mul

from tallystick.errors import BadInput
from tallystick.languages.counter_machine import (
    LARGEST_TABLE,
    Add,
    Case,
    Configuration,
    CounterMachine,
    TimesZero,
    zero_check,
)

_MOST_POTENTIALS = 1000
"""How many weights are tried (`Futures.potentials`)."""

MOST_CONFIGURATIONS = 300_000
"""How many configurations a search for a continuation visits before it gives up; some seconds."""


@dataclass(eq=False)
class Futures:
    """What may follow each configuration of a machine. Tokens are named by their places in the alphabet; `end` is the next place.

    >>> from tallystick.languages.ready_machines import READY_MACHINES
    >>> after = Futures(READY_MACHINES["anbn"])
    >>> after.completion(Configuration("a", (2,))), after.is_live(Configuration("b", (-1,)))
    (('b', 'b'), False)
    >>> sorted(after.allowed(Configuration("a", (2,)))), after.determined(Configuration("b", (2,)))
    ([0, 1], 1)
    """

    machine: CounterMachine
    _next: dict[Configuration, str | None] = field(default_factory=dict[Configuration, str | None])
    """The next token of a shortest continuation, None where a configuration is accepted itself."""
    _tokens_left: dict[Configuration, int] = field(default_factory=dict[Configuration, int])
    """How many tokens a shortest continuation has, where one is known."""
    _dead: set[Configuration] = field(default_factory=set[Configuration])
    """Configurations that a search has found to be dead."""

    @property
    def end(self) -> int:
        """The place that stands for the end of the string."""
        return len(self.machine.alphabet)

    def completion(self, configuration: Configuration) -> tuple[str, ...] | None:
        """Return a shortest string that leads from a configuration to acceptance; None where there is none."""
        if not self.is_live(configuration):
            return None
        tokens: list[str] = []
        while (token := self._next[configuration]) is not None:
            tokens.append(token)
            configuration = self.machine.step(configuration, token).after
        return tuple(tokens)

    def is_live(self, configuration: Configuration) -> bool:
        """Say whether some continuation is accepted; the empty one counts."""
        if configuration in self._next:
            return True
        if configuration in self._dead or not self.is_possible(configuration):
            return False
        return self._search(configuration)

    def live_steps(self, configuration: Configuration) -> dict[str, Configuration]:
        """Return the tokens that may come next in an accepted string, each with the configuration that it leads to."""
        found = {token: self.machine.step(configuration, token).after for token in self.machine.alphabet}
        return {token: after for token, after in found.items() if self.is_live(after)}

    def allowed(self, configuration: Configuration) -> frozenset[int]:
        """Return the places of the tokens that may come next in an accepted string, and `end` where it may end."""
        places = set(map(self.machine.alphabet.index, self.live_steps(configuration)))
        return frozenset(places | ({self.end} if self.machine.accepts_configuration(configuration) else set()))

    def determined(self, configuration: Configuration) -> int | None:
        """Return the one place that may come next, `end` included; None where there are several, or none."""
        allowed = self.allowed(configuration)
        return next(iter(allowed)) if len(allowed) == 1 else None

    # --- The machine itself -------------------------------------------------------------------------------------------------

    def _search(self, start: Configuration) -> bool:
        """Find a shortest continuation and remember it; say whether there is one."""
        found: dict[Configuration, tuple[int, Configuration | None, str]] = {start: (0, None, "")}
        waiting = [(self._least_tokens(start), 0, start)]
        while waiting:
            _, steps, here = heappop(waiting)
            steps = -steps
            if steps != found[here][0]:
                continue
            if here in self._next or self.machine.accepts_configuration(here):
                self._remember(here, found)
                return True
            for token in self.machine.alphabet:
                after = self.machine.step(here, token).after
                if self.is_possible(after) and (after not in found or found[after][0] > steps + 1):
                    found[after] = steps + 1, here, token
                    heappush(waiting, (steps + 1 + self._least_tokens(after), -steps - 1, after))
            if len(found) > MOST_CONFIGURATIONS:
                raise BadInput(
                    f"machine: whether it accepts a continuation from state {start.state!r} with counters {start.counters} is "
                    f"open after {MOST_CONFIGURATIONS:,} configurations; give the machine a state from which it accepts nothing"
                )
        self._dead.update(found)  # all that can be reached was visited, and nothing of it is accepted
        return False

    def _remember(
        self, accepted: Configuration, found: dict[Configuration, tuple[int, Configuration | None, str]]
    ) -> None:
        """Remember the way to a configuration that is accepted, or from which the way on is known."""
        if accepted not in self._next:
            self._next[accepted], self._tokens_left[accepted] = None, 0
        left = self._tokens_left[accepted]
        _, before, token = found[accepted]
        while before is not None:
            left += 1
            self._next[before], self._tokens_left[before] = token, left
            _, before, token = found[before]

    def _least_tokens(self, configuration: Configuration) -> int:
        """Return so many tokens as are needed at least: what must end at zero comes no nearer to it than the potentials say."""
        if configuration in self._tokens_left:
            return self._tokens_left[configuration]
        here = configuration.counters
        return max((-(-sum(map(mul, weights, here)) // unit) for weights, unit in self.potentials), default=0)

    @cached_property
    def potentials(self) -> tuple[tuple[tuple[int, ...], int], ...]:
        """Weights of the counters, each with a unit: no token takes more than the unit from the weighted sum of the counters.

        Only counters count that must be zero at the end and are never set to zero. For aⁿbⁿcⁿ the weights 2 and 1 tell how many b
        and c are missing, so that a search for them goes straight.
        """
        places = range(self.machine.counters)
        zeroed = [place for place in places if self._must_be_undone(place)]
        changes = {tuple(u.amount for u in ups if isinstance(u, Add)) for ups in self._changes(zeroed)}
        sizes = [max(abs(change[place]) for change in changes) for place in range(len(zeroed))]
        if not any(sizes):
            return ()
        unit = max(sizes)
        reach = next((reach for reach in (3, 2, 1) if (2 * reach * unit + 1) ** len(zeroed) <= _MOST_POTENTIALS), 0)
        weights = product(range(-reach * unit, reach * unit + 1), repeat=len(zeroed))
        found = {one: unit for one in weights if all(sum(map(mul, one, change)) >= -unit for change in changes)}
        for place, size in enumerate(sizes):  # one counter for itself
            for sign in (1, -1):
                found[tuple(sign * (other == place) for other in range(len(zeroed)))] = size
        largest = [
            one for one in found if not any(_is_further(other, one) for other in found if found[other] == found[one])
        ]
        at = {place: number for number, place in enumerate(zeroed)}
        return tuple((tuple(one[at[p]] if p in at else 0 for p in places), found[one]) for one in largest if found[one])

    def _must_be_undone(self, place: int) -> bool:
        ends_at_zero = all(not check[place] for _, check in self.machine.accepting)
        return ends_at_zero and all(isinstance(updates[place], Add) for updates in self.machine.updates.values())

    def _changes(self, places: list[int]) -> Iterator[tuple[Add | TimesZero, ...]]:
        return (tuple(updates[place] for place in places) for updates in self.machine.updates.values())

    # --- The abstract machine -----------------------------------------------------------------------------------------------

    @cached_property
    def near(self) -> int:
        """The least size from which on only remainders are known: a step from there cannot jump over zero."""
        steps = [u.amount for updates in self.machine.updates.values() for u in updates if isinstance(u, Add)]
        return max(1, *map(abs, steps)) if steps else 1

    @property
    def modulus(self) -> int:
        """What remainders are taken of: a counter at `near` or beyond stands for all that differ by multiples of it."""
        return 2 * self.near

    def _abstract(self, counter: int) -> int:
        """Return the number that stands for a counter: itself, or the least on its side with the same remainder."""
        beyond = abs(counter) - self.near
        if beyond < 0:
            return counter
        size = self.near + beyond % self.modulus
        return size if counter > 0 else -size

    def is_possible(self, configuration: Configuration) -> bool:
        """Say whether the abstract machine accepts some continuation; where it does not, nor does the machine."""
        return Configuration(configuration.state, tuple(map(self._abstract, configuration.counters))) in self.possible

    @cached_property
    def possible(self) -> frozenset[Configuration]:
        """The abstract configurations from which acceptance can be reached, found from the end backwards."""
        largest = self.near + self.modulus - 1
        values = range(-largest, largest + 1)
        if len(self.machine.states) * len(values) ** self.machine.counters > LARGEST_TABLE:
            raise BadInput(
                f"machine: its steps of up to {self.near} with {self.machine.counters} counters make too many cases to tell "
                "which tokens may come next; use smaller steps"
            )
        before: dict[Configuration, list[Configuration]] = {}
        pairs = product(self.machine.states, product(values, repeat=self.machine.counters))
        every = [Configuration(*pair) for pair in pairs]
        for here in every:
            for after in self._abstract_steps(here):
                before.setdefault(after, []).append(here)
        reached = {here for here in every if self.machine.accepts_configuration(here)}
        waiting = list(reached)
        while waiting:
            for earlier in before.get(waiting.pop(), ()):
                if earlier not in reached:
                    reached.add(earlier)
                    waiting.append(earlier)
        return frozenset(reached)

    def _abstract_steps(self, here: Configuration) -> Iterator[Configuration]:
        """Go through the abstract configurations that one token may lead to."""
        for token in self.machine.alphabet:
            case = Case(token, here.state, zero_check(here.counters))
            ways: list[set[int]] = []
            for counter, update in zip(here.counters, self.machine.updates[case], strict=True):
                after = 0 if isinstance(update, TimesZero) else counter + update.amount
                ways.append({self._abstract(after)})
                if abs(counter) >= self.near and isinstance(update, Add):  # it may also stand for a larger one
                    further = after + (self.modulus if counter > 0 else -self.modulus)
                    ways[-1].add(self._abstract(further))
            yield from (Configuration(self.machine.transitions[case], counters) for counters in product(*ways))


def _is_further(other: tuple[int, ...], one: tuple[int, ...]) -> bool:
    """Say whether weights have the same signs as others, and none is smaller."""
    return other != one and all(
        x * y >= 0 and abs(x) >= abs(y) and (x or not y) for x, y in zip(other, one, strict=True)
    )
