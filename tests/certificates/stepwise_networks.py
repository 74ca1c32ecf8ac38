"""Networks that are asked about a language, drawn at random or saying the same after every string."""

from fractions import Fraction

from tallystick.cells import GruCell, LinearLayer, LstmCell, ReluLayer, TanhLayer
from tallystick.languages.counter_machine import Add, CounterMachine
from tallystick.languages.tasks import MembershipClass, Task, ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import THRESHOLD, Steps

RATIONAL, SQUASHED = (LinearLayer, ReluLayer), (TanhLayer, GruCell, LstmCell)
TASKS = ("anbn", "anbncn", "dyck1", "shuffle2")


def some_network(draws, kind, decision, task):
    """A network with few units and weights of few digits, so that ties happen; or of many, where nothing is rational."""
    task = ready_task(task)
    tokens, units = len(task.alphabet), draws.randint(1, 3)
    fine = 1 if kind in RATIONAL else 2**12

    def matrix(rows, columns, size=2):
        return tuple(
            tuple(Fraction(draws.randint(-size * fine, size * fine), fine) for _ in range(columns)) for _ in range(rows)
        )

    shapes = kind.shapes(units, tokens)
    cell = kind(*(matrix(*shape) if len(shape) > 1 else matrix(1, *shape)[0] for shape in shapes.values()))
    outputs = (*task.alphabet, "<EOS>")
    threshold = Fraction(1, draws.choice((20, 200))) if decision == THRESHOLD else None
    steps = Steps(tuple(draws.sample(outputs, len(outputs))), "<EOS>", threshold)
    return Network(cell, Readout(matrix(tokens + 1, units), matrix(1, tokens + 1)[0], decision, steps), task)


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
