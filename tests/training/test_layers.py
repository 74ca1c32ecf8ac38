"""Layers over arrays against the cell's own step, against autodiff and, with one unit, against the cell of one unit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import LinearCell, LinearLayer, Token
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, TERNARY
from tallystick.training.descent import CROSS_ENTROPY
from tallystick.training.ensemble import Ensemble, train
from tallystick.training.gradients import gradient_of, scan_gradient
from tallystick.training.layers import STEPS, last_array
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import train_block
from tallystick.training.setting import Setting
from tallystick.training.weights import TensorWeights, fresh_weights

EVERY_LAYER = pytest.mark.parametrize("kind", STEPS, ids=lambda kind: kind.__name__)
# Every program takes seconds to compile: one kind of layer is quick, and the others are long.
ONE_LAYER = pytest.mark.parametrize(
    "kind",
    [kind if kind is LinearLayer else pytest.param(kind, marks=pytest.mark.long) for kind in STEPS],
    ids=lambda kind: kind.__name__,
)
STRINGS = ["(", "))", "()((", ")(", "(()", ")))("]
SEEDS, UNITS, WIDTH = 3, 2, 5


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def drawn(kind, units, task=TERNARY, bias=True):
    weights = fresh_weights(kind, task, np.arange(SEEDS), bias=bias, dtype=np.dtype(np.float64), units=units)
    return jax.tree.map(jnp.asarray, weights)


def tokens(string, width):
    padded = string.rjust(width)
    return Token(*(jnp.array([token == bracket for token in padded], jnp.float64) for bracket in "()"))


@EVERY_LAYER
@pytest.mark.parametrize("bias", [False, True])
def test_the_step_over_arrays_is_the_cells_own_and_padding_changes_nothing(kind, bias):
    weights = drawn(kind, UNITS, bias=bias)
    cell = weights.cell(kind)
    run = jax.jit(lambda string: last_array(kind, weights, string, jnp.zeros((UNITS, SEEDS))))
    for string in STRINGS:
        own = jnp.stack(cell.hidden(cell.final_state(string)))
        np.testing.assert_allclose(run(tokens(string, WIDTH)), own, rtol=1e-14, atol=1e-15)


@ONE_LAYER
@pytest.mark.parametrize("every_token", [False, True])
def test_the_gradient_is_autodiffs_through_the_cells_own_step(kind, every_token):
    weights, generator = drawn(kind, UNITS), np.random.default_rng(0)
    find = jax.jit(gradient_of(kind, CROSS_ENTROPY, every_token=every_token))
    expect = jax.jit(scan_gradient(kind, CROSS_ENTROPY, every_token=every_token))
    for string in STRINGS:
        targets = tuple(jnp.array(generator.uniform(size=(TERNARY.outputs, WIDTH) if every_token else TERNARY.outputs)))
        found, expected = (gradient(weights, tokens(string, WIDTH), targets) for gradient in (find, expect))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("method", [pytest.param("published", marks=pytest.mark.long), "count-calm"])
def test_a_layer_of_one_unit_is_trained_as_the_cell_of_one_unit_is(method):
    setting = Setting("binary", True, 4, method=method, precision="float64", epochs=20)
    lessons, course = lessons_of(setting, STRINGS), course_of(setting, STRINGS)
    own = fresh_weights(LinearCell, BINARY, np.arange(SEEDS), bias=True, dtype=setting.dtype)
    one_unit = TensorWeights(
        np.array(own.inputs)[None],
        np.array(own.recurrent)[None],
        (np.array(own.bias),),
        np.array(own.readout_weight)[:, None],
        (np.array(own.readout_bias),),
    )
    found, expected = (
        train_block(
            *jax.tree.map(jnp.asarray, (weights, lessons, course)),
            kind=kind,
            task=BINARY,
            method=setting.procedure,
        )
        for weights, kind in ((one_unit, LinearLayer), (own, LinearCell))
    )
    one, other = (np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)]) for tree in (found, expected))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def trained(cell, seeds, units=2, **options) -> Ensemble:
    setting = Setting(
        "binary",
        False,
        2,
        cell,
        **{"method": "corrected", "epochs": 60, "learning_rate": 0.02, "units": units} | options,
    )
    initial = fresh_weights(
        setting.kind, setting.goal, np.asarray(seeds), bias=setting.bias, dtype=setting.dtype, units=units
    )
    return train(setting, initial, ["(", ")", "()", "((", "))", ")("])


@ONE_LAYER
def test_training_learns_depends_on_the_seed_alone_and_is_tested_as_executed(kind):
    networks, alone = trained(kind.name, [0, 1, 2]), trained(kind.name, [2])
    assert isinstance(networks.cell(), kind)
    assert (networks.accuracy_train > 80).mean() > 0.5
    for one, other in zip(jax.tree.leaves(networks.weights), jax.tree.leaves(alone.weights), strict=True):
        np.testing.assert_array_equal(one[..., 2], other[..., 0])
    strings = ["(", "((", "(()", ")()())", "((((("]
    for seed, accuracy in enumerate(networks.accuracy(strings)):
        network = networks.network(seed)
        right = [network.class_of(string) == network.right_class(string) for string in strings]
        assert accuracy == pytest.approx(100 * np.mean(right))


def test_one_unit_is_the_cell_and_several_the_layer_of_the_same_name():
    assert Setting("binary", False, 2, "linear").kind is LinearCell
    assert Setting("binary", False, 2, "linear", units=64).kind in STEPS
    assert Setting("binary", False, 2, "lru", units=2).kind in STEPS
    with pytest.raises(BadInput, match="units: 3 is not a multiple of 2, as a lru cell needs"):
        Setting("binary", False, 2, "lru", units=3)
    with pytest.raises(BadInput, match="needs the conditions of a counting theorem, and a lru cell has none"):
        Setting("binary", False, 2, "lru", "projected", units=4)
    with pytest.raises(BadInput, match="units: 65 is more than a linear cell can have, 64"):
        Setting("binary", False, 2, "linear", units=65)
