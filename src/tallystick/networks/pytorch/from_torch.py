"""A network from PyTorch's modules, without importing PyTorch: what is handed in has brought it along.

A cell and a readout of PyTorch's own classes are read from their weights alone, and refused where anything was done to them that
may change what they compute (`plain_modules`). Any other module is run, and what it does is read from the run
(`whole_modules`); so are cells of several units without gates and several layers.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.networks.declaration import Declaration, declare
from tallystick.networks.network import Network
from tallystick.networks.pytorch.labels import Torch
from tallystick.networks.pytorch.plain_modules import (
    HOME,
    check_eval,
    check_forward,
    check_inner_modules,
    check_plain,
    check_weights_as_stored,
)
from tallystick.networks.pytorch.whole_modules import network_of_module
from tallystick.networks.tensors.named_tensor import named, show_shape
from tallystick.networks.tensors.state_dicts import Module, modules_of, network_of_modules

_ROWS = {"GRU": 3, "GRUCell": 3, "LSTM": 4, "LSTMCell": 4}
_CELLS = ("RNN", "RNNCell", *_ROWS, "Linear")
_READOUTS = ("Linear",)
_MODES = {"RNN_TANH": "tanh", "RNN_RELU": "relu"}
_ONE_HOT = {"(": (1, 0), ")": (0, 1)}
_USUAL_TASKS = {1: "binary", 3: "ternary"}
"""What is asked of a cell and a readout of so many outputs where nothing is declared."""


class TorchTensor(Protocol):
    """As much of `torch.Tensor` as is used."""

    is_meta: bool
    layout: object

    def is_floating_point(self) -> bool: ...  # noqa: D102
    def detach(self) -> "TorchTensor": ...  # noqa: D102
    def cpu(self) -> "TorchTensor": ...  # noqa: D102
    def double(self) -> "TorchTensor": ...  # noqa: D102
    def numpy(self) -> npt.NDArray[Any]: ...  # noqa: D102


class TorchModule(Protocol):
    """As much of `torch.nn.Module` as is used."""

    def state_dict(self) -> Mapping[str, TorchTensor]: ...  # noqa: D102


def from_torch(
    cell: TorchModule,
    readout: TorchModule | None = None,
    *,
    tokens: Mapping[str, object] | str | None = None,
    task: Task | str | None = None,
    classes: Sequence[str] | None = None,
) -> Network:
    """Return the network of a whole PyTorch module, or of a cell and a readout; every weight is taken exactly.

    A whole module is run on a few strings, and what its `forward` does is read from the run: embeddings, linear layers, nn.RNN,
    nn.GRU and nn.LSTM of several layers, their cells in a loop, a loop over nn.Linear, dropout in eval mode, a learned or given
    initial state, a sigmoid or softmax on top, the last step or all steps. What was read is compared with `forward` on some
    hundred strings. The module is left as it is.

    A cell and a readout are read from their weights. With nothing declared, `(` is [1, 0] and `)` is [0, 1], one output is the
    binary task and three are the ternary one. The biases of a cell with one unit are added exactly into its steps: a = W_open +
    all biases, b = W_close + all biases, U = W_hh. In real numbers nothing changes; in floating point a network that adds its
    biases one at a time rounds more often than the folded cell.

    Args:
        cell: a whole `nn.Module`; or an `nn.RNN`, `nn.RNNCell`, `nn.GRU`, `nn.GRUCell`, `nn.LSTM` or `nn.LSTMCell`, or the
            paper's `nn.Linear(3, 1)` over [x, h], which is linear.
        readout: an `nn.Linear` that reads the cell's last state; None for a whole module, or for the zero check of a cell with
            one unit.
        tokens: what is read for each token: `{"(": 0, ")": 1}` as indices, `{"(": [1, 0], ")": [0, 1]}` as vectors, `"()"` as the
            order of a one-hot vector; `"<BOS>"` and `"<EOS>"` beside them are read before and after every string.
        task: what is right, as a `Task` or the name of one.
        classes: the task's classes in the order of the outputs, where there are several.

    Raises:
        Unreadable: what a whole module does is not read; the message names the first such step. `ts.certify` can still run it.
        BadInput: something is not declared, or contradicts the module; a module was changed by a hook, a parametrisation or the
            like; it holds a number that is not finite; or its `forward` answers otherwise than what was read.
    """
    network = _read_module(cell, readout, tokens, task, classes)
    modules = [module for module in (cell, readout) if module is not None]
    return network.mark_folded(chain.from_iterable(map(_numbers, modules)))


def _numbers(module: Torch) -> Iterator[float]:
    """Go through the numbers of a module; those of an embedding are what tokens stand for."""
    embeddings = {id(part.weight) for part in module.modules() if type(part).__name__ == "Embedding"}
    for tensor in (*module.parameters(), *module.buffers()):
        if id(tensor) not in embeddings and tensor.is_floating_point():
            yield from tensor.detach().double().cpu().flatten().tolist()


def _read_module(
    cell: Torch,
    readout: Torch | None,
    tokens: Mapping[str, object] | str | None,
    task: Task | str | None,
    classes: Sequence[str] | None,
) -> Network:
    """Return the network of a module."""
    check_weights_as_stored(cell, "cell")
    declared = not tokens is task is classes is None
    if readout is None and is_module(cell) and (declared or not _is_cell(cell)):
        return _whole_network(cell, declare(task, tokens, classes))
    kind = _kind(cell, "cell", _CELLS)
    nonlinearity = None if kind in _ROWS else _nonlinearity(cell, kind)
    if readout is not None:
        _kind(readout, "readout", _READOUTS)
    if declared or _has_several(cell, kind):
        return _pair_network(cell, kind, readout, declare(task, tokens, classes) if declared else None)
    modules = _module(cell, "cell"), None if readout is None else _module(readout, "readout")
    if kind in _ROWS:
        _check_gates(modules[0], kind)
    return network_of_modules(*modules, nonlinearity)


def is_module(value: object) -> bool:
    """Say whether something is a PyTorch module, without importing PyTorch."""
    torch: Torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _is_cell(module: object) -> bool:
    return type(module).__module__.startswith(HOME) and type(module).__name__ in _CELLS


def _has_several(cell: Torch, kind: str) -> bool:
    """Say whether a cell has more layers, or more units without gates, than its weights alone are read for."""
    return getattr(cell, "num_layers", 1) > 1 or (kind in ("RNN", "RNNCell") and getattr(cell, "hidden_size", 1) > 1)


def _whole_network(module: Torch, declaration: Declaration) -> Network:
    check_inner_modules(module)
    check_eval(module)
    check_forward(module)
    return network_of_module(module, declaration)


def _pair_network(cell: Torch, kind: str, readout: Torch, declaration: Declaration | None) -> Network:
    """Return the network of a cell and a readout, read as the module that runs the one and then the other."""
    if readout is None:
        units = cell.hidden_size
        raise BadInput(
            f"readout: missing; an nn.{kind} of {units} units is read by an nn.Linear({units}, 1) or an nn.Linear({units}, 3)"
        )
    if declaration is None:
        outputs = readout.out_features
        if outputs not in _USUAL_TASKS:
            raise BadInput(
                f"readout: has {outputs} outputs; say task=, tokens= and classes= in the order of the outputs"
            )
        if getattr(cell, "input_size", len(_ONE_HOT)) != len(_ONE_HOT):
            raise BadInput(f"cell: reads vectors of {cell.input_size} numbers; say what they are: tokens=, and task=")
        usual = declare(_USUAL_TASKS[outputs], _ONE_HOT)
        declaration = declare(usual.task, _ONE_HOT, list(usual.task.classes))
    for module, role in ((cell, "cell"), (readout, "readout")):
        check_plain(module, role)
    return network_of_module(_pair(cell, kind, readout), declaration)


def _pair(cell: Torch, kind: str, readout: Torch) -> Torch:
    """Return a module that reads strings × tokens × numbers, or tokens × strings × numbers, as the cell does."""
    torch: Torch = sys.modules["torch"]

    class Pair(torch.nn.Module):  # pyright: ignore[reportUntypedBaseClass]
        def forward(self, tokens: Torch) -> Torch:
            pair: Torch = self
            if not kind.endswith("Cell") and kind != "Linear":
                steps, _ = pair.cell(tokens)
                return pair.readout(steps[:, -1] if pair.cell.batch_first else steps[-1])
            state: Torch = None
            for token in tokens.unbind(1):
                if kind == "Linear":
                    before = torch.zeros(len(token), pair.cell.out_features) if state is None else state
                    state = pair.cell(torch.cat([token, before], dim=1))
                else:
                    state = pair.cell(token, state)
            return pair.readout(state[0] if kind == "LSTMCell" else state)

    pair: Torch = Pair()
    pair.cell, pair.readout = cell, readout
    return pair


def _check_gates(module: Module, kind: str) -> None:
    """Refuse a module whose weights were put in place of others: its class says how many rows a unit has."""
    state = module.need("weight_hh")
    if module.gates != _ROWS[kind]:
        state.refuse(f"shape {show_shape(state.array.shape)} has not {_ROWS[kind]} rows a unit, as an nn.{kind} has")


def _kind(module: object, role: str, allowed: tuple[str, ...]) -> str:
    """The name of PyTorch's own class; a subclass may compute something else, so it is not taken for its parent."""
    check_weights_as_stored(module, role)
    kind = type(module)
    names = ", ".join(f"torch.nn.{name}" for name in allowed)
    if not (kind.__module__ + ".").startswith("torch.nn.modules.") or kind.__name__ not in allowed:
        raise BadInput(f"{role}: {kind.__module__}.{kind.__qualname__} is not one of {names}")
    return kind.__name__


def _nonlinearity(cell: object, kind: str) -> str:
    if kind == "Linear":
        return "linear"
    # An nn.RNN goes by its mode: its nonlinearity may be set to something else later, without effect.
    found: object = getattr(cell, "mode", None) if kind == "RNN" else getattr(cell, "nonlinearity", None)
    if kind == "RNN":
        found = _MODES.get(cast("str", found), found)
    if found not in _MODES.values():
        raise BadInput(f"cell: nonlinearity {found!r} is not one of {', '.join(_MODES.values())}")
    return cast("str", found)


def _module(module: TorchModule, role: str) -> Module:
    check_plain(module, role)
    tensors = {f"{role}.{name}": _array(tensor, f"{role}.{name}") for name, tensor in module.state_dict().items()}
    inner = next((name for name in tensors if name.count(".") > 1), None)
    if inner is not None:
        raise BadInput(f"{inner}: belongs to a module inside the {role}; a module without others inside is read")
    found, *others = modules_of(named(tensors))
    for other in others:
        other.first.refuse(f"stands beside {found.first.name}, which is of another kind of module")
    return found


def _array(tensor: TorchTensor, name: str) -> npt.NDArray[Any]:
    if tensor.is_meta:
        raise BadInput(f"{name}: lies on the device meta, which holds no numbers")
    kind = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
    if kind != "torch.Tensor":
        raise BadInput(f"{name}: {kind} is not torch.Tensor, and may stand for other numbers than it shows")
    if str(tensor.layout) != "torch.strided":
        raise BadInput(f"{name}: lies in memory as {tensor.layout}; to_dense() makes it an ordinary tensor")
    numbers = tensor.detach().cpu()
    try:
        # bfloat16 is unknown to NumPy; every kind of float that PyTorch has is exactly a double.
        return np.asarray((numbers.double() if numbers.is_floating_point() else numbers).numpy())
    except (RuntimeError, TypeError) as error:  # such as quantised numbers
        raise BadInput(f"{name}: cannot be read as numbers: {error}") from None
