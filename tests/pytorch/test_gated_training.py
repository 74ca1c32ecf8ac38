"""Training gated cells: the loop against PyTorch's modules, its autograd and its own Adam, in float64."""

import jax
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from tallystick.training.gated.ensemble import train_gated_weights  # noqa: E402
from tallystick.training.gated.initial_weights import fresh_gated_weights  # noqa: E402
from tallystick.training.gated.setting import GatedSetting  # noqa: E402
from torch import nn  # noqa: E402

from tallystick.languages.tasks import TASKS  # noqa: E402
from tallystick.training.setting import Setting  # noqa: E402

STRINGS = ["(", "))", "()((", ")(", "(()", ")))("]
EPOCHS, SEED = 5, 1
LOSSES = {
    "binary": lambda scores, count: nn.functional.binary_cross_entropy_with_logits(
        scores, torch.tensor([float(count > 0)]).double()
    ),
    "ternary": lambda scores, count: nn.functional.cross_entropy(scores, torch.tensor(int(np.sign(count)) + 1)),
    "count": lambda scores, count: (scores[0] - count) ** 2,
}


def reference(build, weights, task, units):
    """Train one network with PyTorch, a string a step, from the weights of one seed; return them in the same order."""
    recurrence, readout = (
        build(2, units, dtype=torch.float64),
        nn.Linear(units, TASKS[task].outputs, dtype=torch.float64),
    )
    network = nn.ModuleList([recurrence, readout])
    start = [
        weights.input_weight,
        weights.recurrent_weight,
        *weights.bias,
        weights.readout_weight,
        *weights.readout_bias,
    ]
    with torch.no_grad():
        for parameter, value in zip(network.parameters(), start, strict=True):
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
def test_training_is_pytorchs(cell, build, task, units):
    setting = GatedSetting(cell, units, Setting(task, True, 4, method="corrected", epochs=EPOCHS, precision="float64"))
    initial = fresh_gated_weights(setting.kind, units, TASKS[task], np.arange(2), bias=True, dtype=np.dtype("float64"))
    found = train_gated_weights(setting, initial, STRINGS).weights.places(SEED)
    expected = reference(build, initial, task, units)
    for one, other in zip(jax.tree.leaves(found), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
