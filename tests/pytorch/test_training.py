"""The loop and PyTorch, from the same initial weights, end at the same weights."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the [torch] extra")

from pytorch.reference import reference_training

from tallystick.cells import LinearCell
from tallystick.datasets.training_sets import training_set
from tallystick.languages.tasks import TASKS
from tallystick.training.ensemble import train
from tallystick.training.initial_weights import fresh_weights
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

METHODS = [("binary", "published"), ("ternary", "published"), ("ternary", "corrected"), ("count", "published")]


def as_numbers(weights: Weights, seed: int) -> dict[str, float | list[float] | None]:
    def numbers(arrays):
        return [float(array[seed]) for array in arrays]

    return {
        "open_weight": numbers(weights.inputs)[0],
        "close_weight": numbers(weights.inputs)[1],
        "recurrent_weight": numbers(weights.recurrent)[0],
        "cell_bias": numbers(weights.bias)[0] if weights.bias else None,
        "readout_weight": numbers(weights.readout_weight),
        "readout_bias": numbers(weights.readout_bias) or None,
    }


@pytest.mark.parametrize(("task", "method"), METHODS)
@pytest.mark.parametrize("bias", [False, True])
def test_the_loop_agrees_with_pytorch_after_100_epochs_at_length_4(task, method, bias):
    setting = Setting(task, bias, 4, method=method, precision="float64")
    strings = training_set(TASKS[task], 4, seed=0)
    targets = TASKS[task].targets(strings)
    initial = fresh_weights(LinearCell, TASKS[task], np.arange(2), bias=bias, dtype=setting.dtype)
    trained = train(setting, initial, strings)
    for seed in range(2):
        expected = reference_training(
            strings,
            targets.argmax(axis=1) if task == "ternary" else targets[:, 0],
            objective=setting.objective.name,
            **as_numbers(initial, seed),
        )
        found = as_numbers(trained.weights, seed)
        assert found.keys() == expected.keys()
        for name, value in found.items():
            if value is None:
                assert expected[name] is None
            else:
                np.testing.assert_allclose(value, expected[name], rtol=0, atol=1e-6, err_msg=name)
