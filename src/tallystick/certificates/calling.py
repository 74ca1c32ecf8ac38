"""Calling a program that is not ours: what it is handed, what it raises, and its answer as an array.

PyTorch and JAX are not imported here: whoever hands over a module or returns a tensor has done so.
"""

import platform
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.networks.declaration import Declaration, Encoding, one_hot
from tallystick.networks.pytorch import is_module

_STATES = ("start", "step", "outputs")
_LIBRARIES = ("numpy", "torch", "jax")
_CPU_INFORMATION = Path("/proc/cpuinfo")


class NotRun(BadInput):
    """The program raised an exception where it was run."""


def exposes_state(function: object) -> bool:
    """Say whether an object can be run from state to state."""
    return all(callable(getattr(function, name, None)) for name in _STATES)


def name_of(function: object) -> str:
    """Return the name of a function, or of the class of anything else."""
    name = getattr(function, "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


class Codes(NamedTuple):
    """What is read before a string, for each token by its number, and after the string: indices or vectors."""

    first: NDArray[Any]
    tokens: NDArray[Any]
    last: NDArray[Any]

    @property
    def added(self) -> int:
        """How many tokens are read beside those of the string."""
        return len(self.first) + len(self.last)


def codes_of(declared: Declaration, *, as_vectors: bool) -> Codes:
    """Return what is declared as arrays: int64 for indices; float32 for vectors, and for indices that are to be one-hot ones."""
    tokens = [declared.tokens[token] for token in declared.task.alphabet if declared.tokens]
    every = (*declared.first, *tokens, *declared.last)
    width = max((len(code) if isinstance(code, tuple) else code + 1 for code in every), default=0)
    vectors = as_vectors or any(isinstance(code, tuple) for code in every)

    def array(codes: Sequence[Encoding]) -> NDArray[Any]:
        if not vectors:
            return np.array(codes, np.int64)
        numbers = [[float(number) for number in one_hot(code, width)] for code in codes]
        return np.array(numbers, np.float32).reshape(-1, width)

    return Codes(array(declared.first), array(tokens), array(declared.last))


def input_of(function: Any, given: NDArray[Any]) -> Any:  # noqa: ANN401 -- PyTorch is not imported
    """Return an array as a program reads it: for a module a tensor on its device, vectors in its dtype."""
    if not is_module(function):
        return given
    tensor, held = sys.modules["torch"].from_numpy(np.ascontiguousarray(given)), held_tensor(function)
    if held is None:
        return tensor
    return tensor.to(held.device, held.dtype if given.dtype.kind == "f" and held.is_floating_point() else None)


def held_tensor(module: Any) -> Any:  # noqa: ANN401 -- PyTorch is not imported
    """Return a tensor of a module, which tells its device and dtype; None where there is none."""
    return next(iter((*module.parameters(), *module.buffers())), None)


def run_part(function: object, work: Callable[[], Any], given: str) -> Any:  # noqa: ANN401 -- whatever a program returns
    """Run a part of a program, a module without gradients; what it raises is told with what it was given."""
    try:
        with sys.modules["torch"].no_grad() if is_module(function) else nullcontext():
            return work()
    except Exception as error:
        kind = "module" if is_module(function) else "function"
        raise NotRun(f"{kind}: {name_of(function)} raises {type(error).__name__} on {given}: {error}") from error


def array_of(answer: object) -> NDArray[Any]:
    """Return the outputs of NumPy, PyTorch or JAX, or in lists, as an array; of a tuple the first entry.

    >>> array_of(([1.5, 2], "state")).tolist(), array_of((True, False)).tolist()
    ([1.5, 2.0], [True, False])
    """
    found = cast("Any", answer)
    if isinstance(answer, tuple) and np.ndim(found[0]) > 0:  # else the tuple holds one number per string
        return array_of(found[0])
    if hasattr(found, "detach"):
        found = found.detach().cpu()
        found = found.float() if str(found.dtype) == "torch.bfloat16" else found  # which NumPy does not have
    array: NDArray[Any] = np.asarray(found)
    return array if array.dtype.kind in "biuf" else array.astype(np.float64)


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
