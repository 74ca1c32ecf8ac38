"""Calling a program that is not ours: how it may be called, what it raises, and what runs it.

PyTorch and JAX are not imported here: whoever hands over a module or returns a tensor has done so.
"""

import copy
import platform
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import MethodType
from typing import Any

from tallystick.certificates.running.token_codes import held_tensors
from tallystick.errors import BadInput
from tallystick.networks.pytorch import is_module

_STATES = ("start", "step", "outputs")
_LIBRARIES = ("numpy", "torch", "jax")
_CPU_INFORMATION = Path("/proc/cpuinfo")


class NotRun(BadInput):
    """The program raised an exception where it was run."""


def exposes_state(function: object) -> bool:
    """Say whether an object has the methods to be run from state to state; parts of a module are no methods."""
    found = [getattr(function, name, None) for name in _STATES]
    return all(callable(one) and not is_module(one) for one in found)


def is_callable(function: object) -> bool:
    """Say whether something can be called with strings; a module is called by its forward, which it may lack."""
    if not is_module(function):
        return callable(function)
    return getattr(function, "forward", None) != MethodType(sys.modules["torch"].nn.Module.forward, function)


def name_of(function: object) -> str:
    """Return the name of a function, or of the class of anything else."""
    name = getattr(function, "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


def own_copy(function: Any) -> Any:  # noqa: ANN401 -- whatever can be called
    """Return a copy of a module, so that nothing in it is changed by running it; the module itself where it cannot be copied."""
    if not is_module(function):
        return function
    try:
        return copy.deepcopy(function)
    except Exception:
        return function


def own_chance(function: object) -> AbstractContextManager[Any]:
    """Return a context in which PyTorch may draw at random, and the caller's generators stay as they are."""
    torch = sys.modules.get("torch")
    if torch is None:
        return nullcontext()
    devices = {tensor.device for tensor in held_tensors(function) if tensor.is_cuda} if is_module(function) else ()
    return torch.random.fork_rng(devices=list(devices))


def run_part(function: object, work: Callable[[], Any], given: str) -> Any:  # noqa: ANN401 -- whatever a program returns
    """Run a part of a program, a module without gradients; what it raises is told with what it was given."""
    try:
        with sys.modules["torch"].no_grad() if is_module(function) else nullcontext():
            return work()
    except Exception as error:
        kind = "module" if is_module(function) else "function"
        raise NotRun(f"{kind}: {name_of(function)} raises {type(error).__name__} on {given}: {_text(error)}") from error


@contextmanager
def modules_run() -> Generator[list[None], None, None]:
    """Return a list that gets an entry for each PyTorch module that has run, so as to tell how far a run came."""
    found: list[None] = []
    torch = sys.modules.get("torch")
    if torch is None:
        yield found
        return

    def note(*_: object) -> None:
        found.append(None)

    handle = torch.nn.modules.module.register_module_forward_hook(note)
    try:
        yield found
    finally:
        handle.remove()


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        return "its message cannot be shown"


def versions() -> dict[str, str]:
    """Return the interpreter, the libraries that are loaded and the processor."""
    loaded = {name: str(sys.modules[name].__version__) for name in _LIBRARIES if name in sys.modules}
    return {"Python": platform.python_version(), **loaded, "processor": _processor()}


def _processor() -> str:
    try:
        lines = _CPU_INFORMATION.read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
