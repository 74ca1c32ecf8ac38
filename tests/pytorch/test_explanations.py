"""The gradient at the exact counter against PyTorch's autograd."""

import numpy as np
import pytest

from tallystick.datasets.training_sets import training_set
from tallystick.explanations.exact_counter import Lines, at_counter
from tallystick.explanations.profile import profile
from tallystick.training.setting import Setting

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def losses(setting, outputs, targets):
    if setting.task == "binary":
        return torch.nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], targets[:, 0])
    if setting.task == "count":
        return torch.nn.functional.mse_loss(outputs[:, 0], targets[:, 0])
    scores = torch.softmax(outputs, dim=1) if setting.method == "published" else outputs
    return torch.nn.functional.cross_entropy(scores, targets.argmax(dim=1))


@pytest.mark.parametrize("length", [2, 4, 8])
@pytest.mark.parametrize(
    ("task", "method"),
    [("binary", "published"), ("ternary", "published"), ("ternary", "corrected"), ("count", "count")],
)
def test_the_closed_form_agrees_with_autograd(task, method, length):
    setting = Setting(task, False, length, method=method)
    strings = training_set(setting.scored_as, length, 0)
    lines = Lines.of_scale(setting.scored_as, 1.7, readout_bias=setting.readout_bias)
    found = at_counter(setting, profile(strings), lines)
    weights = [torch.tensor([x], dtype=torch.float64, requires_grad=True) for x in (1.0, -1.0, 1.0)]
    v, c = (torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in (lines.weight, lines.bias))
    states = []
    for string in strings:
        h = torch.zeros(1, dtype=torch.float64)
        for token in string:
            h = weights[2] * h + weights[0 if token == "(" else 1]
        states.append(h)
    outputs = torch.stack(states) * v + c
    loss = losses(setting, outputs, torch.tensor(setting.answers(strings)))
    loss.backward()
    claimed = [found.by_open_step, found.by_close_step, found.by_recurrent_weight]
    assert loss.item() == pytest.approx(found.loss, rel=1e-12)
    np.testing.assert_allclose([w.grad.item() for w in weights], claimed, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(v.grad.numpy(), found.by_weight, rtol=1e-10, atol=1e-12)
    if setting.readout_bias:
        np.testing.assert_allclose(c.grad.numpy(), found.by_bias, rtol=1e-10, atol=1e-12)
