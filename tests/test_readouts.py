import random
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.errors import BadInput
from tallystick.networks import READOUTS, Readout

STATES = [Fraction(n, 4) for n in range(-12, 13)]


def some_readouts():
    generator = random.Random(3)
    quarter = lambda: Fraction(generator.randint(-8, 8), 4)  # noqa: E731
    yield Readout.zero()
    for _ in range(30):
        yield Readout.binary(quarter(), quarter())
        yield Readout.ternary((quarter(), quarter(), quarter()), (quarter(), quarter(), quarter()))


def index_by_definition(readout, h):
    match readout:
        case Readout.zero():
            return int(h == 0)
        case Readout.binary(weight=v, bias=c):
            return int(v * h + c > 0)
        case Readout.ternary(weight=v, bias=c):
            outputs = [v[i] * h + c[i] for i in range(3)]
            return outputs.index(max(outputs))  # the first of the largest


@pytest.mark.parametrize("readout", list(some_readouts()), ids=lambda readout: readout.kind)
def test_a_readout_is_its_definition_on_numbers_and_arrays_ties_included(readout):
    expected = [index_by_definition(readout, h) for h in STATES]
    assert [readout.class_index(h) for h in STATES] == expected
    assert {type(readout.class_index(h)) for h in STATES} == {int}
    assert [list(readout.classes).index(readout.class_of(h)) for h in STATES] == expected
    for array in (np.array(STATES, np.float64), jnp.array([float(h) for h in STATES])):
        as_floats = type(readout)(*(_floats(value) for value in vars(readout).values()))
        assert np.asarray(as_floats.class_index(array)).tolist() == expected
        assert np.asarray(as_floats.class_index(array)).dtype.kind == "i"


def _floats(value):
    return tuple(map(float, value)) if isinstance(value, tuple) else float(value)


@pytest.mark.parametrize("count", [-3, -1, 0, 1, 7])
def test_the_right_class_follows_from_the_count(count):
    assert Readout.zero().right_class(count) == ("accepted" if count == 0 else "rejected")
    assert Readout.binary(1).right_class(count) == ("Pos" if count > 0 else "ZeroNeg")
    sign = "Zero" if count == 0 else "Pos" if count > 0 else "Neg"
    assert Readout.ternary((-1, 0, 1)).right_class(count) == sign


@pytest.mark.parametrize("scalar", list(some_readouts())[1:], ids=lambda readout: readout.kind)
def test_a_layer_over_one_unit_is_the_scalar_readout(scalar):
    ternary = isinstance(scalar, TernaryReadout)
    weight, bias = (scalar.weight, scalar.bias) if ternary else ((scalar.weight,), (scalar.bias,))
    layer = Readout(tuple((v,) for v in weight), bias)
    assert (layer.kind, layer.classes, layer.units) == (scalar.kind, scalar.classes, 1)
    for h in STATES:
        assert layer.outputs((h,)) == [v * h + c for v, c in zip(weight, bias, strict=True)]
        assert (layer.class_index((h,)), layer.class_of((h,))) == (scalar.class_index(h), scalar.class_of(h))
    assert [layer.right_class(count) for count in (-2, 0, 2)] == [scalar.right_class(count) for count in (-2, 0, 2)]
    assert layer.map_weights(lambda value, _: float(value)).outputs((0.5,)) == [
        float(v) * 0.5 + float(c) for v, c in zip(weight, bias, strict=True)
    ]


def test_every_readout_is_listed_by_its_kind():
    assert list(READOUTS) == ["zero", "binary", "ternary"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Readout.binary("1"), "weight: '1' is not a number"),
        (lambda: Readout.binary(1.0, float("nan")), "bias: nan is not a finite number"),
        (lambda: Readout.ternary((1, 2)), "weight: \\(1, 2\\) is not a tuple of three numbers"),
        (lambda: Readout.ternary((1, 2, 3), 0), "bias: 0 is not a tuple of three numbers"),
        (lambda: Readout.ternary((1, None, 3)), "weight\\[1\\]: None is not a number"),
    ],
)
def test_a_bad_readout_is_refused(make, message):
    with pytest.raises(BadInput, match=message):
        make()
