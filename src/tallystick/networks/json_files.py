"""A network as a JSON file.

    {"cell": "linear", "open_step": 1, "close_step": "-1/1", "recurrent_weight": "0x1p+0",
     "readout": {"kind": "binary", "weight": [2.5], "bias": [0]}}

Numbers may be JSON numbers, "p/q" or C hex floats and are read exactly: 0.1 is one tenth, and the float nearest to it is
written as a hex float. A cell's fields are its weights (`Cell.shapes`): a selective cell has `"recurrent_weight": [P, Q]`,
and a GRU or an LSTM has matrices, each a list of rows in PyTorch's order of gates, which its readout's weight is too:

    {"cell": "gru", "input_weight": [[1, -1], …], "recurrent_weight": [[0.5], …], "input_bias": [0, …],
     "recurrent_bias": [0, …], "readout": {"kind": "binary", "weight": [[2.5]], "bias": [0]}}

Biases may be left out and are then zero. `"readout": {"kind": "zero"}` is the zero check of a cell with one unit.
`"task"` names what is right, where that is not what such a readout is usually asked for.
"""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from tallystick.cells import CELLS, Cell, ScalarCell
from tallystick.files import Document, read_as, write_document
from tallystick.languages.tasks import READY_TASKS, Task
from tallystick.networks.network import Network
from tallystick.networks.readout import DECISIONS, Readout
from tallystick.numbers import exact
from tallystick.numbers.values import exact_number

MOST_UNITS = 64
"""Enough for a few units; each step goes through every weight one by one."""

_OPTIONAL = ("input_bias", "recurrent_bias")


def read_json(path: Path) -> Network:
    """Read a network; every complaint names the file and the field."""
    return read_as(path, network_from_json)


def write_json(network: Network, path: Path) -> None:
    """Write a network so that `read_json` gives an equal one back, every number exact."""
    write_document(network_to_json(network), path)


def network_from_json(document: Document) -> Network:
    """Return the network that an object holds; every complaint names the field."""
    content = document.value
    name = cast("dict[str, object]", content).get("cell") if isinstance(content, dict) else None
    kind = CELLS.get(name, ScalarCell) if isinstance(name, str) else ScalarCell
    weights = tuple(kind.shapes(1))
    fields = document.fields(
        required=("cell", *(field for field in weights if field not in _OPTIONAL), "readout"),
        optional=(*(field for field in weights if field in _OPTIONAL), "task"),
    )
    kind = CELLS.get(fields["cell"].text())
    if kind is None:
        fields["cell"].refuse(f"one of {', '.join(CELLS)}")
    units = _units(kind, fields["recurrent_weight"])
    shapes = kind.shapes(units)
    tensors = {
        field: _numbers(fields[field], *shape) if field in fields else (Fraction(0),) * shape[0]
        for field, shape in shapes.items()
    }
    readout = _readout(fields["readout"], kind, units)
    network = Network(kind.from_tensors(tensors), readout)
    return replace(network, task=_task(fields["task"], readout)) if "task" in fields else network


def network_to_json(network: Network) -> dict[str, object]:
    """Return the network as the object that its file holds."""
    cell, readout = network.cell.map_weights(exact), network.readout.map_weights(exact)
    written: dict[str, object] = {"kind": readout.kind}
    if DECISIONS[readout.decision].has_weights:
        weight = tuple(row[0] for row in readout.weight) if isinstance(cell, ScalarCell) else readout.weight
        written |= {"weight": _written(weight, "readout.weight"), "bias": _written(readout.bias, "readout.bias")}
    tensors = {name: _written(numbers, name) for name, numbers in cell.tensors().items()}
    usual = Network(network.cell, network.readout).task
    task = {} if network.task == usual else {"task": network.task.name}
    return {"cell": cell.name, **tensors, "readout": written, **task}


def _units(kind: type[Cell], document: Document) -> int:
    """Return how many units a cell has by the rows of its recurrent weight."""
    if issubclass(kind, ScalarCell):
        return 1
    rows, of_each = len(list(document.items())), kind.shapes(1)["recurrent_weight"][0]
    units = rows // of_each
    if rows % of_each or not 0 < units <= MOST_UNITS:
        document.refuse(f"a list of {of_each} rows a unit, for 1 to {MOST_UNITS} units: {rows} rows do not go")
    return units


def _task(document: Document, readout: Readout) -> Task:
    """Read the name of a task, which must have as many classes as the readout."""
    name = document.text()
    fitting = {task.name: task for task in READY_TASKS.values() if len(task.classes) == len(readout.comparisons)}
    if name not in fitting:
        document.refuse(f"a task with {len(readout.comparisons)} classes: one of {', '.join(fitting)}")
    return fitting[name]


def _readout(document: Document, kind: type[Cell], units: int) -> Readout:
    name = document.fields(required=("kind",), optional=("weight", "bias"))["kind"]
    scalar = issubclass(kind, ScalarCell)
    known = {decision.kind: (key, decision) for key, decision in DECISIONS.items() if decision.has_weights or scalar}
    if name.text() not in known:
        name.refuse(f"one of {', '.join(known)}" + ("" if scalar else ", which read several units"))
    key, decision = known[name.text()]
    if not decision.has_weights:
        document.fields(required=("kind",))
        return Readout(((1,),), (0,), key)
    size = decision.outputs
    fields = document.fields(required=("kind", "weight"), optional=("bias",))
    weight = _numbers(fields["weight"], size, *(() if scalar else (units,)))
    bias = _numbers(fields["bias"], size) if "bias" in fields else (Fraction(0),) * size
    return Readout(tuple((value,) for value in weight) if scalar else weight, bias, key)


def _numbers(document: Document, *shape: int) -> Any:  # noqa: ANN401 -- a number, or nested tuples of numbers
    """Read a number, a list of numbers or a list of rows, of a given shape."""
    if not shape:
        return exact(document.value, document.where)
    size, *rest = shape
    found = tuple(_numbers(entry, *rest) for entry in document.items())
    if len(found) != size:
        what = "row" if rest else "number"
        document.refuse(f"a list of {size} {what}{'' if size == 1 else 's'}")
    return found


def _written(values: Any, field: str) -> Any:  # noqa: ANN401
    if not isinstance(values, tuple):
        return exact_number(values, field)
    return [_written(value, field) for value in cast("tuple[Any, ...]", values)]
