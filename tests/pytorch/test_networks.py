"""A PyTorch network and what is read from it compute the same states, and both ways to read one agree."""

from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

from tallystick import BadInput, LinearCell, Readout, ReluCell, TanhCell, from_torch, read_network  # noqa: E402
from tallystick.cells import CELLS as TALLY_CELLS  # noqa: E402
from tallystick.cells import Stack  # noqa: E402
from tallystick.cells.vector import State  # noqa: E402

STRINGS = ["".join(tokens) for size in range(1, 8) for tokens in product("()", repeat=size)]
ONE_HOT = {"(": [1.0, 0.0], ")": [0.0, 1.0]}
DTYPES = {"float32": torch.float32, "float64": torch.float64}
CELLS = {
    "RNN relu": (lambda **options: nn.RNN(2, 1, nonlinearity="relu", **options), ReluCell, "relu"),
    "RNN tanh": (lambda **options: nn.RNN(2, 1, **options), TanhCell, "tanh"),
    "RNNCell relu": (lambda **options: nn.RNNCell(2, 1, nonlinearity="relu", **options), ReluCell, "relu"),
    "RNNCell tanh": (lambda **options: nn.RNNCell(2, 1, **options), TanhCell, "tanh"),
    "Linear": (lambda **options: nn.Linear(3, 1, **options), LinearCell, None),
}
EVERY_CELL = pytest.mark.parametrize(("build", "kind", "nonlinearity"), CELLS.values(), ids=CELLS)


class Network(nn.Module):
    """A cell and a readout as someone would write them."""

    def __init__(self, cell, readout):
        super().__init__()
        self.recurrence = cell
        self.decide = readout


def states(cell, string, dtype):
    """Return h after each token, by PyTorch's own forward."""
    tokens = torch.tensor([[ONE_HOT[token]] for token in string], dtype=dtype)
    if isinstance(cell, nn.RNN):
        return cell(tokens)[0].flatten().tolist()
    h, found = torch.zeros(1, 1, dtype=dtype), []
    for token in tokens:
        h = cell(torch.cat([token, h], dim=1)) if isinstance(cell, nn.Linear) else cell(token, h)
        found.append(h.item())
    return found


def folded_states(model, string, arithmetic):
    return [float(h) for h in model.in_arithmetic(arithmetic).cell.trace(string)[1:]]


@EVERY_CELL
@pytest.mark.parametrize(("name", "dtype"), DTYPES.items(), ids=DTYPES)
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_the_states_are_those_of_the_module(build, kind, nonlinearity, name, dtype, bias):
    torch.manual_seed(1)
    cell = build(bias=bias, dtype=dtype)
    model = from_torch(cell)
    assert isinstance(model.cell, kind)
    assert model.readout == Readout.zero()
    with torch.no_grad():
        for string in STRINGS:
            found, expected = folded_states(model, string, name), states(cell, string, dtype)
            np.testing.assert_allclose(found, expected, rtol=0, atol=20 * torch.finfo(dtype).eps)


@pytest.mark.parametrize("build", [CELLS["RNN relu"][0], CELLS["RNNCell relu"][0]], ids=["RNN", "RNNCell"])
@pytest.mark.parametrize(("name", "dtype"), DTYPES.items(), ids=DTYPES)
def test_without_bias_a_relu_module_rounds_as_the_folded_cell_does(build, name, dtype):
    with torch.no_grad():
        for seed in range(20):
            torch.manual_seed(seed)
            cell = build(bias=False, dtype=dtype)
            model = from_torch(cell)
            for string in STRINGS[-128::9]:
                assert folded_states(model, string, name) == states(cell, string, dtype)


@pytest.mark.parametrize("name", ["RNN relu", "RNNCell relu", "Linear"])
def test_whole_numbers_stay_exact_in_every_module(name):
    cell = CELLS[name][0](dtype=torch.float64)
    with torch.no_grad():
        for tensor, value in zip(cell.parameters(), (3.0, 2.0, -1.0, 4.0), strict=False):
            tensor.fill_(value)
        for string in STRINGS:
            assert folded_states(from_torch(cell), string, "float64") == states(cell, string, torch.float64)


@EVERY_CELL
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("outputs", [None, 1, 3])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_a_saved_state_dict_reads_as_the_module(tmp_path, build, kind, nonlinearity, bias, outputs, dtype):
    cell = build(bias=bias, dtype=dtype)
    readout = None if outputs is None else nn.Linear(1, outputs, bias=bias, dtype=dtype)
    path = tmp_path / "network.safetensors"
    save_file(Network(cell, readout).state_dict(), path, {"nonlinearity": nonlinearity} if nonlinearity else None)
    assert read_network(path) == from_torch(cell, readout)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("bias", [False, True], ids=["no bias", "bias"])
def test_the_classes_are_those_of_the_module(outputs, bias):
    torch.manual_seed(2)
    cell, readout = nn.RNN(2, 1, bias=bias, dtype=torch.float64), nn.Linear(1, outputs, bias=bias, dtype=torch.float64)
    model = from_torch(cell, readout).in_arithmetic("float64")
    with torch.no_grad():
        for string in STRINGS:
            scores = readout(torch.tensor(states(cell, string, torch.float64)[-1:], dtype=torch.float64))
            expected = int(scores.argmax()) if outputs == 3 else int(torch.sigmoid(scores) > 0.5)
            assert model.class_of(string) == model.task.classes[expected]


def with_weight(module, value):
    with torch.no_grad():
        next(module.parameters()).fill_(value)
    return module


def parametrised():
    return nn.utils.parametrizations.weight_norm(nn.Linear(3, 1))


class CustomRNN(nn.RNN):
    """A subclass, whose forward could be anything."""


GOOD = nn.Linear(3, 1)
REFUSALS = {
    "Transformer": (
        lambda: (nn.TransformerEncoderLayer(2, 1, batch_first=True), nn.Linear(2, 1)),
        "cell: torch.nn.modules.transformer.TransformerEncoderLayer is not one of torch.nn.RNN, torch.nn.RNNCell, torch.nn.GRU",
    ),
    "whole network": (lambda: (Network(GOOD, None), None), "task: missing; say what is right: task= one of binary"),
    "sequential": (
        lambda: (nn.Sequential(GOOD), nn.Linear(1, 1)),
        "cell: torch.nn.modules.container.Sequential is not one of",
    ),
    "subclass": (lambda: (CustomRNN(2, 1), nn.Linear(1, 1)), "CustomRNN is not one of"),
    "lazy": (lambda: (nn.LazyLinear(1), nn.Linear(1, 1)), "LazyLinear is not one of"),
    "weight norm": (lambda: (parametrised(), None), "cell: its weight is parametrised by .*WeightNorm"),
    "layers": (lambda: (nn.RNN(2, 1, num_layers=2), None), "readout: missing; an nn.RNN of 1 units is read by"),
    "directions": (
        lambda: (nn.RNN(2, 1, bidirectional=True), None),
        "cell.bias_hh_l0_reverse: reads the string backwards",
    ),
    "units": (lambda: (nn.RNN(2, 4), None), r"readout: missing; an nn.RNN of 4 units is read by an nn.Linear\(4, 1\)"),
    "unusual outputs": (
        lambda: (nn.RNN(2, 4), nn.Linear(4, 2)),
        "readout: has 2 outputs; say task=, tokens= and classes=",
    ),
    "directions of several units": (
        lambda: (nn.RNN(2, 4, bidirectional=True), nn.Linear(8, 1)),
        "cell: torch.rnn_tanh reads the string in both directions; ts.certify",
    ),
    "inputs of several units": (
        lambda: (nn.RNN(3, 4), nn.Linear(4, 1)),
        "cell: reads vectors of 3 numbers; say what they are: tokens=, and task=",
    ),
    "RNNCell units": (lambda: (nn.RNNCell(2, 3), None), "readout: missing; an nn.RNNCell of 3 units"),
    "inputs": (lambda: (nn.RNN(3, 1), None), "cell.weight_ih_l0: reads vectors of 3 numbers; say what is read"),
    "linear inputs": (lambda: (nn.Linear(2, 1), None), "cell.weight: shape 1×2 is not 1×3"),
    "swapped": (lambda: (nn.Linear(1, 3), nn.Linear(3, 1)), "cell.weight: shape 3×1 is not 1×3"),
    "cell as readout": (
        lambda: (GOOD, nn.Linear(3, 1)),
        "readout.weight: shape 1×3 does not read the 1 unit of the cell",
    ),
    "readout inputs": (
        lambda: (GOOD, nn.Linear(2, 3)),
        "readout.weight: shape 3×2 does not read the 1 unit of the cell",
    ),
    "two outputs": (
        lambda: (GOOD, nn.Linear(1, 2)),
        "task: missing; a readout of 2 outputs may answer several tasks",
    ),
    "readout kind": (lambda: (GOOD, nn.RNN(2, 1)), "readout: torch.nn.modules.rnn.RNN is not one of torch.nn.Linear"),
    "nan": (
        lambda: (with_weight(nn.RNN(2, 1), float("nan")), None),
        r"cell.weight_ih_l0\[0, 0\]: nan is not a finite number",
    ),
    "inf": (
        lambda: (GOOD, with_weight(nn.Linear(1, 1), float("inf"))),
        r"readout.weight\[0, 0\]: inf is not a finite number",
    ),
    "complex": (
        lambda: (nn.Linear(3, 1, dtype=torch.complex64), None),
        "cell.weight: entries of complex64 are neither",
    ),
    "meta": (
        lambda: (nn.Linear(3, 1, device="meta"), None),
        "cell.weight: lies on the device meta, which holds no numbers",
    ),
}


@pytest.mark.parametrize(("build", "message"), REFUSALS.values(), ids=REFUSALS)
def test_anything_else_is_refused_with_its_reason(build, message):
    with pytest.raises(BadInput, match=message) as refusal:
        from_torch(*build())
    assert str(refusal.value).isprintable()


def test_the_mode_decides_and_not_a_later_change_of_the_name():
    cell = nn.RNN(2, 1, nonlinearity="tanh")
    cell.nonlinearity = "relu"
    assert isinstance(from_torch(cell).cell, TanhCell)


def test_a_module_in_training_is_left_as_it_was():
    cell = nn.RNN(2, 1)
    before = {name: tensor.clone() for name, tensor in cell.state_dict().items()}
    from_torch(cell)
    assert all(parameter.requires_grad for parameter in cell.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in cell.state_dict().items())


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_a_stack_computes_what_layers_over_an_embedding_do(kind):
    """Two layers over embedded tokens, from a state that is not zero."""
    torch.manual_seed(2)
    embedding, module = (
        nn.Embedding(2, 3, dtype=torch.float64),
        getattr(nn, kind)(3, 2, num_layers=2, dtype=torch.float64),
    )
    h, c = torch.randn(2, 1, 2, dtype=torch.float64), torch.randn(2, 1, 2, dtype=torch.float64)
    names = {
        "input_weight": "weight_ih",
        "recurrent_weight": "weight_hh",
        "input_bias": "bias_ih",
        "recurrent_bias": "bias_hh",
    }
    layers = [
        TALLY_CELLS[kind.lower()](*(nested(getattr(module, f"{name}_l{layer}")) for name in names.values()))
        for layer in range(2)
    ]
    start = [State(nested(h[layer, 0]), nested(c[layer, 0]) if kind == "LSTM" else ()) for layer in range(2)]
    stack = Stack(tuple(layers), nested(embedding.weight), tuple(start))
    for string in STRINGS[::7]:
        tokens = embedding(torch.tensor([["()".index(token)] for token in string]))
        found = module(tokens, (h, c) if kind == "LSTM" else h)[0][-1, 0].tolist()
        assert stack.hidden(stack.final_state(string)) == pytest.approx(found, rel=1e-12)


def nested(tensor):
    """Return a tensor as nested tuples of numbers."""
    values = tensor.detach().numpy()
    return tuple(map(tuple, values.tolist())) if values.ndim > 1 else tuple(values.tolist())
