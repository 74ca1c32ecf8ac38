"""Graphs of units: against a plain run of their definition, and their bounds against exact states."""

import random
from fractions import Fraction

import numpy as np
import pytest

from tallystick import BadInput, Network, Readout, certify
from tallystick.cells import GraphCell, Stack, Unit
from tallystick.cells.graph import ACTIVATIONS, RATIONAL
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.boxes import box_of

FUNCTIONS = {
    "identity": lambda x: x,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: (1 + np.tanh(x / 2)) / 2,
    "tanh": np.tanh,
    "square": lambda x: x * x,
    "step": lambda x: 1.0 if x > 0 else 0.0,
}


def random_graph(seed, activations=tuple(ACTIVATIONS), units=5):
    """A graph of small weights, in which about half of all units read each other."""
    generator = random.Random(seed)

    def weight():
        return Fraction(generator.randint(-4, 4), 4)

    def inputs(place):
        return (weight(), weight()) if place == 0 or generator.random() < 0.7 else ()

    def weights(most):
        return tuple((source, weight()) for source in range(most) if generator.random() < 0.4)

    return GraphCell(
        tuple(
            Unit(generator.choice(activations), weight(), inputs(place), weights(place), weights(units))
            for place in range(units)
        )
    )


def plain_run(cell, string):
    """The units after each token, one by one as the definition has them."""
    before = [0.0] * cell.units
    for token in string:
        now = []
        for unit in cell.nodes:
            x = float(unit.bias) + (float(unit.input["()".index(token)]) if unit.input else 0.0)
            x += sum(float(weight) * now[source] for source, weight in unit.forward)
            x += sum(float(weight) * before[source] for source, weight in unit.recurrent)
            now.append(FUNCTIONS[unit.activation](x))
        yield now
        before = now


@pytest.mark.parametrize("seed", range(40))
def test_a_graph_computes_its_definition(seed):
    cell, string = random_graph(seed), "(()))("
    executed = cell.map_weights(lambda weight, _: float(weight))
    found = [executed.hidden(state) for state in executed.trace(string)[1:]]
    np.testing.assert_allclose(found, list(plain_run(cell, string)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_kept_units_alone_decide_whether_states_are_rational(seed):
    cell = random_graph(seed)
    read = {source for unit in cell.nodes for source, _ in unit.recurrent}
    assert read <= cell.kept
    if cell.is_rational:
        assert all(isinstance(number, int | Fraction) for state in cell.trace("())(") for number in state)
    else:
        assert any(cell.nodes[place].activation not in RATIONAL for place in cell.kept)


def test_the_outputs_on_top_do_not_make_states_irrational():
    counter = Unit("identity", Fraction(0), (Fraction(1), Fraction(-1)), recurrent=((0, Fraction(1)),))
    cell = GraphCell((counter, Unit("sigmoid", Fraction(0), (), ((0, Fraction(2)),))))
    assert cell.is_rational
    assert not cell.shows_rationals
    assert cell.trace("((")[-1] == (2, 4)
    (_, top) = cell.last_arguments(cell.trace("((")[-1])
    assert top == (("sigmoid",), 4)
    below = Stack((cell, GraphCell((Unit("relu", 0, (1, 1)),))))
    assert not below.is_rational


@pytest.mark.parametrize("seed", range(30))
def test_arguments_finish_as_the_units(seed):
    cell = random_graph(seed).map_weights(lambda weight, _: float(weight))
    for state in cell.trace("())("):
        for finish, shown in zip(cell.last_arguments(state), cell.hidden(state), strict=True):
            assert finish is None or finish.value == pytest.approx(shown, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_hold_the_exact_states(seed):
    cell = random_graph(seed, RATIONAL)
    boxed = cell.map_weights(box_of)
    with digits(80):
        balls = cell.map_weights(ball_of)
        runs = zip(cell.trace("(())("), boxed.trace("(())("), balls.trace("(())("), strict=True)
        for exact, boxes, rounded in runs:
            for number, box, ball in zip(cell.hidden(exact), boxed.hidden(boxes), balls.hidden(rounded), strict=True):
                assert box.low <= number <= box.high
                assert ball.overlaps(ball_of(number))
                assert ball.rad() <= 1e-12 * (1 + abs(ball_of(number)))


@pytest.mark.parametrize("arithmetic", ["float16", "bfloat16", "float32", "float64"])
def test_states_stay_in_their_arithmetic(arithmetic):
    for seed in range(10):
        network = Network(random_graph(seed), Readout(((1,) * 5,), (0,))).in_arithmetic(arithmetic)
        kind = type(network.readout.bias[0])
        for state in network.cell.trace("())"):
            assert {type(number) for number in network.cell.hidden(state)} == {kind}


def test_a_graph_that_counts_is_certified():
    counter = Unit("identity", 0, (1, -1), recurrent=((0, 1),))
    assert certify(Network(GraphCell((counter,)), Readout(((1,),), (0,))), limit=30).horizon == 30
    leaky = Unit("identity", 0, (1, -1), recurrent=((0, Fraction(1, 2)),))
    verdict = certify(Network(GraphCell((leaky, Unit("tanh", 0, (0, 0), ((0, 1),)))), Readout(((0, 1),), (0,))))
    assert (verdict.horizon, verdict.failure.string) == (1, ")(")


def test_units_that_read_no_state_fit_arrays_of_states():
    """An input unit, a unit that is kept for one step, and a constant: all are followed in boxes and in arrays."""
    read, constant = Unit("identity", 0, (1, -1)), Unit("sigmoid", Fraction(1, 9))
    leak = Unit("tanh", 0, (), ((0, 1),), ((0, Fraction(1, 9)), (1, Fraction(1, 9)), (2, Fraction(9, 10))))
    verdict = certify(Network(GraphCell((read, constant, leak)), Readout(((0, 0, 1),), (0,))), limit=8)
    assert (verdict.outcome, verdict.horizon) == ("REFUTED", 1)
    assert verdict.failure.string in (")(", "()")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GraphCell(()), r"units: \(\) is not a tuple of units"),
        (lambda: GraphCell((Unit("relu", 0),)), "units: none of them reads anything"),
        (lambda: GraphCell((Unit("gelu", 0, (1, 1)),)), r"units\[0\].activation: 'gelu' is not one of identity, relu"),
        (lambda: GraphCell((Unit("relu", None, (1, 1)),)), r"units\[0\].bias: None is not a number"),
        (
            lambda: GraphCell((Unit("relu", 0, (1, 1)), Unit("relu", 0, (1,)))),
            r"units\[1\].input: \(1,\) is not a tuple of 2",
        ),
        (
            lambda: GraphCell((Unit("relu", 0, (1, 1), ((0, 1),)),)),
            r"units\[0\].forward: \[0\] are not the places of earlier units",
        ),
        (
            lambda: GraphCell((Unit("relu", 0, (1, 1), (), ((1, 1),)),)),
            r"units\[0\].recurrent: \[1\] are not the places of units",
        ),
        (lambda: random_graph(0).tensors(), "cell: a graph of units has no tensors"),
    ],
)
def test_what_is_wrong_with_a_graph_is_said(build, message):
    with pytest.raises(BadInput, match=message):
        build()
