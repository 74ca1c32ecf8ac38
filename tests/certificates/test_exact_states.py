"""Networks that reach few states are decided exactly, where boxes see nothing but ties; every string to length 7 agrees."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

import tallystick as ts
from tallystick.certificates.exact_states import METHOD, decide_by_states
from tallystick.certificates.verdict import Lengths
from tallystick.languages.tasks import ready_task

COUNTER = ts.ReluLayer(((1, -1), (-1, 1)), ((1, -1), (-1, 1)), (0, 0), (0, 0))
DIFFERENCE = ts.Readout(((1, -1),), (0,))


def random_matrix(generator, rows, columns):
    return tuple(
        tuple(Fraction(generator.choice((-1, 0, 1, 1, 2)), generator.choice((1, 1, 2))) for _ in range(columns))
        for _ in range(rows)
    )


def random_network(seed):
    generator = Random(seed)
    units, outputs = generator.randint(1, 3), generator.choice((1, 3))
    layer = ts.ReluLayer(
        random_matrix(generator, units, 2),
        random_matrix(generator, units, units),
        random_matrix(generator, 1, units)[0],
        (0,) * units,
    )
    return ts.Network(
        layer, ts.Readout(random_matrix(generator, outputs, units), random_matrix(generator, 1, outputs)[0])
    )


def failing_strings(network, length):
    exact = network.in_arithmetic("rational")
    strings = map("".join, product("()", repeat=length))
    return [string for string in strings if exact.class_of(string) != network.right_class(string)]


@pytest.mark.parametrize("lengths", ["all", "even"])
def test_every_string_agrees(lengths):
    counted = range(1, 8) if lengths == "all" else range(2, 8, 2)
    for seed in range(30):
        network = random_network(seed)
        verdict = ts.certify(network, lengths=lengths, limit=7)
        wrong = next((found for length in counted if (found := failing_strings(network, length))), None)
        assert verdict.method == METHOD
        if wrong is None:
            assert (verdict.outcome, verdict.horizon) == ("BOUNDED", counted[-1])
        else:
            assert verdict.horizon == len(wrong[0]) - counted.step
            assert verdict.failure.string == wrong[0]


def test_a_counter_that_boxes_cannot_tell_from_zero_is_decided_and_checked(tmp_path):
    network = ts.Network(COUNTER, DIFFERENCE)
    verdict = ts.certify(network, limit=200)
    assert (verdict.outcome, verdict.horizon) == ("BOUNDED", 200)
    ts.write_certificate(verdict, tmp_path / "counter.json")
    assert ts.check_certificate(tmp_path / "counter.json").valid


def test_a_failing_string_is_checked(tmp_path):
    leaky = ts.ReluLayer(((1, -1), (-1, 1)), ((Fraction(7, 8), -1), (-1, 1)), (0, 0), (0, 0))
    network = ts.Network(leaky, ts.Readout(((1, -1),), (Fraction(-1, 2),)))
    verdict = ts.certify(network)
    assert verdict.failure.string in failing_strings(network, len(verdict.failure.string))
    ts.write_certificate(verdict, tmp_path / "leaky.json")
    assert ts.check_certificate(tmp_path / "leaky.json").valid


def test_a_stack_of_rational_layers_is_decided_too():
    stack = ts.Stack((COUNTER, ts.ReluLayer(((1, -1),), ((0,),), (0,), (0,))))
    verdict = ts.certify(ts.Network(stack, ts.Readout(((1,),), (0,))), limit=50)
    assert (verdict.method, verdict.outcome, verdict.horizon) == (METHOD, "BOUNDED", 50)


def test_a_task_that_needs_more_than_the_count_is_answered():
    lost = ts.Network(COUNTER, DIFFERENCE, ready_task("dyck1"))
    verdict = ts.certify(lost)
    assert verdict.failure.string == min(failing_strings(lost, 1))


def test_states_that_are_all_different_are_left_to_boxes():
    leaky = ts.ReluLayer(((1, -1), (-1, 1)), ((0.999, -1), (-1, 0.997)), (0, 0), (0, 0))
    network = ts.Network(leaky, ts.Readout(((1, -1),), (-0.5,)))
    assert decide_by_states(network, Lengths.ALL, "real", None) is None
    assert ts.certify(network, limit=30).method == "gated boxes"
