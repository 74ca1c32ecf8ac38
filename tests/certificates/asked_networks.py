"""Random small networks that are asked about a language, what is true of them by running every string, and their claims."""

from fractions import Fraction
from itertools import product

from tallystick.cells import LinearLayer, ReluLayer, Stack, TanhLayer
from tallystick.certificates.certificate import certificate
from tallystick.certificates.verdict import Failure, Lengths, Outcome, Verdict, runs_of
from tallystick.languages.tasks import ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.steps import Steps

LAYERS = {"linear": LinearLayer, "relu": ReluLayer, "tanh": TanhLayer}
TASKS = ("anbn", "anbncn", "dyck1", "shuffle2", "semidyck1", "dyck1-by-parity")
STEPWISE = ("threshold", "next", "support")
AT_THE_END = ("sign", "class", "zero")
END = "<EOS>"
MARGIN = 1e-9


def some_number(generator, size=3):
    return Fraction(generator.randint(-size, size), generator.choice((1, 2)))


def some_network(layer, decision, task, generator, *, padded=False):
    """A network with one or two units and small weights; many of its strings fail early, which leaves some that do not."""
    task, units = ready_task(task), generator.choice((1, 2))
    tokens = len(task.alphabet)

    def matrix(rows, columns, size=3):
        return tuple(tuple(some_number(generator, size) for _ in range(columns)) for _ in range(rows))

    zeros = (Fraction(0),) * units
    cell = LAYERS[layer](matrix(units, tokens), matrix(units, units, 1), matrix(1, units)[0], zeros)
    one_hot = tuple(tuple(Fraction(int(place == entry)) for entry in range(tokens)) for place in range(tokens))
    padding = {"padding": matrix(1, tokens)[0], "padded_to": 3} if padded else {}
    first = matrix(1, tokens) if generator.random() < 0.3 else ()
    stack = Stack((cell,), one_hot, first=first, **padding)
    if decision in STEPWISE:
        names = [*task.alphabet, END]
        generator.shuffle(names)
        limit = Fraction(generator.randint(1, 9), 40) if decision == "threshold" else None
        outputs, steps = len(names), Steps(tuple(names), END, limit)
    else:
        outputs, steps = (2 if decision == "class" else 1), None
    readout = Readout(matrix(outputs, units), matrix(1, outputs)[0], decision, steps)
    return Network(stack, readout, task)


def is_certain(network, string):
    """Say whether no answer along a string hangs on rounding in float64."""
    running = network.in_arithmetic("float64")
    states = running.trace(string) if network.readout.steps else running.trace(string)[-1:]
    for state in states:
        outputs = [float(y) for y in running.outputs_of_state(state)]
        if network.readout.decision == "threshold":
            shares = [1 / sum(2.718281828459045 ** (y - x) for y in outputs) for x in outputs]
            near = [p - float(network.readout.steps.threshold) for p in shares]
        else:
            near = [*outputs, *(x - y for x, y in product(outputs, repeat=2) if x is not y)]
            near = near if network.readout.decision != "next" else near[len(outputs) :]
        if any(abs(gap) < MARGIN for gap in near):
            return False
    return True


def answers(network, upto, first=0):
    """Every string to a length with what is said of it and what is right; None where something hangs on rounding."""
    exact = network.cell.is_rational and network.readout.decision != "threshold"
    running = network if exact else network.in_arithmetic("float64")
    found = []
    for length in range(first, upto + 1):
        for string in product(network.alphabet, repeat=length):
            if not exact and not is_certain(network, string):
                return None
            found.append((string, str(running.class_of(string)), network.right_class(string)))
    return found


def verdict_of(network, found, upto, method, lengths=Lengths.ALL, first=0):
    """The verdict that is true of a network by all of its strings to a length."""
    for string, given, right in found:
        counted = len(string) >= first and len(string) % lengths.stride == 0
        if counted and right is not None and given != right:
            failure = Failure(runs_of(string), given, str(right))
            horizon = lengths.before(len(string))
            return Verdict(network, lengths, "real", Outcome.REFUTED, horizon, failure, method, "", first=first)
    horizon = upto - upto % lengths.stride
    return Verdict(network, lengths, "real", Outcome.BOUNDED, horizon, None, method, "", first=first)


def claim_of(network, found, upto, method, lengths=Lengths.ALL, first=0):
    """The same as a certificate."""
    return certificate(verdict_of(network, found, upto, method, lengths, first))
