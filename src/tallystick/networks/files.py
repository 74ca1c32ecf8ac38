"""A network's file, whose kind its suffix tells: safetensors, or else JSON."""

from pathlib import Path

from tallystick.cells import ScalarCell
from tallystick.errors import BadInput
from tallystick.networks.json_files import read_json, write_json
from tallystick.networks.network import Network
from tallystick.networks.safetensors_files import read_safetensors, write_safetensors

_SAFETENSORS = ".safetensors"
# Reading one runs whatever code its writer put into it.
_PICKLES = (".pt", ".pth", ".ckpt", ".bin", ".pkl", ".pickle")


def read_network(path: Path | str) -> Network:
    """Read a network; every complaint names the file and the field or the tensor."""
    path = Path(path)
    _refuse_pickles(path)
    return read_safetensors(path) if path.suffix.lower() == _SAFETENSORS else read_json(path)


def read_scalar_network(path: Path | str) -> Network:
    """Read a network whose cell has one unit and no gates, and refuse any other."""
    network = read_network(path)
    if not isinstance(network.cell, ScalarCell):
        raise BadInput(
            f"{path}: a {network.cell.name} cell; this is for linear, selective, relu and tanh cells, which have no gates"
            " (tallystick certify, accuracy and evaluate take any cell)"
        )
    return network


def write_network(network: Network, path: Path | str) -> None:
    """Write a network so that `read_network` gives an equal one back, every number exact."""
    path = Path(path)
    _refuse_pickles(path)
    if path.suffix.lower() == _SAFETENSORS:
        write_safetensors(network, path)
    else:
        write_json(network, path)


def _refuse_pickles(path: Path) -> None:
    if path.suffix.lower() in _PICKLES:
        raise BadInput(f"{path}: {path.suffix} is a pickle, which can run code; save the weights as .safetensors")
