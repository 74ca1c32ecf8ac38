"""What a program reads for each token, as arrays and tensors: indices, or vectors in floats that hold them."""

import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.networks.declaration import FIRST, LAST, Declaration, doubles, one_hot
from tallystick.networks.pytorch import is_module


class Codes(NamedTuple):
    """What is read before a string, for each token by its number, and after the string: indices or vectors."""

    first: NDArray[Any]
    tokens: NDArray[Any]
    last: NDArray[Any]

    @property
    def added(self) -> int:
        """How many tokens are read beside those of the string."""
        return len(self.first) + len(self.last)


def codes_of(function: object, declared: Declaration, width: int = 0) -> Codes:
    """Return what is declared as a program reads it: int64 for indices; vectors, and one-hot ones of a width, in floats.

    A module reads floats of its own kind. Anything else reads float32 if that holds every number, and float64 if not.
    """
    tokens = [(token, declared.tokens[token]) for token in declared.task.alphabet if declared.tokens]
    first, last = ([(name, code) for code in codes] for name, codes in ((FIRST, declared.first), (LAST, declared.last)))
    every = [code for _, code in (*first, *tokens, *last)]
    if not width and all(isinstance(code, int) for code in every):
        return Codes(*(np.array([code for _, code in codes], np.int64) for codes in (first, tokens, last)))
    width = width or max(len(code) for code in every if isinstance(code, tuple))
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
