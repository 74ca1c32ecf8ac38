"""A readout is its definition, for single numbers and arrays alike; what else is said of it follows from its comparisons."""

import random
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import LinearCell, LinearLayer, ReluCell
from tallystick.errors import BadInput
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, COUNT, SEMI_DYCK1_MEMBERSHIP, TERNARY, ready_task
from tallystick.networks import Network, Readout
from tallystick.networks.readout import DECISIONS

STATES = [Fraction(n, 4) for n in range(-12, 13)]


def some_readouts():
    generator = random.Random(3)
    quarter = lambda: Fraction(generator.randint(-8, 8), 4)  # noqa: E731
    yield Readout.zero()
    for _ in range(30):
        yield Readout.binary(quarter(), quarter())
        yield Readout.ternary((quarter(), quarter(), quarter()), (quarter(), quarter(), quarter()))
        for outputs in (2, 5):
            yield Readout(tuple((quarter(),) for _ in range(outputs)), tuple(quarter() for _ in range(outputs)))


every_readout = pytest.mark.parametrize("readout", list(some_readouts()), ids=lambda readout: readout.kind)


def index_by_definition(readout, h):
    outputs = [v * h + c for (v,), c in zip(readout.weight, readout.bias, strict=True)]
    if readout.kind == "zero":
        return int(h == 0)
    return int(outputs[0] > 0) if readout.kind == "binary" else outputs.index(max(outputs))  # the first of the largest


@every_readout
def test_a_readout_is_its_definition_on_numbers_and_arrays_ties_included(readout):
    expected = [index_by_definition(readout, h) for h in STATES]
    assert [readout.class_index((h,)) for h in STATES] == expected
    assert {type(readout.class_index((h,))) for h in STATES} == {int}
    for array in (np.array(STATES, np.float64), jnp.array([float(h) for h in STATES])):
        as_floats = readout.map_weights(lambda value, _: float(value))
        assert np.asarray(as_floats.class_index((array,))).tolist() == expected
        assert np.asarray(as_floats.class_index((array,))).dtype.kind == "i"


@every_readout
def test_the_forms_of_a_class_hold_where_the_class_is_given(readout):
    """A class without forms gets what no other class gets."""
    for h in STATES:
        holding = [
            index
            for index in range(len(readout.comparisons))
            if (forms := readout.forms(index))
            and all(w * h + bias > 0 if strict else w * h + bias >= 0 for (w,), bias, strict in forms)
        ]
        assert holding == [index for index in [readout.class_index((h,))] if readout.comparisons[index]]
    assert [index for index, needed in enumerate(readout.comparisons) if not needed] == [0] * (readout.kind == "zero")


@pytest.mark.parametrize("count", [-3, -1, 0, 1, 7])
def test_the_right_class_follows_from_the_task(count):
    """Which is the sign of the count, or for the zero check the language that the kind of cell can accept."""
    linear, relu = LinearCell(1, -1, 1), ReluCell(1, -1, 1)
    readouts = Readout.zero(), Readout.binary(1), Readout.ternary((-1, 0, 1))
    assert [Network(linear, readout).task for readout in readouts] == [BB_MEMBERSHIP, BINARY, TERNARY]
    assert [Network(relu, readout).task for readout in readouts] == [SEMI_DYCK1_MEMBERSHIP, BINARY, TERNARY]
    string, sign = ("(" if count > 0 else ")") * abs(count), "Zero" if count == 0 else "Pos" if count > 0 else "Neg"
    right = "accepted" if count == 0 else "rejected", "Pos" if count > 0 else "ZeroNeg", sign
    assert tuple(Network(linear, readout).right_class(string) for readout in readouts) == right
    assert (
        tuple(Network(linear, r).task.classes[Network(linear, r).task.index_of_count(count)] for r in readouts) == right
    )
    assert Network(relu, Readout.zero()).right_class(string) == ("accepted" if count <= 0 else "rejected")


@pytest.mark.parametrize("readout", list(some_readouts())[1:], ids=lambda readout: readout.kind)
def test_its_short_forms_are_layers_over_one_unit(readout):
    layer = Readout(readout.weight, readout.bias)
    assert layer == readout
    assert (layer.kind, layer.units) == (readout.kind, 1)
    for h in STATES:
        assert layer.outputs((h,)) == [v * h + c for (v,), c in zip(readout.weight, readout.bias, strict=True)]
    assert layer.map_weights(lambda value, _: float(value)).outputs((0.5,)) == [
        float(v) * 0.5 + float(c) for (v,), c in zip(readout.weight, readout.bias, strict=True)
    ]


def test_a_zero_check_keeps_its_weights():
    zero = Readout.zero()
    assert zero.map_weights(lambda value, _: float(value) + 1) is zero
    assert (zero.weight, zero.bias, zero.decision) == (((1,),), (0,), "zero")


def test_every_readout_is_listed_by_its_kind():
    found = {readout.decision: (readout.kind, readout.comparisons) for readout in some_readouts()}
    found["class"] = ("ternary", Readout.ternary((0, 0, 0)).comparisons)  # and `class` for any other number of outputs
    assert found == {name: (decision.kind, decision.comparisons) for name, decision in DECISIONS.items()}


def test_two_outputs_stay_two_outputs_and_need_a_task():
    two = Readout(((1,), (2,)), (0, 0))
    assert (two.kind, two.decision, [two.class_index((h,)) for h in (-1, 0, 1)]) == ("class", "class", [0, 0, 1])
    assert Network(LinearCell(1, -1, 1), two, BINARY).class_of("(") == "Pos"
    with pytest.raises(BadInput, match="^task: missing; a readout of 2 outputs may answer several tasks"):
        Network(LinearCell(1, -1, 1), two)
    with pytest.raises(BadInput, match="^task: 'ternary' has 3 classes; a class readout tells 2 apart"):
        Network(LinearCell(1, -1, 1), two, TERNARY)


def test_a_network_reads_the_tokens_of_its_task():
    assert Network(LinearCell(1, -1, 1), Readout.binary(1), ready_task("anbn")).class_of("aab") == "accepted"
    with pytest.raises(
        BadInput, match="^cell: reads vectors of 2 numbers; a token of 'anbncn' is one of 3 one-hot vectors"
    ):
        Network(LinearCell(1, -1, 1), Readout.binary(1), ready_task("anbncn"))


def test_a_tie_goes_to_the_lowest_index():
    ternary = Readout(((-1, 0), (0, 0), (1, 0)), (0, 0, 0))
    assert [ternary.class_index((h, 5)) for h in (-1, 0, 1)] == [0, 0, 2]
    assert ternary.class_index((np.array([-1.0, 0.0, 2.0]), 5.0)).tolist() == [0, 0, 2]
    binary = Readout(((1, 1),), (-1,))
    assert [binary.class_index((h, 0)) for h in (1, 1.5)] == [0, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Readout.binary("1"), "weight: '1' is not a number"),
        (lambda: Readout.binary(1.0, float("nan")), "bias: nan is not a finite number"),
        (lambda: Readout.ternary((1, 2)), "weight: \\(1, 2\\) is not a tuple of three numbers"),
        (lambda: Readout.ternary((1, 2, 3), 0), "bias: 0 is not a tuple of three numbers"),
        (lambda: Readout.ternary((1, None, 3)), "weight\\[1\\]: None is not a number"),
        (lambda: Readout(((1,),), (0,), "class"), "decision: 'class' is not one of zero, sign"),
        (lambda: Readout(((1,),) * 2, (0,) * 2, "sign"), "decision: 'sign' is not one of class"),
        (lambda: Readout(((1,),) * 3, (0,) * 3, "zero"), "decision: 'zero' is not one of class"),
    ],
)
def test_a_bad_readout_is_refused(make, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        make()


@pytest.mark.parametrize(("weight", "bias"), [(((2,),), (0,)), (((1,),), (1,))])
def test_a_zero_check_of_anything_but_h_is_refused_for_a_cell_of_one_unit(weight, bias):
    """The theorems speak of h = 0; a verdict on 2·h + 1 = 0 would answer another question."""
    with pytest.raises(BadInput, match="readout: the zero check of a cell with one unit looks at h itself"):
        Network(LinearCell(1, -1, 1), Readout(weight, bias, "zero"))


def test_a_zero_check_of_several_units_looks_at_one_output():
    readout = Readout(((1, -2),), (Fraction(1, 2),), "zero")
    assert [readout.class_index(h) for h in ((Fraction(3, 2), 1), (0, 0), (-0.5, 0.0))] == [1, 0, 1]
    layer = LinearLayer(((1, -1), (0, 0)), ((1, 0), (0, 0)), (0, 0), (0, 0))
    assert [Network(layer, Readout(((1, 5),), (-1,), "zero")).class_of(string) for string in ("(", "()")] == [
        "accepted",
        "rejected",
    ]


def test_a_count_is_the_nearest_whole_number_and_a_tie_is_none():
    count = Readout(((1,),), (0,), "count")
    states = [
        Fraction(-7, 4),
        Fraction(-3, 2),
        Fraction(-1, 2),
        0,
        Fraction(1, 2),
        Fraction(3, 4),
        2,
        Fraction(10**30 * 2 + 1, 2),
    ]
    nearest = [-2, Fraction(-3, 2), Fraction(-1, 2), 0, Fraction(1, 2), 1, 2, Fraction(10**30 * 2 + 1, 2)]
    assert [count.class_index((h,)) for h in states] == nearest
    for array in (np.array(states, np.float64), np.array(states, object)):
        assert count.class_index((array,)).tolist()[:-1] == nearest[:-1]


def test_a_network_may_answer_the_count():
    network = Network(LinearCell(Fraction(3, 4), -1, 1), Readout(((1,),), (0,), "count"))
    assert (network.task.name, network.class_of("(("), network.class_of("((("), network.right_class("(((")) == (
        "count",
        "3/2",
        "2",
        "3",
    )
    assert network.task.right_classes(np.array([-3, 0, 7])).tolist() == [-3, 0, 7]


def test_only_the_count_goes_with_the_task_count():
    with pytest.raises(BadInput, match="^task: 'binary' asks for a class, which a count readout does not give"):
        Network(LinearCell(1, -1, 1), Readout(((1,),), (0,), "count"), BINARY)
    with pytest.raises(BadInput, match="^task: 'count' asks for a number, which a binary readout does not give"):
        Network(LinearCell(1, -1, 1), Readout.binary(1), COUNT)


def test_a_zero_check_with_weights_runs_where_they_are_not_known_yet():
    """JAX traces a readout whose weights have no values, and nothing may ask for them."""

    def accepted(weight):
        readout = Readout(((weight, 1.0),), (weight,), "zero")
        return readout.map_weights(lambda value, _: value).class_index((1.0, -4.0))

    assert [int(jax.jit(accepted)(weight)) for weight in (1.0, 2.0)] == [0, 1]
