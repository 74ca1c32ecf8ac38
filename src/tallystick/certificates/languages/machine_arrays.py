"""A counter machine on many strings at once: states and counters in arrays, steps as lookups in tables."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.languages.counter_machine import Add, Case, Configuration, zero_checks
from tallystick.languages.futures import Futures

Whole = NDArray[np.int64]
Truths = NDArray[np.bool_]


class Configurations(NamedTuple):
    """Where the machine stands after each string: the place of the state, and a row of counters."""

    states: Whole
    counters: Whole

    def of(self, rows: NDArray[np.intp] | slice) -> "Configurations":
        """Return those of some strings."""
        return Configurations(self.states[rows], self.counters[rows])


def joined_configurations(parts: list[Configurations]) -> Configurations:
    """Put several groups one after the other."""
    return Configurations(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@dataclass(frozen=True)
class MachineArrays:
    """A machine with its futures."""

    futures: Futures

    @property
    def start(self) -> Configurations:
        """The configuration of the empty string alone."""
        machine = self.futures.machine
        place = machine.states.index(machine.initial_state)
        return Configurations(np.array([place]), np.zeros((1, machine.counters), np.int64))

    def configuration(self, at: Configurations, row: int) -> Configuration:
        """Return one of them."""
        return Configuration(
            self.futures.machine.states[int(at.states[row])], tuple(int(counter) for counter in at.counters[row])
        )

    def after(self, at: Configurations, token: int) -> Configurations:
        """Read one token after each string."""
        transitions, amounts, factors = self._tables
        case = token, at.states, self._checks(at)
        return Configurations(transitions[case], at.counters * factors[case] + amounts[case])

    def possible(self, at: Configurations) -> Truths:
        """Say which tokens may follow each string, one column each, and last whether it is accepted.

        A token is ruled out where the abstract machine of `Futures` accepts nothing after it. That depends on the counters near
        zero, and on their remainders beyond; a token changes neither side nor remainders of what is twice as far away.
        """
        sizes = np.abs(at.counters)
        far = sizes >= self._far
        if far.any():
            sizes = np.where(far, self._far + (sizes - self._far) % self.futures.modulus, sizes)
        places = np.where(at.counters < 0, -sizes, sizes) + self._largest
        return self._possible[(at.states, *places.T)]

    def least_tokens(self, at: Configurations) -> Whole:
        """Return how many tokens are missing at least."""
        found = np.zeros(len(at.states), np.int64)
        for weights, unit in self.futures.potentials:
            found = np.maximum(found, -(-(at.counters @ np.array(weights)) // unit))
        return found

    def _checks(self, at: Configurations) -> Whole:
        return (at.counters != 0) @ self._powers

    @cached_property
    def _powers(self) -> Whole:
        return 2 ** np.arange(self.futures.machine.counters, dtype=np.int64)

    @cached_property
    def _tables(self) -> tuple[Whole, Whole, Whole]:
        """The next state, what is added to the counters and what they are multiplied with, by token, state and zero check."""
        machine = self.futures.machine
        shape = len(machine.alphabet), len(machine.states), 2**machine.counters
        transitions = np.zeros(shape, np.int64)
        amounts, factors = (np.zeros((*shape, machine.counters), np.int64) for _ in range(2))
        for (t, token), (s, state) in product(enumerate(machine.alphabet), enumerate(machine.states)):
            for check in zero_checks(machine.counters):
                case, at = Case(token, state, check), (t, s, int(np.dot(check, self._powers)))
                transitions[at] = machine.states.index(machine.transitions[case])
                for counter, update in enumerate(machine.updates[case]):
                    if isinstance(update, Add):
                        amounts[(*at, counter)], factors[(*at, counter)] = update.amount, 1
        return transitions, amounts, factors

    @property
    def _far(self) -> int:
        return 2 * self.futures.near

    @property
    def _largest(self) -> int:
        return self._far + self.futures.modulus - 1

    @cached_property
    def _possible(self) -> Truths:
        machine, futures = self.futures.machine, self.futures
        counts = range(-self._largest, self._largest + 1)
        shape = len(machine.states), *(len(counts),) * machine.counters, len(machine.alphabet) + 1
        found = np.zeros(shape, bool)
        for (place, state), counters in product(enumerate(machine.states), product(counts, repeat=machine.counters)):
            here = Configuration(state, counters)
            after = (machine.step(here, token).after for token in machine.alphabet)
            row = [*map(futures.is_possible, after), machine.accepts_configuration(here)]
            found[(place, *(counter + self._largest for counter in counters))] = row
        return found
