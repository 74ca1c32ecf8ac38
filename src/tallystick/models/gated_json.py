"""A GRU or an LSTM as a JSON object: every matrix a list of rows, in PyTorch's order of gates.

    {"cell": "gru", "input_weight": [[1, -1], …], "recurrent_weight": [[0.5], …], "input_bias": [0, …],
     "recurrent_bias": [0, …], "readout": {"kind": "binary", "weight": [[2.5]], "bias": [0]}}

The biases may be left out and are then zero. Numbers are read as in every model: exactly.
"""

from fractions import Fraction
from typing import Any, cast

from tallystick.arithmetic import exact
from tallystick.cells.gated import GATED_CELLS, Matrix, Vector
from tallystick.documents import Document, exact_number
from tallystick.models.gated_model import GatedModel
from tallystick.readouts import LayerReadout

MOST_UNITS = 64
"""Enough for a few units; each step goes through every weight one by one."""

_OUTPUTS = {"binary": 1, "ternary": 3}


def gated_to_json(model: GatedModel) -> dict[str, object]:
    """Return the model as the object that its file holds."""
    cell, readout = model.cell.converted(exact), model.readout.converted(exact)
    return {
        "cell": gated_name(model),
        "input_weight": _shown(cell.input_weight),
        "recurrent_weight": _shown(cell.recurrent_weight),
        "input_bias": _shown(cell.input_bias),
        "recurrent_bias": _shown(cell.recurrent_bias),
        "readout": {"kind": readout.kind, "weight": _shown(readout.weight), "bias": _shown(readout.bias)},
    }


def gated_from_json(document: Document) -> GatedModel:
    """Read a model whose `cell` is one of `GATED_CELLS`."""
    fields = document.fields(
        required=("cell", "input_weight", "recurrent_weight", "readout"), optional=("input_bias", "recurrent_bias")
    )
    kind = GATED_CELLS[fields["cell"].text()]
    rows = len(list(fields["recurrent_weight"].items()))
    units = rows // kind.gates
    if rows % kind.gates or not 0 < units <= MOST_UNITS:
        fields["recurrent_weight"].refuse(
            f"a list of {kind.gates} rows a unit, for 1 to {MOST_UNITS} units: {rows} rows do not go"
        )
    zeros = (Fraction(0),) * rows
    cell = kind(
        _matrix(fields["input_weight"], rows, 2),
        _matrix(fields["recurrent_weight"], rows, units),
        _vector(fields["input_bias"], rows) if "input_bias" in fields else zeros,
        _vector(fields["recurrent_bias"], rows) if "recurrent_bias" in fields else zeros,
    )
    return GatedModel(cell, _readout(fields["readout"], units))


def gated_name(model: GatedModel) -> str:
    """The name of a model's cell in files."""
    return next(name for name, kind in GATED_CELLS.items() if isinstance(model.cell, kind))


def _readout(document: Document, units: int) -> LayerReadout:
    fields = document.fields(required=("kind", "weight"), optional=("bias",))
    outputs = _OUTPUTS.get(fields["kind"].text())
    if outputs is None:
        fields["kind"].refuse(f"one of {', '.join(_OUTPUTS)}, which read a gated cell")
    bias = _vector(fields["bias"], outputs) if "bias" in fields else (Fraction(0),) * outputs
    return LayerReadout(_matrix(fields["weight"], outputs, units), bias)


def _matrix(document: Document, rows: int, columns: int) -> Matrix:
    found = tuple(_vector(row, columns) for row in document.items())
    if len(found) != rows:
        document.refuse(f"a list of {rows} {'row' if rows == 1 else 'rows'}")
    return found


def _vector(document: Document, size: int) -> Vector:
    found = tuple(exact(entry.value, entry.where) for entry in document.items())
    if len(found) != size:
        document.refuse(f"a list of {size} {'number' if size == 1 else 'numbers'}")
    return found


def _shown(values: Vector | Matrix) -> list[Any]:
    return [_shown(cast("Vector", value)) if isinstance(value, tuple) else exact_number(value) for value in values]
