"""Residuals, penalties, multipliers and parametrisations against the theorems and against numerical differentiation."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import CELLS, LinearLayer, LruLayer, SelectiveCell, SelectiveLayer
from tallystick.counting_conditions import conditions
from tallystick.languages.tasks import BINARY, TERNARY
from tallystick.training.descent import OBJECTIVES
from tallystick.training.methods import FREE, LAGRANGIAN, PENALTY, TIED, TIED_UNIT, UNIT, project, residuals
from tallystick.training.weights import Weights, fresh_weights

COUNTING = pytest.mark.parametrize(
    "kind", [kind for kind in CELLS.values() if kind.counting is not None], ids=lambda kind: kind.__name__
)
with_and_without_bias = pytest.mark.parametrize("bias", [False, True])


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def drawn(kind, bias=False, task=BINARY):
    weights = fresh_weights(kind, task, np.arange(5), bias=bias, dtype=np.dtype(np.float64))
    return jax.tree.map(jnp.array, weights)


def numeric_slope(function, tree):
    """∂(sum of function)/∂ every leaf entry, by central differences."""
    leaves, structure = jax.tree.flatten(tree)

    def along(place):
        def moved(change):
            return function(structure.unflatten([leaf + change * (n == place) for n, leaf in enumerate(leaves)]))

        return (moved(1e-6) - moved(-1e-6)) / 2e-6

    return structure.unflatten([along(place) for place in range(len(leaves))])


def close(found, expected):
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8), found, expected)


@COUNTING
def test_residuals_are_zero_exactly_where_the_theorems_conditions_hold(kind):
    selective = kind is SelectiveCell
    values = (-1.0, -0.5, 0.5, 1.0, 2.0)
    for a, b, *recurrent in product(values, repeat=4 if selective else 3):
        arrays = [np.array([number]) for number in (a, b, *recurrent)]
        found = residuals(kind, Weights(tuple(arrays[:2]), tuple(arrays[2:]), (), (), ()))
        rising = not kind.counting.only_counts_up or a > 0
        # P ≠ −1 is a condition of its own, and no equation.
        met = all(residual == 0 for residual in found) and rising and not (selective and recurrent[0] == -1)
        assert met == all(condition.holds for condition in conditions(kind(a, b, *recurrent)))


@COUNTING
@with_and_without_bias
def test_projection_meets_the_conditions_and_leaves_them_alone_where_met(kind, bias):
    projected = project(kind, drawn(kind, bias))
    for residual in residuals(kind, projected):
        np.testing.assert_allclose(residual, 0, atol=1e-15)
    close(project(kind, projected), projected)


@COUNTING
@with_and_without_bias
@pytest.mark.parametrize("regulariser", [PENALTY, LAGRANGIAN], ids=["penalty", "lagrangian"])
def test_a_regularisers_slope_is_that_of_its_term(kind, bias, regulariser):
    weights = drawn(kind, bias)
    multipliers = jax.tree.map(lambda zero: zero + 0.3, regulariser.start(weights.inputs[0] * 0))
    found = regulariser.slope(kind, weights, multipliers, jnp.array(0.7))
    close(found, numeric_slope(lambda w: regulariser.term(residuals(kind, w), multipliers, jnp.array(0.7)), weights))


def test_multipliers_grow_with_what_is_left():
    weights = drawn(CELLS["linear"])
    found = residuals(CELLS["linear"], weights)
    close(LAGRANGIAN.advance(found, LAGRANGIAN.start(found[0]), jnp.array(0.5)), tuple(r / 2 for r in found))
    assert PENALTY.advance(found, PENALTY.start(found[0]), jnp.array(0.5)) == ()


@COUNTING
@with_and_without_bias
@pytest.mark.parametrize("parametrisation", [FREE, TIED, UNIT, TIED_UNIT], ids=["free", "tied", "unit", "tied-unit"])
def test_a_slope_is_pulled_back_to_the_trained_numbers(kind, bias, parametrisation):
    like = drawn(kind, bias)
    trained = parametrisation.start(kind, like)
    weights, back = parametrisation.pull_back(kind, trained, like)
    assert jax.tree.structure(weights) == jax.tree.structure(like)
    factors = jax.tree.map(lambda array: jnp.arange(1.0, 6.0) + array, like)

    def value(numbers):
        products = jax.tree.map(jnp.multiply, parametrisation.weights(kind, numbers, like), factors)
        return sum(jax.tree.leaves(products))

    close(back(factors), numeric_slope(value, trained))


LAYERS = pytest.mark.parametrize("kind", [LinearLayer, SelectiveLayer], ids=lambda kind: kind.__name__)


def layers(kind, bias=True, units=4):
    weights = fresh_weights(kind, TERNARY, np.arange(5), bias=bias, dtype=np.dtype(np.float64), units=units)
    return jax.tree.map(jnp.array, weights)


@LAYERS
@with_and_without_bias
def test_projection_of_a_layer_meets_the_conditions_and_leaves_them_alone_where_met(kind, bias):
    projected = project(kind, layers(kind, bias))
    for residual in residuals(kind, projected):
        assert residual.shape == (4, 5)
        np.testing.assert_allclose(residual, 0, atol=1e-14)
    close(project(kind, projected), projected)


def test_a_layer_that_meets_the_conditions_gives_the_count():
    weights = project(LinearLayer, layers(LinearLayer))
    cell, step = weights.cell(LinearLayer), weights.outputs(tuple(weights.steps[0]))
    for string in ("(()", "())))(", ")(("):
        count = 2 * string.count("(") - len(string)
        for one, other, c in zip(weights.outputs(cell.final_state(string)), step, weights.readout_bias[0], strict=True):
            np.testing.assert_allclose(one - c, count * (other - c), atol=1e-13)


@LAYERS
@pytest.mark.parametrize("parametrisation", [TIED, UNIT, TIED_UNIT], ids=["tied", "unit", "tied-unit"])
def test_a_layers_conditions_hold_by_construction(kind, parametrisation):
    like = layers(kind)
    trained = parametrisation.start(kind, like)
    weights, back = parametrisation.pull_back(kind, trained, like)
    assert jax.tree.structure(weights) == jax.tree.structure(like)
    assert jax.tree.structure(back(weights)) == jax.tree.structure(trained)
    steps, recurrent = residuals(kind, weights)
    assert not parametrisation.tied or np.abs(steps).max() < 1e-14
    assert not parametrisation.unit or np.abs(recurrent).max() < 1e-14


def test_with_one_unit_the_residuals_of_a_layer_are_those_of_the_cell():
    own, layer = drawn(CELLS["linear"]), layers(LinearLayer, bias=False, units=1)
    layer = layer._replace(inputs=jnp.array(own.inputs)[None], recurrent=jnp.array(own.recurrent)[None])
    for one, other in zip(residuals(LinearLayer, layer), residuals(CELLS["linear"], own), strict=True):
        np.testing.assert_allclose(np.abs(one[0]), np.abs(other), rtol=1e-12)


@with_and_without_bias
def test_the_factors_of_an_lru_start_in_a_ring_and_stay_inside_the_circle(bias):
    like = layers(LruLayer, bias, units=16)
    sizes = np.hypot(*like.recurrent)
    assert 0.9 <= sizes.min() < sizes.max() <= 0.999
    trained = FREE.start(LruLayer, like)
    close(FREE.weights(LruLayer, trained, like), like)
    moved = trained._replace(recurrent=tuple(number - 2 for number in trained.recurrent))
    assert np.hypot(*FREE.weights(LruLayer, moved, like).recurrent).max() < 1


@pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
def test_an_objectives_error_is_the_slope_of_its_loss(objective):
    size = 1 if objective.name == "binary_cross_entropy" else TERNARY.outputs
    generator = np.random.default_rng(0)
    outputs = tuple(jnp.array(generator.normal(size=5)) for _ in range(size))
    targets = tuple(jnp.array(generator.uniform(size=5)) for _ in range(size))
    slope = jax.grad(lambda o: objective.loss(o, targets).sum())(outputs)
    if objective.name in ("cross_entropy", "doubled_softmax"):
        targets = tuple(target / sum(targets) for target in targets)
        slope = jax.grad(lambda o: objective.loss(o, targets).sum())(outputs)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), objective.error(outputs, targets), slope)
