"""Networks that are asked for the count itself: right iff the output y is less than 1/2 away from n − m.

The count is carried beside the state, as one more number. For x = y − (n − m) the three lines −x − 1/2, x − 1/2 and 0 tell
in their order whether y is too small, too large or right: the greatest wins, of equal ones the first. At x = ±1/2 two are equal,
and the one that is wrong wins.
"""

from fractions import Fraction

from .claims import COUNT, Model, Network, Operation, Program, Readout, Task, greatest_of

_HALF, _ONE = Fraction(1, 2), Fraction(1)
_LINES = 3
RIGHT = Task(False, (2, 2, 2))
"""Every string should get the third line."""


def class_names(runs: list[tuple[int, int]]) -> tuple[str, ...]:
    """Return what a certificate calls the three lines of a string."""
    count = sum(size - 2 * size * token for token, size in runs)
    return f"less than {count}", f"more than {count}", str(count)


def counted(model: Model | Network) -> Network:
    """Return a network that carries the count, with the three lines as its readout."""
    network = network_of(model) if isinstance(model, Model) else model
    size = len(network.start)
    opening, closing = (_with_count(step, size, change) for step, change in zip(network.steps, (1, -1), strict=True))
    ((row, bias),) = network.readout.lines
    less = (*(-weight for weight in row), _ONE), -bias - _HALF
    more = (*row, -_ONE), bias - _HALF
    neither = (Fraction(0),) * len(less[0]), Fraction(0)
    return Network(
        COUNT,
        (*network.start, Fraction(0)),
        (opening, closing),
        _with_count(network.hidden, size, 0),
        Readout(COUNT, (less, more, neither), greatest_of(_LINES)),
        RIGHT,
        tuple(_with_count(before, size, 0) for before in network.first),
    )


def _with_count(program: Program, size: int, change: int) -> Program:
    """Return a program that takes one more number after the state's, and gives it too, changed by a token."""

    def place(old: int) -> int:
        return old if old < size else old + 1

    operations = [one._replace(places=tuple(map(place, one.places))) for one in program.operations]
    operations.append(Operation("sum", (size,), (_ONE,), Fraction(change)))
    results = (*map(place, program.results), size + len(operations))
    return Program(tuple(operations), results)


def network_of(model: Model) -> Network:
    """Return a cell with one unit as a network whose step is a program."""
    squash = {"relu": "positive_part", "tanh": "tanh"}.get(model.cell)
    steps: list[Program] = []
    for weight, step in zip(model.weights, model.steps, strict=True):
        operations = [Operation("sum", (0,), (weight,), step)]
        operations += [Operation(squash, (1,))] if squash else []
        steps.append(Program(tuple(operations), (len(operations),)))
    first, second = steps
    return Network(model.cell, (Fraction(0),), (first, second), Program((), (0,)), model.readout, model.task)
