"""PyTorch's state dicts: which of their tensors make a cell with one unit and a readout, and which make something else.

Three cells are read, under any prefix: `nn.RNN` and `nn.RNNCell` with one unit (weight_ih 1×2, weight_hh 1×1, both biases or
none), and `nn.Linear` over [x, h] (weight 1×3), the paper's cell. A readout is an `nn.Linear` with one input: one output is the
binary readout, three the ternary; without one the model is read by the zero check. `(` is [1, 0] and `)` is [0, 1].
GRUs and LSTMs, which may have more units, have a module of their own (`tallystick.models.gated_state_dicts`).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tallystick.errors import BadInput
from tallystick.models.named_tensor import NamedTensor, shown_label, shown_name, shown_shape
from tallystick.models.parts import Parts

NONLINEARITIES = ("linear", "relu", "tanh")
"""What may be done to U·h + c(x); each is also the name of the cell that does it."""

_RECURRENT = re.compile(r"(?P<name>(weight|bias)_(ih|hh|hr))(_l(?P<layer>\d+))?(?P<reverse>_reverse)?", re.ASCII)
_CELL_SHAPE = (1, 3)
_READOUT_SHAPES = ((1, 1), (3, 1))


@dataclass(frozen=True)
class Module:
    """The tensors of one module, by the names that they have in it.

    Attributes:
        recurrent: whether they are those of an `nn.RNN` or `nn.RNNCell`, and not of an `nn.Linear`.
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
    def makes_a_cell(self) -> bool:
        """Whether this is a cell rather than a readout."""
        return self.recurrent or self.need("weight").array.shape == _CELL_SHAPE


def parts_of_state_dict(modules: list[Module], nonlinearity: str | None) -> Parts:
    """Return the one cell and the readout among the modules of a state dict."""
    for module in modules:
        if not module.makes_a_cell:
            _refuse_other_linear(module.need("weight"))
    return parts_of_modules(*sorted_modules(modules, lambda module: module.makes_a_cell), nonlinearity)


def sorted_modules(modules: list[Module], is_cell: Callable[[Module], bool]) -> tuple[Module, Module | None]:
    """Return the one cell and the readout, if there is one; more modules than these are refused."""
    cells = [module for module in modules if is_cell(module)]
    readouts = [module for module in modules if not is_cell(module)]
    for kind, found in (("cell", cells), ("readout", readouts)):
        if len(found) > 1:
            found[1].first.refuse(f"a second {kind} beside {shown_name(found[0].first.name)}; one is read")
    if not cells:
        raise BadInput(
            "no cell among the tensors; one has open_step, or weight_ih and weight_hh, or a weight of shape 1×3"
        )
    return cells[0], readouts[0] if readouts else None


def parts_of_modules(cell: Module, readout: Module | None, nonlinearity: str | None) -> Parts:
    """Return the names and numbers of a cell and a readout, the biases folded into the steps."""
    open_weight, close_weight, recurrent, bias = _recurrent(cell) if cell.recurrent else _linear(cell)
    if nonlinearity is None and cell.recurrent:
        raise BadInput(
            "metadata nonlinearity: missing, and the tensors do not tell it; "
            f"write one of {', '.join(NONLINEARITIES)}, as save_file(..., metadata={{'nonlinearity': 'tanh'}}) does"
        )
    name = nonlinearity or "linear"
    if name not in NONLINEARITIES:
        raise BadInput(f"metadata nonlinearity: {shown_label(name)} is not one of {', '.join(NONLINEARITIES)}")
    kind, weight, outputs_bias = _readout(readout) if readout else ("zero", (), ())
    return Parts(name, open_weight + bias, close_weight + bias, (recurrent,), kind, weight, outputs_bias)


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


def _refuse_other_linear(weight: NamedTensor) -> None:
    """Say what a weight could be; nothing but its shape tells the cell from the readout in a state dict."""
    if weight.array.shape not in _READOUT_SHAPES:
        weight.refuse(
            f"shape {shown_shape(weight.array.shape)} is neither a cell over [x, h], 1×3, "
            "nor a binary readout, 1×1, nor a ternary one, 3×1"
        )


def _recurrent(module: Module) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """W_open, W_close, U and the sum of the biases of an nn.RNN or nn.RNNCell."""
    state = module.need("weight_hh")
    _refuse_units(state)
    open_weight, close_weight = module.need("weight_ih").numbers((1, 2))
    biases = {"bias_ih", "bias_hh"}
    with_bias = not biases.isdisjoint(module.tensors)  # PyTorch has both or none; one alone is something else
    bias = sum((module.need(name).numbers((1,))[0] for name in sorted(biases) if with_bias), Fraction(0))
    return open_weight, close_weight, state.numbers((1, 1))[0], bias


def _refuse_units(state: NamedTensor) -> None:
    """Say what a weight_hh of another shape most likely is."""
    rows, *columns = state.array.shape or (0,)
    if rows > 1 and columns == [rows]:
        state.refuse(f"shape {shown_shape(state.array.shape)} has {rows} units; a cell with one, shape 1×1, is read")


def _linear(module: Module) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """W_open, W_close, U and the bias of an nn.Linear over [x, h]."""
    open_weight, close_weight, recurrent = module.need("weight").numbers(_CELL_SHAPE)
    return open_weight, close_weight, recurrent, _bias(module, 1)[0]


def _readout(module: Module) -> tuple[str, tuple[Fraction, ...], tuple[Fraction, ...]]:
    outputs = module.need("weight").numbers(*_READOUT_SHAPES)
    return ("binary" if len(outputs) == 1 else "ternary"), outputs, _bias(module, len(outputs))


def _bias(module: Module, size: int) -> tuple[Fraction, ...]:
    return module.tensors["bias"].numbers((size,)) if "bias" in module.tensors else (Fraction(0),) * size
