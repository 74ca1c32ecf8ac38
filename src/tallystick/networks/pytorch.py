"""A network from PyTorch's own modules, without importing PyTorch: what is handed in has brought it along.

A module must be no more than its class and its weights. PyTorch offers many places to change what a module computes: hooks
before and after `forward`, for one module or for all, parametrisations that compute its weights, a `forward` of its own.
Each leaves a trace in the module or its class, which is looked for here, and a module that has one is refused. Backward
hooks change gradients alone, and are left alone.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from tallystick.errors import BadInput
from tallystick.networks.named_tensor import named, show_shape
from tallystick.networks.network import Network
from tallystick.networks.state_dicts import Module, modules_of, network_of_modules

_ROWS = {"GRU": 3, "GRUCell": 3, "LSTM": 4, "LSTMCell": 4}
_CELLS = ("RNN", "RNNCell", *_ROWS, "Linear")
_READOUTS = ("Linear",)
_MODES = {"RNN_TANH": "tanh", "RNN_RELU": "relu"}

_HOOKS = {
    "_forward_pre_hooks": "forward pre-hook",
    "_forward_hooks": "forward hook",
    "_state_dict_pre_hooks": "state dict pre-hook",
    "_state_dict_hooks": "state dict hook",
}
_HOOKS_OF_ALL = {"_global_forward_pre_hooks": "forward pre-hook", "_global_forward_hooks": "forward hook"}
_HOME = "torch.nn.modules"
_RELIED_ON = ("forward", "__call__", "state_dict")
"""The functions of a class that decide what a module computes, and with which weights."""


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


def from_torch(cell: TorchModule, readout: TorchModule | None = None) -> Network:
    """Return the network of a PyTorch cell and readout: a = W_open + all biases, b = W_close + all biases, U = W_hh.

    Every weight is taken exactly, and the biases are added exactly into the steps. In real numbers nothing changes; in
    floating point a network that adds its biases one at a time rounds more often than the folded cell. A GRU or an LSTM
    keeps its weights and biases as they are.

    A module that contains cell and readout is refused, since what its `forward` does with them cannot be seen from here. So is
    one to which something was done that may change what it computes, such as a forward hook, a parametrisation, pruning,
    compilation or a `forward` of its own. Backward hooks are allowed.

    Args:
        cell: an `nn.RNN` or `nn.RNNCell` with one unit that reads `(` as [1, 0] and `)` as [0, 1], or the paper's
            `nn.Linear(3, 1)` over [x, h], which is linear; or an `nn.GRU`, `nn.GRUCell`, `nn.LSTM` or `nn.LSTMCell` with a few
            units, one layer and one direction.
        readout: an `nn.Linear(units, 1)`, the binary readout; an `nn.Linear(units, 3)`, the ternary one; None for the zero
            check, which a GRU or an LSTM does not have.

    Raises:
        BadInput: the module is none of these or does something else, or holds a number that is not finite; the message names
            the module and the hook, or the tensor.
    """
    kind = _kind(cell, "cell", _CELLS)
    nonlinearity = None if kind in _ROWS else _nonlinearity(cell, kind)
    if readout is not None:
        _kind(readout, "readout", _READOUTS)
    modules = _module(cell, "cell"), None if readout is None else _module(readout, "readout")
    if kind in _ROWS:
        _check_gates(modules[0], kind)
    return network_of_modules(*modules, nonlinearity)


def _check_gates(module: Module, kind: str) -> None:
    """Refuse a module whose weights were put in place of others: its class says how many rows a unit has."""
    state = module.need("weight_hh")
    if module.gates != _ROWS[kind]:
        state.refuse(f"shape {show_shape(state.array.shape)} has not {_ROWS[kind]} rows a unit, as an nn.{kind} has")


def _kind(module: object, role: str, allowed: tuple[str, ...]) -> str:
    """The name of PyTorch's own class; a subclass may compute something else, so it is not taken for its parent."""
    _check_weights_as_stored(module, role)
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
    _check_plain(module, role)
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


def _check_weights_as_stored(module: object, role: str) -> None:
    """Refuse a module whose weights are computed by a parametrisation, naming it; PyTorch has put it into a class of its own."""
    if type(module).__module__ != "torch.nn.utils.parametrize":
        return
    for name, steps in getattr(module, "parametrizations", {}).items():
        by = ", ".join(_name(step) for step in steps)
        raise BadInput(
            f"{role}: its {name} is parametrised by {by}, which computes it anew each time; "
            "torch.nn.utils.parametrize.remove_parametrizations puts the weights in place"
        )


def _check_plain(module: object, role: str) -> None:
    """Refuse a module of one of PyTorch's own classes to which something was done that may change what it computes."""
    kind = f"torch.nn.{type(module).__name__}"
    for hook in _hooks(module):
        raise BadInput(f"{role}: the {hook} may make something else of this {kind}; remove it first")
    for name in _RELIED_ON:
        # A decorator may copy the names of what it replaces, but not where it was written.
        written = getattr(getattr(type(module), name, None), "__globals__", {}).get("__name__", "")
        if not written.startswith(_HOME):
            raise BadInput(f"{role}: the {name} of {kind} was replaced, so it may compute anything; undo that first")
    for name in vars(module):
        if hasattr(type(module), name):
            raise BadInput(f"{role}: its own {name} takes the place of that of {kind}; delete the attribute first")
    _check_weights(module, role)


def _hooks(module: object) -> Iterator[str]:
    """Go through the hooks that run when a module is called or its weights are asked for, by kind and name."""
    for attribute, kind in _HOOKS.items():
        yield from (f"{kind} {_name(hook)}" for hook in getattr(module, attribute, {}).values())
    home = sys.modules.get(f"{_HOME}.module")
    for attribute, kind in _HOOKS_OF_ALL.items():
        yield from (f"{kind} of all modules {_name(hook)}" for hook in getattr(home, attribute, {}).values())


def _check_weights(module: object, role: str) -> None:
    """Refuse parameters that the module does not compute with."""
    parameters: Mapping[str, Any] = getattr(module, "_parameters", {})
    for name in parameters:
        if name in vars(module):
            raise BadInput(f"{role}: its {name} is hidden by an attribute of the same name; delete the attribute first")
    # A recurrent module computes with a list of its own, which an assignment to the parameter keeps up to date.
    used = zip(getattr(module, "_flat_weights_names", ()), getattr(module, "_flat_weights", ()), strict=False)
    for name, tensor in used:
        if tensor is not parameters.get(name):
            raise BadInput(
                f"{role}.{name}: is not the tensor that the module computes with; "
                f"module.{name} = module.{name} makes it the one"
            )


def _name(hook: object) -> str:
    """Return a function's full name, or its class's where it has none."""
    named = hook if hasattr(hook, "__qualname__") else type(hook)
    return f"{getattr(named, '__module__', '')}.{getattr(named, '__qualname__', '')}"
