"""What a program returns, as outputs: one row of doubles per string.

A program may return its outputs among other arrays, in a tuple or a dictionary. Which of them they are and what form they have is
found once (`probe`), and is the same for all strings.
"""

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput

Outputs = NDArray[np.float64]
"""One row of outputs per string."""

Arrays = Sequence[NDArray[Any]]
"""All arrays that a program returns for some strings."""

_DOUBLE_BYTES = 8
_LARGEST_EXACT = 2**52
"""Up to here doubles hold every whole number, and so they do next to it."""


class Form(NamedTuple):
    """What the outputs of a program are.

    Attributes:
        outputs: how many there are for a string.
        every_step: whether they come after every token.
        bools: whether they are bools.
        place: which of the arrays that the program returns holds them.
        rounding: by which share of the greatest of them two runs may differ.
    """

    outputs: int
    every_step: bool = False
    bools: bool = False
    place: int = 0
    rounding: float = 0.0

    def read(self, arrays: Arrays, strings: int, tokens: int, *, length_first: bool) -> Outputs | None:
        """Return the outputs of so many strings of so many tokens as doubles; None where they have another shape.

        Raises:
            BadInput: a number is complex, or no double.
        """
        if self.place >= len(arrays):
            return None
        array = arrays[self.place]
        if self.every_step and array.ndim > 1:
            array = array.swapaxes(0, 1) if length_first else array
            array = array[:, -1] if array.shape[1] == tokens else array
        if array.shape[:1] != (strings,) or array.size != strings * self.outputs:
            return None
        return _doubles(array.reshape(strings, -1))


def arrays_of(answer: object) -> list[NDArray[Any]]:
    """Return the arrays of NumPy, PyTorch or JAX, or in lists, that a program returns: one, or those in tuples and dictionaries.

    >>> [array.tolist() for array in arrays_of(([1.5, 2], {"state": [3]}, "name"))], arrays_of((True, False))[0].tolist()
    ([[1.5, 2.0], [3]], [True, False])
    """
    if isinstance(answer, Mapping):
        parts = list(cast("Mapping[Any, object]", answer).values())
    elif isinstance(answer, tuple) and not all(map(_is_number, cast("tuple[Any, ...]", answer))):
        parts = list(cast("tuple[Any, ...]", answer))
    else:  # a tuple of numbers has one per string
        return [_array(answer)]
    found: list[NDArray[Any]] = []
    for part in parts:
        try:
            found += arrays_of(part)
        except (TypeError, ValueError):  # something else than numbers, beside them
            continue
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, Number) or getattr(value, "ndim", None) == 0


def _array(value: Any) -> NDArray[Any]:  # noqa: ANN401 -- an array of any library, or a list
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # which NumPy does not have
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.kind in "biufc":
        return array
    numbers = array.astype(np.float64)
    return array if array.dtype.kind == "O" else numbers


def _doubles(array: NDArray[Any]) -> Outputs:
    """Return numbers as doubles; refuse those that are none, since two of them might become equal."""
    if array.dtype.kind == "c":
        raise BadInput("complex numbers, of which none is the greatest; return real ones")
    outputs = array.astype(np.float64)
    finite = np.isfinite(outputs)
    if array.dtype.kind == "f":
        same = array.dtype.itemsize <= _DOUBLE_BYTES or (outputs.astype(array.dtype) == array)[finite].all()
    elif array.dtype.kind == "O" or np.abs(outputs).max() > _LARGEST_EXACT:
        same = (array.astype(object) == outputs)[finite].all()  # one by one, exactly
    else:
        same = True
    if not same:
        raise BadInput(f"numbers ({array.dtype}) that float64 does not hold; return smaller or rounded ones")
    return outputs
