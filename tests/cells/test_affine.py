"""Layers whose step is affine in the state: what each computes, from its definition in NumPy, and what is refused."""

import json
from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import KINDS, LAYERS, AffineLayer, Token
from tallystick.certificates.certificate import certificate
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.numbers import exact
from tallystick.numbers.boxes import box_of

AFFINE = {"selective": ts.SelectiveLayer, "matrices": ts.MatrixLayer, "lru": ts.LruLayer}
every_layer = pytest.mark.parametrize("kind", AFFINE.values(), ids=AFFINE)
STRINGS = ["".join(tokens) for length in range(5) for tokens in product("()", repeat=length)]


def some_layer(kind, units, inputs=2, seed=0):
    generator = np.random.default_rng(seed)

    def numbers(*shape):
        if shape:
            return tuple(numbers(*shape[1:]) for _ in range(shape[0]))
        return float(generator.normal())

    return kind(*(numbers(*shape) for shape in kind.shapes(units, inputs).values()))


def by_hand(layer, vectors):
    """The definition, in NumPy: for an LRU layer with complex numbers."""
    W, R, b = map(np.array, layer.tensors().values())
    n = layer.units // 2
    h = np.zeros(layer.units)
    for x in vectors:
        if isinstance(layer, ts.LruLayer):
            z = (R[0] + 1j * R[1]) * (h[:n] + 1j * h[n:]) + (W[:n] + 1j * W[n:]) @ x + b[:n] + 1j * b[n:]
            h = np.concatenate([z.real, z.imag])
        elif isinstance(layer, ts.MatrixLayer):
            h = np.tensordot(x, R, 1) @ h + W @ x + b
        else:
            h = (R @ x) * h + W @ x + b
    return h


def vectors_of(string, tokens=((1.0, 0.0), (0.0, 1.0))):
    return [np.asarray(tokens)["()".index(token)] for token in string]


@every_layer
@pytest.mark.parametrize("units", [2, 6])
def test_the_state_is_the_recurrence(kind, units):
    for seed in range(3):
        layer = some_layer(kind, units, seed=seed)
        for string in STRINGS:
            found = layer.hidden(layer.final_state(string))
            np.testing.assert_allclose(found, by_hand(layer, vectors_of(string)), rtol=1e-11, atol=1e-12)


@every_layer
def test_in_a_stack_it_reads_vectors(kind):
    tokens = ((0.25, -1.0, 2.0), (1.0, 0.5, -0.5))
    layer = some_layer(kind, 4, inputs=3)
    for string in STRINGS:
        ((found),) = ts.Stack((layer,), tokens).final_state(string)
        np.testing.assert_allclose(found, by_hand(layer, vectors_of(string, tokens)), rtol=1e-11, atol=1e-12)


@every_layer
def test_boxes_hold_the_exact_states(kind):
    layer = some_layer(kind, 4)
    boxed, exactly = layer.map_weights(box_of), layer.map_weights(exact)
    for string in STRINGS[1:]:
        for box, state in zip(boxed.final_state(string), exactly.final_state(string), strict=True):
            assert box.low <= state <= box.high
            assert box.high - box.low < 1e-11


@every_layer
def test_many_networks_and_many_strings_run_side_by_side(kind):
    """Weights may be arrays with one entry per network, and tokens arrays with one entry per string."""
    layers = [some_layer(kind, 2, seed=seed) for seed in range(3)]

    def joined(*values):
        if isinstance(values[0], tuple):
            return tuple(joined(*parts) for parts in zip(*values, strict=True))
        return np.array(values)[:, None]

    together = kind(*(joined(*weights) for weights in zip(*(one.tensors().values() for one in layers), strict=True)))
    strings = [string for string in STRINGS if len(string) == 3]
    state = together.initial_state
    for place in range(3):
        opening = np.array([string[place] == "(" for string in strings], float)
        state = together.step(state, Token(opening, 1 - opening))
    for place, layer in enumerate(layers):
        for column, string in enumerate(strings):
            found = [number[place, column] for number in state]
            np.testing.assert_allclose(found, layer.final_state(string), rtol=1e-12, atol=1e-14)


def test_one_unit_is_the_selective_cell():
    cell = ts.SelectiveCell(0.5, -0.25, 0.75, 1.5)
    for layer in (
        ts.SelectiveLayer(((0.25, -0.5),), ((0.75, 1.5),), (0.25,)),
        ts.MatrixLayer(((0.25, -0.5),), (((0.75,),), ((1.5,),)), (0.25,)),
    ):
        for string in STRINGS:
            assert layer.final_state(string) == (cell.final_state(string),)


@every_layer
def test_what_does_not_fit_is_named(kind):
    W, R, b = some_layer(kind, 2).tensors().values()
    with pytest.raises(BadInput, match=r"input_weight\[1\]: \(1.0,\) is not a tuple of 2 numbers"):
        kind((W[0], (1.0,)), R, b)
    with pytest.raises(BadInput, match="recurrent_weight: 3.0 is not a tuple of 2 rows of"):
        kind(W, 3.0, b)
    with pytest.raises(BadInput, match="input_bias: 0 is not a tuple of one number per unit"):
        kind(W, R, 0)
    with pytest.raises(BadInput, match=r"input_bias\[0\]: nan is not a finite number"):
        kind(W, R, (float("nan"), 1.0))


def test_a_complex_unit_counts_as_two():
    with pytest.raises(BadInput, match="input_bias: 3 numbers; a complex unit has two"):
        ts.LruLayer(((1, 0), (0, 1), (0, 0)), ((1,), (0,)), (0, 0, 0))


def test_files_tell_the_kinds_apart():
    assert KINDS[True]["lru"] is KINDS[False]["lru"] is ts.LruLayer
    assert KINDS[True]["selective"] is ts.SelectiveLayer
    assert KINDS[False]["selective"] is ts.SelectiveCell
    assert all(kind.name == name for name, kind in LAYERS.items())


@every_layer
def test_a_certificate_holds_the_step_as_a_program(kind):
    layer = some_layer(kind, 2)
    assert isinstance(layer, AffineLayer)
    assert layer.is_affine
    verdict = ts.certify(ts.Network(layer, ts.Readout(((1.0, -0.5),), (0.25,))))
    assert verdict.outcome.value == "REFUTED"
    assert check(json.dumps(certificate(verdict))).valid
