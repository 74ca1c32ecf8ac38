"""A model as a JSON file.

    {"cell": "linear", "open_step": 1, "close_step": "-1/1", "recurrent_weight": "0x1p+0",
     "readout": {"kind": "binary", "weight": [2.5], "bias": [0]}}

Numbers may be JSON numbers, "p/q" or C hex floats and are read exactly: 0.1 is one tenth, and the float nearest to it is
written as a hex float. A selective cell has `"recurrent_weight": [P, Q]`; `"readout": {"kind": "zero"}` is the zero check.
A GRU or an LSTM has other fields (`tallystick.models.gated_json`).
"""

from fractions import Fraction
from pathlib import Path
from typing import cast

from tallystick.arithmetic import exact
from tallystick.cells import CELLS
from tallystick.cells.gated import GATED_CELLS
from tallystick.documents import Document, exact_number, read_as, write_document
from tallystick.models.gated_json import gated_from_json, gated_to_json
from tallystick.models.gated_model import GatedModel
from tallystick.models.model import Model
from tallystick.models.parts import OUTPUTS, Parts, recurrent_weights


def read_json(path: Path) -> Model | GatedModel:
    """Read a model; every complaint names the file and the field."""
    return read_as(path, model_from_json)


def write_json(model: Model | GatedModel, path: Path) -> None:
    """Write a model so that `read_json` gives an equal one back, every number exact."""
    write_document(model_to_json(model), path)


def model_from_json(document: Document) -> Model | GatedModel:
    """Return the model that an object holds; every complaint names the field."""
    content = document.value
    if isinstance(content, dict) and cast("dict[str, object]", content).get("cell") in list(GATED_CELLS):
        return gated_from_json(document)
    fields = document.fields(required=("cell", "open_step", "close_step", "recurrent_weight", "readout"))
    name = fields["cell"].text()
    if name not in CELLS:
        fields["cell"].refuse(f"one of {', '.join((*CELLS, *GATED_CELLS))}")
    steps = _number(fields["open_step"]), _number(fields["close_step"])
    return Parts(name, *steps, _recurrent(fields["recurrent_weight"], name), *_readout(fields["readout"])).model()


def model_to_json(model: Model | GatedModel) -> dict[str, object]:
    """Return the model as the object that its file holds."""
    if isinstance(model, GatedModel):
        return gated_to_json(model)
    parts = Parts.of(model)
    recurrent = [exact_number(weight, "recurrent_weight") for weight in parts.recurrent_weight]
    readout: dict[str, object] = {"kind": parts.readout}
    for name in ("weight", "bias") if OUTPUTS[parts.readout] else ():
        readout[name] = [exact_number(number, f"readout.{name}") for number in getattr(parts, name)]
    return {
        "cell": parts.cell,
        "open_step": exact_number(parts.open_step, "open_step"),
        "close_step": exact_number(parts.close_step, "close_step"),
        "recurrent_weight": recurrent if len(recurrent) > 1 else recurrent[0],
        "readout": readout,
    }


def _recurrent(document: Document, cell: str) -> tuple[Fraction, ...]:
    size = recurrent_weights(cell)
    return (_number(document),) if size == 1 else _numbers(document, size)


def _readout(document: Document) -> tuple[str, tuple[Fraction, ...], tuple[Fraction, ...]]:
    kind = document.fields(required=("kind",), optional=("weight", "bias"))["kind"]
    size = OUTPUTS.get(kind.text())
    if size is None:
        kind.refuse(f"one of {', '.join(OUTPUTS)}")
    if size == 0:
        document.fields(required=("kind",))
        return kind.text(), (), ()
    fields = document.fields(required=("kind", "weight"), optional=("bias",))
    bias = _numbers(fields["bias"], size) if "bias" in fields else (Fraction(0),) * size
    return kind.text(), _numbers(fields["weight"], size), bias


def _numbers(document: Document, size: int) -> tuple[Fraction, ...]:
    numbers = tuple(_number(entry) for entry in document.items())
    if len(numbers) != size:
        document.refuse(f"a list of {size} {'number' if size == 1 else 'numbers'}")
    return numbers


def _number(document: Document) -> Fraction:
    return exact(document.value, document.where)
