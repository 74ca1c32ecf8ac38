"""Questions that look at the state and the zero check of a machine's last configuration alone, as those of languages do.

A question answers with the index of the right class. Those of the paper, which look at the sign of a counter or at the counter
itself, stand beside the tasks (`tasks`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from tallystick.errors import BadInput
from tallystick.languages.counter_machine import (
    Configuration,
    CounterMachine,
    ZeroMask,
    show_zero_check,
    zero_check,
    zero_checks,
)

Question = Callable[[CounterMachine, Configuration], int]
"""From a machine and its last configuration to the index of the right class."""

Check = tuple[str, ZeroMask]
"""A state and a zero check."""

_TRIED = (1, -1, 2, -2, 16, -16)
"""Counters that are tried to see whether a question looks at more of them than whether they are zero."""


@dataclass(frozen=True)
class ByCheck:
    """A question whose answer is listed for every state and zero check."""

    indices: tuple[tuple[Check, int], ...]

    @cached_property
    def _table(self) -> dict[Check, int]:
        return dict(self.indices)

    def __call__(self, machine: CounterMachine, configuration: Configuration) -> int:
        """Return what is listed."""
        del machine
        return self._table[configuration.state, zero_check(configuration.counters)]

    def in_order(self, places: tuple[int, ...]) -> "ByCheck":
        """Return this question with the class that had index i at places[i]."""
        return ByCheck(tuple((check, places[index]) for check, index in self.indices))


def every_check(machine: CounterMachine) -> Iterator[Check]:
    """Go through every state with every zero check."""
    return product(machine.states, zero_checks(machine.counters))


def indices_by_check(machine: CounterMachine, question: Question) -> dict[Check, int] | None:
    """Return the answer for every state and zero check; None where the question looks at more than these."""
    found: dict[Check, int] = {}
    for state, check in every_check(machine):
        answers = {question(machine, Configuration(state, counters)) for counters in _examples(check)}
        if len(answers) > 1:
            return None
        found[state, check] = answers.pop()
    return found


def _examples(check: ZeroMask) -> Iterator[tuple[int, ...]]:
    """Go through counters with a zero check: equal ones, and such with alternating signs."""
    for size in _TRIED:
        yield tuple(size * mark for mark in check)
        yield tuple(-size * mark if place % 2 else size * mark for place, mark in enumerate(check))


def by_check(machine: CounterMachine, classes: dict[str, frozenset[Check]]) -> ByCheck:
    """Return the question whose classes are given with their states and zero checks; each must be in exactly one class."""
    indices: dict[Check, int] = {}
    for index, (name, checks) in enumerate(classes.items()):
        for check in checks:
            if check in indices:
                raise BadInput(f"classes: {_text(check)} is in the class {name!r} and in another one")
            indices[check] = index
    every = list(every_check(machine))
    for check in sorted(indices):
        if check not in every:
            raise BadInput(f"classes: {_text(check)} is not a state and a zero check of the machine")
    for check in every:
        if check not in indices:
            raise BadInput(f"classes: {_text(check)} is in none of {', '.join(map(repr, classes))}")
    return ByCheck(tuple((check, indices[check]) for check in every))


def _text(check: Check) -> str:
    return f"state {check[0]!r}, zero check {show_zero_check(check[1])}"
