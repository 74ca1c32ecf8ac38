"""The baselines in PyTorch train to the weights that this tool trains to."""

import numpy as np
import pytest
from baselines import EPOCHS, EVERY_KIND, case, loaded, vector_case

from tallystick.datasets.strings import training_set
from tallystick.languages.tasks import BINARY

torch = pytest.importorskip("torch", reason="needs the [torch] extra")


@pytest.mark.parametrize("length", [2, 4])
def test_batched_pytorch_trains_to_the_same_weights(length):
    given, expected = case(length, "float64")
    found = loaded("pytorch_batched").train(*given, epochs=EPOCHS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("task", "bias"), EVERY_KIND)
def test_the_step_that_is_compiled_trains_to_the_same_weights(monkeypatch, task, bias):
    given, expected = case(4, "float64", task, bias=bias)
    # Compiling takes ten seconds, and changes no more than rounding.
    batched = loaded("pytorch_batched")
    monkeypatch.setattr(batched, "_compiled_step", lambda *_: batched._step)
    found = batched.train_compiled(*given, epochs=EPOCHS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("cell", "units", "bias"), [("lstm", 2, True), ("linear", 3, False)])
def test_pytorch_mapped_over_several_units_trains_to_the_same_weights(cell, units, bias, monkeypatch):
    given, expected = vector_case(cell, units, bias=bias)
    monkeypatch.setattr(torch, "compile", lambda step, **_: step)
    found = loaded("several_units").train_pytorch(*given, cell=cell, epochs=EPOCHS)
    np.testing.assert_allclose(found["inputs"], expected, rtol=0, atol=1e-13)


def test_the_published_style_loop_trains_to_the_same_weights():
    (start, *_), expected = case(2, "float64")
    strings = training_set(BINARY, 2, seed=0)
    labels = BINARY.targets(strings)[:, 0]
    for seed in range(3):
        a, b, u, v = map(float, start[:, seed])
        initial = {"open_weight": a, "close_weight": b, "recurrent_weight": u, "cell_bias": None}
        initial |= {"readout_weight": [v], "readout_bias": None}
        loop = loaded("pytorch_loop")
        found = loop.train_one("binary", False, strings, labels, epochs=EPOCHS, dtype=torch.float64, initial=initial)
        weights = [found["open_weight"], found["close_weight"], found["recurrent_weight"], *found["readout_weight"]]
        np.testing.assert_allclose(weights, expected[:, seed], rtol=0, atol=1e-12)
