"""The loop and PyTorch, from the same initial weights, end at the same weights: its modules, its autograd, its own Adam."""

from functools import partial

import jax
import numpy as np
import pytest

from tallystick.cells import LinearCell
from tallystick.datasets.strings import training_set
from tallystick.languages.tasks import TASKS
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights, fresh_weights

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from pytorch.reference import reference_training  # noqa: E402
from torch import nn  # noqa: E402

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


STRINGS = ["(", "))", "()((", ")(", "(()", ")))("]
EPOCHS, SEED = 5, 1
LOSSES = {
    "binary": lambda scores, count: nn.functional.binary_cross_entropy_with_logits(
        scores, torch.tensor([float(count > 0)]).double()
    ),
    "ternary": lambda scores, count: nn.functional.cross_entropy(scores, torch.tensor(int(np.sign(count)) + 1)),
    "count": lambda scores, count: (scores[0] - count) ** 2,
}


def trained_module(build, weights, task, units):
    """Train one network with PyTorch, a string a step, from the weights of one seed; return them in the same order."""
    recurrence, readout = (
        build(2, units, dtype=torch.float64),
        nn.Linear(units, TASKS[task].outputs, dtype=torch.float64),
    )
    network = nn.ModuleList([recurrence, readout])
    with torch.no_grad():
        for parameter, value in zip(network.parameters(), jax.tree.leaves(weights), strict=True):
            parameter.copy_(torch.tensor(value[..., SEED]))
    adam = torch.optim.Adam(network.parameters(), lr=0.005)
    for _ in range(EPOCHS):
        for string in STRINGS:
            tokens = torch.tensor([[[1.0, 0.0] if token == "(" else [0.0, 1.0]] for token in string]).double()
            adam.zero_grad()
            LOSSES[task](readout(recurrence(tokens)[0][-1, 0]), string.count("(") - string.count(")")).backward()
            adam.step()
    return [parameter.detach().numpy() for parameter in network.parameters()]


@pytest.mark.parametrize(
    ("cell", "build", "task", "units"),
    [("lstm", nn.LSTM, "binary", 2), ("gru", nn.GRU, "ternary", 1), ("gru", nn.GRU, "count", 3)],
)
def test_training_of_several_units_is_pytorchs(cell, build, task, units):
    setting = Setting(task, True, 4, cell, "corrected", "float64", EPOCHS, units=units)
    initial = fresh_weights(setting.kind, TASKS[task], np.arange(2), bias=True, dtype=setting.dtype, units=units)
    found = train(setting, initial, STRINGS).weights.places(SEED)
    expected = trained_module(build, initial, task, units)
    for one, other in zip(jax.tree.leaves(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


class LinearLoop(nn.Module):
    """h' = W·x + b_x + U·h + b_h, with the parameters of an nn.RNN in their order."""

    def __init__(self, inputs, units, dtype):
        super().__init__()
        shapes = [(units, inputs), (units, units), (units,), (units,)]
        self.weights = nn.ParameterList([nn.Parameter(torch.zeros(shape, dtype=dtype)) for shape in shapes])

    def forward(self, x):
        W, U, b, c = self.weights
        h = torch.zeros(len(U), dtype=U.dtype)
        for token in x:
            h = W @ token[0] + b + U @ h + c
        return h[None, None], None


@pytest.mark.parametrize(
    ("cell", "build", "task"),
    [
        ("linear", LinearLoop, "binary"),
        ("relu", partial(nn.RNN, nonlinearity="relu"), "ternary"),
        ("tanh", nn.RNN, "count"),
    ],
)
def test_training_of_a_layer_is_pytorchs(cell, build, task):
    setting = Setting(task, True, 4, cell, "corrected", "float64", EPOCHS, units=4)
    initial = fresh_weights(setting.kind, TASKS[task], np.arange(2), bias=True, dtype=setting.dtype, units=4)
    found = train(setting, initial, STRINGS).weights.places(SEED)
    expected = trained_module(build, initial, task, 4)
    for one, other in zip(jax.tree.leaves(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
