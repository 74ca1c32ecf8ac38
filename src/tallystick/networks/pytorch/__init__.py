"""PyTorch's modules as networks: a cell and a readout from their weights, whole modules from a run of their forward."""

from tallystick.networks.pytorch.from_torch import from_torch, is_module
from tallystick.networks.pytorch.signals import Unreadable

__all__ = ["Unreadable", "from_torch", "is_module"]
