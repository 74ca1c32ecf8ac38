"""The ways to hand strings to a module: tokens as indices or vectors, strings along the first axis or the second, or one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.errors import BadInput
from tallystick.networks.declaration import Declaration, Encoding, one_hot
from tallystick.networks.pytorch.labels import Ints, Torch
from tallystick.networks.pytorch.signals import Floats
from tallystick.networks.pytorch.tracing import Reading

_BATCH = 3
_LARGEST = int(np.finfo(np.float64).max)


@dataclass(frozen=True)
class Way:
    """A way to hand strings to a module.

    Attributes:
        names: what each token is declared as: those of the alphabet, then what is read before and after every string.
        numbers: the same as one column per token: its vector, or its index.
        as_index: whether the module reads indices, and not vectors.
        batch_axis: where the strings lie; None where the module reads one string alone.
        batch: how many strings it is run on at once.
        before: how many tokens stand before every string.
        after: how many stand after it.
    """

    names: tuple[Encoding, ...]
    numbers: Floats
    as_index: bool
    batch_axis: int | None
    batch: int
    before: tuple[int, ...]
    after: tuple[int, ...]

    def reading(self, strings: Ints) -> Reading:
        """Return strings, one row of tokens each, as the module reads them."""
        ends = [np.tile(np.array(one, np.int64), (len(strings), 1)) for one in (self.before, self.after)]
        tokens = np.concatenate([ends[0], strings, ends[1]], axis=1)
        return Reading(tokens, self.numbers, self.as_index, self.batch_axis)

    def __str__(self) -> str:
        """Say how the module is run."""
        shape = {0: "strings × tokens", 1: "tokens × strings", None: "tokens of one string"}[self.batch_axis]
        return f"{'indices' if self.as_index else f'vectors of {len(self.numbers)} numbers'}, {shape}"


def ways(module: Torch, declaration: Declaration) -> Iterator[Way]:
    """Go through all ways that a declaration allows, those for several strings first."""
    names = tuple(dict.fromkeys((*declaration.tokens.values(), *declaration.first, *declaration.last)))
    names = (*declaration.tokens.values(), *(one for one in names if one not in declaration.tokens.values()))
    forms = [(as_index, numbers) for as_index, numbers in _forms(module, names)]
    ends = [tuple(map(names.index, found)) for found in (declaration.first, declaration.last)]
    for axis, batch in ((0, _BATCH), (1, _BATCH), (0, 1), (1, 1), (None, 1)):
        for as_index, numbers in forms:
            yield Way(names, numbers, as_index, axis, batch, *ends)


def _forms(module: Torch, names: tuple[Encoding, ...]) -> Iterator[tuple[bool, Floats]]:
    """Go through what tokens may be read as: vectors where these are declared, else indices, or one-hot vectors."""
    if isinstance(names[0], tuple):
        yield False, _columns(names)
        return
    indices = [one for one in names if isinstance(one, int)]
    yield True, np.array([indices], np.float64)
    for size in one_hot_sizes(module, indices):
        yield False, _columns(tuple(one_hot(index, size) for index in indices))


def one_hot_sizes(module: Torch, indices: Iterable[int]) -> list[int]:
    """Return how long one-hot vectors for indices may be: as short as these allow, or as a part of the module reads them."""
    least = max(indices) + 1
    sizes = [getattr(inner, "input_size", getattr(inner, "in_features", 0)) for inner in module.modules()]
    return sorted({least, *(size for size in sizes if isinstance(size, int) and size > least)})


def _columns(vectors: tuple[Any, ...]) -> Floats:
    for number in (number for vector in vectors for number in vector):
        if not -_LARGEST <= number <= _LARGEST or number != float(number):
            raise BadInput(
                "tokens: a vector has a number that is not exactly a double, so the module cannot be run on it; round it first"
            )
    return np.ascontiguousarray(np.array([[float(number) for number in vector] for vector in vectors]).T)
