"""A model: a cell and a readout, from JSON, from safetensors, or from PyTorch's modules; every number exact or refused."""

from tallystick.models.json_files import model_to_json
from tallystick.models.model import Model
from tallystick.models.model_files import read_model, write_model
from tallystick.models.pytorch import from_torch

__all__ = ["Model", "from_torch", "model_to_json", "read_model", "write_model"]
