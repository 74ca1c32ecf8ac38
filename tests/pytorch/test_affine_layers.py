"""Affine layers against PyTorch in float64, on every string to length 8: with complex tensors where the layer is complex."""

from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import Token

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

UNITS, LENGTH = 4, 8
KINDS = {"selective": ts.SelectiveLayer, "matrices": ts.MatrixLayer, "lru": ts.LruLayer}


@pytest.fixture(scope="module")
def strings():
    torch.set_num_threads(1)
    return torch.tensor(list(product((0, 1), repeat=LENGTH)))


def states_of_torch(kind, tensors, strings):
    """Every state along every string of the greatest length, whose starts are the shorter ones."""
    weight, recurrent, bias = tensors
    state = torch.zeros(len(strings), UNITS, dtype=torch.float64)
    if kind is ts.LruLayer:
        weight, bias = (torch.complex(*part.chunk(2)) for part in (weight, bias))
        recurrent = torch.complex(*recurrent)
        state = torch.complex(*state.chunk(2, dim=1))
    for place in range(LENGTH):
        token = strings[:, place]
        term = weight.T[token] + bias
        if kind is ts.MatrixLayer:
            state = torch.einsum("bij,bj->bi", recurrent[token], state) + term
        else:
            state = (recurrent if kind is ts.LruLayer else recurrent.T[token]) * state + term
        yield torch.cat([state.real, state.imag], dim=1) if state.is_complex() else state


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_step_is_pytorchs(kind, strings):
    torch.manual_seed(3)
    tensors = [torch.randn(*shape, dtype=torch.float64) for shape in kind.shapes(UNITS).values()]
    layer = kind(*(nested(tensor.tolist()) for tensor in tensors))
    state = layer.initial_state
    for place, expected in enumerate(states_of_torch(kind, tensors, strings)):
        opening = 1.0 - strings[:, place].numpy()
        state = layer.step(state, Token(opening, 1 - opening))
        np.testing.assert_allclose(np.transpose(layer.hidden(state)), expected.numpy(), rtol=1e-9, atol=1e-9)


def nested(values):
    return tuple(map(nested, values)) if isinstance(values, list) else values
