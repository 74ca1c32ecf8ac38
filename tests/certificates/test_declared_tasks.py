"""Verdicts on networks with declared outputs are what every string to length 8 says, in rationals; their certificates hold."""

import json
import random
from fractions import Fraction
from operator import mul

import pytest

from tallystick.cells import LinearCell, LinearLayer, ReluCell, ReluLayer, SelectiveCell
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.exact_accuracy import exact_accuracy
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, SEMI_DYCK1_MEMBERSHIP, TERNARY
from tallystick.networks import Network, Readout

LONGEST = 8
TASKS = [
    *(task.in_order(order) for task in (BB_MEMBERSHIP, BINARY) for order in (task.classes, task.classes[::-1])),
    TERNARY.in_order(["Zero", "Pos", "Neg"]),
]


def right(name, string):
    count = string.count("(") - string.count(")")
    if name == "bb":
        return "accepted" if count == 0 else "rejected"
    if name == "binary":
        return "Pos" if count > 0 else "ZeroNeg"
    return "Neg" if count < 0 else "Pos" if count else "Zero"


def step(cell, h, token):
    """Read a token by the cell's definition."""
    if isinstance(cell, LinearLayer | ReluLayer):
        rows = zip(cell.input_weight, cell.recurrent_weight, cell.input_bias, cell.recurrent_bias, strict=True)
        sums = [row["()".index(token)] + sum(map(mul, recurrent, h)) + b + c for row, recurrent, b, c in rows]
    else:
        weight = cell.recurrent_weights[0 if token == "(" else -1]
        sums = [weight * h[0] + (cell.open_step if token == "(" else cell.close_step)]
    return tuple(max(total, Fraction(0)) for total in sums) if isinstance(cell, ReluCell | ReluLayer) else tuple(sums)


def first_wrong(network):
    """The length of a shortest wrong string, and how many strings of length 6 are right."""
    shortest, correct, states = None, 0, {"": (Fraction(0),) * network.cell.units}
    for length in range(1, LONGEST + 1):
        states = {string + token: step(network.cell, h, token) for string, h in states.items() for token in "()"}
        for string, h in states.items():
            outputs = [
                sum(map(mul, row, h)) + c for row, c in zip(network.readout.weight, network.readout.bias, strict=True)
            ]
            place = outputs.index(max(outputs)) if len(outputs) > 1 else int(outputs[0] > 0)
            wrong = network.task.classes[place] != right(network.task.name, string)
            shortest = shortest or (length if wrong else None)
            correct += length == 6 and not wrong
    return shortest, correct


def drawn(kind, task, generator):
    """A network that often gets the short strings right: its lines meet near the places where the classes change."""
    whole = lambda *choices: Fraction(generator.choice(choices))  # noqa: E731
    if kind in (LinearLayer, ReluLayer):
        step, keep = whole(1, 2), whole(1, 1, "9/10")
        layer = kind(((step, -step), (-step, step)), ((keep, 0), (0, keep)), (Fraction(0),) * 2, (Fraction(0),) * 2)
        cell, lines = layer, [(Fraction(1), Fraction(-1)), (Fraction(-1), Fraction(1)), (Fraction(0), Fraction(0))]
    else:
        a, U = whole(1, 1, "1/2", 2), whole(1, 1, "9/10", "11/10")
        cell = SelectiveCell(a, -a / U, U, 1 / U) if kind is SelectiveCell else kind(a, -a, U)
        lines = [(Fraction(1),), (Fraction(-1),), (Fraction(0),)]
    by_class = {
        "Pos": (lines[0], whole("-1/2", "-1/4", 0)),
        "ZeroNeg": (lines[2], Fraction(0)),
        "Neg": (lines[1], whole("-1/2", "-1/4")),
        "Zero": (lines[2], Fraction(0)),
        "accepted": (lines[2], whole(0, "1/2")),
        "rejected": (lines[generator.choice([0, 1])], whole(0, "-1/2")),
    }
    rows = [by_class[name] for name in task.classes]
    if len(rows) == 2 and generator.random() < 0.4:
        (v, c), (w, d) = rows
        rows = [(tuple(y - x for x, y in zip(v, w, strict=True)), d - c)]
    return Network(cell, Readout(tuple(row for row, _ in rows), tuple(bias for _, bias in rows)), task)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: f"{task.name}-{task.classes[0]}")
@pytest.mark.parametrize(
    "kind", [LinearCell, SelectiveCell, ReluCell, LinearLayer, ReluLayer], ids=lambda kind: kind.__name__
)
def test_verdicts_are_what_every_string_says(kind, task):
    generator, horizons = random.Random(f"{kind.__name__} {task.name} {task.classes[0]}"), set()
    layer = kind in (LinearLayer, ReluLayer)
    for _ in range(5):
        network = drawn(kind, task, generator)
        wrong, correct = first_wrong(network)
        verdict = certify(network, limit=12)
        if verdict.failure is not None and verdict.failure.length <= LONGEST:
            assert verdict.failure.length == wrong, network
            assert verdict.failure.right == right(task.name, verdict.failure.string)
        elif layer:  # whose boxes may leave a length open
            assert wrong is None or verdict.horizon < wrong, network
        else:
            assert wrong is None, network
            assert verdict.horizon is None or verdict.horizon >= LONGEST, network
        horizons.add(verdict.horizon)
        check(json.dumps(certificate(verdict)))
        if not layer:
            assert sum(exact_accuracy(network, 6).correct.values()) == correct
    if kind in (LinearCell, LinearLayer) and task.name != "bb":
        assert len(horizons) > 1


def test_an_exact_counter_with_two_outputs_is_proved_in_either_order():
    for order, weights in ((["ZeroNeg", "Pos"], (0, 2)), (["Pos", "ZeroNeg"], (2, 0))):
        readout = Readout(tuple((weight,) for weight in weights), tuple(-weight // 2 for weight in weights))
        verdict = certify(Network(LinearCell(1, -1, 1), readout, BINARY.in_order(order)))
        assert (verdict.outcome, verdict.method) == (Outcome.PROVED, "theorem")
        check(json.dumps(certificate(verdict)))


def test_ties_between_two_outputs_go_to_the_first():
    """H = 0 is a tie; which class it gets depends on the order alone."""
    for order, outcome in ((["ZeroNeg", "Pos"], Outcome.PROVED), (["Pos", "ZeroNeg"], Outcome.REFUTED)):
        weights = ((0,), (1,)) if order[0] == "ZeroNeg" else ((1,), (0,))
        network = Network(LinearCell(1, -1, 1), Readout(weights, (0, 0)), BINARY.in_order(order))
        assert certify(network).outcome is outcome


def test_a_recogniser_of_semi_dyck_1_by_one_output():
    accepts = Network(ReluCell(1, -1, 1), Readout.binary(-1, Fraction(1, 2)), SEMI_DYCK1_MEMBERSHIP)
    assert certify(accepts, limit=20).horizon == 20
