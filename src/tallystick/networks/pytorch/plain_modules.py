"""A PyTorch module that is no more than its class and its weights, or else is refused.

PyTorch offers many places to change what a module computes: hooks before and after `forward`, for one module or for all,
parametrisations that compute its weights, a `forward` of its own. Each leaves a trace in the module or its class, which is
looked for here, and a module that has one is refused. Backward hooks change gradients alone, and are left alone.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.errors import BadInput
from tallystick.networks.pytorch.signals import Unreadable

_HOOKS = {
    "_forward_pre_hooks": "forward pre-hook",
    "_forward_hooks": "forward hook",
    "_state_dict_pre_hooks": "state dict pre-hook",
    "_state_dict_hooks": "state dict hook",
}
_HOOKS_OF_ALL = {"_global_forward_pre_hooks": "forward pre-hook", "_global_forward_hooks": "forward hook"}
HOME = "torch.nn.modules"
_RELIED_ON = ("forward", "__call__", "state_dict")
"""The functions of a class that decide what a module computes, and with which weights."""


def check_weights_as_stored(module: object, role: str) -> None:
    """Refuse a module whose weights are computed by a parametrisation, naming it; PyTorch has put it into a class of its own."""
    if type(module).__module__ != "torch.nn.utils.parametrize":
        return
    for name, steps in getattr(module, "parametrizations", {}).items():
        by = ", ".join(_name(step) for step in steps)
        raise BadInput(
            f"{role}: its {name} is parametrised by {by}, which computes it anew each time; "
            "torch.nn.utils.parametrize.remove_parametrizations puts the weights in place"
        )


def check_plain(module: object, role: str) -> None:
    """Refuse a module of one of PyTorch's own classes to which something was done that may change what it computes."""
    kind = f"torch.nn.{type(module).__name__}"
    for hook in _hooks(module):
        raise BadInput(f"{role}: the {hook} may make something else of this {kind}; remove it first")
    for name in _RELIED_ON:
        # A decorator may copy the names of what it replaces, but not where it was written.
        written = getattr(getattr(type(module), name, None), "__globals__", {}).get("__name__", "")
        if not written.startswith(HOME):
            raise BadInput(f"{role}: the {name} of {kind} was replaced, so it may compute anything; undo that first")
    for name in vars(module):
        if hasattr(type(module), name):
            raise BadInput(f"{role}: its own {name} takes the place of that of {kind}; delete the attribute first")
    _check_weights(module, role)


def check_inner_modules(module: Any) -> None:  # noqa: ANN401 -- torch.nn.Module
    """Refuse hooks and computed weights anywhere in a module."""
    for name, inner in module.named_modules():
        role = f"module.{name}" if name else "module"
        home = type(inner).__module__
        if home.startswith("torch.jit"):
            raise Unreadable(f"{role}: TorchScript has compiled it, so that its steps are not seen")
        if home.startswith("torch._dynamo"):
            raise BadInput(f"{role}: torch.compile has wrapped it; hand in the module itself, which is its _orig_mod")
        check_weights_as_stored(inner, role)
        for hook in _hooks(inner):
            raise BadInput(f"{role}: the {hook} may change what it computes; remove it first")
        _check_weights(inner, role)


def check_eval(module: Any) -> None:  # noqa: ANN401 -- torch.nn.Module
    """Refuse a module of which a part is in training mode."""
    if any(part.training for part in module.modules()):
        raise BadInput(
            "module: is in training mode, in which dropout and batch statistics change its outputs; call module.eval() first"
        )


def check_forward(module: Any) -> None:  # noqa: ANN401 -- torch.nn.Module
    """Refuse a module that cannot be called with the tokens alone."""
    kind = type(module).__name__
    if getattr(module.forward, "__name__", "") == "_forward_unimplemented":
        raise BadInput(f"module: {kind} has no forward; hand in a module whose forward(tokens) returns the answers")
    try:
        inspect.signature(module.forward).bind(None)
    except TypeError as error:
        raise BadInput(
            f"module: the forward of {kind} cannot be called with the tokens alone ({error}); hand in a module whose "
            "forward(tokens) calls it with all that it takes"
        ) from None
    except ValueError:  # a forward that does not tell what it takes
        return


def _hooks(module: object) -> Iterator[str]:
    """Go through the hooks that run when a module is called or its weights are asked for, by kind and name."""
    for attribute, kind in _HOOKS.items():
        yield from (f"{kind} {_name(hook)}" for hook in getattr(module, attribute, {}).values())
    home = sys.modules.get(f"{HOME}.module")
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
