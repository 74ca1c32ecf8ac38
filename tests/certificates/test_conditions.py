"""When linear networks of several units compute the count: the conditions say what every short string says."""

import random
import re
from fractions import Fraction
from itertools import product

import pytest
from linear_networks import KINDS, seen_from_another_basis

import tallystick as ts
from tallystick.conversion import NotACounter, to_machine
from tallystick.counting_conditions import conditions, facts
from tallystick.errors import BadInput
from tallystick.languages.ready_machines import BB_COUNTER
from tallystick.networks import Network, Readout

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def counts_by_definition(network, longest):
    """Whether every string to a length ends at s·(n − m) + C, by each output less the first, and s of each."""
    exact = network.in_arithmetic("rational")

    def outputs(string):
        values = exact.outputs(string)
        return values if len(values) == 1 else [value - values[0] for value in values[1:]]

    start = outputs("")
    steps = [after - before for after, before in zip(outputs("("), start, strict=True)]
    for length in range(1, longest + 1):
        for tokens in product("()", repeat=length):
            count = tokens.count("(") - tokens.count(")")
            expected = [C + s * count for C, s in zip(start, steps, strict=True)]
            if outputs("".join(tokens)) != expected:
                return False, steps
    return all(steps), steps


def linear(U, a, b):
    zeros = (ZERO,) * len(a)
    return ts.LinearLayer(tuple(zip(a, b, strict=True)), tuple(map(tuple, U)), zeros, zeros)


def some_linear(generator):
    """A layer that counts or nearly does; a state to start from may spoil it."""
    d = generator.randint(1, 3)
    U, a, b, v = KINDS[generator.choice(["unseen", "unseen", "near_counter", "defective"])](generator, d)
    if generator.random() < HALF:
        U, a, b, v = seen_from_another_basis(generator, U, a, b, v)
    if generator.random() < Fraction(1, 4):
        return ts.Stack((linear(U, a, b),), start=(tuple(Fraction(generator.randint(0, 1)) for _ in range(d)),)), v
    return linear(U, a, b), v


def some_selective(generator):
    """Two matrices that agree on a unit that counts, or nearly; the readout may see the others."""
    d = generator.randint(2, 3)
    pick = lambda: Fraction(generator.randint(-2, 2), 2)  # noqa: E731
    gates = [(ONE, generator.choice([ONE, ONE, HALF])), *((pick(), pick()) for _ in range(d - 1))]
    inputs = [(ONE, generator.choice([-ONE, -ONE, ONE])), *((pick(), pick()) for _ in range(d - 1))]
    v = [ONE, *(generator.choice([ZERO, ZERO, ONE]) for _ in range(d - 1))]
    if generator.random() < HALF:
        return ts.SelectiveLayer(tuple(inputs), tuple(gates), (ZERO,) * d), v
    matrices = tuple(
        tuple(tuple(gates[i][token] if i == j else pick() if i and j else ZERO for j in range(d)) for i in range(d))
        for token in (0, 1)
    )
    return ts.MatrixLayer(tuple(inputs), matrices, (ZERO,) * d), v


def readouts(v, generator):
    v, zeros = tuple(v), (ZERO,) * len(v)
    bias = Fraction(generator.randint(-3, 1), 4)
    return [
        Readout((v,), (bias,)),
        Readout((v,), (bias,), "zero"),
        Readout((v,), (bias,), "count"),
        Readout((tuple(-x for x in v), zeros, v), (-HALF, ZERO, -HALF)),
    ]


@pytest.mark.parametrize("made", [some_linear, some_selective])
def test_conditions_hold_where_every_short_string_ends_at_a_multiple_of_its_count(made):
    found = set()
    for seed in range(50):
        generator = random.Random(f"{made.__name__} {seed}")
        cell, v = made(generator)
        readout = generator.choice(readouts(v, generator))
        network = Network(cell, readout)
        *equations, _ = conditions(network)
        counts, (step, *_) = counts_by_definition(network, 5)
        if readout.kind == "count":
            counts = counts and step == 1
        assert all(condition.holds for condition in equations) == counts, (seed, network)
        right = all(network.in_arithmetic("rational").class_of(s) == network.right_class(s) for s in ("(", "()", ")"))
        if counts and readout.kind != "zero":
            assert all(condition.holds for condition in conditions(network)) == right, (seed, network)
        found.add(counts)
    assert found == {True, False}


def test_distances_are_exact():
    layer = linear([[ONE, ZERO], [ZERO, HALF]], [ONE, Fraction(1, 4)], [-ONE, ZERO])
    found = {c.formula: c for c in conditions(Network(layer, Readout(((1, 1),), (Fraction(-3, 4),))))}
    assert found["δ_0 ≠ 0"].value == Fraction(9, 4)
    assert [found[name].distance for name in ("δ_1 = δ_0", "δ_2 = δ_0", "ε_0 = 0", "ε_1 = 0")] == [
        Fraction(-1, 8),
        Fraction(-3, 16),
        Fraction(1, 8),
        Fraction(1, 16),
    ]
    assert found["δ_2 = δ_0"].as_json()["distance"] == "-3/16"


def test_facts_say_where_the_terms_go():
    layer = linear([[ONE, ZERO], [ZERO, HALF]], [ONE, Fraction(1, 4)], [-ONE, ZERO])
    seen, deviation = facts(Network(layer, Readout(((1, 1),), (0,))))
    assert (seen.value, abs(deviation.value - 0.5) < 1e-9, "L/2 = 1" in deviation.finding) == (2, True, True)
    (unseen,) = facts(Network(layer, Readout(((0, 1),), (0,))))
    assert (unseen.value, "does not see the eigenvalue 1" in unseen.finding) == (0, True)
    assert facts(Network(ts.LinearCell(1, -1, 1), Readout.zero())) == []


def test_a_network_with_one_unit_has_the_conditions_of_its_cell():
    cell = ts.LinearCell(1, -1, Fraction(3, 2))
    assert conditions(Network(cell, Readout.binary(1))) == conditions(cell)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: conditions(linear([[ONE]], [ONE], [-ONE])), "ask for the conditions of a Network"),
        (
            lambda: conditions(Network(ts.TanhLayer(((1, -1),), ((1,),), (0,), (0,)), Readout(((1,),), (0,)))),
            "no counting theorem is known for a TanhLayer",
        ),
    ],
)
def test_what_has_no_conditions_is_refused(ask, message):
    with pytest.raises(BadInput, match=message):
        ask()


def test_a_network_that_computes_the_count_converts_to_the_counter():
    U, a, b, v = seen_from_another_basis(random.Random(3), *KINDS["unseen"](random.Random(3), 3))
    for readout in (
        Readout((tuple(v),), (ZERO,), "zero"),
        Readout((tuple(v),), (-HALF,)),
        Readout((tuple(v),), (ZERO,), "count"),
    ):
        assert to_machine(Network(linear(U, a, b), readout)) is BB_COUNTER
    gates = ts.SelectiveLayer(((1, -1), (1, 1)), ((1, 1), (HALF, Fraction(1, 3))), (0, 0))
    assert to_machine(Network(gates, Readout(((1, 0),), (0,), "zero"))) is BB_COUNTER
    for network, message in (
        (
            Network(gates, Readout(((1, 1),), (0,), "zero")),
            'SelectiveLayer is no counter: y[")"] − y[""] = −s fails: y[")"]',
        ),
        (Network(linear(U, a, b), Readout((tuple(v),), (ONE,), "zero")), "C = 0 fails: C = 1, off by 1"),
        (
            Network(linear(U, a, [2 * x for x in b]), Readout((tuple(v),), (ZERO,), "zero")),
            "LinearLayer is no counter: ε_0 = 0",
        ),
        (Network(linear(U, a, b), Readout((tuple(v),), (ONE,))), "right at counts of −1, 0 and 1 fails"),
    ):
        with pytest.raises(NotACounter, match=re.escape(message)):
            to_machine(network)
