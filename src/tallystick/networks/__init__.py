"""A network: a cell, a readout and a task, from JSON, safetensors or PyTorch's modules; every number exact or refused.

Modules are read by `networks.pytorch`, which is not imported here: most networks come from files.
"""

from tallystick.networks.files import (
    network_from_json,
    network_to_json,
    read_network,
    read_scalar_network,
    write_network,
)
from tallystick.networks.network import Network
from tallystick.networks.readout import Readout

__all__ = [
    "Network",
    "Readout",
    "network_from_json",
    "network_to_json",
    "read_network",
    "read_scalar_network",
    "write_network",
]
