"""A state dict from a `.pt` or `.pth` file, which is a pickle: PyTorch reads its tensors alone and runs nothing that it holds.

    torch.save(module.state_dict(), "network.pt")
    tallystick certify network.pt --nonlinearity tanh --task binary

That is `torch.load(..., weights_only=True)`. A file of that kind has no metadata, so whatever weights do not tell is said when it
is read. Whole modules are never read: they would have to be unpickled.
"""

import io
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tallystick.errors import BadInput
from tallystick.files import read_bytes
from tallystick.networks.asked import Asked
from tallystick.networks.network import Network
from tallystick.networks.tensors.named_tensor import show_name
from tallystick.networks.tensors.state_dicts import network_of_tensors

SAVE = 'from safetensors.torch import save_file; save_file(module.state_dict(), "network.safetensors")'
"""How weights are saved without a pickle."""

_LARGEST = 16 * 2**20
_MOST_ENTRIES = _LARGEST // 4


def read_torch(path: Path, asked: Asked) -> Network:
    """Read a network from a state dict that `torch.save` wrote; every complaint names the file and the tensor."""
    content = read_bytes(path, _LARGEST)
    try:
        tensors = {name: _array(name, tensor) for name, tensor in _state_dict(content).items()}
        return network_of_tensors(tensors, {}, asked)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def _state_dict(content: bytes) -> dict[str, Any]:
    try:
        torch: Any = import_module("torch")  # which the core install does not have
    except ImportError:
        raise BadInput(
            f"a pickle, whose tensors alone PyTorch would read, which is not installed; save the weights as .safetensors: {SAVE}"
        ) from None
    try:
        found: object = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except Exception:
        raise BadInput(
            "a pickle that PyTorch does not read with weights_only=True, as it does torch.save(module.state_dict(), ...); save "
            f"the weights as .safetensors: {SAVE}"
        ) from None
    if not isinstance(found, Mapping) or not all(
        isinstance(name, str) and type(tensor) is torch.Tensor
        for name, tensor in cast("Mapping[Any, Any]", found).items()
    ):
        raise BadInput(f"not a state dict, tensors by name; save one as .safetensors: {SAVE}")
    return dict(cast("Mapping[str, Any]", found))


def _array(name: str, tensor: Any) -> npt.NDArray[Any]:  # noqa: ANN401 -- a tensor of PyTorch's
    """Return the numbers of a tensor, each of which a float64 or a whole number is exactly."""
    if (
        str(tensor.layout) != "torch.strided"
        or tensor.is_quantized
        or tensor.is_complex()
        or tensor.device.type != "cpu"
    ):
        raise BadInput(f"{show_name(name)}: entries of {tensor.dtype}, {tensor.layout}, are not plain numbers")
    if tensor.numel() > _MOST_ENTRIES:
        raise BadInput(
            f"{show_name(name)}: {tensor.numel():,} entries are more than {_MOST_ENTRIES:,}, the most that is read"
        )
    plain = tensor.detach()
    return np.asarray(plain.double().numpy() if plain.is_floating_point() else plain.numpy())
