"""A model: a cell and a readout, read from and written to JSON.

    {"cell": "linear", "open_step": 1, "close_step": "-1/1", "recurrent_weight": "0x1p+0",
     "readout": {"kind": "binary", "weight": [2.5], "bias": [0]}}

Numbers may be JSON numbers, "p/q" or C hex floats and are read exactly: 0.1 is one tenth, and the float nearest to it is
written as a hex float. A selective cell has `"recurrent_weight": [P, Q]`; `"readout": {"kind": "zero"}` is the zero check.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from tallystick.arithmetic import ARITHMETICS, exact
from tallystick.cells import CELLS, Cell, LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.documents import Document, read_as, write_document
from tallystick.errors import BadInput
from tallystick.readouts import READOUTS, BinaryReadout, Readout, TernaryReadout, ZeroCheck


@dataclass(frozen=True)
class Model:
    """A network as a whole: it reads a string and gives a class."""

    cell: Cell
    readout: Readout

    def __post_init__(self) -> None:
        """Refuse what is no cell or no readout."""
        for field, kind in (("cell", Cell), ("readout", Readout)):
            if not isinstance(getattr(self, field), kind):
                raise BadInput(f"{field}: {getattr(self, field)!r} is not a {kind.__name__}")

    def class_of(self, string: str) -> StrEnum:
        """Return the class that the model gives a string."""
        return self.readout.class_of(self.cell.final_state(string))

    def in_arithmetic(self, name: str) -> "Model":
        """Return the model with every weight rounded to a named arithmetic; running it then rounds at every step."""
        if name not in ARITHMETICS:
            raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(ARITHMETICS)}")
        return Model(self.cell.converted(ARITHMETICS[name]), self.readout.converted(ARITHMETICS[name]))


def read_model(path: Path | str) -> Model:
    """Read a model; every complaint names the file and the field."""
    return read_as(Path(path), _model)


def write_model(model: Model, path: Path | str) -> None:
    """Write a model so that `read_model` gives an equal one back, every number exact."""
    write_document(model_to_json(model), Path(path))


def model_to_json(model: Model) -> dict[str, object]:
    """Return the model as the object that its file holds."""
    cell = model.cell.converted(exact)
    name = next(name for name, kind in CELLS.items() if isinstance(cell, kind))
    if isinstance(cell, SelectiveCell):
        recurrent: object = [_shown(cell.open_recurrent_weight), _shown(cell.close_recurrent_weight)]
    else:
        assert isinstance(cell, LinearCell | ReluCell | TanhCell)
        recurrent = _shown(cell.recurrent_weight)
    steps = {"open_step": _shown(cell.open_step), "close_step": _shown(cell.close_step)}
    return {"cell": name, **steps, "recurrent_weight": recurrent, "readout": _readout_json(model.readout)}


def _model(document: Document) -> Model:
    fields = document.fields(required=("cell", "open_step", "close_step", "recurrent_weight", "readout"))
    return Model(_cell(fields), _readout(fields["readout"]))


def _cell(fields: dict[str, Document]) -> Cell:
    name = fields["cell"].text()
    if name not in CELLS:
        fields["cell"].refuse(f"one of {', '.join(CELLS)}")
    steps = [_number(fields["open_step"]), _number(fields["close_step"])]
    if CELLS[name] is SelectiveCell:
        return SelectiveCell(*steps, *_numbers(fields["recurrent_weight"], 2))
    return CELLS[name](*steps, _number(fields["recurrent_weight"]))  # type: ignore[call-arg]  # all but the selective one have one


def _readout(document: Document) -> Readout:
    kind = document.fields(required=("kind",), optional=("weight", "bias"))["kind"]
    if kind.text() not in READOUTS:
        kind.refuse(f"one of {', '.join(READOUTS)}")
    if kind.text() == "zero":
        document.fields(required=("kind",))
        return ZeroCheck()
    fields = document.fields(required=("kind", "weight"), optional=("bias",))
    size = 1 if kind.text() == "binary" else 3
    weight = _numbers(fields["weight"], size)
    bias = _numbers(fields["bias"], size) if "bias" in fields else [Fraction(0)] * size
    if size == 1:
        return BinaryReadout(weight[0], bias[0])
    return TernaryReadout((weight[0], weight[1], weight[2]), (bias[0], bias[1], bias[2]))


def _numbers(document: Document, size: int) -> list[Fraction]:
    numbers = [_number(entry) for entry in document.items()]
    if len(numbers) != size:
        document.refuse(f"a list of {size} {'number' if size == 1 else 'numbers'}")
    return numbers


def _number(document: Document) -> Fraction:
    return exact(document.value, document.where)


def _readout_json(readout: Readout) -> dict[str, object]:
    readout = readout.converted(exact)
    if isinstance(readout, BinaryReadout):
        return {"kind": "binary", "weight": [_shown(readout.weight)], "bias": [_shown(readout.bias)]}
    if isinstance(readout, TernaryReadout):
        return {"kind": "ternary", "weight": [*map(_shown, readout.weight)], "bias": [*map(_shown, readout.bias)]}
    return {"kind": "zero"}


def _shown(value: Fraction) -> object:
    """Write a number exactly: a whole number as it is, anything else as p/q."""
    return value.numerator if value.denominator == 1 else str(value)
