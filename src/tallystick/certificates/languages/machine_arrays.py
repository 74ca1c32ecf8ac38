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

    def of(self, rows: NDArray[np.intp]) -> "Configurations":
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

    def accepts(self, at: Configurations) -> Truths:
        """Say which strings are accepted."""
        return self._accepting[at.states, self._checks(at)]

    def is_possible(self, at: Configurations) -> Truths:
        """Say after which strings acceptance is not ruled out: the abstract machine of `Futures` reaches it."""
        beyond = np.abs(at.counters) - self.futures.near
        sizes = np.where(beyond < 0, np.abs(at.counters), self.futures.near + beyond % self.futures.modulus)
        places = np.sign(at.counters) * sizes + self._largest
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

    @cached_property
    def _accepting(self) -> Truths:
        machine = self.futures.machine
        found = np.zeros((len(machine.states), 2**machine.counters), bool)
        for state, check in machine.accepting:
            found[machine.states.index(state), int(np.dot(check, self._powers))] = True
        return found

    @property
    def _largest(self) -> int:
        return self.futures.near + self.futures.modulus - 1

    @cached_property
    def _possible(self) -> Truths:
        machine = self.futures.machine
        found = np.zeros((len(machine.states), *(2 * self._largest + 1,) * machine.counters), bool)
        for state, counters in self.futures.possible:
            found[(machine.states.index(state), *(counter + self._largest for counter in counters))] = True
        return found
