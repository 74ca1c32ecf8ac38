"""From named tensors to a model: the one place that tells the layouts apart.

A model's own layout holds `open_step`, `close_step`, `recurrent_weight` (one number, or two of a selective cell) and, unless
the readout is the zero check, `readout.weight` and `readout.bias`; the labels `cell` and `readout` name the two kinds. Anything
else is taken for a PyTorch state dict (`tallystick.models.state_dicts`, `gated_state_dicts`), as GRUs and LSTMs always are.

Biases are folded into the steps, a = W_open + all biases, added exactly. In real numbers nothing changes; in floating point
a network that adds its biases one at a time rounds more often than the folded cell.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.cells import CELLS
from tallystick.errors import BadInput
from tallystick.models.floats import as_float
from tallystick.models.gated_json import gated_name
from tallystick.models.gated_model import GatedModel
from tallystick.models.gated_state_dicts import gated_model_of, gates_of, tensors_of_gated
from tallystick.models.model import Model
from tallystick.models.named_tensor import NamedTensor, named, shown_label
from tallystick.models.parts import OUTPUTS, Parts, recurrent_weights
from tallystick.models.state_dicts import Module, modules_of, parts_of_state_dict, sorted_modules

_CELL = ("open_step", "close_step", "recurrent_weight")
_READOUT = ("readout.weight", "readout.bias")

Tensors = Mapping[str, npt.NDArray[Any]]


def model_of_tensors(tensors: Tensors, labels: Mapping[str, str]) -> Model | GatedModel:
    """Return the model that these tensors are.

    Args:
        tensors: arrays by name.
        labels: what the file says of itself: `cell` and `readout` in a model's own layout, `nonlinearity` where a state
            dict needs it. Other labels are left alone; one of these that contradicts the tensors is refused.

    >>> linear = {"step.weight": np.array([[2, -2, 1]]), "step.bias": np.array([0.5])}
    >>> model_of_tensors(linear, {}).cell
    LinearCell(open_step=Fraction(5, 2), close_step=Fraction(-3, 2), recurrent_weight=Fraction(1, 1))
    """
    if any(name in tensors for name in _CELL):
        parts = _own_parts(named(tensors), labels)
    else:
        modules = modules_of(named(tensors))
        if any(module.recurrent and gates_of(module) for module in modules):
            # Beside a gated cell every nn.Linear is a readout, also one of three units, 1×3.
            return _gated(*sorted_modules(modules, lambda module: module.recurrent), labels)
        parts = parts_of_state_dict(modules, labels.get("nonlinearity"))
    _check_labels(labels, parts.cell, parts.readout)
    return parts.model()


def _gated(cell: Module, readout: Module | None, labels: Mapping[str, str]) -> GatedModel:
    model = gated_model_of(cell, readout)
    _check_labels(labels, gated_name(model), model.readout.kind)
    return model


def _check_labels(labels: Mapping[str, str], cell: str, readout: str) -> None:
    """Refuse a file that says something else of itself than its tensors do."""
    for label, right in (("cell", cell), ("readout", readout), ("nonlinearity", cell)):
        if labels.get(label, right) != right:
            raise BadInput(
                f"metadata {label}: {shown_label(labels[label])} contradicts the tensors, which are {right}'s"
            )


def tensors_of_model(model: Model | GatedModel) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, str]]:
    """Return the tensors and the labels of a model's own layout; a number that is no float64 is refused, not rounded."""
    if isinstance(model, GatedModel):
        return tensors_of_gated(model)
    parts = Parts.of(model)
    steps = {"open_step": (parts.open_step,), "close_step": (parts.close_step,)}
    readout = {"readout.weight": parts.weight, "readout.bias": parts.bias} if parts.weight else {}
    numbers = {**steps, "recurrent_weight": parts.recurrent_weight, **readout}
    tensors = {name: np.array([as_float(value, name) for value in values]) for name, values in numbers.items()}
    return tensors, {"cell": parts.cell, "readout": parts.readout}


def _own_parts(tensors: dict[str, NamedTensor], labels: Mapping[str, str]) -> Parts:
    cell = _label(labels, "cell", list(CELLS))
    readout = _label(labels, "readout", list(OUTPUTS))
    size = OUTPUTS[readout]
    allowed = (*_CELL, *(_READOUT if size else ()))
    for name, tensor in tensors.items():
        if name not in allowed:
            tensor.refuse(f"unknown tensor; a {cell} cell with the {readout} readout has {', '.join(allowed)}")
    (open_step,), (close_step,) = (_numbers(tensors, name, 1) for name in ("open_step", "close_step"))
    recurrent = _numbers(tensors, "recurrent_weight", recurrent_weights(cell))
    weight = _numbers(tensors, "readout.weight", size) if size else ()
    bias = _numbers(tensors, "readout.bias", size) if "readout.bias" in tensors else (Fraction(0),) * size
    return Parts(cell, open_step, close_step, recurrent, readout, weight, bias)


def _label(labels: Mapping[str, str], name: str, allowed: list[str]) -> str:
    if name not in labels:
        raise BadInput(f"metadata {name}: missing; write one of {', '.join(allowed)}")
    if labels[name] not in allowed:
        raise BadInput(f"metadata {name}: {shown_label(labels[name])} is not one of {', '.join(allowed)}")
    return labels[name]


def _numbers(tensors: dict[str, NamedTensor], name: str, size: int) -> tuple[Fraction, ...]:
    if name not in tensors:
        raise BadInput(f"tensor {name!r} is missing")
    return tensors[name].numbers((size,), ()) if size == 1 else tensors[name].numbers((size,))
