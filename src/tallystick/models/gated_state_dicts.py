"""PyTorch's gated modules: `nn.GRU`, `nn.GRUCell`, `nn.LSTM` and `nn.LSTMCell`, read by an `nn.Linear`.

A unit has three rows in a GRU (r, z, n) and four in an LSTM (i, f, g, o); the number of rows tells the two apart, and nothing
is folded: a GRU's b_hn is multiplied by r before it is added.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from tallystick.arithmetic import exact
from tallystick.cells.gated import GATED_CELLS, Matrix, Vector
from tallystick.errors import BadInput
from tallystick.models.floats import as_float
from tallystick.models.gated_json import MOST_UNITS, gated_name
from tallystick.models.gated_model import GatedModel
from tallystick.models.named_tensor import shown_shape
from tallystick.models.state_dicts import Module
from tallystick.readouts import LayerReadout

_KINDS = {kind.gates: name for name, kind in GATED_CELLS.items()}
_BIASES = ("bias_ih", "bias_hh")
_READOUTS = (1, 3)


def gates_of(module: Module) -> int:
    """How many rows a unit a recurrent module has: 3 for a GRU, 4 for an LSTM; 0 where the shape tells of neither."""
    shape = module.tensors["weight_hh"].array.shape if "weight_hh" in module.tensors else ()
    if len(shape) != 2 or not shape[1] or shape[0] % shape[1]:  # noqa: PLR2004 -- rows and columns
        return 0
    return shape[0] // shape[1] if shape[0] // shape[1] in _KINDS else 0


def gated_model_of(cell: Module, readout: Module | None) -> GatedModel:
    """Return the model of a gated module and the linear one that reads it."""
    state, gates = cell.need("weight_hh"), gates_of(cell)
    rows, units = state.array.shape
    if units > MOST_UNITS:
        state.refuse(f"shape {shown_shape(state.array.shape)} has {units} units; at most {MOST_UNITS} are read")
    with_bias = any(name in cell.tensors for name in _BIASES)  # PyTorch has both or none; one alone is something else
    biases = [cell.need(name).numbers((rows,)) if with_bias else (Fraction(0),) * rows for name in _BIASES]
    weights = [_matrix(cell, name, rows, columns) for name, columns in (("weight_ih", 2), ("weight_hh", units))]
    name = _KINDS[gates]
    if readout is None:
        raise BadInput(
            f"readout: missing; an nn.{name.upper()} is read by an nn.Linear({units}, 1) or an nn.Linear({units}, 3)"
        )
    return GatedModel(GATED_CELLS[name](*weights, *biases), _readout(readout, units))


def tensors_of_gated(model: GatedModel) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, str]]:
    """Return a model as PyTorch's state dict, and the labels for its file; a number that is no float64 is refused."""
    cell, readout = model.cell.converted(exact), model.readout.converted(exact)
    values: Mapping[str, Vector | Matrix] = {
        "weight_ih_l0": cell.input_weight,
        "weight_hh_l0": cell.recurrent_weight,
        "bias_ih_l0": cell.input_bias,
        "bias_hh_l0": cell.recurrent_bias,
        "readout.weight": readout.weight,
        "readout.bias": readout.bias,
    }
    tensors = {name: np.array(_floats(numbers, name)) for name, numbers in values.items()}
    return tensors, {"cell": gated_name(model), "readout": readout.kind}


def _floats(values: Vector | Matrix, name: str) -> list[object]:
    return [
        _floats(cast("Vector", value), name) if isinstance(value, tuple) else as_float(value, name) for value in values
    ]


def _matrix(module: Module, name: str, rows: int, columns: int) -> Matrix:
    numbers = module.need(name).numbers((rows, columns))
    return tuple(numbers[start : start + columns] for start in range(0, len(numbers), columns))


def _readout(module: Module, units: int) -> LayerReadout:
    weight = module.need("weight")
    shapes = [(outputs, units) for outputs in _READOUTS]
    if weight.array.shape not in shapes:
        weight.refuse(
            f"shape {shown_shape(weight.array.shape)} is neither a binary readout of {units} "
            f"{'unit' if units == 1 else 'units'}, {shown_shape(shapes[0])}, nor a ternary one, {shown_shape(shapes[1])}"
        )
    outputs = weight.array.shape[0]
    bias = module.tensors["bias"].numbers((outputs,)) if "bias" in module.tensors else (Fraction(0),) * outputs
    return LayerReadout(_matrix(module, "weight", outputs, units), bias)
