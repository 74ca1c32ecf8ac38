"""Graphs of units and the kinds of GRU are decided, and their certificates checked, as every other cell is."""

import json
import random
from fractions import Fraction

import pytest
from strings import all_strings

from tallystick import BadInput, Network, Readout, certify
from tallystick.cells import GRUS, GraphCell, LinearCell, Unit
from tallystick.certificates.certificate import certificate
from tallystick.certificates.verdict import Outcome
from tallystick.checker import check
from tallystick.languages.tasks import BINARY, ready_task
from tallystick.numbers import exact

LIMIT = 6


def random_gru(kind, seed):
    generator = random.Random(seed)
    rows = 2 * kind.gates

    def numbers(size):
        return tuple(Fraction(generator.randint(-8, 8), 4) for _ in range(size))

    matrices = (tuple(numbers(2) for _ in range(rows)) for _ in range(2))
    return kind(*matrices, numbers(rows), numbers(rows))


def random_counter(seed):
    """A graph that counts, about right, with outputs of every kind on top."""
    generator = random.Random(seed)

    def weight(about):
        return about + Fraction(generator.choice((-1, 0, 0, 0, 0, 1)), 8)

    up = Unit("relu", weight(0), (weight(1), weight(-1)), (), ((0, weight(1)), (1, weight(-1))))
    down = Unit("relu", weight(0), (weight(-1), weight(1)), (), ((0, weight(-1)), (1, weight(1))))
    tops = [
        Unit(generator.choice(("identity", "tanh", "relu", "step")), weight(0), (0, 0), ((0, 1), (1, Fraction(-1)))),
        Unit("square", 0, (0, 0), ((0, weight(0)), (1, weight(0)))),
    ]
    return GraphCell((up, down, *tops))


def shortest_failure(network):
    """By exact runs where there are, else by doubles."""
    run = network.in_arithmetic("rational" if network.cell.shows_rationals else "float64")
    for string in all_strings(LIMIT, shortest=1):
        if run.class_of(string) != BINARY.right_class(string):
            return len(string)
    return None


def right_verdict(network):
    """The verdict, held against all strings; where it does not go as far as it was asked to, it claims no more than is true."""
    verdict, failing = certify(network, limit=LIMIT), shortest_failure(network)
    reached = LIMIT if failing is None else failing - 1
    assert verdict.horizon == reached or (verdict.outcome == Outcome.BOUNDED and verdict.horizon < reached)
    return verdict


@pytest.mark.parametrize("reset", list(GRUS), ids=str)
def test_every_gru_is_decided_as_it_runs(reset):
    verdicts = [right_verdict(Network(random_gru(GRUS[reset], seed), Readout(((1, 0),), (0,)))) for seed in range(12)]
    longest = max(verdicts, key=lambda verdict: verdict.horizon)
    assert check(json.dumps(certificate(longest))).valid


@pytest.mark.long
def test_graphs_are_decided_as_they_run():
    verdicts = [right_verdict(Network(random_counter(seed), Readout(((0, 0, 1, 1),), (0,)))) for seed in range(40)]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.BOUNDED, Outcome.REFUTED}
    assert sum(verdict.outcome == Outcome.REFUTED or verdict.horizon == LIMIT for verdict in verdicts) > 30
    for verdict in verdicts[:10]:
        assert check(json.dumps(certificate(verdict))).valid


def test_fused_arithmetic_is_for_one_unit():
    counter = Unit("identity", 0, (1, -1), recurrent=((0, 1),))
    network = Network(GraphCell((counter,)), Readout(((1,),), (0,), "zero"), ready_task("dyck1"))
    with pytest.raises(
        BadInput, match="'float32-fused' is for cells with one unit and no gates; certify in real or float32"
    ):
        certify(network, arithmetic="float32-fused")
    alone = Network(LinearCell(1, -1, 1), Readout.zero(), ready_task("dyck1"))
    assert certify(alone, arithmetic="float32-fused").failure.string == ")("


@pytest.mark.parametrize("arithmetic", ["float16", "float32"])
def test_graphs_are_decided_as_executed(arithmetic):
    """A file says in which order a unit adds, so that there is one number that it is in floating point."""
    third = exact("1/3")
    up, down = (Unit("relu", 0, (sign, -sign), (), ((0, sign), (1, -sign))) for sign in (1, -1))
    top = Unit("step", 0, (), ((0, third), (1, -third)))
    counts = Network(GraphCell((up, down, top)), Readout(((0, 0, 1),), (0,)))
    verdict = certify(counts, arithmetic=arithmetic, limit=40)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 40)
    assert check(json.dumps(certificate(verdict))).valid
    for seed in range(20):
        network = Network(random_counter(seed), Readout(((0, 0, 1, 1),), (0,)))
        run = network.in_arithmetic(arithmetic)
        wrong = (
            string for string in all_strings(LIMIT, shortest=1) if run.class_of(string) != BINARY.right_class(string)
        )
        failing = next(wrong, None)
        verdict = certify(network, arithmetic=arithmetic, limit=LIMIT)
        assert verdict.horizon == (LIMIT if failing is None else len(failing) - 1)
