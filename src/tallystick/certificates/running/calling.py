"""Calling a program that is not ours: what it is handed, what it raises, and its answer as an array.

PyTorch and JAX are not imported here: whoever hands over a module or returns a tensor has done so.
"""

import copy
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.networks.declaration import FIRST, LAST, Declaration, doubles, one_hot
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


def codes_of(function: object, declared: Declaration, *, as_vectors: bool) -> Codes:
    """Return what is declared as a program reads it: int64 for indices; vectors, and indices that are to be one-hot, in floats.

    A module reads floats of its own kind. Anything else reads float32 if that holds every number, and float64 if not.
    """
    tokens = [(token, declared.tokens[token]) for token in declared.task.alphabet if declared.tokens]
    first, last = ([(name, code) for code in codes] for name, codes in ((FIRST, declared.first), (LAST, declared.last)))
    every = [code for _, code in (*first, *tokens, *last)]
    width = max((len(code) if isinstance(code, tuple) else code + 1 for code in every), default=0)
    if not as_vectors and all(isinstance(code, int) for code in every):
        return Codes(*(np.array([code for _, code in codes], np.int64) for codes in (first, tokens, last)))
    exact = [np.array([doubles(one_hot(code, width), name) for name, code in codes]) for codes in (first, tokens, last)]
    single = _floats_of(function) is None and all((_rounded(one, "float32") == one).all() for one in exact)
    kind = _floats_of(function) or ("float32" if single else "float64")
    read = Codes(*(_rounded(one.reshape(-1, width), kind) for one in exact))
    _check_rounded(read, [name for name, _ in tokens], kind)
    return read


def _floats_of(function: object) -> str | None:
    """Return the kind of floats that a module computes with; None where it has none, and for anything else."""
    tensors = held_tensors(function) if is_module(function) else ()
    return next((str(held.dtype).removeprefix("torch.") for held in tensors if held.is_floating_point()), None)


def _rounded(numbers: NDArray[np.float64], kind: str) -> NDArray[Any]:
    """Return numbers rounded to a kind of floats, in an array; NumPy holds those of kinds that it does not know as float32."""
    if hasattr(np, kind):
        with np.errstate(over="ignore"):
            return numbers.astype(kind)
    torch = sys.modules["torch"]
    return torch.from_numpy(numbers).to(getattr(torch, kind)).float().numpy()


def _check_rounded(codes: Codes, names: Sequence[str], kind: str) -> None:
    """Refuse vectors that the floats of a module do not hold apart."""
    if not all(np.isfinite(one).all() for one in codes):
        raise BadInput(f"tokens: a vector has a number beyond {kind}, which the module computes with; scale it")
    for place, other in combinations(range(len(names)), 2):
        if np.array_equal(codes.tokens[place], codes.tokens[other]):
            raise BadInput(
                f"tokens: {names[place]!r} and {names[other]!r} are both {codes.tokens[place].tolist()} in {kind}, which the "
                "module computes with, so nothing can tell them apart; call module.double(), or scale them"
            )


def input_of(function: Any, given: NDArray[Any]) -> Any:  # noqa: ANN401 -- PyTorch is not imported
    """Return an array as a program reads it: for a module a tensor on its device, vectors in its dtype."""
    if not is_module(function):
        return given
    torch = sys.modules["torch"]
    tensor, held = torch.from_numpy(np.ascontiguousarray(given)), next(held_tensors(function), None)
    if held is None:
        return tensor
    kind = _floats_of(function) if given.dtype.kind == "f" else None
    return tensor.to(held.device, kind and getattr(torch, kind))


def held_tensors(module: Any) -> Iterator[Any]:  # noqa: ANN401 -- PyTorch is not imported
    """Go through the tensors of a module, which tell its device and dtype."""
    yield from (*module.parameters(), *module.buffers())


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
