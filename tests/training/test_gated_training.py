"""Gated networks on the one loop: padding, initial weights, methods; gradients and blocks are in `cells/test_contract.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tallystick.training.gated.ensemble import train_gated_weights
from tallystick.training.gated.gradients import states_along
from tallystick.training.gated.initial_weights import fresh_gated_weights
from tallystick.training.gated.setting import GatedSetting

from tallystick.cells import Token
from tallystick.cells.gated import GATED_CELLS, GruCell, LstmCell
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, TASKS, TERNARY
from tallystick.training.methods import METHODS
from tallystick.training.objectives import BINARY_CROSS_ENTROPY
from tallystick.training.setting import Setting

STRINGS = ["(", ")", "()", "((", "))", ")("]


def fresh(kind, units=2, task=BINARY, seeds=3, bias=True, dtype="float64"):
    return fresh_gated_weights(kind, units, task, np.arange(seeds), bias=bias, dtype=np.dtype(dtype))


def tokens(string, width=None):
    padded = string.rjust(width or len(string))
    return Token(*(jnp.array([token == bracket for token in padded], jnp.float64) for bracket in "()"))


@pytest.mark.parametrize("kind", GATED_CELLS.values(), ids=GATED_CELLS)
def test_padding_leaves_the_state_at_zero(kind):
    with jax.enable_x64(True):
        cell = jax.tree.map(jnp.asarray, fresh(kind)).cell(kind)
        bare, padded = (states_along(cell, tokens("(()", width), jnp.zeros(3))[0] for width in (3, 8))
        assert all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(bare), jax.tree.leaves(padded), strict=True))


def test_initial_weights_are_pytorchs_and_follow_from_the_seed():
    weights = fresh(LstmCell, units=4, seeds=500, dtype="float32")
    for array in jax.tree.leaves(weights):
        assert array.dtype == np.float32
        assert np.abs(array).max() <= 0.5
    assert np.abs(weights.recurrent_weight).max() > 0.49
    assert abs(weights.recurrent_weight.mean()) < 0.01
    assert weights.input_weight.shape == (16, 2, 500)
    few, ternary = fresh(LstmCell, units=4, dtype="float32"), fresh(LstmCell, units=4, task=TERNARY, bias=False)
    assert np.array_equal(few.recurrent_weight, weights.recurrent_weight[..., :3])
    assert np.array_equal(few.input_weight.astype(float), ternary.input_weight.astype(np.float32).astype(float))
    assert (ternary.bias, len(ternary.readout_bias), ternary.readout_weight.shape) == ((), 1, (3, 4, 3))


def trained(cell="gru", units=1, seeds=3, strings=STRINGS, **options):
    setting = GatedSetting(cell, units, Setting("binary", True, 2, **{"method": "corrected", "epochs": 2, **options}))
    return train_gated_weights(setting, fresh(setting.kind, units, seeds=seeds, dtype="float32"), strings)


@pytest.mark.parametrize("cell", GATED_CELLS)
def test_training_lowers_the_loss(cell):
    ensemble = trained(cell, epochs=60, learning_rate=0.02)
    kind = ensemble.setting.kind

    def loss(weights):
        found = [weights.outputs(weights.cell(kind).final_state(string)) for string in STRINGS]
        targets = BINARY.targets(STRINGS)
        return sum(BINARY_CROSS_ENTROPY.loss(out, tuple(row)) for out, row in zip(found, targets, strict=True))

    assert (np.asarray(loss(ensemble.weights)) < np.asarray(loss(fresh(kind, 1, dtype="float32"))) / 2).all()
    assert (ensemble.accuracy_train > 80).all()


def test_accuracy_is_that_of_each_model():
    ensemble, strings = trained(epochs=20), [*STRINGS, "(()", ")()())", "((((("]
    for seed, accuracy in enumerate(ensemble.accuracy(strings)):
        model = ensemble.model(seed)
        right = [model.class_of(string) == model.right_class(string) for string in strings]
        assert accuracy == pytest.approx(100 * np.mean(right))
    assert ensemble.networks().cell.units == 1
    with pytest.raises(BadInput, match="strings: none to test on"):
        ensemble.accuracy([])


FREE = [name for name, method in METHODS.items() if not method.uses_conditions]


# Each program takes seconds to compile: every method with one task, the tasks in turn.
@pytest.mark.long
@pytest.mark.parametrize(("method", "task"), list(zip(FREE, [*TASKS] * len(FREE), strict=False)))
def test_every_method_without_conditions_trains(method, task):
    setting = GatedSetting("gru", 1, Setting(task, False, 2, method=method, epochs=1, gradients="float64"))
    start = fresh(GruCell, 1, TASKS[task], bias=False, dtype="float32")
    ensemble = train_gated_weights(setting, start, STRINGS)
    assert ensemble.weights.bias == ()
    for before, after in zip(jax.tree.leaves(start), jax.tree.leaves(ensemble.weights), strict=True):
        assert after.dtype == np.float32
        assert np.isfinite(after).all()
        assert not np.array_equal(before, after)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: GatedSetting("linear", 1, Setting("binary", True, 2)), "cell: 'linear' is not one of gru, lstm"),
        (lambda: GatedSetting("gru", 0, Setting("binary", True, 2)), "units: 0 is not a whole number from 1 on"),
        (lambda: GatedSetting("gru", 17, Setting("binary", True, 2)), "units: 17 is more than 16"),
        (
            lambda: GatedSetting("lstm", 1, Setting("binary", True, 2, method="tied")),
            "method: 'tied' needs the conditions of a counting theorem, and a lstm cell has none",
        ),
        (lambda: GatedSetting("lstm", 1, Setting("binary", True, 2, snap=True)), "snap: True needs the conditions"),
        (
            lambda: GatedSetting("gru", 1, Setting("binary", True, 2, start="exact")),
            "start: 'exact' needs the conditions",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(build, message):
    with pytest.raises(BadInput, match=message):
        build()


def test_a_network_trained_on_the_count_answers_from_one_half_on():
    setting = GatedSetting("gru", 1, Setting("count", True, 2, epochs=1))
    ensemble = train_gated_weights(setting, fresh(GruCell, 1, TASKS["count"], dtype="float32"), STRINGS)
    assert ensemble.model(0).readout.bias[0] == pytest.approx(float(ensemble.weights.readout_bias[0][0, 0]) - 0.5)
