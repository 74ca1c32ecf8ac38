"""GRUs and LSTMs on the one loop: padding, initial weights, methods; gradients and blocks are in `cells/test_contract.py`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import CELLS, GruCell, LstmCell, Token, VectorCell
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, TASKS, TERNARY
from tallystick.training.descent import BINARY_CROSS_ENTROPY
from tallystick.training.ensemble import train
from tallystick.training.gradients import last_state
from tallystick.training.methods import METHODS
from tallystick.training.setting import Setting
from tallystick.training.weights import fresh_weights

KINDS = {name: kind for name, kind in CELLS.items() if issubclass(kind, VectorCell)}
STRINGS = ["(", ")", "()", "((", "))", ")("]


def fresh(kind, units=2, task=BINARY, seeds=3, bias=True, dtype="float64"):
    return fresh_weights(kind, task, np.arange(seeds), bias=bias, dtype=np.dtype(dtype), units=units)


def tokens(string, width=None):
    padded = string.rjust(width or len(string))
    return Token(*(jnp.array([token == bracket for token in padded], jnp.float64) for bracket in "()"))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_padding_leaves_the_state_at_zero(kind):
    with jax.enable_x64(True):
        cell = jax.tree.map(jnp.asarray, fresh(kind)).cell(kind)
        bare, padded = (last_state(cell, tokens("(()", width), jnp.zeros(3)) for width in (3, 8))
        assert all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(bare), jax.tree.leaves(padded), strict=True))


def test_initial_weights_are_pytorchs_and_follow_from_the_seed():
    weights = fresh(LstmCell, units=4, seeds=500, dtype="float32")
    for array in jax.tree.leaves(weights):
        assert array.dtype == np.float32
        assert np.abs(array).max() <= 0.5
    assert np.abs(weights.recurrent).max() > 0.49
    assert abs(weights.recurrent.mean()) < 0.01
    assert weights.inputs.shape == (16, 2, 500)
    few, ternary = fresh(LstmCell, units=4, dtype="float32"), fresh(LstmCell, units=4, task=TERNARY, bias=False)
    assert np.array_equal(few.recurrent, weights.recurrent[..., :3])
    assert np.array_equal(few.inputs.astype(float), ternary.inputs.astype(np.float32).astype(float))
    assert (ternary.bias, len(ternary.readout_bias), ternary.readout_weight.shape) == ((), 1, (3, 4, 3))


def trained(cell="gru", units=1, seeds=3, strings=STRINGS, **options):
    setting = Setting("binary", True, 2, cell, units=units, **{"method": "corrected", "epochs": 2, **options})
    return train(setting, fresh(setting.kind, units, seeds=seeds, dtype="float32"), strings)


@pytest.mark.parametrize("cell", KINDS)
def test_training_lowers_the_loss(cell):
    ensemble = trained(cell, epochs=60, learning_rate=0.02)
    kind = ensemble.setting.kind

    def loss(weights):
        cell = weights.cell(kind)
        found = [weights.outputs(cell.hidden(cell.final_state(string))) for string in STRINGS]
        targets = BINARY.targets(STRINGS)
        return sum(BINARY_CROSS_ENTROPY.loss(out, tuple(row)) for out, row in zip(found, targets, strict=True))

    assert (np.asarray(loss(ensemble.weights)) < np.asarray(loss(fresh(kind, 1, dtype="float32"))) / 2).all()
    assert (ensemble.accuracy_train > 80).all()


def test_accuracy_is_that_of_each_network():
    ensemble, strings = trained(epochs=20), [*STRINGS, "(()", ")()())", "((((("]
    for seed, accuracy in enumerate(ensemble.accuracy(strings)):
        network = ensemble.network(seed)
        right = [network.class_of(string) == network.right_class(string) for string in strings]
        assert accuracy == pytest.approx(100 * np.mean(right))
    assert ensemble.networks().cell.units == 1
    with pytest.raises(BadInput, match="strings: none to test on"):
        ensemble.accuracy([])


FREE = [name for name, method in METHODS.items() if not method.uses_conditions and not method.memory]


# Each program takes seconds to compile: every method with one task, the tasks in turn.
@pytest.mark.long
@pytest.mark.parametrize(("method", "task"), list(zip(FREE, [*TASKS] * len(FREE), strict=False)))
def test_every_method_without_conditions_trains(method, task):
    setting = Setting(task, False, 2, "gru", method, epochs=1, gradients="float64")
    start = fresh(GruCell, 1, TASKS[task], bias=False, dtype="float32")
    ensemble = train(setting, start, STRINGS)
    assert ensemble.weights.bias == ()
    for before, after in zip(jax.tree.leaves(start), jax.tree.leaves(ensemble.weights), strict=True):
        assert after.dtype == np.float32
        assert np.isfinite(after).all()
        assert not np.array_equal(before, after)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cell": "linear", "units": 65}, "units: 65 is more than a linear cell can have, 64"),
        ({"cell": "gru", "units": 0}, "units: 0 is not a whole number from 1 on"),
        ({"cell": "gru", "units": 17}, "units: 17 is more than a gru cell can have, 16"),
        (
            {"cell": "lstm", "method": "tied"},
            "method: 'tied' needs the conditions of a counting theorem, and a lstm cell has none",
        ),
        ({"cell": "lstm", "snap": True}, "snap: True needs the conditions"),
        ({"cell": "gru", "start": "exact"}, "start: 'exact' needs the conditions"),
    ],
)
def test_what_makes_no_sense_is_refused(options, message):
    with pytest.raises(BadInput, match=message):
        Setting("binary", True, 2, **options)


def test_a_network_trained_on_the_count_answers_from_one_half_on():
    setting = Setting("count", True, 2, "gru", epochs=1)
    ensemble = train(setting, fresh(GruCell, 1, TASKS["count"], dtype="float32"), STRINGS)
    assert ensemble.network(0).readout.bias[0] == pytest.approx(float(ensemble.weights.readout_bias[0][0, 0]) - 0.5)
