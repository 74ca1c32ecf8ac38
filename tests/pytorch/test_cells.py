"""The contract of every scalar cell against PyTorch: the same states, and the gradient that its autograd finds."""

import random
from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import CELLS, ReluCell, SelectiveCell, TanhCell, Token
from tallystick.datasets.encoding import encode
from tallystick.training.gradients import gradient_of
from tallystick.training.objectives import OBJECTIVES
from tallystick.training.weights import Weights

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

STRINGS = ["(", "()", "))((", "(()())(", ")))(()(("]


def state(kind, weights, string):
    """Run a cell in PyTorch's own operators."""
    a, b, *recurrent = weights
    h = torch.zeros((), dtype=torch.float64)
    for token in string:
        place = int(token == ")")
        h = recurrent[place if kind is SelectiveCell else 0] * h + (a, b)[place]
        h = torch.relu(h) if kind is ReluCell else torch.tanh(h) if kind is TanhCell else h
    return h


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize("kind", CELLS.values(), ids=CELLS)
def test_the_gradient_is_autograds(kind, string):
    generator = random.Random(f"{kind}{string}")
    objective = OBJECTIVES["squared_error"]
    for _ in range(5):
        values = [generator.uniform(-1.5, 1.5) for _ in fields(kind)]
        v, c, target = (generator.uniform(-1, 1) for _ in range(3))
        tensors = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (*values, v, c)]
        h = state(kind, tensors[:-2], string)
        ((tensors[-2] * h + tensors[-1] - target) ** 2).backward()
        with jax.enable_x64(True):
            a, b, *recurrent = (jnp.array([value]) for value in values)
            weights = Weights((a, b), tuple(recurrent), (), (jnp.array([v]),), (jnp.array([c]),))
            encoded = encode([string])
            tokens = Token(*(jnp.asarray(part[0], float) for part in encoded))
            slope, found = gradient_of(kind, objective)(weights, tokens, (jnp.array([target]),))
        assert float(found[0]) == pytest.approx(h.item(), rel=1e-12, abs=1e-15)
        leaves = [*slope.inputs, *slope.recurrent, *slope.readout_weight, *slope.readout_bias]
        expected = [0.0 if tensor.grad is None else tensor.grad.item() for tensor in tensors]
        np.testing.assert_allclose([float(leaf[0]) for leaf in leaves], expected, rtol=1e-10, atol=1e-13)
