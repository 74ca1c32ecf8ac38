"""GRUs and LSTMs and PyTorch's modules: the same states, classes and gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

from tallystick import BadInput, GruCell, LstmCell, from_torch, read_network  # noqa: E402

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
        cell = cell_of(module, kind).map_weights(lambda value, _: number(value))
        with torch.no_grad():
            for string in STRINGS:
                expected = last_hidden(module, string).numpy()
                found = cell.hidden(cell.final_state(string))
                np.testing.assert_allclose(found, expected, rtol=0, atol=20 * np.finfo(number).eps)


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
        found = jax.grad(lambda weights: sum(kind(*weights).final_state(string).hidden) ** 2)(weights)
        for part, parameter in zip(found, module.parameters(), strict=True):
            np.testing.assert_allclose(np.array(part), parameter.grad.numpy(), rtol=1e-11, atol=1e-13)


@every_module
@every_size
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_a_module_and_its_saved_state_dict_read_as_the_same_network(build, kind, units, outputs, bias, tmp_path):
    torch.manual_seed(units)
    module, readout = build(2, units, bias=bias), nn.Linear(units, outputs, bias=bias)
    model = from_torch(module, readout)
    assert isinstance(model.cell, kind)
    if bias:
        assert model.cell.map_weights(lambda value, _: float(value)) == cell_of(module, kind)
    path = tmp_path / "network.safetensors"
    saved = nn.ModuleDict({"recurrence": module, "decide": readout}).state_dict()
    save_file(saved, path)
    if (units, outputs, bias) == (2, 3, False):  # by its shape the readout may be an embedding of three tokens as well
        with pytest.raises(
            BadInput, match="may be an embedding or the readout; say which with metadata .*readout=decide"
        ):
            read_network(path)
        save_file(saved, path, {"readout": "decide"})
    assert read_network(path) == model
    executed = model.in_arithmetic("float32")
    with torch.no_grad():
        for string in STRINGS:
            scores = readout(last_hidden(module, string))
            expected = int(scores.argmax()) if outputs == 3 else int(scores > 0)
            assert executed.class_of(string) == model.task.classes[expected]


class CustomLSTM(nn.LSTM):
    """A subclass, whose forward could be anything."""


def with_weight(module, name, shape):
    setattr(module, name, nn.Parameter(torch.ones(shape)))
    return module


REFUSALS = {
    "no readout": (lambda: (nn.GRU(2, 1),), "readout: missing; an nn.Linear(1, 1) or one with an output per class"),
    "subclass": (lambda: (CustomLSTM(2, 1), nn.Linear(1, 1)), "CustomLSTM is not one of torch.nn.RNN"),
    "directions": (lambda: (nn.GRU(2, 2, bidirectional=True), nn.Linear(4, 1)), "reads the string backwards"),
    "projection": (lambda: (nn.LSTM(2, 3, proj_size=1), nn.Linear(1, 1)), "projects the state"),
    "inputs": (
        lambda: (nn.GRU(3, 1), nn.Linear(1, 1)),
        "cell.weight_ih_l0: reads vectors of 3 numbers; say what is read",
    ),
    "readout units": (lambda: (nn.GRU(2, 3), nn.Linear(2, 1)), "readout.weight: shape 1×2 does not read the 3 units"),
    "readout kind": (lambda: (nn.GRU(2, 1), nn.GRU(2, 1)), "readout: torch.nn.modules.rnn.GRU is not one of"),
    "other weights": (
        lambda: (with_weight(nn.GRUCell(2, 1), "weight_hh", (4, 1)), nn.Linear(1, 1)),
        "cell.weight_hh: shape 4×1 has not 3 rows a unit, as an nn.GRUCell has",
    ),
    "plain readout of a plain cell": (lambda: (nn.RNN(2, 1), nn.Linear(3, 1)), "shape 1×3 does not read the 1 unit"),
}


@pytest.mark.parametrize(("build", "message"), REFUSALS.values(), ids=REFUSALS)
def test_anything_else_is_refused_with_its_reason(build, message):
    with pytest.raises(BadInput) as refusal:
        from_torch(*build())
    assert message in str(refusal.value)
    assert str(refusal.value).isprintable()
