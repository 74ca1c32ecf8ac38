"""Gradients by hand, by autodiff and by finite differences are one and the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import CELLS, ScalarCell, Token
from tallystick.datasets.strings import encode
from tallystick.languages.tasks import BINARY, COUNT, TERNARY
from tallystick.training.descent import OBJECTIVES, ORDINARY_LOSSES, PUBLISHED_LOSSES
from tallystick.training.gradients import autodiff_gradient, final_state, gradient_of
from tallystick.training.weights import fresh_weights

TASK_OF = {"binary_cross_entropy": BINARY, "cross_entropy": TERNARY, "doubled_softmax": TERNARY, "squared_error": COUNT}
KINDS = {name: kind for name, kind in CELLS.items() if issubclass(kind, ScalarCell)}
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
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_is_carried_forward_is_autodiff(kind, objective, bias):
    for string in STRINGS:
        weights, token, targets = example(kind, objective, bias, string)
        found, state = gradient_of(kind, objective)(weights, token, targets)
        auto, auto_state = autodiff_gradient(kind, objective)(weights, token, targets)
        assert jax.tree.structure(found) == jax.tree.structure(auto) == jax.tree.structure(weights)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), found, auto)
        np.testing.assert_allclose(state, auto_state, rtol=1e-15)


@pytest.mark.long
@every_objective
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_after_every_token_too(kind, objective):
    for string in STRINGS:
        weights, token, _ = example(kind, objective, True, string)
        task = TASK_OF[objective.name]
        prefixes = [string[: place + 1] for place in range(len(string))]
        targets = tuple(jnp.array(task.targets(prefixes).T))
        found, _ = gradient_of(kind, objective, every_token=True)(weights, token, targets)
        auto, _ = autodiff_gradient(kind, objective, every_token=True)(weights, token, targets)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), found, auto)
        # It is the mean of the slopes of the prefixes, and padding on the left changes nothing.
        each = [gradient_of(kind, objective)(*example(kind, objective, True, prefix))[0] for prefix in prefixes]
        mean = jax.tree.map(lambda *slopes: sum(slopes) / len(slopes), *each)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), found, mean)
        padded = Token(*(jnp.concatenate([jnp.zeros(3), part]) for part in token))
        more = tuple(jnp.concatenate([jnp.zeros(3), target]) for target in targets)
        again, _ = gradient_of(kind, objective, every_token=True)(weights, padded, more)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), found, again)


@every_objective
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_cell_has_the_slope_of_its_loss(kind, objective):
    for string in STRINGS:
        weights, token, targets = example(kind, objective, True, string)
        slope, _ = gradient_of(kind, objective)(weights, token, targets)
        leaves, tree = jax.tree.flatten(weights)
        for place, leaf in enumerate(jax.tree.leaves(slope)):

            def loss(change, place=place, leaves=leaves, tree=tree, token=token, targets=targets):
                moved = tree.unflatten([other + change * (n == place) for n, other in enumerate(leaves)])
                h = final_state(moved.cell(kind), token, jnp.zeros(5))
                return objective.loss(moved.outputs((h,)), targets)

            numeric = (loss(1e-6) - loss(-1e-6)) / 2e-6
            np.testing.assert_allclose(leaf, numeric, rtol=1e-5, atol=1e-7)


def test_the_published_ternary_loss_cannot_go_below_its_floor():
    target = (jnp.array(0.0), jnp.array(0.0), jnp.array(1.0))
    best = PUBLISHED_LOSSES.ternary.loss((jnp.array(-1e9), jnp.array(-1e9), jnp.array(1e9)), target)
    assert float(best) == pytest.approx(np.log(np.e + 2) - 1, abs=1e-12)
    assert float(best) == pytest.approx(0.5514, abs=5e-5)


def test_the_losses_differ_only_where_the_published_one_errs():
    for task in (BINARY, COUNT):
        assert PUBLISHED_LOSSES.of(task) is ORDINARY_LOSSES.of(task)
    assert PUBLISHED_LOSSES.of(TERNARY) is not ORDINARY_LOSSES.of(TERNARY)
