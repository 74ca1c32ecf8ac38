"""A network may be asked for something else than its readout usually is: verdicts and counts then hold for that task."""

import random
from enum import StrEnum

import numpy as np
import pytest
from agreement import count_disagreement, wrong_verdict
from brute_force import READOUTS, SCALAR_CELLS, classes, some_model, strings
from ensemble_agreement import ensemble_disagreements, in_floats
from vector_networks import counting_lstm

from tallystick.cells import LinearCell
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.errors import BadInput
from tallystick.languages.ready_machines import BB_COUNTER, SEMI_DYCK1_COUNTER
from tallystick.languages.tasks import (
    BB_MEMBERSHIP,
    BINARY,
    COUNT,
    SEMI_DYCK1_MEMBERSHIP,
    TERNARY,
    MembershipClass,
    Task,
)
from tallystick.networks import Network, Readout

LONGEST, LIMIT = 6, 12


class Order(StrEnum):
    """The classes of a task, from the highest count to the lowest."""

    ABOVE = "above"
    AT_ZERO = "at zero"
    BELOW = "below"


def _order(_, end):
    return 1 - int(np.sign(end.counters[0]))


NOT_NEGATIVE = Task("not-negative", BB_COUNTER, tuple(MembershipClass), lambda _, end: int(end.counters[0] >= 0))
NEGATIVE = Task("negative", BB_COUNTER, tuple(MembershipClass), lambda _, end: int(end.counters[0] < 0))
ORDER = Task("order", BB_COUNTER, tuple(Order), _order)
DEPTH = Task("depth", SEMI_DYCK1_COUNTER, tuple(MembershipClass), lambda _, end: int(end.counters[0] > 0))
TASKS = [NOT_NEGATIVE, NEGATIVE, ORDER, DEPTH, BINARY, BB_MEMBERSHIP, SEMI_DYCK1_MEMBERSHIP]


def every_string(network):
    """What each string gets, and what the task asks for."""
    return {
        length: (
            found,
            np.array([network.task.index_of_count(network.task.count(string)) for string in strings(length)]),
        )
        for length, (found, _) in classes(network.in_arithmetic("rational"), LONGEST).items()
    }


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
@pytest.mark.parametrize(
    "cell", [kind for kind in SCALAR_CELLS.values() if kind.is_rational], ids=lambda kind: kind.name
)
def test_verdicts_and_counts_agree_with_every_string(cell, task):
    generator, drawn = random.Random(f"{cell.name} {task.name}"), []
    for readout in READOUTS * 10:
        usual = some_model(cell, readout, generator)
        if len(usual.task.classes) == len(task.classes):
            drawn.append(Network(usual.cell, usual.readout, task))
    for network in drawn:
        known = every_string(network)
        for lengths in Lengths:
            assert wrong_verdict(certify(network, lengths, limit=LIMIT), known) is None, network
        assert count_disagreement(network, "real", known)[0] is None, network
    for kind in {network.readout.kind for network in drawn}:
        alike = [in_floats(network) for network in drawn if network.readout.kind == kind]
        verdicts = {lengths: [certify(network, lengths, limit=LIMIT) for network in alike] for lengths in Lengths}
        assert ensemble_disagreements(alike, verdicts, LIMIT) == []


def test_a_theorem_proves_what_it_is_about_alone():
    """Right to length 2, and wrong at `(()`; a counter is right about the sign of the count, whichever class that has."""
    forgetful = Network(LinearCell(1, 0, 0), Readout.zero(), SEMI_DYCK1_MEMBERSHIP)
    assert certify(forgetful).failure.length == 3
    counter = Network(LinearCell(1, -1, 1), Readout.binary(1, 0.5), NOT_NEGATIVE)
    assert certify(counter).outcome is Outcome.PROVED
    reversed_order = Network(LinearCell(-1, 1, 1), Readout.ternary((-1, 0, 1), (-0.5, 0, -0.5)), ORDER)
    assert certify(reversed_order).outcome is Outcome.PROVED


def test_a_class_that_no_count_gets_is_not_proved():
    """Beyond length 2 an output that falls with the count goes below zero, and the class is another."""
    always = Task("always", BB_COUNTER, tuple(MembershipClass), lambda *_: 1)
    network = Network(LinearCell(1, -1, 1), Readout.binary(1, 10), always)
    assert certify(network, limit=20).failure.length == 10


def test_a_network_with_gates_is_asked_for_any_task():
    network = counting_lstm(4.0)
    other = Network(network.cell, network.readout, SEMI_DYCK1_MEMBERSHIP)
    verdict = certify(other)
    assert verdict.failure.right == SEMI_DYCK1_MEMBERSHIP.right_class(verdict.failure.string) != verdict.failure.found


@pytest.mark.parametrize(
    ("readout", "task", "message"),
    [
        (Readout.binary(1), TERNARY, "task: 'ternary' has 3 classes; a binary readout tells 2 apart"),
        (Readout.ternary((-1, 0, 1)), BINARY, "task: 'binary' has 2 classes; a ternary readout tells 3 apart"),
        (
            Readout.binary(1),
            COUNT,
            "task: 'count' asks for a number, which a binary readout does not give; the decision count goes with the task count, "
            "and no other does",
        ),
        (Readout.zero(), "binary", "task: 'binary' is not a Task"),
    ],
)
def test_a_task_that_does_not_fit_the_readout_is_refused(readout, task, message):
    with pytest.raises(BadInput) as refusal:
        Network(LinearCell(1, -1, 1), readout, task)
    assert str(refusal.value) == message
