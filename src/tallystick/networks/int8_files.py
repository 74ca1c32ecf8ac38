"""Matrices of int8 and their scales in files, multiplied out exactly where they are read.

In JSON a matrix may be an object, with one scale for each row or one for all:

    "recurrent_weight": {"int8": [[127, -3], [0, 64]], "scale": ["0x1p-7", 0.0078125]}

In safetensors files and state dicts a tensor of int8 stands beside another of the same name and `_scale`.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks.tensors.named_tensor import show_name, show_shape
from tallystick.numbers import exact
from tallystick.numbers.scaled_weights import LEAST_WHOLE, MOST_WHOLE

INT8 = "int8"
"""The field that tells such an object from others."""

_SCALE = "_scale"
_MATRIX = 2


def read_int8(document: Document) -> list[list[Fraction]]:
    """Return the exact numbers of a matrix of int8 with its scales."""
    parts = document.fields(required=(INT8, "scale"))
    rows = [[_whole(entry) for entry in row.items()] for row in parts[INT8].items()]
    scale = parts["scale"]
    one = not isinstance(scale.value, list)
    scales = [exact(entry.value, entry.where) for entry in ([scale] * len(rows) if one else scale.items())]
    if len(scales) != len(rows):
        scale.refuse(f"one scale, or one for each of {len(rows)} rows")
    return [[whole * factor for whole in row] for row, factor in zip(rows, scales, strict=True)]


def _whole(entry: Document) -> int:
    if not LEAST_WHOLE <= entry.whole() <= MOST_WHOLE:
        entry.refuse(f"a whole number from {LEAST_WHOLE} to {MOST_WHOLE}")
    return entry.whole()


def multiply_out_tensors(tensors: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return tensors of which those of int8 that have a scale are multiplied out, in doubles, exactly."""
    found = dict(tensors)
    for name in tensors:
        scale, whole = found.get(name + _SCALE), found.get(name)
        if whole is None or whole.dtype != np.int8 or (scale is None and whole.ndim != _MATRIX):
            continue
        if scale is None:
            raise BadInput(
                f"{show_name(name)}: int8 without {show_name(name + _SCALE)} beside it, which its numbers are multiplied by; "
                "save the scale, or 1 where they are the weights themselves"
            )
        if whole.ndim != _MATRIX or scale.shape not in ((), (1,), whole.shape[:1], (*whole.shape[:1], 1)):
            raise BadInput(
                f"{show_name(name + _SCALE)}: shape {show_shape(scale.shape)} is neither one scale nor one for each row of "
                f"{show_name(name)}, {show_shape(whole.shape)}"
            )
        if scale.dtype.itemsize > np.dtype(np.float32).itemsize or not np.isfinite(scale.astype(np.float64)).all():
            raise BadInput(f"{show_name(name + _SCALE)}: a scale is not a finite number of float32 or less")
        found[name] = whole.astype(np.float64) * scale.astype(np.float64).reshape(-1, 1)
        del found[name + _SCALE]
    return found
