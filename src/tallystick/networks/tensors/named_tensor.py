"""A tensor that knows its name, so that every complaint about its shape or its numbers names it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tallystick.errors import BadInput
from tallystick.numbers import exact

# Each of these is exactly a float64. A wider float or a boolean is none of them and is refused.
_FLOATS = {np.dtype(kind) for kind in (np.float16, np.float32, np.float64, ml_dtypes.bfloat16)}
_LONGEST_TEXT = 80


@dataclass(frozen=True, eq=False)
class NamedTensor:
    """An array of numbers and the name that it has in its file or module."""

    name: str
    array: npt.NDArray[Any]

    def refuse(self, reason: str) -> NoReturn:
        """Raise `BadInput`, naming this tensor."""
        raise BadInput(f"{show_name(self.name)}: {reason}")

    def numbers(self, *shapes: tuple[int, ...]) -> tuple[Fraction, ...]:
        """Return the entries of a tensor of one of these shapes, row by row, each the rational that it is."""
        if self.array.shape not in shapes:
            self.refuse(f"shape {show_shape(self.array.shape)} is not {' or '.join(map(show_shape, shapes))}")
        entries = zip(np.ndindex(self.array.shape), self._values(), strict=True)
        return tuple(exact(value, self._entry(place)) for place, value in entries)

    def _values(self) -> list[int | float]:
        if self.array.dtype in _FLOATS:
            return self.array.astype(np.float64).ravel().tolist()
        if self.array.dtype.kind in "iu":
            return self.array.ravel().tolist()
        return self.refuse(f"entries of {self.array.dtype} are neither floats of at most 64 bits nor whole numbers")

    def _entry(self, place: tuple[int, ...]) -> str:
        return show_name(self.name) + (f"[{', '.join(map(str, place))}]" if place else "")


def named(tensors: Mapping[str, npt.NDArray[Any]]) -> dict[str, NamedTensor]:
    """Give each tensor its name, in the order of the names: the first complaint is then always the same one."""
    return {name: NamedTensor(name, tensors[name]) for name in sorted(tensors)}


def show_name(name: str) -> str:
    """Return a tensor's name on one line, whatever its writer put into it."""
    return _shorten(name if name.isprintable() and name else repr(name))


def show_label(label: str) -> str:
    """Return a piece of metadata on one line, in quotes."""
    return _shorten(repr(label))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."


def show_shape(shape: tuple[int, ...]) -> str:
    """Return a shape as it is spoken of.

    >>> show_shape((1, 2)), show_shape((3,)), show_shape(())
    ('1×2', '3', 'of a single number')
    """
    return "×".join(map(str, shape)) if shape else "of a single number"
