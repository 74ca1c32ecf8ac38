"""The layout that this package gives a network's tensors; every number is a float64, or the network is not written.

A cell with one unit has its weights by their names (`open_step`, `close_step`, `recurrent_weight`). A GRU or an LSTM is written
as PyTorch's state dict. A stack, and a layer without gates, has the weights of each cell as `layers.0.input_weight` and so on,
the state that it starts from as `layers.0.initial_state.h` (and `.c`), and the vectors of its tokens, and of what is read before
and after each string, as the rows of `tokens`, `first` and `last`. The readout is `readout.weight` and `readout.bias`, which the
zero check of one unit leaves out.

Metadata: `cell` and `readout` name the two kinds, `layers` those of a stack's cells, and `task` and `classes` what is asked,
where that is not what such a readout is usually asked for.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.cells import (
    CELLS,
    KINDS,
    LAYERS,
    Cell,
    GraphCell,
    Gru,
    GruCell,
    MatrixLayer,
    Recurrence,
    ScalarCell,
    SelectiveLayer,
    Stack,
)
from tallystick.cells.stack import ONE_HOT_VECTORS
from tallystick.cells.vector import GatedCell, State
from tallystick.errors import BadInput
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.tasks import READY_TASKS
from tallystick.networks.asked import Asked, asked_readout, asked_task, is_ready
from tallystick.networks.network import Network, usual_task
from tallystick.networks.readout import COUNT, DECISIONS, GREATEST, Readout
from tallystick.networks.tensors.named_tensor import NamedTensor, show_label, show_shape
from tallystick.networks.tensors.tensor_modules import matrix_of
from tallystick.numbers import exact
from tallystick.numbers.values import is_writable

_SCALAR = [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]
_BY_KIND = {decision.kind: name for name, decision in DECISIONS.items()} | {GREATEST: GREATEST, COUNT: COUNT}
_READOUT = ("readout.weight", "readout.bias")
_TORCH_NAMES = {
    "input_weight": "weight_ih_l0",
    "recurrent_weight": "weight_hh_l0",
    "input_bias": "bias_ih_l0",
    "recurrent_bias": "bias_hh_l0",
}
_STACK = "stack"
_LONGEST_NUMBER = 40
_MOST_LAYERS = 16
_MATRIX, _MATRICES = 2, 3


def has_own_layout(tensors: Mapping[str, object]) -> bool:
    """Say whether tensors are laid out as here, and not as PyTorch's state dict."""
    own = any(f"layers.0.{name}" in tensors for name in ("input_weight", "open_step"))
    return own or any(name in tensors for name in ScalarCell.shapes())


def own_network(tensors: dict[str, NamedTensor], labels: Mapping[str, str], asked: Asked) -> Network:
    """Return the network that tensors of this layout are."""
    if any(name in tensors for name in ScalarCell.shapes()):
        cell, own = _scalar_cell(tensors, labels)
    else:
        cell, own = _layers(tensors, labels)
    readout = asked_readout(_readout(tensors, labels, cell), asked)
    allowed = (*own, *(_READOUT if readout.has_weights else ()))
    for name, tensor in tensors.items():
        if name not in allowed:
            tensor.refuse(
                f"unknown tensor; a {cell.name} cell with the {readout.kind} readout has {', '.join(allowed)}"
            )
    for name, said in (("tokens", asked.tokens), ("nonlinearity", asked.nonlinearity)):
        if said is not None and (name == "tokens" or said != labels.get("cell")):
            raise BadInput(f"metadata {name}: {show_label(str(said))} contradicts the tensors, which say it themselves")
    return Network(cell, readout, asked_task(readout, usual_task(cell, readout), asked))


def _scalar_cell(tensors: dict[str, NamedTensor], labels: Mapping[str, str]) -> tuple[Cell, list[str]]:
    kind = CELLS[_label(labels, "cell", _SCALAR)]
    weights = {
        name: _numbers(tensors, name, *shape) if shape else _numbers(tensors, name, 1)[0]
        for name, shape in kind.shapes(1).items()
    }
    return kind.from_tensors(weights), list(weights)


def _layers(tensors: dict[str, NamedTensor], labels: Mapping[str, str]) -> tuple[Recurrence, list[str]]:
    """Return the stack or the one layer, and the names of its tensors."""
    if "layers" not in labels:
        raise BadInput("metadata layers: missing; write the names of the layers' cells, as in lstm,tanh")
    names = labels["layers"].split(",")
    if len(names) > _MOST_LAYERS:
        raise BadInput(f"metadata layers: {len(names)} are more than {_MOST_LAYERS} layers")
    cells: list[Cell] = []
    start: list[Any] = []
    own = ["tokens", "first", "last"]
    for place, name in enumerate(names):
        prefix = f"layers.{place}."
        kind = KINDS[f"{prefix}input_weight" in tensors].get(name)
        if kind is None:
            raise BadInput(f"metadata layers: {show_label(name)} is not one of {', '.join(CELLS | LAYERS)}")
        recurrent = tensors.get(f"{prefix}recurrent_weight")
        if kind is SelectiveLayer and recurrent is not None and recurrent.array.ndim == _MATRICES:
            kind = MatrixLayer
        weights = {field: _weight(tensors, prefix + field, len(shape)) for field, shape in kind.shapes(1).items()}
        cells.append(kind.from_tensors(weights))
        parts = [prefix + part for part in ("initial_state.h", "initial_state.c") if prefix + part in tensors]
        start.append(_state([_weight(tensors, part, 1) for part in parts], cells[-1]))
        own += [prefix + field for field in weights] + parts
    if labels.get("cell") != _STACK:
        _label(labels, "cell", [cells[0].name])
        return cells[0], [name for name in own if name not in ("tokens", "first", "last")]
    vectors = {name: matrix_of(tensors[name]) for name in ("tokens", "first", "last") if name in tensors}
    tokens, first, last = (
        vectors.get(name, usual) for name, usual in (("tokens", ONE_HOT_VECTORS), ("first", ()), ("last", ()))
    )
    return Stack(tuple(cells), tokens, tuple(start), first, last), own


def _state(found: list[Any], cell: Cell) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    form = cell.initial_state
    if not found:
        return form
    if isinstance(form, State):
        return State(*found)
    return found[0] if isinstance(form, tuple) else found[0][0]


def _readout(tensors: dict[str, NamedTensor], labels: Mapping[str, str], cell: Recurrence) -> Readout:
    kind = _label(labels, "readout", [*_BY_KIND])
    decision = DECISIONS.get(_BY_KIND[kind])
    plain = isinstance(cell, ScalarCell) or _READOUT[0] not in tensors
    if decision is not None and not decision.has_weights and plain:
        return Readout(((1,),), (0,), _BY_KIND[kind])
    weight = tensors.get("readout.weight")
    size = (
        decision.outputs
        if decision is not None and kind != GREATEST
        else len(weight.array)
        if weight is not None
        else 1
    )
    if isinstance(cell, ScalarCell):
        rows = tuple((value,) for value in _numbers(tensors, "readout.weight", size))
    else:
        rows = _weight(tensors, "readout.weight", 2)
    bias = _numbers(tensors, "readout.bias", size) if "readout.bias" in tensors else (Fraction(0),) * size
    return Readout(rows, bias, _BY_KIND[kind])


def _label(labels: Mapping[str, str], name: str, allowed: list[str]) -> str:
    if name not in labels:
        raise BadInput(f"metadata {name}: missing; write one of {', '.join(allowed)}")
    if labels[name] not in allowed:
        raise BadInput(f"metadata {name}: {show_label(labels[name])} is not one of {', '.join(allowed)}")
    return labels[name]


def _numbers(tensors: dict[str, NamedTensor], name: str, size: int) -> tuple[Fraction, ...]:
    if name not in tensors:
        raise BadInput(f"tensor {name!r} is missing")
    return tensors[name].numbers((size,), ()) if size == 1 else tensors[name].numbers((size,))


def _weight(tensors: dict[str, NamedTensor], name: str, axes: int) -> Any:  # noqa: ANN401 -- a number, a vector or a matrix
    """Return a tensor of any size with so many axes."""
    if name not in tensors:
        raise BadInput(f"tensor {name!r} is missing")
    if axes == _MATRICES:
        parts = tensors[name].array
        if parts.ndim != _MATRICES:
            tensors[name].refuse(f"shape {show_shape(parts.shape)} is not one of several matrices")
        return tuple(matrix_of(NamedTensor(f"{name}[{place}]", part)) for place, part in enumerate(parts))
    if axes == _MATRIX:
        return matrix_of(tensors[name])
    size = tensors[name].array.size
    return _numbers(tensors, name, size) if axes else _numbers(tensors, name, 1)[0]


def tensors_of_network(network: Network) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, str]]:
    """Return the tensors and the labels of a network; a number that is not a float64 is refused, not rounded."""
    cell, readout = network.cell.map_weights(exact), network.readout.map_weights(exact)
    for layer in cell.layers if isinstance(cell, Stack) else (cell,):
        _check_kind(layer)
    labels = {"cell": cell.name, "readout": readout.kind, **_asked(network)}
    numbers: dict[str, Any] = {_READOUT[0]: readout.weight, _READOUT[1]: readout.bias} if readout.has_weights else {}
    if isinstance(cell, ScalarCell):
        if numbers:
            numbers[_READOUT[0]] = tuple(v for (v,) in readout.weight)
        own: dict[str, Any] = {
            name: value if isinstance(value, tuple) else (value,) for name, value in cell.tensors().items()
        }
    elif isinstance(cell, GatedCell):
        own = {_TORCH_NAMES[name]: value for name, value in cell.tensors().items()}
    elif isinstance(cell, Cell):
        own, labels["layers"] = _tensors_of_layer(cell, 0), cell.name
    else:
        assert isinstance(cell, Stack)
        own, labels["layers"] = _tensors_of_stack(cell), ",".join(layer.name for layer in cell.layers)
    tensors = {name: np.array(_floats(values, name)) for name, values in {**own, **numbers}.items()}
    return tensors, labels


def _check_kind(cell: Recurrence) -> None:
    """Refuse a cell that tensors and the name of its kind do not say."""
    if isinstance(cell, GraphCell) or (isinstance(cell, Gru) and not isinstance(cell, GruCell)):
        what = "a graph of units" if isinstance(cell, GraphCell) else "a GRU without PyTorch's reset gate"
        raise BadInput(f"cell: {what} is written as JSON: choose a file name that ends in .json")


def _asked(network: Network) -> dict[str, str]:
    """Return the labels that say what is asked, where that is not the usual thing."""
    task = network.task
    if network.cell.is_padded:
        raise BadInput("padding: has no place in safetensors; write a JSON file")
    if task == network.usual_task:
        return {}
    if task.name not in READY_TASKS:
        raise BadInput(
            f"task: {task.name!r} is not one of {', '.join(READY_TASKS)}, so that no file could say it by its name"
        )
    _refuse_json_only(network)
    return {"task": task.name, "classes": ",".join(task.classes)}


def _refuse_json_only(network: Network) -> None:
    """Refuse what only the fields of a JSON file can say."""
    task = network.task
    reasons = {
        "readout: an answer after every token": network.readout.steps is not None,
        f"task: a machine of its own for {task.name!r}": not is_ready(task),
        "empty: whether the empty string is a member": task.empty is not None,
        f"tokens: a {network.cell.name} cell that reads {' '.join(task.alphabet)}": isinstance(network.cell, GatedCell)
        and task.alphabet != ALPHABET,
    }
    for reason, holds in reasons.items():
        if holds:
            raise BadInput(f"{reason} has no place in safetensors; write a JSON file")


def _tensors_of_layer(cell: Cell, place: int) -> dict[str, Any]:
    return {
        f"layers.{place}.{name}": value if isinstance(value, tuple) else (value,)
        for name, value in cell.tensors().items()
    }


def _tensors_of_stack(stack: Stack) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, (cell, state) in enumerate(zip(stack.layers, stack.start, strict=True)):
        found |= _tensors_of_layer(cell, place)
        if state != cell.initial_state:
            found[f"layers.{place}.initial_state.h"] = cell.hidden(state)
            if isinstance(state, State) and state.memory:
                found[f"layers.{place}.initial_state.c"] = state.memory
    read = {name: getattr(stack, name) for name in ("tokens", "first", "last")}
    return found | {name: vectors for name, vectors in read.items() if vectors}


def _floats(values: Any, name: str) -> list[object]:  # noqa: ANN401 -- nested tuples of rationals
    return [_floats(value, name) if isinstance(value, tuple) else _as_float(value, name) for value in values]


def _as_float(value: Fraction, field: str) -> float:
    """Return the double that a rational is; any other rational is refused, naming the field."""
    try:
        rounded = float(value)
    except OverflowError:
        rounded = None
    if rounded is None or Fraction(rounded) != value:
        text = str(value) if is_writable(value) else "a very long number"
        text = text if len(text) <= _LONGEST_NUMBER else text[: _LONGEST_NUMBER - 3] + "..."
        raise BadInput(f"{field}: {text} is not exactly a float64; a JSON file keeps it as it is")
    return rounded
