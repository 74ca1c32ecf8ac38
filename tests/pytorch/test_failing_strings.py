"""A failing string in float32 as executed does fail when PyTorch runs the network in float32, and when NumPy does."""

import random

import numpy as np
import pytest

import tallystick as ts
from tallystick.certificates.verdict import Outcome

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def some_network(kind, generator):
    """Weights near a counter's, a step of any size, and half a step for a threshold."""
    a = generator.choice([0.1, generator.uniform(0.05, 2)])
    spread = 10 ** generator.uniform(-3, -1)
    cell = kind(a, -a * generator.choice([1, 1 + spread]), generator.choice([1, 1 + spread, 1 - spread]))
    return ts.Network(cell, generator.choice([ts.Readout.zero(), ts.Readout.binary(1.5, -0.75 * a)]))


def by_numpy(model, string):
    """Run a network with NumPy's float32, in plain operators."""
    a, b, U = (np.float32(float(w)) for w in (model.cell.open_step, model.cell.close_step, model.cell.recurrent_weight))
    h = np.float32(0)
    for token in string:
        h = U * h + (a if token == "(" else b)
        if isinstance(model.cell, ts.ReluCell):
            h = np.maximum(h, np.float32(0))
        elif isinstance(model.cell, ts.TanhCell):
            h = np.tanh(h)
    return accepted(model, h, np.float32)


def by_torch(model, string):
    """Run a network with PyTorch's own recurrent module, in float32 and without biases, or with plain operators."""
    weights = [float(np.float32(float(w))) for w in (model.cell.open_step, model.cell.close_step)]
    U = float(np.float32(float(model.cell.recurrent_weight)))
    if isinstance(model.cell, ts.LinearCell):
        h = torch.zeros((), dtype=torch.float32)
        for token in string:
            h = torch.tensor(U) * h + torch.tensor(weights[token == ")"])
        return accepted(model, h, torch.tensor)
    name = "relu" if isinstance(model.cell, ts.ReluCell) else "tanh"
    network = torch.nn.RNN(2, 1, nonlinearity=name, bias=False)
    with torch.no_grad():
        network.weight_ih_l0.copy_(torch.tensor([weights]))
        network.weight_hh_l0.copy_(torch.tensor([[U]]))
        tokens = torch.tensor([[1.0, 0.0] if token == "(" else [0.0, 1.0] for token in string])
        return accepted(model, network(tokens)[1][0, 0], torch.tensor)


def accepted(model, h, number):
    """The index of the class, by the same operations in the same type."""
    if model.readout.decision == "zero":
        return int(h == 0)
    ((v,),), (c,) = model.readout.weight, model.readout.bias
    v, c = (number(float(np.float32(float(w)))) for w in (v, c))
    return int(v * h + c > 0)


@pytest.mark.parametrize("kind", [ts.LinearCell, ts.ReluCell, ts.TanhCell])
def test_the_failing_string_fails_in_pytorch_and_numpy(kind):
    generator, refuted, lengths = random.Random(f"{kind}"), 0, set()
    for _ in range(150):
        model = some_network(kind, generator)
        verdict = ts.certify(model, arithmetic="float32", limit=120)
        if verdict.outcome is not Outcome.REFUTED:
            continue
        refuted += 1
        string, classes = verdict.failure.string, model.task.classes
        lengths.add(len(string))
        found = classes.index(verdict.failure.found)
        assert by_numpy(model, string) == by_torch(model, string) == found != classes.index(model.right_class(string))
    assert refuted > 60
    assert len(lengths) > 5


def test_counting_by_a_tenth():
    model = ts.Network(ts.LinearCell(0.1, -0.1, 1), ts.Readout.zero())
    verdict = ts.certify(model, arithmetic="float32")
    assert verdict.failure.string == "((()))"
    assert by_torch(model, "((()))") == by_numpy(model, "((()))") == 0
    assert by_torch(model, "(())") == by_numpy(model, "(())") == 1
