"""A model: a cell and a readout, from JSON, from safetensors, or from PyTorch's modules; every number exact or refused."""

from tallystick.models.gated_model import GatedModel
from tallystick.models.json_files import model_from_json, model_to_json
from tallystick.models.model import Model
from tallystick.models.model_files import read_model, read_scalar_model, write_model
from tallystick.models.pytorch import from_torch

__all__ = [
    "GatedModel",
    "Model",
    "from_torch",
    "model_from_json",
    "model_to_json",
    "read_model",
    "read_scalar_model",
    "write_model",
]
