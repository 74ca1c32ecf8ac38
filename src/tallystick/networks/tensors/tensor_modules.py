"""Named tensors sorted into PyTorch's modules, and the cells that the recurrent ones among them are.

A recurrent module has weight_ih, weight_hh and both biases or none, each followed by _l and the layer's number in an `nn.RNN`,
`nn.GRU` or `nn.LSTM`, and by nothing in an `nn.RNNCell`, `nn.GRUCell` or `nn.LSTMCell`. A unit has one row in an RNN, three in a
GRU (r, z, n) and four in an LSTM (i, f, g, o), which tells the three apart. Every other module has a weight and maybe a bias.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tallystick.cells import CELLS, LAYERS, Cell, ScalarCell
from tallystick.errors import BadInput
from tallystick.networks.network import MOST_UNITS
from tallystick.networks.tensors.named_tensor import NamedTensor, show_label, show_shape
from tallystick.numbers.values import Matrix, dot

NONLINEARITIES = ("linear", "relu", "tanh")
"""What may be done to U·h + W·x + b in an nn.RNN; each is also the name of the cell that does it."""

_GATED = {kind.shapes(1)["recurrent_weight"][0]: kind for kind in CELLS.values() if not issubclass(kind, ScalarCell)}
"""The cells with gates by how many rows a unit has."""

_RECURRENT = re.compile(r"(?P<name>(weight|bias)_(ih|hh|hr))(_l(?P<layer>\d+))?(?P<reverse>_reverse)?", re.ASCII)
_BIASES = ("bias_ih", "bias_hh")
CELL_SHAPE = (1, 3)
"""Of the weight of an `nn.Linear` over [x, h]."""

MOST_INPUTS = 1024
"""How long a vector may be that a module reads; each of its weights is read as a rational of its own."""

_MATRIX = 2
_MOST_LAYERS = 16


@dataclass(frozen=True)
class Module:
    """The tensors of one module, or of one layer of a recurrent module, by the names that they have in it.

    Attributes:
        recurrent: whether they are those of an `nn.RNN`, `nn.GRU` or `nn.LSTM`, and not of an `nn.Linear` or `nn.Embedding`.
        tensors: by name; those of a layer without the layer's number.
        prefix: what stands before these names.
        layer: the layer's number in a recurrent module; None in one with a single step, such as `nn.RNNCell`.
    """

    recurrent: bool
    tensors: dict[str, NamedTensor]
    prefix: str = ""
    layer: int | None = None

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
        """How many rows a unit has: 1 in an RNN, 3 in a GRU, 4 in an LSTM; 0 where the shape tells of none of them."""
        shape = self.tensors["weight_hh"].array.shape if "weight_hh" in self.tensors else ()
        if len(shape) != _MATRIX or not shape[1] or shape[0] % shape[1]:
            return 0
        return shape[0] // shape[1] if shape[0] // shape[1] in (1, *_GATED) else 0

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its weight: how many numbers it gives, and how many it reads."""
        return self.need("weight_hh" if self.recurrent else "weight").array.shape

    @property
    def inputs(self) -> int:
        """How many numbers a recurrent module reads at each step."""
        weight = self.need("weight_ih")
        shape, rows = weight.array.shape, self.shape[0]
        if len(shape) != _MATRIX or shape[0] != rows or not shape[1]:
            weight.refuse(
                f"shape {show_shape(shape)} is not {rows} rows of what is read, as many rows as weight_hh has"
            )
        return shape[1]

    def bias(self, size: int) -> tuple[Fraction, ...]:
        """Return the bias of an `nn.Linear`, zeros where it has none."""
        return self.tensors["bias"].numbers((size,)) if "bias" in self.tensors else (Fraction(0),) * size


def modules_of(tensors: Mapping[str, NamedTensor]) -> list[Module]:
    """Sort tensors by the module that they belong to, refusing those that no module read here has."""
    modules: dict[tuple[str, str], Module] = {}
    for tensor in tensors.values():
        prefix, _, leaf = tensor.name.rpartition(".")
        found = _RECURRENT.fullmatch(leaf)
        if found is None and leaf not in ("weight", "bias"):
            tensor.refuse(
                "unknown tensor; nn.RNN, nn.GRU, nn.LSTM and their cells, nn.Linear and nn.Embedding are read, and nothing else"
            )
        if found:
            _refuse_unread(tensor, found)
        layer = int(found["layer"]) if found and found["layer"] is not None else None
        key = (prefix, f"layer {layer}" if found else "linear")
        module = modules.setdefault(key, Module(found is not None, {}, prefix, layer))
        module.tensors[found["name"] if found else leaf] = tensor
    return list(modules.values())


def _refuse_unread(tensor: NamedTensor, found: re.Match[str]) -> None:
    number = found["layer"]
    if number is not None and (len(number) > len(str(_MOST_LAYERS)) or number != str(int(number))):
        tensor.refuse(f"{number} is not the number of a layer, from 0 to {_MOST_LAYERS - 1}")
    if found["reverse"]:
        tensor.refuse("reads the string backwards; a cell with one direction is read")
    if found["name"].endswith("_hr"):
        tensor.refuse("projects the state; a cell without projection is read")


def matrix_of(tensor: NamedTensor) -> Matrix:
    """Return the rows of a matrix of any size."""
    if len(tensor.array.shape) != _MATRIX or not tensor.array.size:
        tensor.refuse(f"shape {show_shape(tensor.array.shape)} is not rows of numbers")
    rows, columns = tensor.array.shape
    numbers = tensor.numbers((rows, columns))
    return tuple(numbers[start : start + columns] for start in range(0, len(numbers), columns))


def check_recurrent(module: Module) -> None:
    """Refuse weights that do not fit together, or of too many units."""
    state = module.need("weight_hh")
    if not module.gates:
        state.refuse(
            f"shape {show_shape(state.array.shape)} is neither units × units, as in an nn.RNN, nor 3·units × units (nn.GRU), "
            "nor 4·units × units (nn.LSTM)"
        )
    units = state.array.shape[1]
    if units > MOST_UNITS:
        state.refuse(f"shape {show_shape(state.array.shape)} has {units} units; at most {MOST_UNITS} are read")
    if module.inputs > MOST_INPUTS:
        module.need("weight_ih").refuse(f"reads vectors of {module.inputs:,} numbers; at most {MOST_INPUTS:,} are read")


def layer_of(module: Module, nonlinearity: str | None) -> Cell:
    """Return the cell that a layer of a recurrent module is, every weight and bias as it is."""
    check_recurrent(module)
    state = module.need("weight_hh")
    rows = state.array.shape[0]
    kind = _GATED[module.gates] if module.gates in _GATED else LAYERS[_nonlinearity(nonlinearity)]
    weights: dict[str, Any] = {
        "input_weight": matrix_of(module.need("weight_ih")),
        "recurrent_weight": matrix_of(state),
        **dict(zip(("input_bias", "recurrent_bias"), _biases(module, rows), strict=True)),
    }
    return kind.from_tensors(weights)


def _biases(module: Module, rows: int) -> list[tuple[Fraction, ...]]:
    """Return both biases; PyTorch has both or none, so that one alone is something else."""
    if module.tensors.keys().isdisjoint(_BIASES):
        return [(Fraction(0),) * rows] * 2
    return [module.need(name).numbers((rows,)) for name in _BIASES]


def scalar_cell_of(module: Module, nonlinearity: str | None, tokens: Matrix) -> ScalarCell:
    """Return the cell with one unit that a module is, its biases and the vectors of the tokens folded into its two steps.

    The module is an RNN with one unit, or an `nn.Linear` over [x, h].
    """
    if module.recurrent:
        kind = CELLS[_nonlinearity(nonlinearity)]
        (inputs,), ((recurrent,),) = matrix_of(module.need("weight_ih")), matrix_of(module.need("weight_hh"))
        bias = sum((bias for (bias,) in _biases(module, 1)), Fraction(0))
    else:
        kind = CELLS[_nonlinearity(nonlinearity or "linear")]
        if module.shape != CELL_SHAPE:
            module.need("weight").refuse(
                f"shape {show_shape(module.shape)} is not {show_shape(CELL_SHAPE)}, an nn.Linear over [x, h]"
            )
        ((*inputs, recurrent),) = matrix_of(module.need("weight"))
        bias = module.bias(1)[0]
    opening, closing = (dot(tuple(inputs), vector) + bias for vector in tokens)
    cell = kind.from_tensors({"open_step": opening, "close_step": closing, "recurrent_weight": recurrent})
    assert isinstance(cell, ScalarCell)
    return cell


def _nonlinearity(name: str | None) -> str:
    if name is None:
        raise BadInput(
            "metadata nonlinearity: missing, and the tensors do not tell it; "
            f"write one of {', '.join(NONLINEARITIES)}, as save_file(..., metadata={{'nonlinearity': 'tanh'}}) does"
        )
    if name not in NONLINEARITIES:
        raise BadInput(f"metadata nonlinearity: {show_label(name)} is not one of {', '.join(NONLINEARITIES)}")
    return name
