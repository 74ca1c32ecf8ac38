"""A network: a cell, a readout and a task, from JSON, safetensors or PyTorch's modules; every number exact or refused."""

from tallystick.networks.files import (
    network_from_json,
    network_to_json,
    read_network,
    read_scalar_network,
    write_network,
)
from tallystick.networks.network import Network
from tallystick.networks.pytorch import from_torch
from tallystick.networks.pytorch.signals import Unreadable
from tallystick.networks.readout import Readout

__all__ = [
    "Network",
    "Readout",
    "Unreadable",
    "from_torch",
    "network_from_json",
    "network_to_json",
    "read_network",
    "read_scalar_network",
    "write_network",
]
