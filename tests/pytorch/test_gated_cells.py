"""Gated cells and PyTorch's modules: the same states, classes and gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402

from tallystick.cells.gated import GruCell, LstmCell  # noqa: E402

MODULES = {
    "GRU": (nn.GRU, GruCell),
    "GRUCell": (nn.GRUCell, GruCell),
    "LSTM": (nn.LSTM, LstmCell),
    "LSTMCell": (nn.LSTMCell, LstmCell),
}
every_module = pytest.mark.parametrize(("build", "kind"), MODULES.values(), ids=MODULES)
every_size = pytest.mark.parametrize("units", [1, 2, 3])
STRINGS = ["(", ")", "(()", "))()((", "((()))()((", ")" * 30]


def nested(tensor):
    return tuple(map(nested, tensor)) if isinstance(tensor, list) else tensor


def cell_of(module, kind):
    """The cell with a module's weights, taken over one by one."""
    suffix = "_l0" if hasattr(module, "weight_ih_l0") else ""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return kind(*(nested(getattr(module, name + suffix).detach().double().tolist()) for name in names))


def last_hidden(module, string):
    """Return h after a string, by PyTorch's own forward."""
    tokens = torch.tensor(
        [[[1.0, 0.0] if token == "(" else [0.0, 1.0]] for token in string], dtype=next(module.parameters()).dtype
    )
    if isinstance(module, nn.GRU | nn.LSTM):
        return module(tokens)[0][-1, 0]
    state = None
    for token in tokens:
        state = module(token, state)
    return (state[0] if isinstance(state, tuple) else state)[0]


@every_module
@every_size
@pytest.mark.parametrize(("dtype", "number"), [(torch.float32, np.float32), (torch.float64, np.float64)], ids=str)
def test_the_states_are_those_of_the_module(build, kind, units, dtype, number):
    for seed in range(3):
        torch.manual_seed(seed)
        module = build(2, units, dtype=dtype)
        cell = cell_of(module, kind).converted(lambda value, _: number(value))
        with torch.no_grad():
            for string in STRINGS:
                expected = last_hidden(module, string).numpy()
                np.testing.assert_allclose(cell.final_state(string), expected, rtol=0, atol=20 * np.finfo(number).eps)


@every_module
@every_size
def test_the_gradient_is_that_of_autograd(build, kind, units):
    torch.manual_seed(7)
    module, string = build(2, units, dtype=torch.float64), "(()))("
    (last_hidden(module, string).sum() ** 2).backward()
    cell = cell_of(module, kind)
    with jax.enable_x64(True):
        weights = jax.tree.map(
            jnp.float64, (cell.input_weight, cell.recurrent_weight, cell.input_bias, cell.recurrent_bias)
        )
        found = jax.grad(lambda weights: sum(kind(*weights).final_state(string)) ** 2)(weights)
        for part, parameter in zip(found, module.parameters(), strict=True):
            np.testing.assert_allclose(np.array(part), parameter.grad.numpy(), rtol=1e-11, atol=1e-13)
