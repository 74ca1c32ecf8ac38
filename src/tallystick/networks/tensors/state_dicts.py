"""From PyTorch's state dict to a network: which module is the cell, which stands in front of it, and which reads it.

Under any prefix these are read:

- `nn.RNN` and `nn.RNNCell` with tanh, ReLU or neither (metadata `nonlinearity`), `nn.GRU`, `nn.LSTM` and their cells, of 1 to 64
  units, with any number of layers; of several such modules the metadata `layers` names the prefixes in their order. An
  `nn.Linear` over [x, h] (weight 1×3) is the paper's cell. With one unit and no gates the biases are folded into the steps, a =
  W_open + all biases, added exactly. In real numbers nothing changes; in floating point a network that adds its biases one at a
  time rounds more often than the folded cell.
- In front of the cell an `nn.Embedding`, or what the metadata `embedding` names: the prefixes of an embedding and of `nn.Linear`
  modules, in their order, with nothing between them. They are folded exactly into a vector for each token. The first is an
  embedding where it has no bias and tokens are indices; an `nn.Linear` without a bias reads tokens that are vectors. Where it is
  square and tokens are indices, the metadata `front` says which of the two it is.
- LRU and S4D layers by the names of their parameters (`networks.tensors.state_space_tensors`), one in a file.
- A readout, an `nn.Linear` over h, or what the metadata `readout` names. A single unit without one is read by the zero check.

What weights do not tell is said by metadata, or asked for: `tokens` (JSON, as in `networks.declaration`), `task`, and `classes`
in the order of the outputs. Without them a cell that reads two numbers reads `(` as [1, 0] and `)` as [0, 1], one output is the
binary readout and three are the ternary one. Whatever could be read in another way as well is asked about.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy.typing as npt

from tallystick.cells import Cell, Recurrence, Stack
from tallystick.cells.stack import ONE_HOT_VECTORS
from tallystick.errors import BadInput
from tallystick.files import parse_document
from tallystick.languages.brackets import ALPHABET
from tallystick.networks.asked import Asked, asked_readout, asked_task
from tallystick.networks.declaration import FIRST, LAST, Declaration, Encoding, check_index, declare, one_hot
from tallystick.networks.int8_files import multiply_out_tensors
from tallystick.networks.network import Network, usual_task
from tallystick.networks.readout import MOST_OUTPUTS, Readout
from tallystick.networks.tensors.module_roles import KINDS, cells_among, inputs_of, roles_of, settle_front, units_of
from tallystick.networks.tensors.named_tensor import NamedTensor, named, show_label, show_name, show_shape
from tallystick.networks.tensors.own_tensors import has_own_layout, own_network
from tallystick.networks.tensors.state_space_tensors import StateSpace, state_space_of
from tallystick.networks.tensors.tensor_modules import (
    MOST_INPUTS,
    Module,
    layer_of,
    matrix_of,
    modules_of,
    scalar_cell_of,
)
from tallystick.numbers import exact
from tallystick.numbers.values import Matrix, Vector, dot, layer

_ONE_HOT = {"(": 0, ")": 1}
_MATRIX = 2
_EXAMPLE = '{"(": 0, ")": 1}'

Arrays = Mapping[str, npt.NDArray[Any]]


def network_of_tensors(tensors: Arrays, labels: Mapping[str, str], asked: Asked | None = None) -> Network:
    """Return the network that these tensors are.

    Args:
        tensors: arrays by name.
        labels: what the file says of itself. Labels that are not known are left alone; one that contradicts the tensors is
            refused.
        asked: what the reader says of the network, which goes before the labels.

    >>> import numpy as np
    >>> linear = {"step.weight": np.array([[2, -2, 1]]), "step.bias": np.array([0.5])}
    >>> network_of_tensors(linear, {}).cell
    LinearCell(open_step=Fraction(5, 2), close_step=Fraction(-3, 2), recurrent_weight=Fraction(1, 1))
    """
    tensors = multiply_out_tensors(tensors)
    numbers = (float(number) for tensor in tensors.values() if tensor.dtype.kind != "O" for number in tensor.flat)
    return _network_of_tensors(tensors, labels, (asked or Asked()).over(_said(labels))).mark_folded(numbers)


def _network_of_tensors(tensors: Arrays, labels: Mapping[str, str], said: Asked) -> Network:
    if has_own_layout(tensors):
        return own_network(named(tensors), labels, said)
    state_space = state_space_of(named(tensors), labels)
    if state_space is not None:
        return _state_space_network(state_space, labels, said)
    modules = modules_of(named(tensors))
    cells, others = cells_among(modules, labels)
    front, readout = roles_of(cells, others, labels)
    if front and not {"embedding", "front"} & labels.keys() and isinstance(said.tokens, Mapping):
        _check_indices(said.tokens, front[0])
    front = settle_front(front, labels, reads_indices=not _has_vectors(said.tokens))
    network = _network(cells, front, readout, said, labels)
    _check_labels(network, cells, labels, said.nonlinearity)
    return network


def _state_space_network(found: StateSpace, labels: Mapping[str, str], said: Asked) -> Network:
    """Return the network of a state-space layer, what stands in front of it, and what reads its outputs, if anything does."""
    modules, size = {module.prefix: module for module in modules_of(found.others)}, len(found.shown)
    in_front = labels["embedding"].split(",") if "embedding" in labels else []
    reader = [labels["readout"]] if labels.get("readout", KINDS[0]) not in KINDS else []
    if sorted([*in_front, *reader]) != sorted(modules):
        raise BadInput(
            f"metadata embedding and readout: {show_label(','.join([*in_front, *reader]))} does not name each of "
            f"{', '.join(modules) or 'no modules'} once; say embedding= which stand in front of the state-space layer, in their "
            "order, and readout= which one reads it"
        )
    front, reads = [modules[prefix] for prefix in in_front], modules[reader[0]] if reader else None
    front = settle_front(front, labels, reads_indices=not _has_vectors(said.tokens))
    readout = Readout(found.shown, (Fraction(0),) * size) if reads is None else _readout(reads, size)
    if reads is not None:
        rows = tuple(tuple(dot(row, column) for column in zip(*found.shown, strict=True)) for row in readout.weight)
        readout = replace(readout, weight=rows)
    readout = asked_readout(readout, said)
    task = asked_task(readout, usual_task(found.layer, readout), said)
    if said.tokens is None and (front or found.layer.inputs != len(_ONE_HOT)):
        raise BadInput(
            f"tokens: missing; say what is read for each token: tokens={_EXAMPLE} (metadata, --tokens or an argument)"
        )
    brackets = said.tokens is None and task.alphabet == ALPHABET
    declared = declare(task, _ONE_HOT if brackets else said.tokens, may_count=True)
    return Network(_stack([found.layer], front, declared), readout, task)


def network_of_modules(cell: Module, readout: Module | None, nonlinearity: str | None) -> Network:
    """Return the network of a recurrent module and the linear one that reads it, asked for what is usual."""
    return _network([cell], [], readout, Asked(nonlinearity=nonlinearity), {})


def _said(labels: Mapping[str, str]) -> Asked:
    """Return what a file says of itself."""
    classes = labels["classes"].split(",") if "classes" in labels else None
    tokens = tokens_of_text(labels["tokens"], "metadata tokens") if "tokens" in labels else None
    return Asked(labels.get("task"), classes, tokens, labels.get("nonlinearity"))


def tokens_of_text(text: str, where: str) -> Mapping[str, object] | str:
    """Return tokens as they are declared: a JSON object, or the tokens in the order of a one-hot vector."""
    if not text.lstrip().startswith("{"):
        return text
    content = cast("dict[str, object]", parse_document(text, where).value)
    return {name: _encoding(value, f"{where}: {name}") for name, value in content.items()}


def _encoding(value: object, where: str) -> object:
    return [exact(number, where) for number in cast("list[object]", value)] if isinstance(value, list) else value


def _network(
    cells: list[Module], front: list[Module], reads: Module | None, said: Asked, labels: Mapping[str, str]
) -> Network:
    top, scalar = cells[-1], len(cells) == 1 and (not cells[0].recurrent or cells[0].shape == (1, 1))
    layers = [] if scalar else [layer_of(module, said.nonlinearity) for module in cells]
    kind = layers[0] if layers else scalar_cell_of(cells[0], said.nonlinearity, _zeros(cells[0]))
    if reads is None and (not scalar or (front and labels.get("readout") != "zero")):
        raise BadInput(
            f"readout: missing; an nn.Linear({units_of(top)}, 1) or one with an output per class reads the cell, saved beside it"
        )
    readout = Readout.zero() if reads is None else asked_readout(_readout(reads, units_of(top)), said)
    task = asked_task(readout, usual_task(kind, readout), said)
    tokens = _tokens(cells[0], front, said.tokens) if task.alphabet == ALPHABET else said.tokens
    declared = declare(task, tokens, may_count=True)
    if scalar and not declared.first and not declared.last:
        vectors = _vectors(front, inputs_of(cells[0]), declared.tokens)
        return Network(scalar_cell_of(cells[0], said.nonlinearity, vectors), readout, task)
    return Network(_stack(layers or [layer_of(cells[0], said.nonlinearity)], front, declared), readout, task)


def _zeros(cell: Module) -> Matrix:
    return ((Fraction(0),) * inputs_of(cell),) * 2


def _readout(module: Module, units: int) -> Readout:
    weight = module.need("weight")
    shape = weight.array.shape
    if len(shape) != _MATRIX or shape[1] != units or not 0 < shape[0] <= MOST_OUTPUTS:
        weight.refuse(
            f"shape {show_shape(shape)} does not read the {units} {'unit' if units == 1 else 'units'} of the cell, as an "
            f"nn.Linear({units}, k) does, k from 1 to {MOST_OUTPUTS}"
        )
    return Readout(matrix_of(weight), module.bias(shape[0]))


def _tokens(cell: Module, front: list[Module], tokens: Mapping[str, object] | str | None) -> Mapping[str, object] | str:
    """Return what is read for each token; a cell that reads two numbers reads one-hot vectors unless something else is said."""
    if tokens is not None:
        return tokens
    if front:
        front[0].first.refuse(f"say which row is which token: tokens={_EXAMPLE} (metadata, --tokens or an argument)")
    if inputs_of(cell) != len(_ONE_HOT):
        cell.need("weight_ih").refuse(
            f"reads vectors of {inputs_of(cell)} numbers; say what is read for each token: tokens={_EXAMPLE} (metadata, --tokens "
            "or an argument), with places of a one-hot vector, or vectors"
        )
    return _ONE_HOT


def _has_vectors(tokens: Mapping[str, object] | str | None) -> bool:
    return isinstance(tokens, Mapping) and not all(isinstance(encoding, int) for encoding in tokens.values())


def _check_indices(tokens: Mapping[str, object], embedding: Module) -> None:
    """Refuse vectors for what was taken for an embedding by its shape, unless it may read them as an `nn.Linear`."""
    rows, columns = embedding.shape
    if rows == columns:
        return
    for token, encoding in tokens.items():
        if not isinstance(encoding, int):
            raise BadInput(
                f"tokens: {token!r} is a vector; {show_name(embedding.first.name)} is read as an nn.Embedding, with a row for "
                f"each index; if it is an nn.Linear, say metadata embedding={embedding.prefix}"
            )


def _vectors(front: list[Module], inputs: int, tokens: Mapping[str, Encoding]) -> Matrix:
    """Return the vector that the cell reads for each token: what the modules in front of it make of the token, exactly."""
    return tuple(_vector(front, inputs, encoding, token) for token, encoding in tokens.items())


def _vector(front: list[Module], inputs: int, encoding: Encoding, token: str) -> Vector:
    """Return the vector that the cell reads; the first module is an embedding where it has no bias and reads an index."""
    if not front:
        return tuple(map(exact, one_hot(encoding, inputs, token)))
    first, *others = front
    weight = first.need("weight")
    for module in front:
        shape = module.need("weight").array.shape
        if len(shape) != _MATRIX or max(shape[first is module and "bias" not in module.tensors :]) > MOST_INPUTS:
            module.need("weight").refuse(f"shape {show_shape(shape)} is not rows of at most {MOST_INPUTS:,} numbers")
    if "bias" in first.tensors or isinstance(encoding, tuple):
        others, read = front, tuple(map(exact, one_hot(encoding, weight.array.shape[1], token)))
    else:
        check_index(encoding, len(weight.array), token)
        row = weight.array[encoding]
        read = NamedTensor(f"{weight.name}[{encoding}]", row).numbers(row.shape)
    for module in others:
        linear = module.need("weight")
        if linear.array.shape[1] != len(read):
            linear.refuse(
                f"shape {show_shape(linear.array.shape)} does not read the {len(read)} numbers that come before it"
            )
        read = tuple(layer(matrix_of(linear), module.bias(len(linear.array)), read))
    if len(read) != inputs:
        front[-1].first.refuse(f"gives {len(read)} numbers; the cell reads {inputs}")
    return read


def _stack(layers: list[Cell], front: list[Module], declared: Declaration) -> Recurrence:
    """Return the layers as a stack, or as the one cell that they are once the tokens' vectors are folded into its weights."""
    inputs = layers[0].inputs
    tokens = _vectors(front, inputs, declared.tokens)
    first, last = (
        tuple(_vector(front, inputs, encoding, name) for encoding in encodings)
        for name, encodings in ((FIRST, declared.first), (LAST, declared.last))
    )
    for place, (below, above) in enumerate(pairwise(layers), start=1):
        if above.inputs != below.units:
            raise BadInput(f"layer {place} reads {above.inputs} numbers; the layer below it has {below.units} units")
    if len(layers) > 1 or first or last:
        return Stack(tuple(layers), tokens, first=first, last=last)
    (cell,) = layers
    if tokens == ONE_HOT_VECTORS:
        return cell
    tensors = cell.tensors()
    folded = tuple(tuple(dot(row, vector) for vector in tokens) for row in tensors["input_weight"])
    return cell.from_tensors({**tensors, "input_weight": folded})


def _check_labels(network: Network, cells: list[Module], labels: Mapping[str, str], nonlinearity: str | None) -> None:
    """Refuse labels that contradict the tensors."""
    gated = all(module.recurrent and module.gates > 1 for module in cells)
    for label, said, right in (
        ("cell", labels.get("cell"), network.cell.name),
        ("readout", labels.get("readout") if labels.get("readout") in KINDS else None, network.readout.kind),
        ("nonlinearity", nonlinearity if gated else None, network.cell.name),
    ):
        if said is not None and said != right:
            raise BadInput(f"metadata {label}: {show_label(said)} contradicts the tensors, which are {right}'s")
