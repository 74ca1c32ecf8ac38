"""Loss and gradient at the exact counter: closed forms against differentiation, the loop's own gradient, and known values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import Token
from tallystick.datasets.encoding import encode
from tallystick.datasets.training_sets import training_set
from tallystick.explanations.exact_counter import Lines, at_counter
from tallystick.explanations.profile import profile
from tallystick.training.gradients import final_state, gradient_of
from tallystick.training.lessons import targets_of
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

SETTINGS = [
    Setting(task, bias, length, method=method)
    for task, method in [
        ("binary", "published"),
        ("ternary", "published"),
        ("ternary", "corrected"),
        ("count", "count"),
    ]
    for bias in (False, True)
    for length in (2, 4, 8)
]
SCALES = [0.5, 1.0, 3.0]


def weights_at_counter(setting, lines):
    one = jnp.ones(1)
    bias = tuple(jnp.array([c]) for c in lines.bias) if setting.readout_bias else ()
    return Weights((one, -one), (one,), (), tuple(jnp.array([v]) for v in lines.weight), bias)


def mean_loss(setting, strings, weights):
    """The loss by running the cell on every string."""
    tokens = Token(*(jnp.asarray(part.T, float) for part in encode(strings)))
    h = final_state(weights.cell(setting.kind), tokens, jnp.zeros(len(strings)))
    targets = tuple(jnp.asarray(column) for column in targets_of(setting, strings, 0).T)
    return jnp.mean(setting.objective.loss(weights.outputs(h), targets))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_closed_form_is_the_derivative_of_the_loss(setting, scale):
    strings = training_set(setting.scored_as, setting.train_length, 0)
    lines = Lines.of_scale(setting.scored_as, scale, readout_bias=setting.readout_bias)
    found = at_counter(setting, profile(strings), lines)
    with jax.enable_x64(True):
        weights = weights_at_counter(setting, lines)
        assert float(mean_loss(setting, strings, weights)) == pytest.approx(found.loss, rel=1e-12)
        leaves, tree = jax.tree.flatten(weights)
        claimed = [found.by_open_step, found.by_close_step, found.by_recurrent_weight, *found.by_weight]
        claimed += list(found.by_bias) if setting.readout_bias else []
        for place, expected in enumerate(claimed):

            def moved(change, place=place):
                return tree.unflatten([leaf + change * (n == place) for n, leaf in enumerate(leaves)])

            up, down = (float(mean_loss(setting, strings, moved(change))) for change in (1e-6, -1e-6))
            assert (up - down) / 2e-6 == pytest.approx(expected, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("setting", SETTINGS[::3], ids=str)
def test_it_is_the_mean_of_the_loops_own_gradients(setting):
    strings = training_set(setting.scored_as, setting.train_length, 0)
    lines = Lines.of_scale(setting.scored_as, 2.0, readout_bias=setting.readout_bias)
    found = at_counter(setting, profile(strings), lines)
    gradient = gradient_of(setting.kind, setting.objective)
    with jax.enable_x64(True):
        weights, total = weights_at_counter(setting, lines), np.zeros(3)
        for opening, closing, target in zip(*encode(strings), targets_of(setting, strings, 0), strict=True):
            string = Token(jnp.asarray(opening, float), jnp.asarray(closing, float))
            slope, _ = gradient(weights, string, tuple(jnp.asarray(target)))
            total += [float(part[0]) for part in (*slope.inputs, *slope.recurrent)]
    np.testing.assert_allclose(
        total / len(strings),
        [found.by_open_step, found.by_close_step, found.by_recurrent_weight],
        rtol=1e-10,
        atol=1e-12,
    )


@pytest.mark.parametrize(("length", "floor"), [(2, 0.231), (4, 0.198), (8, 0.153)])
def test_balanced_strings_keep_the_binary_loss_above_a_floor(length, floor):
    """P(zero)·ln 2, and a force on both steps that no scale takes away."""
    setting = Setting("binary", False, length)
    strings = profile(training_set(setting.scored_as, length, 0))
    assert strings.balanced_share * np.log(2) == pytest.approx(floor, abs=5e-4)
    for scale in (1.0, 10.0, 100.0):
        found = at_counter(setting, strings, Lines.of_scale(setting.scored_as, scale, readout_bias=False))
        assert found.loss >= strings.balanced_share * np.log(2)
        assert found.ratio_moves > 0.1
    assert found.loss == pytest.approx(strings.balanced_share * np.log(2), rel=1e-9)


def test_the_exact_counter_is_at_rest_under_regression_alone():
    for task in ("count", "binary", "ternary"):
        for length in (2, 4, 8):
            setting = Setting(task, False, length, method="count")
            strings = profile(training_set(setting.scored_as, length, 0))
            found = at_counter(
                setting, strings, Lines.of_scale(setting.scored_as, 1.0, readout_bias=setting.readout_bias)
            )
            assert found.loss == found.force == 0
            assert found.is_minimum
    published = Setting("ternary", False, 4)
    strings = profile(training_set(published.scored_as, 4, 0))
    found = at_counter(published, strings, Lines.of_scale(published.scored_as, 4.0, readout_bias=True))
    assert not found.is_minimum
    assert found.recurrent_weight_moves > 1e-3
    assert abs(found.ratio_moves) < 1e-12  # by symmetry: the paper's fourth claim
