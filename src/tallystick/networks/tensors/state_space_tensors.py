"""State-space layers among a file's tensors, by the names that their parameters have in the usual code.

- **LRU**: `nu_log`, `theta_log`, perhaps `gamma_log` (units), `B_re`, `B_im` (units × inputs), `C_re`, `C_im` (outputs × units)
  and perhaps `D` (outputs × inputs, or a number for each, where there are as many outputs as inputs).
- **S4D**: `log_A_real`, `A_imag` (channels × units), `log_dt` (channels), `C` and perhaps `B` (channels × units × 2, the real and
  the imaginary parts) and perhaps `D` (channels). The metadata `discretisation` (zoh or bilinear) and `factor` (1 or 2) say the
  rest.

The metadata `embedding` and `readout` name the modules in front of the layer and the one that reads its outputs, if any.
They are read as the same parameters in a JSON file are (`networks.complex_layers`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tallystick.cells import LruLayer
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks.complex_layers import read_complex_layer
from tallystick.networks.tensors.named_tensor import NamedTensor, show_name
from tallystick.numbers.values import Matrix

_LRU = ("nu_log", "theta_log", "B_re", "B_im", "C_re", "C_im")
_S4D = ("log_A_real", "A_imag", "log_dt", "C")
_MORE = {"nu_log": ("gamma_log", "D"), "log_A_real": ("B", "D")}
_SAID = {"discretisation": "zoh or bilinear", "factor": "1 or 2"}
_VECTOR, _MATRIX = 1, 2


class StateSpace(NamedTuple):
    """A state-space layer of a file.

    Attributes:
        layer: the layer.
        shown: the rows over its state that give its outputs.
        others: the tensors that are not its own.
    """

    layer: LruLayer
    shown: Matrix
    others: dict[str, NamedTensor]


def state_space_of(tensors: dict[str, NamedTensor], labels: Mapping[str, str]) -> StateSpace | None:
    """Return the state-space layer among tensors; None where there is none."""
    marks = [name for name in tensors if name.rpartition(".")[2] in (_LRU[0], _S4D[0])]
    if not marks:
        return None
    if len(marks) > 1:
        tensors[marks[1]].refuse(f"a second state-space layer beside {show_name(marks[0])}; one is read")
    prefix, dot, mark = marks[0].rpartition(".")
    needed = _LRU if mark == _LRU[0] else _S4D
    for name in needed:
        if prefix + dot + name not in tensors:
            raise BadInput(f"tensor {prefix + dot + name!r} is missing; beside {mark} stand {', '.join(needed)}")
    names = [name for name in (*needed, *_MORE[mark]) if prefix + dot + name in tensors]
    own = {name: tensors[prefix + dot + name] for name in names}
    content = _lru(own) if mark == _LRU[0] else _s4d(own, labels)
    inputs = own["B_re" if mark == _LRU[0] else mark].array.shape[-1 if mark == _LRU[0] else 0]
    layer, shown, _ = read_complex_layer(Document({"cell": "lru", **content}, prefix or "layer"), (), (), inputs)
    return StateSpace(layer, shown, {name: one for name, one in tensors.items() if one not in own.values()})


def _lru(own: dict[str, NamedTensor]) -> dict[str, Any]:
    content: dict[str, Any] = {
        name: _numbers(own[name]) for name in ("nu_log", "theta_log", "gamma_log") if name in own
    }
    content["input_weight"] = {"real": _numbers(own["B_re"]), "imaginary": _numbers(own["B_im"])}
    content["C"] = {"real": _numbers(own["C_re"]), "imaginary": _numbers(own["C_im"])}
    if "D" in own:
        direct = _numbers(own["D"])
        if own["D"].array.ndim == _VECTOR:
            size = range(own["B_re"].array.shape[-1])
            direct = [[value if row == column else 0 for column in size] for row, value in enumerate(direct)]
        content["D"] = direct
    return content


def _s4d(own: dict[str, NamedTensor], labels: Mapping[str, str]) -> dict[str, Any]:
    for name, allowed in _SAID.items():
        if name not in labels:
            raise BadInput(f"metadata {name}: missing; an S4D layer does not tell it: write {allowed}")
    content: dict[str, Any] = {
        name: _numbers(own[name]) for name in ("log_A_real", "A_imag", "log_dt", "D") if name in own
    }
    content |= {name: labels[name] for name in _SAID}
    for name in ("B", "C"):
        if name in own:
            array = own[name].array
            if array.ndim <= _MATRIX or array.shape[-1] != 2:  # noqa: PLR2004 -- two parts
                own[name].refuse("holds no complex numbers, as channels × units × 2; torch.view_as_real makes them")
            parts = (NamedTensor(own[name].name, array[..., place]) for place in (0, 1))
            content[name] = dict(zip(("real", "imaginary"), map(_numbers, parts), strict=True))
    return content


def _numbers(tensor: NamedTensor) -> Any:  # noqa: ANN401 -- nested lists of rationals
    """Return the numbers of a tensor as nested lists."""
    found: list[Any] = list(tensor.numbers(tensor.array.shape))
    for size in tensor.array.shape[:0:-1]:
        found = [found[start : start + size] for start in range(0, len(found), size)]
    return found if tensor.array.ndim else found[0]
