"""Networks that reach few states are decided exactly, where boxes see nothing but ties; every string to length 7 agrees."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest
from published_cases import network_of

import tallystick as ts
from tallystick.certificates.exact_states import METHOD, decide_by_states, decide_language_by_states
from tallystick.certificates.languages.scope import Scope
from tallystick.certificates.verdict import Lengths
from tallystick.languages.counter_machine import Add
from tallystick.languages.tasks import ready_task, task_of_machine

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


def random_language_network(draws):
    """A ReLU layer with whole weights over another alphabet, asked at the end or after every token."""
    task = ready_task(draws.choice(["anbn", "anbncn", "dyck1", "shuffle2", "anbmcnm"]))
    tokens, units, decision = len(task.alphabet), draws.randint(1, 2), draws.choice(["next", "support", "sign", "zero"])

    def matrix(rows, columns):
        return tuple(tuple(Fraction(draws.randint(-1, 1)) for _ in range(columns)) for _ in range(rows))

    layer = ts.ReluLayer(matrix(units, tokens), matrix(units, units), matrix(1, units)[0], matrix(1, units)[0])
    after_tokens = decision in ("next", "support")
    steps = ts.Steps((*task.alphabet, "#"), "#") if after_tokens else None
    outputs = tokens + 1 if after_tokens else 1
    return ts.Network(layer, ts.Readout(matrix(outputs, units), matrix(1, outputs)[0], decision, steps), task)


def test_networks_over_other_alphabets_agree_with_every_string():
    draws, decided = Random(7), 0
    for _ in range(20):
        network, first = random_language_network(draws), draws.randint(0, 2)
        lengths = draws.choice(list(Lengths))
        longest = {2: 5, 3: 4, 4: 3}[len(network.alphabet)]
        for arithmetic in ("real", "float16"):
            verdict = decide_language_by_states(network, Scope(lengths, first, arithmetic, longest))
            if verdict is None:
                continue
            decided += 1
            executed, counted = network.in_arithmetic("rational"), lengths.upto(longest, first)
            wrong = [
                string
                for length in counted
                for string in product(network.alphabet, repeat=length)
                if executed.right_class(string) not in (None, executed.class_of(string))
            ]
            if wrong:
                assert verdict.failure.tokens == wrong[0]
                assert verdict.failure.found == executed.class_of(wrong[0])
                assert verdict.failure.right == executed.right_class(wrong[0])
            else:
                assert verdict.horizon in (None, counted[-1])
    assert decided > 20


def test_finitely_many_states_decide_every_length():
    machine = ts.CounterMachine.from_rules(
        alphabet=("a", "b"),
        states=("even", "odd"),
        update=lambda _: (Add(0),),
        transition=lambda case: case.state if case.token == "b" else "odd" if case.state == "even" else "even",
        accepts=lambda state, _: state == "odd",
    )
    task = task_of_machine(machine, "odd number of a")
    # After an a the unit is 1 if it was 0, and 0 if it was 1; a b leaves it as it is.
    flip = ts.Stack(
        (ts.MatrixLayer(((1, 0),), (((-1,),), ((1,),)), (0,)),),
        ((1, 0), (0, 1)),
    )
    network = ts.Network(flip, ts.Readout(((1,),), (0,), "sign"), task)
    for first in (0, 1, 5):
        verdict = decide_language_by_states(network, Scope(Lengths.ALL, first, "real", None))
        assert (verdict.outcome, verdict.horizon, verdict.first) == ("PROVED", None, first)
        assert "only" in verdict.reason
    wrong = ts.Network(flip, ts.Readout(((-1,),), (1,), "sign"), task)
    for first, string in ((0, ()), (3, ("a", "a", "a"))):
        verdict = decide_language_by_states(wrong, Scope(Lengths.ALL, first, "real", None))
        assert verdict.failure.tokens == string


@pytest.mark.parametrize(
    ("name", "arithmetic", "runs"),
    [("mdlrnn_an_bn", "real", None), ("mdlrnn_an_bn_cn", "float32", (("a", 17), ("b", 17), ("c", 16)))],
)
def test_published_graphs_of_units_are_decided(name, arithmetic, runs):
    verdict = decide_language_by_states(network_of(name), Scope(Lengths.ALL, 1, arithmetic, 60))
    assert (None if runs is None else verdict.failure.runs) == runs
    assert verdict.horizon == (60 if runs is None else 49)
