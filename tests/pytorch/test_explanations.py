"""The loss and gradient at the exact counter against PyTorch's autograd: every method, task and bias.

What a method trains, adds and scores is written here once more with PyTorch's own parts; only the table of methods says which
of these it has.
"""

from itertools import product

import numpy as np
import pytest

from tallystick.datasets.strings import training_set
from tallystick.studies.explain.counter import ExactCounter, at_counter, profile, scored_strings
from tallystick.studies.explain.pull import pull_of
from tallystick.training.methods import UNGATED
from tallystick.training.setting import Setting

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def number(value):
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def numbers(values):
    return torch.tensor(np.asarray(values), dtype=torch.float64, requires_grad=True)


def leaves(setting, counter):
    """The trained numbers, by name; what a parametrisation makes, or a network has not, is not among them."""
    held = setting.procedure.parametrisation
    found = {"a": number(counter.step)}
    found |= {} if held.tied else {"b": number(-counter.step)}
    found |= {} if held.unit else {"U": number(1)}
    found |= {"bias": number(0)} if setting.bias and not held.tied else {}
    found["v"] = numbers(counter.slopes / counter.step)
    return found | ({"c": numbers(counter.intercepts)} if setting.readout_bias else {})


def cell(trained):
    bias = trained.get("bias", 0.0)
    a, b = trained["a"] + bias, trained.get("b", -trained["a"]) + bias
    return a, b, trained.get("U", torch.ones((), dtype=torch.float64))


def prefix_outputs(trained, string):
    a, b, U = cell(trained)
    h, found = torch.zeros((), dtype=torch.float64), []
    for token in string:
        h = U * h + (a if token == "(" else b)
        found.append(trained["v"] * h + trained.get("c", 0.0))
    return found


def loss_at(setting, outputs, count):
    name = setting.objective.name
    if name == "binary_cross_entropy":
        wanted = torch.tensor([float(count > 0)], dtype=torch.float64)
        return torch.nn.functional.binary_cross_entropy_with_logits(outputs, wanted)
    if name == "squared_error":
        half = 0.5 * (setting.task == "ternary" or (setting.task == "binary" and setting.bias))
        wanted = [-count - half, 0, count - half] if setting.task == "ternary" else [count - half]
        return ((outputs - torch.tensor(wanted, dtype=torch.float64)) ** 2).sum()
    scores = torch.softmax(outputs, dim=0) if name == "doubled_softmax" else outputs
    return torch.nn.functional.cross_entropy(scores, torch.tensor(int(np.sign(count)) + 1))


def objective(setting, strings, trained):
    """The mean over strings, or over their prefixes, and the squared conditions where a method adds them."""
    losses = []
    for string in strings:
        ends = range(1, len(string) + 1) if setting.procedure.every_token else [len(string)]
        outputs = prefix_outputs(trained, string)
        counts = [string[:end].count("(") - string[:end].count(")") for end in ends]
        at_ends = [loss_at(setting, outputs[end - 1], count) for end, count in zip(ends, counts, strict=True)]
        losses.append(torch.stack(at_ends).mean())
    mean = torch.stack(losses).mean()
    if setting.procedure.regulariser is None:
        return mean
    a, b, U = cell(trained)
    return mean + setting.procedure.strength * ((a + b) ** 2 + (U - 1) ** 2)


@pytest.mark.parametrize(("task", "bias"), [*product(("binary", "ternary", "count"), (False, True))])
@pytest.mark.parametrize("method", UNGATED)
def test_the_closed_form_agrees_with_autograd(method, task, bias):
    setting = Setting(task, bias, 4, method=method)
    strings = training_set(setting.goal, 4, 0)
    counter = ExactCounter.of_scale(setting, 1.7, step=0.6, threshold=0.4)
    there = at_counter(setting, profile(scored_strings(setting, strings)), counter)
    pull = pull_of(setting, counter, there.slope)
    trained = leaves(setting, counter)
    loss = objective(setting, strings, trained)
    loss.backward()
    assert loss.item() == pytest.approx(there.loss + pull.added_term, rel=1e-12)
    claimed = np.concatenate([np.ravel(part) for part in pull.by_trained])
    found = np.concatenate([np.ravel(part.grad.numpy()) for part in trained.values()])
    np.testing.assert_allclose(found, claimed, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 8])
@pytest.mark.parametrize(("task", "method"), [("binary", "published"), ("binary", "count-calm")])
def test_other_training_lengths_agree_as_well(task, method, length):
    setting = Setting(task, False, length, method=method)
    strings = training_set(setting.goal, length, 0)
    counter = ExactCounter.of_scale(setting, 2.5, step=1.3)
    there = at_counter(setting, profile(scored_strings(setting, strings)), counter)
    trained = leaves(setting, counter)
    loss = objective(setting, strings, trained)
    loss.backward()
    assert loss.item() == pytest.approx(there.loss, rel=1e-12)
    claimed = [*there.slope.inputs, *there.slope.recurrent, *there.slope.readout_weight]
    found = [0.0 if part.grad is None else part.grad.item() for part in trained.values()]
    np.testing.assert_allclose(found, claimed, rtol=1e-10, atol=1e-12)
