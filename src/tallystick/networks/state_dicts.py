"""From named tensors to a network and back: a network's own layout, and PyTorch's state dicts.

A network's own layout holds the weights of a cell with one unit by their names (`open_step`, `close_step`,
`recurrent_weight`) and, unless the readout is the zero check, `readout.weight` and `readout.bias`; the labels `cell` and
`readout` name the two kinds. Anything else is taken for a PyTorch state dict, as networks with gates always are. In one,
under any prefix, these are read:

- `nn.RNN` and `nn.RNNCell` with one unit (weight_ih 1×2, weight_hh 1×1, both biases or none), and `nn.Linear` over [x, h]
  (weight 1×3), the paper's cell. Biases are folded into the steps, a = W_open + all biases, added exactly. In real numbers
  nothing changes; in floating point a network that adds its biases one at a time rounds more often than the folded cell.
- `nn.GRU`, `nn.GRUCell`, `nn.LSTM` and `nn.LSTMCell` with a few units. A unit has three rows in a GRU (r, z, n) and four in
  an LSTM (i, f, g, o), which tells the two apart; nothing is folded: a GRU's b_hn is multiplied by r before it is added.
- A readout is an `nn.Linear` over h: one output is the binary readout, three the ternary; without one a single unit is read
  by the zero check. `(` is [1, 0] and `)` is [0, 1].
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.cells import CELLS, LAYERS, Cell, ScalarCell
from tallystick.errors import BadInput
from tallystick.networks.named_tensor import NamedTensor, named, show_label, show_name, show_shape
from tallystick.networks.network import MOST_UNITS, Network
from tallystick.networks.readout import DECISIONS, ZERO, Readout
from tallystick.numbers import exact
from tallystick.numbers.values import is_writable

NONLINEARITIES = ("linear", "relu", "tanh")
"""What may be done to U·h + c(x); each is also the name of the cell that does it."""

_BY_ROWS = {kind.shapes(1)["recurrent_weight"][0]: kind for kind in CELLS.values() if not issubclass(kind, ScalarCell)}
"""The cells with several units by how many rows a unit has."""

_SCALAR = [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]
_RECURRENT = re.compile(r"(?P<name>(weight|bias)_(ih|hh|hr))(_l(?P<layer>\d+))?(?P<reverse>_reverse)?", re.ASCII)
_TORCH_NAMES = {
    "input_weight": "weight_ih",
    "recurrent_weight": "weight_hh",
    "input_bias": "bias_ih",
    "recurrent_bias": "bias_hh",
}
_BIASES = ("bias_ih", "bias_hh")
_CELL_SHAPE = (1, 3)
_BY_KIND = {decision.kind: name for name, decision in DECISIONS.items()}
_OWN_READOUT = ("readout.weight", "readout.bias")
_LONGEST_NUMBER = 40

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Module:
    """The tensors of one module, by the names that they have in it.

    Attributes:
        recurrent: whether they are those of an `nn.RNN`, `nn.GRU` or `nn.LSTM`, and not of an `nn.Linear`.
        tensors: by name; those of a layer without the layer's number.
    """

    recurrent: bool
    tensors: dict[str, NamedTensor]

    @property
    def first(self) -> NamedTensor:
        """A tensor to name the module by."""
        return next(iter(self.tensors.values()))

    def need(self, name: str) -> NamedTensor:
        """Return a tensor that must be there."""
        if name not in self.tensors:
            self.first.refuse(f"stands without its {name}")
        return self.tensors[name]

    @property
    def gates(self) -> int:
        """How many rows a unit has: 3 for a GRU, 4 for an LSTM; 0 where the shape tells of neither."""
        shape = self.tensors["weight_hh"].array.shape if "weight_hh" in self.tensors else ()
        if len(shape) != 2 or not shape[1] or shape[0] % shape[1]:  # noqa: PLR2004 -- rows and columns
            return 0
        return shape[0] // shape[1] if shape[0] // shape[1] in _BY_ROWS else 0

    def bias(self, size: int) -> tuple[Fraction, ...]:
        """Return the bias of an `nn.Linear`, zeros where it has none."""
        return self.tensors["bias"].numbers((size,)) if "bias" in self.tensors else (Fraction(0),) * size


def network_of_tensors(tensors: Arrays, labels: Mapping[str, str]) -> Network:
    """Return the network that these tensors are.

    Args:
        tensors: arrays by name.
        labels: what the file says of itself: `cell` and `readout` in a network's own layout, `nonlinearity` where a state
            dict needs it. Other labels are left alone; one of these that contradicts the tensors is refused.

    >>> linear = {"step.weight": np.array([[2, -2, 1]]), "step.bias": np.array([0.5])}
    >>> network_of_tensors(linear, {}).cell
    LinearCell(open_step=Fraction(5, 2), close_step=Fraction(-3, 2), recurrent_weight=Fraction(1, 1))
    """
    if any(name in tensors for name in ScalarCell.shapes()):
        network = _own_network(named(tensors), labels)
    else:
        modules = modules_of(named(tensors))
        several = any(module.recurrent and module.gates for module in modules)
        # Beside a GRU or an LSTM every nn.Linear is a readout, also one of three units, 1×3.
        cells = [m for m in modules if m.recurrent or (not several and _is_linear_cell(m))]
        network = network_of_modules(
            *_one_of_each(cells, [m for m in modules if m not in cells]), labels.get("nonlinearity")
        )
    for label, right in (
        ("cell", network.cell.name),
        ("readout", network.readout.kind),
        ("nonlinearity", network.cell.name),
    ):
        if labels.get(label, right) != right:
            raise BadInput(
                f"metadata {label}: {show_label(labels[label])} contradicts the tensors, which are {right}'s"
            )
    return network


def network_of_modules(cell: Module, readout: Module | None, nonlinearity: str | None) -> Network:
    """Return the network of a recurrent module and the linear one that reads it."""
    return _vector_network(cell, readout) if cell.gates else _scalar_network(cell, readout, nonlinearity)


def tensors_of_network(network: Network) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, str]]:
    """Return the tensors and the labels of a network; a number that is not a float64 is refused, not rounded."""
    if network.task != network.usual_task:
        raise BadInput(
            f"task: {network.task.name!r} is not what such a readout is usually asked for; a JSON file keeps it"
        )
    cell, readout = network.cell.map_weights(exact), network.readout.map_weights(exact)
    if not isinstance(cell, Cell) or type(cell) in LAYERS.values():
        raise BadInput(f"cell: a {cell.name} has no form as named tensors yet; a JSON file keeps it")
    numbers: dict[str, Any] = {"readout.weight": readout.weight, "readout.bias": readout.bias}
    if isinstance(cell, ScalarCell):
        numbers = {} if readout.decision == ZERO else {**numbers, "readout.weight": tuple(v for (v,) in readout.weight)}
        own: dict[str, Any] = {
            name: value if isinstance(value, tuple) else (value,) for name, value in cell.tensors().items()
        }
        numbers = {**own, **numbers}
    else:
        numbers = {**{f"{_TORCH_NAMES[name]}_l0": value for name, value in cell.tensors().items()}, **numbers}
    tensors = {name: np.array(_floats(values, name)) for name, values in numbers.items()}
    return tensors, {"cell": cell.name, "readout": readout.kind}


def modules_of(tensors: Mapping[str, NamedTensor]) -> list[Module]:
    """Sort tensors by the module that they belong to, refusing those that no module read here has."""
    modules: dict[tuple[str, str], Module] = {}
    for tensor in tensors.values():
        prefix, _, leaf = tensor.name.rpartition(".")
        found = _RECURRENT.fullmatch(leaf)
        if found is None and leaf not in ("weight", "bias"):
            tensor.refuse(
                "unknown tensor; one-unit nn.RNN and nn.RNNCell, nn.GRU, nn.LSTM and nn.Linear are read, with nothing beside them"
            )
        if found:
            _refuse_more_than_a_layer(tensor, found)
        key = (prefix, f"layer {found['layer']}" if found else "linear")
        module = modules.setdefault(key, Module(found is not None, {}))
        module.tensors[found["name"] if found else leaf] = tensor
    return list(modules.values())


def _refuse_more_than_a_layer(tensor: NamedTensor, found: re.Match[str]) -> None:
    if found["layer"] not in (None, "0"):
        tensor.refuse("belongs to a further layer; a cell with one layer is read")
    if found["reverse"]:
        tensor.refuse("reads the string backwards; a cell with one direction is read")
    if found["name"].endswith("_hr"):
        tensor.refuse("projects the state; a cell without projection is read")


def _is_linear_cell(module: Module) -> bool:
    """Say whether an `nn.Linear` is a cell over [x, h] rather than a readout; only its shape tells, and others are refused."""
    weight = module.need("weight")
    if weight.array.shape not in (_CELL_SHAPE, (1, 1), (3, 1)):
        weight.refuse(
            f"shape {show_shape(weight.array.shape)} is neither a cell over [x, h], 1×3, "
            "nor a binary readout, 1×1, nor a ternary one, 3×1"
        )
    return weight.array.shape == _CELL_SHAPE


def _one_of_each(cells: list[Module], readouts: list[Module]) -> tuple[Module, Module | None]:
    """Return the one cell and the readout, if there is one; more modules than these are refused."""
    for kind, found in (("cell", cells), ("readout", readouts)):
        if len(found) > 1:
            found[1].first.refuse(f"a second {kind} beside {show_name(found[0].first.name)}; one is read")
    if not cells:
        raise BadInput(
            "no cell among the tensors; one has open_step, or weight_ih and weight_hh, or a weight of shape 1×3"
        )
    return cells[0], readouts[0] if readouts else None


def _own_network(tensors: dict[str, NamedTensor], labels: Mapping[str, str]) -> Network:
    cell, readout = _label(labels, "cell", _SCALAR), _label(labels, "readout", [*_BY_KIND])
    kind, decision = CELLS[cell], DECISIONS[_BY_KIND[readout]]
    size = decision.outputs if decision.has_weights else 0
    allowed = (*kind.shapes(1), *(_OWN_READOUT if size else ()))
    for name, tensor in tensors.items():
        if name not in allowed:
            tensor.refuse(f"unknown tensor; a {cell} cell with the {readout} readout has {', '.join(allowed)}")
    weights = {
        name: _own_numbers(tensors, name, *shape) if shape else _own_numbers(tensors, name, 1)[0]
        for name, shape in kind.shapes(1).items()
    }
    if not size:
        return Network(kind.from_tensors(weights), Readout(((1,),), (0,), _BY_KIND[readout]))
    weight = _own_numbers(tensors, "readout.weight", size)
    bias = _own_numbers(tensors, "readout.bias", size) if "readout.bias" in tensors else (Fraction(0),) * size
    return Network(kind.from_tensors(weights), Readout(tuple((value,) for value in weight), bias, _BY_KIND[readout]))


def _label(labels: Mapping[str, str], name: str, allowed: list[str]) -> str:
    if name not in labels:
        raise BadInput(f"metadata {name}: missing; write one of {', '.join(allowed)}")
    if labels[name] not in allowed:
        raise BadInput(f"metadata {name}: {show_label(labels[name])} is not one of {', '.join(allowed)}")
    return labels[name]


def _own_numbers(tensors: dict[str, NamedTensor], name: str, size: int) -> tuple[Fraction, ...]:
    if name not in tensors:
        raise BadInput(f"tensor {name!r} is missing")
    return tensors[name].numbers((size,), ()) if size == 1 else tensors[name].numbers((size,))


def _scalar_network(cell: Module, readout: Module | None, nonlinearity: str | None) -> Network:
    open_weight, close_weight, recurrent, bias = _recurrent(cell) if cell.recurrent else _linear(cell)
    if nonlinearity is None and cell.recurrent:
        raise BadInput(
            "metadata nonlinearity: missing, and the tensors do not tell it; "
            f"write one of {', '.join(NONLINEARITIES)}, as save_file(..., metadata={{'nonlinearity': 'tanh'}}) does"
        )
    name = nonlinearity or "linear"
    if name not in NONLINEARITIES:
        raise BadInput(f"metadata nonlinearity: {show_label(name)} is not one of {', '.join(NONLINEARITIES)}")
    steps = {"open_step": open_weight + bias, "close_step": close_weight + bias, "recurrent_weight": recurrent}
    return Network(CELLS[name].from_tensors(steps), _readout(readout, 1) if readout else Readout.zero())


def _recurrent(module: Module) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return W_open, W_close, U and the sum of the biases of an nn.RNN or nn.RNNCell."""
    state = module.need("weight_hh")
    rows, *columns = state.array.shape or (0,)
    if rows > 1 and columns == [rows]:
        state.refuse(f"shape {show_shape(state.array.shape)} has {rows} units; a cell with one, shape 1×1, is read")
    open_weight, close_weight = module.need("weight_ih").numbers((1, 2))
    with_bias = not module.tensors.keys().isdisjoint(_BIASES)  # PyTorch has both or none; one alone is something else
    bias = sum((module.need(name).numbers((1,))[0] for name in sorted(_BIASES) if with_bias), Fraction(0))
    return open_weight, close_weight, state.numbers((1, 1))[0], bias


def _linear(module: Module) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return W_open, W_close, U and the bias of an nn.Linear over [x, h]."""
    open_weight, close_weight, recurrent = module.need("weight").numbers(_CELL_SHAPE)
    return open_weight, close_weight, recurrent, module.bias(1)[0]


def _vector_network(cell: Module, readout: Module | None) -> Network:
    kind, state = _BY_ROWS[cell.gates], cell.need("weight_hh")
    units = state.array.shape[1]
    if units > MOST_UNITS:
        state.refuse(f"shape {show_shape(state.array.shape)} has {units} units; at most {MOST_UNITS} are read")
    with_bias = any(name in cell.tensors for name in _BIASES)
    tensors = {
        name: _matrix(cell.need(_TORCH_NAMES[name]), *shape)
        if with_bias or _TORCH_NAMES[name] not in _BIASES
        else (Fraction(0),) * shape[0]
        for name, shape in sorted(kind.shapes(units).items(), key=lambda item: _TORCH_NAMES[item[0]])
    }
    if readout is None:
        raise BadInput(
            f"readout: missing; an nn.{kind.name.upper()} is read by an nn.Linear({units}, 1) or an nn.Linear({units}, 3)"
        )
    return Network(kind.from_tensors(tensors), _readout(readout, units))


def _readout(module: Module, units: int) -> Readout:
    weight = module.need("weight")
    shapes = [(1, units), (3, units)]
    if weight.array.shape not in shapes:
        weight.refuse(
            f"shape {show_shape(weight.array.shape)} is neither a binary readout of {units} "
            f"{'unit' if units == 1 else 'units'}, {show_shape(shapes[0])}, nor a ternary one, {show_shape(shapes[1])}"
        )
    outputs = weight.array.shape[0]
    return Readout(_matrix(weight, outputs, units), module.bias(outputs))


def _matrix(tensor: NamedTensor, rows: int, columns: int | None = None) -> tuple[Any, ...]:
    numbers = tensor.numbers((rows,) if columns is None else (rows, columns))
    if columns is None:
        return numbers
    return tuple(numbers[start : start + columns] for start in range(0, len(numbers), columns))


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
