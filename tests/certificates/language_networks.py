"""Random networks over any alphabet that answer at the end of a string, and what every string says of them."""

from fractions import Fraction
from itertools import product

import numpy as np

from tallystick.cells import GruCell, LinearLayer, LstmCell, ReluLayer, Stack, TanhLayer
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.tasks import MembershipClass, Task, ready_task
from tallystick.networks import Network, Readout

LONGEST = {2: 6, 3: 4, 4: 3}
"""To which length every string is run, by the size of the alphabet."""

RATIONAL, SQUASHED = (LinearLayer, ReluLayer), (TanhLayer, GruCell, LstmCell)

TWICE = Task(
    "twice as many b as a",
    CounterMachine.from_rules(
        alphabet=("a", "b"),
        update=lambda case: (Add(2 if case.token == "a" else -1),),
        accepts=lambda _, check: check == (0,),
    ),
    tuple(MembershipClass),
    lambda machine, configuration: int(machine.accepts_configuration(configuration)),
)
"""A task whose machine is not a ready one."""

TASKS = [ready_task(name) for name in ("dyck1", "dyck1-prefix", "anbn", "anbncn", "shuffle2", "bb", "semidyck1")]
TASKS.append(TWICE)
DECISIONS = ("sign", "class", "zero")


def random_network(draws, kinds):
    """Return a network with few units and weights of few digits, so that ties happen; squashed ones have many digits."""
    kind, task = draws.choice(kinds), draws.choice(TASKS)
    tokens, units, width = len(task.alphabet), draws.randint(1, 3), draws.randint(1, 3)
    decision = "class" if len(task.classes) > 2 else draws.choice(DECISIONS if kind in RATIONAL else DECISIONS[:2])
    fine = 1 if kind in RATIONAL else 2**12

    def matrix(rows, columns, size=2):
        return tuple(
            tuple(Fraction(draws.randint(-size * fine, size * fine), fine) for _ in range(columns)) for _ in range(rows)
        )

    padding = {"padding": matrix(1, width)[0], "padded_to": draws.randint(1, 4)} if draws.random() < 0.3 else {}
    layer = kind(
        *(matrix(*shape) if shape[1:] else matrix(1, *shape)[0] for shape in kind.shapes(units, width).values())
    )
    outputs = len(task.classes) if decision == "class" else 1
    return Network(
        Stack((layer,), matrix(tokens, width), first=matrix(draws.randint(0, 1), width), **padding),
        Readout(matrix(outputs, units), matrix(1, outputs)[0], decision),
        task,
    )


def strings_of(network, length):
    """Go through all strings of a length."""
    return product(network.alphabet, repeat=length)


def is_near_a_tie(network, longest):
    """Whether a double cannot be trusted to tell the class of some string."""
    for length in range(longest + 1):
        for string in strings_of(network, length):
            outputs = [*map(float, network.outputs(string))]
            if np.abs(np.diff(np.sort([*outputs, 0.0] if len(outputs) == 1 else outputs))).min() < 1e-9:
                return True
    return False


def wrong_of(network, length):
    """Return every string of a length that a network gets wrong, each run by itself."""
    return [string for string in strings_of(network, length) if network.class_of(string) != network.right_class(string)]
