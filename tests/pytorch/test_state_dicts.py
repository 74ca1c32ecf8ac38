"""Weights saved from PyTorch, with what they do not tell as metadata, are read as the module computes, string by string."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

from tallystick import BadInput, read_network, write_network  # noqa: E402
from tallystick.cells import LAYERS, TanhCell  # noqa: E402

torch.set_num_threads(1)
STRINGS = ["".join(tokens) for length in range(1, 7) for tokens in product("()", repeat=length)]
ONE_HOT = {"(": [1.0, 0.0], ")": [0.0, 1.0]}
BINARY, MEMBERSHIP = ["ZeroNeg", "Pos"], ["accepted", "rejected"]


def module_of(**parts):
    torch.manual_seed(len(parts))
    return nn.ModuleDict(parts).double()


def metadata(**said):
    return {name: said if isinstance(said, str) else json.dumps(said) for name, said in said.items()}


def by_index(indices):
    return lambda string: torch.tensor([indices[token] for token in string])


def by_vector(vectors):
    return lambda string: torch.tensor([vectors[token] for token in string], dtype=torch.float64)


def last_of(*parts):
    """The last state of recurrent modules one above the other, and what stands in front of them."""

    def run(module, read):
        for name in parts:
            found = module[name](read)
            read = found[0] if isinstance(found, tuple) else found
        return read[-1]

    return run


TWO_TOKENS = metadata(tokens=json.dumps({"(": 2, ")": 0}))
CASES = {
    "RNN(2, 8) tanh": (
        lambda: module_of(rnn=nn.RNN(2, 8), fc=nn.Linear(8, 1)),
        by_vector(ONE_HOT),
        last_of("rnn"),
        metadata(nonlinearity="tanh"),
        BINARY,
    ),
    "RNN(2, 16) relu, reversed": (
        lambda: module_of(rnn=nn.RNN(2, 16, nonlinearity="relu", bias=False), fc=nn.Linear(16, 3)),
        by_vector({"(": [0.0, 1.0], ")": [1.0, 0.0]}),
        last_of("rnn"),
        metadata(nonlinearity="relu", tokens=")("),
        ["Neg", "Zero", "Pos"],
    ),
    "RNN(2, 1) over vectors": (
        lambda: module_of(rnn=nn.RNN(3, 1), fc=nn.Linear(1, 1)),
        by_vector({"(": [0.5, 1.0, -1.0], ")": [0.0, 2.0, 0.25]}),
        last_of("rnn"),
        metadata(nonlinearity="tanh", tokens='{"(": [0.5, 1, -1], ")": [0, 2, "1/4"]}'),
        BINARY,
    ),
    "two-layer LSTM": (
        lambda: module_of(rnn=nn.LSTM(2, 3, num_layers=2), fc=nn.Linear(3, 2)),
        by_vector(ONE_HOT),
        last_of("rnn"),
        metadata(task="bb", classes="accepted,rejected"),
        MEMBERSHIP,
    ),
    "embedding and two logits": (
        lambda: module_of(embed=nn.Embedding(3, 4), rnn=nn.LSTM(4, 5), fc=nn.Linear(5, 2)),
        by_index({"(": 2, ")": 0}),
        last_of("embed", "rnn"),
        TWO_TOKENS | metadata(task="binary", classes="Pos,ZeroNeg"),
        ["Pos", "ZeroNeg"],
    ),
    "embedding, linear and GRU": (
        lambda: module_of(embed=nn.Embedding(3, 4), project=nn.Linear(4, 5), rnn=nn.GRU(5, 2), fc=nn.Linear(2, 1)),
        by_index({"(": 2, ")": 0}),
        last_of("embed", "project", "rnn"),
        TWO_TOKENS | metadata(embedding="embed,project"),
        BINARY,
    ),
    "linear in front": (
        lambda: module_of(project=nn.Linear(2, 2), rnn=nn.RNN(2, 1), fc=nn.Linear(1, 1)),
        by_vector(ONE_HOT),
        last_of("project", "rnn"),
        metadata(embedding="project", nonlinearity="tanh", tokens="()"),
        BINARY,
    ),
    "before and after each string": (
        lambda: module_of(embed=nn.Embedding(4, 2), rnn=nn.GRU(2, 3), fc=nn.Linear(3, 1)),
        lambda string: torch.tensor([3, *({"(": 2, ")": 0}[token] for token in string), 1]),
        last_of("embed", "rnn"),
        metadata(tokens='{"(": 2, ")": 0, "<BOS>": 3, "<EOS>": 1}'),
        BINARY,
    ),
    "a square linear module without a bias": (
        lambda: module_of(project=nn.Linear(2, 2, bias=False), rnn=nn.GRU(2, 3), fc=nn.Linear(3, 1)),
        by_vector(ONE_HOT),
        last_of("project", "rnn"),
        metadata(embedding="project", tokens='{"(": [1, 0], ")": [0, 1]}'),
        BINARY,
    ),
    "two modules side by side": (
        lambda: module_of(upper=nn.GRU(3, 2), lower=nn.RNN(2, 3), fc=nn.Linear(2, 1)),
        by_vector(ONE_HOT),
        last_of("lower", "upper"),
        metadata(layers="lower,upper", nonlinearity="tanh"),
        BINARY,
    ),
    "an embedding as wide as the cell": (
        lambda: module_of(a=nn.Embedding(3, 2), rnn=nn.GRU(2, 2), b=nn.Linear(2, 3, bias=False)),
        by_index({"(": 2, ")": 0}),
        last_of("a", "rnn"),
        TWO_TOKENS | metadata(embedding="a"),
        ["Neg", "Zero", "Pos"],
    ),
}


@pytest.mark.parametrize(("build", "encode", "run", "said", "classes"), CASES.values(), ids=CASES)
def test_a_state_dict_is_read_as_the_module_computes(build, encode, run, said, classes, tmp_path):
    module = build()
    reads = list(module)[-1]
    path = tmp_path / "network.safetensors"
    save_file(module.state_dict(), path, said)
    network = read_network(path)
    assert [str(name) for name in network.task.classes] == classes
    executed = network.in_arithmetic("float64")
    with torch.no_grad():
        for string in STRINGS:
            expected = module[reads](run(module, encode(string))).tolist()
            np.testing.assert_allclose(executed.outputs(string), expected, rtol=1e-11, atol=1e-13)
            index = int(np.argmax(expected)) if len(expected) > 1 else int(expected[0] > 0)
            assert executed.class_of(string) == classes[index]
    write_network(network, tmp_path / "again.json")
    assert read_network(tmp_path / "again.json") == network


def test_a_cell_with_one_unit_stays_one_that_theorems_speak_of(tmp_path):
    module = module_of(embed=nn.Embedding(2, 3), rnn=nn.RNN(3, 1), fc=nn.Linear(1, 1))
    save_file(
        module.state_dict(), tmp_path / "network.safetensors", metadata(nonlinearity="tanh", tokens='{"(": 1, ")": 0}')
    )
    network = read_network(tmp_path / "network.safetensors")
    assert isinstance(network.cell, TanhCell)
    weight, vector = module["rnn"].weight_ih_l0[0].tolist(), module["embed"].weight[1].tolist()
    biases = [module["rnn"].bias_ih_l0.item(), module["rnn"].bias_hh_l0.item()]
    step = sum(map(math.prod, zip(map(Fraction, weight), map(Fraction, vector), strict=True))) + sum(
        map(Fraction, biases)
    )
    assert network.cell.open_step == step


@pytest.mark.parametrize("suffix", [".pt", ".PTH"])
def test_tensors_alone_are_read_from_what_torch_saves(suffix, tmp_path):
    module = module_of(rnn=nn.RNN(2, 3), fc=nn.Linear(3, 2))
    path = tmp_path / f"network{suffix}"
    torch.save(module.state_dict(), path)
    said = {"nonlinearity": "tanh", "task": "binary", "classes": ["Pos", "ZeroNeg"]}
    network = read_network(path, **said)
    assert isinstance(network.cell, LAYERS["tanh"])
    save_file(module.state_dict(), tmp_path / "network.safetensors")
    assert read_network(tmp_path / "network.safetensors", **said) == network
    with pytest.raises(BadInput, match="nonlinearity: missing, and the tensors do not tell it"):
        read_network(path, task="binary")
    for whole in (module, {"state": module.state_dict()}, [1], {1: torch.ones(1)}):
        torch.save(whole, path)
        with pytest.raises(BadInput, match="save_file\\(module.state_dict") as refusal:
            read_network(path, **said)
        assert str(refusal.value).startswith(f"{path}: ")
        assert len(str(refusal.value).splitlines()) == 1
    for tensor, reason in (
        (torch.zeros(1).expand(2**40), "1,099,511,627,776 entries are more than"),
        (torch.ones(2, 2).to_sparse(), "torch.sparse_coo, are not plain numbers"),
        (torch.ones(2, dtype=torch.complex64), "complex64, torch.strided, are not plain numbers"),
    ):
        torch.save({"weight": tensor}, path)
        with pytest.raises(BadInput, match=reason):
            read_network(path)
