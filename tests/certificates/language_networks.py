"""Random networks over any alphabet that answer at the end of a string or after every token, and what every string says."""

from fractions import Fraction
from itertools import product

import numpy as np

from tallystick.cells import GruCell, LinearLayer, LstmCell, ReluLayer, Stack, TanhLayer
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.tasks import MembershipClass, Task, ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import THRESHOLD, Steps

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
STEPWISE_TASKS = ("anbn", "anbncn", "dyck1", "shuffle2")
DECISIONS = ("sign", "class", "zero")


def matrices(draws, kind):
    """Return what draws a matrix: of few digits, so that ties happen, or of many, where nothing is rational."""
    most, fine = (2, 1) if kind in RATIONAL else (2**13, 2**12)

    def matrix(rows, columns):
        return tuple(tuple(Fraction(draws.randint(-most, most), fine) for _ in range(columns)) for _ in range(rows))

    return matrix


def layer_of(kind, matrix, units, width):
    """Return a layer that reads vectors of a width."""
    return kind(
        *(matrix(*shape) if shape[1:] else matrix(1, *shape)[0] for shape in kind.shapes(units, width).values())
    )


def stepwise_network(draws, kind, decision, task):
    """Return a network with few units that answers after every token."""
    task, matrix = ready_task(task), matrices(draws, kind)
    tokens, units = len(task.alphabet), draws.randint(1, 3)
    cell = layer_of(kind, matrix, units, tokens)
    outputs = (*task.alphabet, "<EOS>")
    threshold = Fraction(1, draws.choice((20, 200))) if decision == THRESHOLD else None
    steps = Steps(tuple(draws.sample(outputs, len(outputs))), "<EOS>", threshold)
    return Network(cell, Readout(matrix(tokens + 1, units), matrix(1, tokens + 1)[0], decision, steps), task)


def random_network(draws, kinds):
    """Return a network with few units that answers at the end of a string."""
    kind, task = draws.choice(kinds), draws.choice(TASKS)
    tokens, units, width = len(task.alphabet), draws.randint(1, 3), draws.randint(1, 3)
    decision = "class" if len(task.classes) > 2 else draws.choice(DECISIONS if kind in RATIONAL else DECISIONS[:2])
    matrix = matrices(draws, kind)
    padding = {"padding": matrix(1, width)[0], "padded_to": draws.randint(1, 4)} if draws.random() < 0.3 else {}
    layer = layer_of(kind, matrix, units, width)
    outputs = len(task.classes) if decision == "class" else 1
    return Network(
        Stack((layer,), matrix(tokens, width), first=matrix(draws.randint(0, 1), width), **padding),
        Readout(matrix(outputs, units), matrix(1, outputs)[0], decision),
        task,
    )


def plain(task, bias, threshold=None, decision=THRESHOLD):
    """A network that says the same after every string."""
    size = len(bias)
    cell = LinearLayer(((0,) * (size - 1),), ((0,),), (0,), (0,))
    steps = Steps((*task.alphabet, "<EOS>"), "<EOS>", threshold)
    return Network(cell, Readout(((0,),) * size, bias, decision, steps), task)


def language(accepts):
    """A language over a and b whose members depend on whether anything was read yet."""
    machine = CounterMachine.from_rules(
        alphabet=("a", "b"),
        states=("start", "later"),
        update=lambda _: (Add(0),),
        transition=lambda _: "later",
        accepts=lambda state, _: accepts(state),
    )
    return Task("mine", machine, tuple(MembershipClass), lambda machine, at: int(machine.accepts_configuration(at)))


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
