"""Layers without gates: what each computes, from its definition; files, stacks, and what is refused."""

import json
from fractions import Fraction

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import CELLS, LAYERS
from tallystick.errors import BadInput
from tallystick.numbers import exact
from tallystick.numbers.boxes import box_of

SQUASH = {"linear": lambda x: x, "relu": lambda x: np.maximum(x, 0), "tanh": np.tanh}
every_layer = pytest.mark.parametrize("kind", [LAYERS[name] for name in SQUASH], ids=SQUASH)
STRINGS = ("", "(", ")(", "(()())", "))))(((")


def some_layer(kind, units, inputs=2, seed=0):
    generator = np.random.default_rng(seed)

    def numbers(*shape):
        if shape:
            return tuple(numbers(*shape[1:]) for _ in range(shape[0]))
        return float(generator.normal())

    return kind(*(numbers(*shape) for shape in kind.shapes(units, inputs).values()))


def by_hand(layer, string):
    W, U, b_x, b_h = map(np.array, layer.tensors().values())
    h = np.zeros(layer.units)
    for token in string:
        h = SQUASH[layer.name](W[:, "()".index(token)] + b_x + U @ h + b_h)
    return h


@every_layer
@pytest.mark.parametrize("units", [1, 2, 5])
def test_the_state_is_the_recurrence(kind, units):
    for seed in range(3):
        layer = some_layer(kind, units, seed=seed)
        for string in STRINGS:
            np.testing.assert_allclose(layer.final_state(string), by_hand(layer, string), rtol=1e-12, atol=1e-14)


@every_layer
def test_boxes_hold_the_states(kind):
    layer = some_layer(kind, 3)
    boxed, exactly = layer.map_weights(box_of), layer.map_weights(exact)
    for string in STRINGS[1:]:
        states = exactly.final_state(string) if kind.is_rational else by_hand(layer, string)
        for box, state in zip(boxed.final_state(string), states, strict=True):
            assert box.low <= state <= box.high
            assert box.high - box.low < 1e-11


@every_layer
def test_one_unit_is_the_cell_of_the_same_name(kind):
    layer = kind(((0.5, -0.25),), ((0.75,),), (0.125,), (-0.5,))
    cell = CELLS[kind.name](0.5 + 0.125 - 0.5, -0.25 + 0.125 - 0.5, 0.75)
    for string in STRINGS:
        assert layer.final_state(string) == pytest.approx((cell.final_state(string),), rel=1e-15)


def network(layer, outputs=1):
    generator = np.random.default_rng(7)
    weight = tuple(map(tuple, generator.normal(size=(outputs, layer.units)).tolist()))
    return ts.Network(layer, ts.Readout(weight, tuple(generator.normal(size=outputs).tolist())))


@every_layer
@pytest.mark.parametrize("units", [1, 3])
@pytest.mark.parametrize("suffix", ["json", "safetensors"])
def test_a_file_reads_back_exactly_equal(kind, units, suffix, tmp_path):
    path = tmp_path / f"network.{suffix}"
    stacked = ts.Stack((some_layer(kind, units), some_layer(ts.LinearLayer, 2, units)), start=((0.5,) * units, (1, 2)))
    for written in (network(some_layer(kind, units)), network(stacked, 3)):
        ts.write_network(written, path)
        found = ts.read_network(path)
        assert found == written.map_weights(exact)
        assert type(found.cell) is type(written.cell)


def test_biases_may_be_left_out(tmp_path):
    path = tmp_path / "network.json"
    readout = {"kind": "binary", "weight": [[1, 1]]}
    content = {"cell": "relu", "input_weight": [[1, 0], [0, 1]], "recurrent_weight": [[1, 0], [0, 1]]}
    path.write_text(json.dumps({**content, "readout": readout}))
    assert ts.read_network(path).cell == ts.ReluLayer(((1, 0), (0, 1)), ((1, 0), (0, 1)), (0, 0), (0, 0))


@every_layer
def test_what_does_not_fit_is_named(kind, tmp_path):
    W, U, b_x, b_h = some_layer(kind, 2).tensors().values()
    with pytest.raises(BadInput, match=r"input_weight\[1\]: \(1.0,\) is not a tuple of 2 numbers"):
        kind((W[0], (1.0,)), U, b_x, b_h)
    with pytest.raises(BadInput, match="recurrent_weight: 3.0 is not a matrix"):
        kind(W, 3.0, b_x, b_h)
    path = tmp_path / "network.json"
    path.write_text(
        json.dumps({"cell": kind.name, "input_weight": [[1, 1]], "open_step": 1, "recurrent_weight": [[1]]})
    )
    with pytest.raises(BadInput, match="open_step|readout"):
        ts.read_network(path)


def test_layers_are_not_trained():
    assert not set(LAYERS.values()) & set(CELLS.values())


def test_a_layer_without_memory_is_a_feed_forward_layer():
    """Here the absolute value of a count: max(0, h) + max(0, −h)."""
    counter = ts.LinearLayer(((1, -1),), ((1,),), (0,), (0,))
    sides = ts.ReluLayer(((1,), (-1,)), ((0, 0), (0, 0)), (0, 0), (0, 0))
    total = ts.LinearLayer(((Fraction(1), Fraction(1)),), ((0,),), (0,), (0,))
    stack = ts.Stack((counter, sides, total))
    assert [stack.hidden(state)[0] for state in stack.trace("(()))))")] == [0, 1, 2, 1, 0, 1, 2, 3]
