"""Counter machines as specifications: what a string should get, by the tables of a machine.

A machine has states and whole counters. A token leads from a configuration (a state and the counters) to the next one by what the
table says for the token, the state and which counters are zero: each counter is added to or set to zero. What is right follows
from the state and the signs of the counters.
"""

from itertools import product
from typing import NamedTuple

from .effort import Limit

Configuration = tuple[int, tuple[int, ...]]
"""The place of a state, and the counters."""


class Move(NamedTuple):
    """What a token does: a number to add to each counter, None to set it to zero, and the next state."""

    updates: tuple[int | None, ...]
    state: int


class Language(NamedTuple):
    """A machine and what is asked of it.

    Attributes:
        alphabet: the tokens.
        state_names: the states.
        initial: the state before the first token.
        counters: how many counters there are.
        moves: by token, state and whether each counter is other than zero.
        accepting: the states, with whether each counter is other than zero, in which a string is a member.
        right: by state and the sign of each counter the class that is right.
    """

    alphabet: tuple[str, ...]
    state_names: tuple[str, ...]
    initial: int
    counters: int
    moves: dict[tuple[int, int, tuple[bool, ...]], Move]
    accepting: frozenset[tuple[int, tuple[bool, ...]]]
    right: dict[tuple[int, tuple[int, ...]], int]

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.state_names)

    @property
    def start(self) -> Configuration:
        """Where the machine stands before the first token."""
        return self.initial, (0,) * self.counters

    @property
    def end(self) -> int:
        """What stands for the end of a string among the places of tokens."""
        return len(self.alphabet)

    def after(self, configuration: Configuration, token: int) -> Configuration:
        """Return the next configuration."""
        state, counters = configuration
        updates, target = self.moves[token, state, tuple([counter != 0 for counter in counters])]
        return target, tuple(
            [0 if added is None else counter + added for counter, added in zip(counters, updates, strict=True)]
        )

    def after_run(self, configuration: Configuration, token: int, size: int, limit: Limit) -> Configuration:
        """Return the configuration after a token is read so many times, many at once where each does the same."""
        while size:
            limit.stop_in_time()
            follower = self.after(configuration, token)
            jump = self._jump(configuration, follower, token, size)
            if jump > 1:
                state, counters = configuration
                steps = [new - old for new, old in zip(follower[1], counters, strict=True)]
                follower = state, tuple([old + jump * step for old, step in zip(counters, steps, strict=True)])
            configuration, size = follower, size - jump
        return configuration

    def _jump(self, before: Configuration, after: Configuration, token: int, size: int) -> int:
        """Return how many times a token surely does the same: the state stays, and no counter comes to zero or leaves it."""
        updates, state = self.moves[token, before[0], tuple(counter != 0 for counter in before[1])]
        if state != before[0]:
            return 1
        jump = size
        for old, new, added in zip(before[1], after[1], updates, strict=True):
            if (old == 0) != (new == 0):
                return 1
            if added is not None and old * added < 0:
                jump = min(jump, max(1, (abs(old) - 1) // abs(added)))
        return jump

    def is_member(self, configuration: Configuration) -> bool:
        """Say whether a string that ends here is a member."""
        state, counters = configuration
        return (state, tuple([counter != 0 for counter in counters])) in self.accepting

    def right_class(self, configuration: Configuration) -> int:
        """Return the class that a string that ends here should get."""
        state, counters = configuration
        return self.right[state, tuple([(counter > 0) - (counter < 0) for counter in counters])]


def by_zero_checks(table: dict[tuple[int, tuple[bool, ...]], int]) -> dict[tuple[int, tuple[int, ...]], int]:
    """Write a table that looks at which counters are zero as one that looks at their signs."""
    return {
        (state, signs): index
        for (state, check), index in table.items()
        for signs in product(*((-1, 1) if other else (0,) for other in check))
    }


def of_brackets(floored: bool, right: tuple[int, int, int]) -> Language:
    """Return the machine whose counter is n − m, or κ, and what is right below, at and above zero."""
    moves = {
        (token, 0, (other,)): Move((0 if floored and token and not other else 1 - 2 * token,), 0)
        for token in (0, 1)
        for other in (False, True)
    }
    signs = {(0, (sign,)): right[sign + 1] for sign in (-1, 0, 1)}
    return Language(("(", ")"), ("q",), 0, 1, moves, frozenset({(0, (False,))}), signs)
