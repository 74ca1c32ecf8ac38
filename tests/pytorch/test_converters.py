"""The converters read what PyTorch itself writes, and give the network that PyTorch runs."""

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from walking import ROOT

from tallystick import read_network

torch = pytest.importorskip("torch", reason="PyTorch is not installed; make test-torch brings it")
from torch import nn  # noqa: E402

EXAMPLES = ROOT / "examples"
ACTIVATIONS = {0: lambda x: x, 1: torch.relu, 2: torch.sigmoid, 3: torch.tanh, 4: torch.square}
torch.set_num_threads(1)


def convert(name, *arguments):
    command = [sys.executable, EXAMPLES / name, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Classifier(nn.Module):
    """A linear layer, an LSTM and a linear layer, as published for brackets."""

    def __init__(self):
        super().__init__()
        self.fc1, self.lstm, self.fc2 = nn.Linear(2, 3), nn.LSTM(3, 2), nn.Linear(2, 3)

    def forward(self, vectors):
        return self.fc2(self.lstm(self.fc1(vectors))[0][-1])


@pytest.mark.parametrize("padded", [False, True])
def test_a_state_dict_of_pytorch_is_converted_exactly(padded, tmp_path):
    torch.manual_seed(4)
    module, path = Classifier(), tmp_path / "network.pth"
    torch.save(module.state_dict(), path)
    words = ["--task", "dyck1-prefix", "--classes", "valid,incomplete,invalid", "--cell", "lstm", "--front", "fc1"]
    convert("convert_torch.py", path, tmp_path / "n.json", *words, *(["--pad", 6] if padded else []))
    network, module = read_network(tmp_path / "n.json").in_arithmetic("float64"), module.double()
    for string in ("(", "())(", "(()())("):
        vectors = [[float(token == one) for one in "()"] for token in string]
        vectors = [[0.0, 0.0]] * (6 - len(vectors)) * padded + vectors
        wanted = module(torch.tensor(vectors, dtype=torch.float64)).detach().numpy()
        assert np.allclose([float(value) for value in network.outputs(string)], wanted, rtol=1e-12)


class MDLRNN(nn.Module):
    """A graph in layers with a memory, its attributes named as in the published files; saved under their module's name."""

    def __init__(self, forward, to_memory, from_memory, activations):
        super().__init__()
        self._computation_graph = forward
        self.layer_to_memory_weights = to_memory
        self._memory_to_layer_weights = from_memory
        self._layer_to_activation_to_units = activations
        self.module_list = nn.ModuleList([linear for ends in forward.values() for _, linear in ends])


def run(model, tokens):
    """Return the outputs after each token; written from the published equations, layer by layer."""
    size = next(iter(model.layer_to_memory_weights.values())).out_features
    memory, outputs = torch.zeros(size, dtype=torch.float64), []
    graph, last = model._computation_graph, max(model._layer_to_activation_to_units)
    at_work = sorted(set(graph) | set(model.layer_to_memory_weights))
    for token in tokens:
        values = {0: torch.eye(3, dtype=torch.float64)[token]}
        written = torch.zeros(size, dtype=torch.float64)
        for layer in at_work:
            if layer in model._memory_to_layer_weights:
                values[layer] = values[layer] + model._memory_to_layer_weights[layer](memory)
            values[layer] = activated(model, layer, values[layer])
            for target, linear in graph.get(layer, ()):
                values[target] = values.get(target, 0) + linear(values[layer])
            if layer in model.layer_to_memory_weights:
                written = written + model.layer_to_memory_weights[layer](values[layer])
        outputs.append(activated(model, last, values[last]).detach().numpy())
        memory = written
    return outputs


def activated(model, layer, values):
    found = values.clone()
    for number, units in model._layer_to_activation_to_units[layer].items():
        found[list(units)] = ACTIVATIONS[number](found[list(units)])
    return found


@pytest.mark.parametrize("writes", [False, True], ids=["outputs once", "outputs that write memory"])
def test_a_whole_module_of_the_published_kind_is_converted_without_its_class(writes, tmp_path, monkeypatch):
    torch.manual_seed(5)
    module = ModuleType("mdlrnn")
    module.MDLRNN = MDLRNN
    monkeypatch.setitem(sys.modules, "mdlrnn", module)
    monkeypatch.setattr(MDLRNN, "__module__", "mdlrnn")
    forward = {0: ((1, nn.Linear(3, 2)), (2, nn.Linear(3, 3))), 1: ((2, nn.Linear(2, 3)),)}
    to_memory = {0: nn.Linear(3, 2), 1: nn.Linear(2, 2), **({2: nn.Linear(3, 2)} if writes else {})}
    from_memory = {1: nn.Linear(2, 2), **({2: nn.Linear(2, 3)} if writes else {})}
    activations = {0: {0: (0, 1, 2)}, 1: {1: (0,), 4: (1,)}, 2: {3: (0,), 2: (1,), 0: (2,)}}
    model = MDLRNN(forward, to_memory, from_memory, activations)
    torch.save(model, tmp_path / "model.pt")
    convert("convert_mdlrnn.py", tmp_path / "model.pt", tmp_path / "n.json", "--task", "anbn", "--alphabet", "ab")
    network = read_network(tmp_path / "n.json").in_arithmetic("float64")
    for linear in [*model.modules(), *to_memory.values(), *from_memory.values()]:
        linear.double()
    for string in ("", "a", "aabb", "abba"):
        wanted = run(model, [0, *("#ab".index(token) for token in string)])[-1]
        assert np.allclose([float(value) for value in network.outputs(string)], wanted, rtol=1e-12)
