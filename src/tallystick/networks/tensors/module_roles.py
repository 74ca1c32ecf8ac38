"""Which of a file's modules is the cell, which stand in front of it and which reads it: by shape where that leaves one reading.

An `nn.Embedding` has rows as long as what the cell reads, and no bias; a readout has rows as long as the cell has units. Where a
module may be both, or the order of modules is open, the metadata `embedding`, `readout` and `layers` say it, and are asked for.
So does `front`, where the first module in front is square and may be an `nn.Embedding` or an `nn.Linear`.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import NoReturn

import numpy as np

from tallystick.errors import BadInput
from tallystick.networks.readout import COUNT, DECISIONS, GREATEST
from tallystick.networks.tensors.named_tensor import NamedTensor, show_label, show_name, show_shape
from tallystick.networks.tensors.tensor_modules import CELL_SHAPE, Module, check_recurrent

KINDS = (*(decision.kind for decision in DECISIONS.values()), COUNT, GREATEST)
"""The kinds of readouts; the metadata `readout` is one of them in a file of this package, and a prefix in any other."""

_FRONT = ("nn.Embedding", "nn.Linear")
_MATRIX = 2


def cells_among(modules: list[Module], labels: Mapping[str, str]) -> tuple[list[Module], list[Module]]:
    """Return the layers of the recurrence, the lowest first, and all other modules."""
    recurrent = [module for module in modules if module.recurrent]
    others = [module for module in modules if not module.recurrent]
    if not recurrent:
        spoken_for = [*(labels["embedding"].split(",") if "embedding" in labels else ()), labels.get("readout")]
        linear = [m for m in others if m.need("weight").array.shape == CELL_SHAPE and m.prefix not in spoken_for]
        if not linear:
            raise BadInput(
                "no cell among the tensors; one has open_step, or weight_ih and weight_hh, or a weight of shape 1×3"
            )
        if len(linear) > 1:
            linear[1].first.refuse(f"a second cell beside {show_name(linear[0].first.name)}; one is read")
        return linear, [module for module in others if module is not linear[0]]
    prefixes = list(dict.fromkeys(module.prefix for module in recurrent))
    if "layers" in labels:
        named_prefixes = labels["layers"].split(",")
        if sorted(named_prefixes) != sorted(prefixes):
            raise BadInput(
                f"metadata layers: {show_label(labels['layers'])} does not name each recurrent module once: {', '.join(prefixes)}"
            )
        prefixes = named_prefixes
    elif len(prefixes) > 1:
        second = next(module for module in recurrent if module.prefix == prefixes[1])
        second.first.refuse(
            f"a second cell beside {show_name(recurrent[0].first.name)}; say their order with metadata layers="
            f"{','.join(prefixes)}"
        )
    for module in recurrent:
        check_recurrent(module)
    return [layer for prefix in prefixes for layer in _layers_of(prefix, recurrent)], others


def _layers_of(prefix: str, recurrent: list[Module]) -> list[Module]:
    """Return the layers of one recurrent module in their order."""
    layers = [module for module in recurrent if module.prefix == prefix]
    if any(layer.layer is None for layer in layers) and len(layers) > 1:
        layers[1].first.refuse(f"a second cell beside {show_name(layers[0].first.name)}; one is read")
    ordered = sorted(layers, key=lambda module: module.layer or 0)
    for place, module in enumerate(ordered):
        if (module.layer or 0) != place:
            module.first.refuse(f"is layer {module.layer} of a module without layer {place}")
    return ordered


def roles_of(
    cells: list[Module], others: list[Module], labels: Mapping[str, str]
) -> tuple[list[Module], Module | None]:
    """Return the modules in front of the cell, in their order, and the one that reads it; what is open is asked about."""
    inputs, units = inputs_of(cells[0]), units_of(cells[-1])
    by_prefix = {module.prefix: module for module in others}
    front = (
        [_named(by_prefix, "embedding", name) for name in labels["embedding"].split(",")]
        if "embedding" in labels
        else []
    )
    reads = labels.get("readout")
    readout = (
        None if reads is None or (reads in KINDS and reads not in by_prefix) else _named(by_prefix, "readout", reads)
    )
    rest = [module for module in others if module is not readout and module not in front]
    roles = [_possible_roles(m, inputs, units, is_embedded=bool(front), is_read=readout is not None) for m in rest]
    for module, possible in zip(rest, roles, strict=True):
        if not possible:
            _refuse_module(module, inputs, units, readout)
    readings = [found for found in product(*roles) if found.count("embedding") <= 1 and found.count("readout") <= 1]
    if not readings:
        first, second = [m for m, possible in zip(rest, roles, strict=True) if "readout" in possible][:2]
        second.first.refuse(f"a second readout beside {show_name(first.first.name)}; one is read")
    if len(readings) > 1:
        module = next(module for module, possible in zip(rest, roles, strict=True) if len(possible) > 1)
        module.first.refuse(
            f"shape {show_shape(module.shape)} without a bias may be an embedding or the readout; say which with metadata "
            f"embedding={module.prefix} or readout={module.prefix}"
        )
    for module, role in zip(rest, readings[0], strict=True):
        front, readout = (front, module) if role == "readout" else ([module], readout)
    return front, readout


def settle_front(front: list[Module], labels: Mapping[str, str], *, reads_indices: bool) -> list[Module]:
    """Return the modules in front of the cell, the first with a bias where it is said to be an `nn.Linear`.

    An `nn.Embedding` gives a row for an index, and an `nn.Linear` without a bias a column, so a square weight may be either.
    """
    said = labels.get("front")
    if said not in (None, *_FRONT):
        raise BadInput(f"metadata front: {show_label(said)} is not one of {', '.join(_FRONT)}")
    if not front or "bias" in front[0].tensors or not reads_indices:
        if front and said == _FRONT[0]:
            raise BadInput(f"metadata front: {said} has no bias and reads tokens that are indices, unlike this one")
        return front
    first, weight = front[0], front[0].need("weight")
    turned = weight.array.T
    if said is None and turned.shape == weight.array.shape and (turned != weight.array).any():
        weight.refuse(
            f"shape {show_shape(turned.shape)} without a bias may be an nn.Embedding, with a row for each index, or an "
            "nn.Linear, with a column; say metadata front=nn.Embedding or front=nn.Linear (a .pt file has none: save it as "
            ".safetensors)"
        )
    if said != _FRONT[1]:
        return front
    bias = NamedTensor(f"{first.prefix}.bias", np.zeros(len(weight.array)))
    return [replace(first, tensors={**first.tensors, "bias": bias}), *front[1:]]


def _named(modules: dict[str, Module], label: str, prefix: str) -> Module:
    if prefix not in modules:
        known = ", ".join(map(show_label, modules)) or "none"
        raise BadInput(
            f"metadata {label}: {show_label(prefix)} is not the prefix of an nn.Linear or nn.Embedding; there are {known}"
        )
    return modules[prefix]


def _possible_roles(module: Module, inputs: int, units: int, *, is_embedded: bool, is_read: bool) -> list[str]:
    """Return what a module may be by its shape: nothing but an embedding has no bias and rows as long as what the cell reads."""
    shape = module.need("weight").array.shape
    if len(shape) != _MATRIX or not shape[0]:
        return []
    embedding = not is_embedded and "bias" not in module.tensors and shape[0] > 1 and shape[1] == inputs
    readout = not is_read and shape[1] == units
    return ["embedding"] * embedding + ["readout"] * readout


def _refuse_module(module: Module, inputs: int, units: int, readout: Module | None) -> NoReturn:
    weight = module.need("weight")
    shape = weight.array.shape
    if readout is not None and len(shape) == _MATRIX and shape[1] == units:
        weight.refuse(f"a second readout beside {show_name(readout.first.name)}; one is read")
    if len(shape) == _MATRIX and shape[0] == inputs:
        weight.refuse(
            "may stand in front of the cell; if so, say metadata embedding= and the prefixes of all modules in front, in their "
            f"order, the last of them {module.prefix}"
        )
    weight.refuse(
        f"shape {show_shape(shape)} is neither a readout, rows of {units} as the cell has units, nor an embedding, rows of "
        f"{inputs} without a bias; nothing else is read beside a cell (ts.certify takes a whole nn.Module)"
    )


def inputs_of(cell: Module) -> int:
    """Return how many numbers a cell reads at each step."""
    return cell.inputs if cell.recurrent else CELL_SHAPE[1] - 1


def units_of(cell: Module) -> int:
    """Return how many units a cell has."""
    return cell.shape[-1] if cell.recurrent and cell.shape else 1
