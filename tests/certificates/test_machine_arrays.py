"""A counter machine in arrays does what the machine does, string by string."""

import random

import numpy as np
import pytest

from tallystick.certificates.languages.machine_arrays import Configurations, MachineArrays
from tallystick.languages.counter_machine import Add, Configuration, CounterMachine, TimesZero
from tallystick.languages.futures import Futures
from tallystick.languages.ready_machines import READY_MACHINES


def some_machine(draws):
    counters, largest = draws.randint(1, 2), draws.randint(1, 3)

    def update(_):
        return tuple(
            Add(draws.randint(-largest, largest)) if draws.random() < 0.9 else TimesZero() for _ in range(counters)
        )

    return CounterMachine.from_rules(
        alphabet=("a", "b", "c")[: draws.randint(1, 3)],
        states=("p", "q"),
        counters=counters,
        update=update,
        transition=lambda _: draws.choice("pq"),
        accepts=lambda state, check: state == "p" and not any(check),
    )


MACHINES = [*READY_MACHINES.values(), *(some_machine(random.Random(seed)) for seed in range(12))]


@pytest.mark.parametrize("machine", MACHINES, ids=[*READY_MACHINES, *map(str, range(12))])
def test_arrays_go_where_the_machine_goes(machine):
    draws, futures = random.Random(1), Futures(machine)
    arrays = MachineArrays(futures)
    here = [
        Configuration(draws.choice(machine.states), tuple(draws.randint(-20, 20) for _ in range(machine.counters)))
        for _ in range(60)
    ]
    at = Configurations(
        np.array([machine.states.index(one.state) for one in here]), np.array([one.counters for one in here]).T.copy()
    )
    after = [arrays.after(at, place) for place in range(len(machine.alphabet))]
    possible, least = arrays.possible(at), arrays.least_tokens(at)
    for row, one in enumerate(here):
        expected = [machine.step(one, token).after for token in machine.alphabet]
        assert [arrays.configuration(found, row) for found in after] == expected
        assert possible[row].tolist() == [*map(futures.is_possible, expected), machine.accepts_configuration(one)]
        if least[row] > 0:
            assert not machine.accepts_configuration(one)
        assert all(least[row] <= 1 + arrays.least_tokens(found)[row] for found in after)
