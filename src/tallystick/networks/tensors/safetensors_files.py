"""A network as a safetensors file, whose tensors are read exactly, bfloat16 among them.

The file is read whole, once, and checked by the safetensors library. Its NumPy reader has no bfloat16, so the bytes that it
hands out are given their type here.
"""

from pathlib import Path
from typing import Any, TypedDict, cast

import ml_dtypes
import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, deserialize  # pyright: ignore[reportUnknownVariableType] -- untyped there
from safetensors.numpy import save

from tallystick.errors import BadInput
from tallystick.files import parse_document, read_bytes, write_whole
from tallystick.networks.asked import Asked
from tallystick.networks.network import Network
from tallystick.networks.tensors.named_tensor import show_name, show_shape
from tallystick.networks.tensors.own_tensors import tensors_of_network
from tallystick.networks.tensors.state_dicts import network_of_tensors

LARGEST = 16 * 2**20

# The format is little-endian on every machine.
_DTYPES = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    **{f"I{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
    **{f"U{8 * size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)},
}
_LENGTH_BYTES = 8
_LONGEST_REASON = 160


class _Entry(TypedDict):
    """A tensor as the library hands it out."""

    dtype: str
    shape: list[int]
    data: bytes


def read_safetensors(path: Path, asked: Asked) -> Network:
    """Read a network; every complaint names the file and the tensor."""
    content = read_bytes(path, LARGEST)
    try:
        return network_of_tensors(_tensors(content), _metadata(content), asked)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def write_safetensors(network: Network, path: Path) -> None:
    """Write a network in float64, whole or not at all; a number that is not a float64 is refused by its name."""
    try:
        content = save(*tensors_of_network(network))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    write_whole(path, lambda temporary: temporary.write_bytes(content))


def _tensors(content: bytes) -> dict[str, npt.NDArray[Any]]:
    try:
        entries = cast("list[tuple[str, _Entry]]", deserialize(content))
    except SafetensorError as error:
        raise BadInput(f"not a safetensors file: {_reason(error)}") from None
    return {name: _array(name, entry) for name, entry in entries}


def _array(name: str, entry: _Entry) -> npt.NDArray[Any]:
    if entry["dtype"] not in _DTYPES:
        raise BadInput(f"{show_name(name)}: entries of type {entry['dtype']} are not one of {', '.join(_DTYPES)}")
    try:
        return np.frombuffer(entry["data"], _DTYPES[entry["dtype"]]).reshape(entry["shape"])
    except (ValueError, OverflowError):  # without an entry the library lets any sizes pass
        shape = show_shape(tuple(entry["shape"]))
        raise BadInput(f"{show_name(name)}: shape {shape} is not one that an array can have") from None


def _metadata(content: bytes) -> dict[str, str]:
    """The file's remarks on itself, text by text, from a header that the library has found sound.

    It is read once more because the library takes the last of two tensors with one name, and here that is not a network.
    """
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    header = parse_document(content[_LENGTH_BYTES : _LENGTH_BYTES + length].decode(), "header")
    return cast("dict[str, dict[str, str] | None]", header.value).get("__metadata__") or {}


def _reason(error: SafetensorError) -> str:
    """The library's reason in one line of readable length, whatever the file put into it."""
    reason = " ".join(str(error).removeprefix("Error while deserializing: ").split())
    return reason if len(reason) <= _LONGEST_REASON else reason[: _LONGEST_REASON - 3] + "..."
