"""A counter machine on many strings at once, in arrays.

`MetConfigurations` numbers the configurations as they are met: for trees of strings, which meet few configurations many times.
`MachineArrays` keeps states and counters themselves, and a step is a lookup in tables: for the members up to an n of millions,
whose prefixes meet as many configurations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.languages.counter_machine import Add, Case, Configuration, zero_checks
from tallystick.languages.futures import Futures
from tallystick.languages.tasks import Task

Whole = NDArray[np.int64]
Truths = NDArray[np.bool_]


_OPEN = -1
"""In the place of a number: what follows has not been asked for yet."""


class MetConfigurations:
    """Whole for the configurations of a task's machine, given out as they are met; the start is 0.

    >>> from tallystick.languages.tasks import ready_task
    >>> met = MetConfigurations(ready_task("anbn"))
    >>> after = met.after(np.array([0]))
    >>> met.right_classes(after).tolist(), met.after(after[:, 0]).tolist()
    ([[0, 0]], [[3, 4]])
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._met = [task.machine.start]
        self._numbers: dict[Configuration, int] = {task.machine.start: 0}
        self._after = np.full((1, len(task.alphabet)), _OPEN, np.int64)
        self._right = np.array([self._right_class(task.machine.start)], np.int64)

    def after(self, numbers: Whole) -> Whole:
        """Return where each token leads from each configuration, tokens along a new last axis."""
        found = self._after[numbers]
        if numbers.size and found.min() == _OPEN:
            self._look_further(np.unique(numbers[found[..., 0] == _OPEN]))
            found = self._after[numbers]
        return found

    def right_classes(self, numbers: Whole) -> Whole:
        """Return the index of the right class at each configuration."""
        return self._right[numbers]

    def __len__(self) -> int:
        """Return how many configurations have been met."""
        return len(self._met)

    def __getitem__(self, number: int) -> Configuration:
        """Return the configuration of a number."""
        return self._met[number]

    def _look_further(self, numbers: Whole) -> None:
        rows = [self._numbers_after(self._met[int(number)]) for number in numbers]
        new = len(self._met) - len(self._after)
        self._after = np.concatenate([self._after, np.full((new, self._after.shape[1]), _OPEN, np.int64)])
        self._after[numbers] = rows
        right = [self._right_class(one) for one in self._met[len(self._right) :]]
        self._right = np.concatenate([self._right, np.array(right, np.int64)])

    def _numbers_after(self, configuration: Configuration) -> list[int]:
        machine = self._task.machine
        numbers: list[int] = []
        for token in machine.alphabet:
            after = machine.step(configuration, token).after
            if after not in self._numbers:
                self._numbers[after] = len(self._met)
                self._met.append(after)
            numbers.append(self._numbers[after])
        return numbers

    def _right_class(self, configuration: Configuration) -> int:
        return self._task.question(self._task.machine, configuration)


class Facts:
    """What is true of the configurations that are met, in one place or several; each is asked about once."""

    def __init__(self, met: MetConfigurations, fact: Callable[[Configuration], bool | list[bool]], *shape: int) -> None:
        self._met, self._fact = met, fact
        self._is_known, self._truths = np.zeros(0, bool), np.zeros((0, *shape), bool)

    def __call__(self, numbers: Whole) -> Truths:
        """Say what is true of each configuration, several things along a new last axis."""
        new = len(self._met) - len(self._is_known)
        if new:
            self._is_known = np.concatenate([self._is_known, np.zeros(new, bool)])
            self._truths = np.concatenate([self._truths, np.zeros((new, *self._truths.shape[1:]), bool)])
        asked = np.unique(numbers[~self._is_known[numbers]])
        for number in asked.tolist():
            self._truths[number] = self._fact(self._met[number])
        self._is_known[asked] = True
        return self._truths[numbers]


class Configurations(NamedTuple):
    """Where the machine stands after each string: the place of the state, and for each counter a row of its values."""

    states: Whole
    counters: Whole

    def of(self, rows: NDArray[np.intp] | slice) -> "Configurations":
        """Return those of some strings."""
        return Configurations(self.states[rows], self.counters[:, rows])


def joined_configurations(parts: list[Configurations]) -> Configurations:
    """Put several groups one after the other."""
    return Configurations(*(np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)))


@dataclass(frozen=True)
class MachineArrays:
    """A machine with its futures."""

    futures: Futures

    @property
    def start(self) -> Configurations:
        """The configuration of the empty string alone."""
        machine = self.futures.machine
        place = machine.states.index(machine.initial_state)
        return Configurations(np.array([place]), np.zeros((machine.counters, 1), np.int64))

    def configuration(self, at: Configurations, row: int) -> Configuration:
        """Return one of them."""
        return Configuration(
            self.futures.machine.states[int(at.states[row])], tuple(int(counter) for counter in at.counters[:, row])
        )

    def after(self, at: Configurations, token: int) -> Configurations:
        """Read one token after each string."""
        transitions, amounts, is_kept = self._tables
        case = at.states << len(at.counters)
        for place, counter in enumerate(at.counters):
            case = case | (counter != 0).astype(np.int64) << place
        counters = np.empty_like(at.counters)
        for place, counter in enumerate(at.counters):
            kept = counter if is_kept[place, token].all() else counter * is_kept[place, token].take(case)
            np.add(kept, amounts[place, token].take(case), out=counters[place])
        return Configurations(transitions[token].take(case), counters)

    def possible(self, at: Configurations) -> Truths:
        """Say which tokens may follow each string, one column each, and last whether it is accepted.

        A token is ruled out where the abstract machine of `Futures` accepts nothing after it. That depends on the counters near
        zero, and on their remainders beyond; a token changes neither side nor remainders of what is twice as far away.
        """
        sizes = np.abs(at.counters)
        far = sizes >= self._far
        if far.any():
            sizes = np.where(far, self._far + self._remainders(sizes - self._far), sizes)
        places = np.where(at.counters < 0, -sizes, sizes) + self._largest
        case = at.states
        for place in places:
            case = case * (2 * self._largest + 1) + place
        return self._possible.take(case, axis=0)

    def _remainders(self, sizes: Whole) -> Whole:
        """Return sizes modulo the modulus, which takes long to divide by where it is no power of two."""
        modulus = self.futures.modulus
        return sizes % modulus if modulus & (modulus - 1) else sizes & (modulus - 1)

    def least_tokens(self, at: Configurations) -> Whole:
        """Return how many tokens are missing at least."""
        found = np.zeros(len(at.states), np.int64)
        for weights, unit in self.futures.potentials:
            total = found * 0
            for weight, counter in zip(weights, at.counters, strict=True):
                total += counter if weight == 1 else weight * counter
            np.maximum(found, total if unit == 1 else -(-total // unit), out=found)
        return found

    @cached_property
    def _tables(self) -> tuple[Whole, Whole, Whole]:
        """By token and case: the next state, and for each counter what is added and whether it is kept.

        A case is a state and the zero check, which are one number: the check is that of its last binary digits.
        """
        machine = self.futures.machine
        shape = len(machine.alphabet), len(machine.states) << machine.counters
        transitions = np.zeros(shape, np.int64)
        amounts, is_kept = (np.zeros((machine.counters, *shape), np.int64) for _ in range(2))
        for (t, token), (s, state) in product(enumerate(machine.alphabet), enumerate(machine.states)):
            for check in zero_checks(machine.counters):
                case = Case(token, state, check)
                at = t, s << machine.counters | sum(bit << place for place, bit in enumerate(check))
                transitions[at] = machine.states.index(machine.transitions[case])
                for counter, update in enumerate(machine.updates[case]):
                    if isinstance(update, Add):
                        amounts[(counter, *at)], is_kept[(counter, *at)] = update.amount, 1
        return transitions, amounts, is_kept

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
        rows: list[list[bool]] = []
        for state, counters in product(machine.states, product(counts, repeat=machine.counters)):
            here = Configuration(state, counters)
            after = (machine.step(here, token).after for token in machine.alphabet)
            rows.append([*map(futures.is_possible, after), machine.accepts_configuration(here)])
        return np.array(rows, bool)
