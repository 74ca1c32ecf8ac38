"""A model's file, whose kind its suffix tells: safetensors, or else JSON."""

from pathlib import Path

from tallystick.errors import BadInput
from tallystick.models.gated_json import gated_name
from tallystick.models.gated_model import GatedModel
from tallystick.models.json_files import read_json, write_json
from tallystick.models.model import Model
from tallystick.models.safetensors_files import read_safetensors, write_safetensors

_SAFETENSORS = ".safetensors"
# Reading one runs whatever code its writer put into it.
_PICKLES = (".pt", ".pth", ".ckpt", ".bin", ".pkl", ".pickle")


def read_model(path: Path | str) -> Model | GatedModel:
    """Read a model; every complaint names the file and the field or the tensor."""
    path = Path(path)
    _refuse_pickles(path)
    return read_safetensors(path) if path.suffix.lower() == _SAFETENSORS else read_json(path)


def read_scalar_model(path: Path | str) -> Model:
    """Read a model whose cell has one unit and no gates, and refuse any other."""
    model = read_model(path)
    if isinstance(model, GatedModel):
        raise BadInput(
            f"{path}: a {gated_name(model)} cell; this is for linear, selective, relu and tanh cells, which have no gates"
            " (tallystick certify, accuracy and evaluate take any cell)"
        )
    return model


def write_model(model: Model | GatedModel, path: Path | str) -> None:
    """Write a model so that `read_model` gives an equal one back, every number exact."""
    path = Path(path)
    _refuse_pickles(path)
    if path.suffix.lower() == _SAFETENSORS:
        write_safetensors(model, path)
    else:
        write_json(model, path)


def _refuse_pickles(path: Path) -> None:
    if path.suffix.lower() in _PICKLES:
        raise BadInput(f"{path}: {path.suffix} is a pickle, which can run code; save the weights as .safetensors")
