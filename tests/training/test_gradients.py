"""Gradients by hand, by autodiff and by finite differences are one and the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import CELLS, LinearCell, Token
from tallystick.datasets.encoding import encode
from tallystick.datasets.tasks import BINARY, COUNT, TERNARY
from tallystick.training.gradients import by_autodiff, by_hand, final_state, gradient_of
from tallystick.training.initial_weights import fresh_weights
from tallystick.training.objectives import METHODS, OBJECTIVES, objective_of

TASK_OF = {"binary_cross_entropy": BINARY, "cross_entropy": TERNARY, "doubled_softmax": TERNARY, "squared_error": COUNT}
STRINGS = ["(", "))", "(()", ")()(", "((((", "())(()))"]

every_objective = pytest.mark.parametrize("objective", OBJECTIVES.values(), ids=OBJECTIVES)
with_and_without_bias = pytest.mark.parametrize("bias", [False, True])


@pytest.fixture(autouse=True)
def double_precision():
    with jax.enable_x64(True):
        yield


def example(kind, objective, bias, string):
    task = TASK_OF[objective.name]
    weights = fresh_weights(kind, task, np.arange(5), bias=bias, dtype=np.dtype(np.float64))
    encoded = encode([string])
    token = Token(jnp.array(encoded.opening[0], float), jnp.array(encoded.closing[0], float))
    return jax.tree.map(jnp.array, weights), token, tuple(jnp.array(task.targets([string])[0]))


@every_objective
@with_and_without_bias
def test_by_hand_is_autodiff(objective, bias):
    for string in STRINGS:
        weights, token, targets = example(LinearCell, objective, bias, string)
        hand, hand_state = by_hand(objective)(weights, token, targets)
        auto, auto_state = by_autodiff(LinearCell, objective)(weights, token, targets)
        assert jax.tree.structure(hand) == jax.tree.structure(auto) == jax.tree.structure(weights)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), hand, auto)
        np.testing.assert_array_equal(hand_state, auto_state)


@every_objective
@pytest.mark.parametrize("kind", CELLS.values(), ids=CELLS)
def test_every_cell_has_the_slope_of_its_loss(kind, objective):
    for string in STRINGS:
        weights, token, targets = example(kind, objective, True, string)
        slope, _ = gradient_of(kind, objective)(weights, token, targets)
        leaves, tree = jax.tree.flatten(weights)
        for place, leaf in enumerate(jax.tree.leaves(slope)):

            def loss(change, place=place, leaves=leaves, tree=tree, token=token, targets=targets):
                moved = tree.unflatten([other + change * (n == place) for n, other in enumerate(leaves)])
                h = final_state(moved.cell(kind), token, jnp.zeros(5))
                return objective.loss(moved.outputs(h), targets)

            numeric = (loss(1e-6) - loss(-1e-6)) / 2e-6
            np.testing.assert_allclose(leaf, numeric, rtol=1e-5, atol=1e-7)


def test_the_published_ternary_loss_cannot_go_below_its_floor():
    target = (jnp.array(0.0), jnp.array(0.0), jnp.array(1.0))
    best = objective_of("published", TERNARY).loss((jnp.array(-1e9), jnp.array(-1e9), jnp.array(1e9)), target)
    assert float(best) == pytest.approx(np.log(np.e + 2) - 1, abs=1e-12)
    assert float(best) == pytest.approx(0.5514, abs=5e-5)


def test_methods_differ_only_where_the_published_one_errs():
    assert METHODS["published"][BINARY] is METHODS["corrected"][BINARY]
    assert METHODS["published"][TERNARY] is not METHODS["corrected"][TERNARY]
