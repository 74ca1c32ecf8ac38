"""Files of networks: safetensors, PyTorch's state dicts, or else JSON, which is described here.

    {"cell": "linear", "open_step": 1, "close_step": "-1/1", "recurrent_weight": "0x1p+0",
     "readout": {"kind": "binary", "weight": [2.5], "bias": [0]}}

Numbers may be JSON numbers, "p/q" or C hex floats and are read exactly: 0.1 is one tenth, and the float nearest to it is
written as a hex float. A cell's fields are its weights (`Cell.shapes`): a selective cell has `"recurrent_weight": [P, Q]`,
and a GRU or an LSTM has matrices, each a list of rows in PyTorch's order of gates, which its readout's weight is too. A `linear`,
`selective`, `relu` or `tanh` cell that has an `input_weight` is a layer of several units (`networks.cell_files`), as an `lru`
always is (`networks.complex_layers`):

    {"cell": "gru", "input_weight": [[1, -1], …], "recurrent_weight": [[0.5], …], "input_bias": [0, …],
     "recurrent_bias": [0, …], "readout": {"kind": "binary", "weight": [[2.5]], "bias": [0]}}

Biases may be left out and are then zero. `"readout": {"kind": "zero"}` is the zero check of a cell with one unit; with a weight
and a bias it looks at any output. `"readout": {"kind": "count", …}` has one output, whose nearest whole number is the answer.
`"task"` names what is right, where that is not what such a readout is usually asked for.

A stack of cells, with a vector for each token and a state that each layer starts from, has a longer form:

    {"tokens": {"(": [0.25, -1], ")": [1, 0]},
     "layers": [{"cell": "lstm", "input_weight": [[…], …], …, "initial_state": {"h": [0.5], "c": [0]}}, {"cell": "gru", …}],
     "readout": {"weight": [[2.5]], "bias": [0]}, "answer": {"kind": "sign"}, "task": "binary"}

Tokens are one-hot and states start at zero where the file does not say otherwise. `"first"` and `"last"`, lists of vectors, are
read before and after every string. What the outputs mean is said as in
`networks.answers`, here and in the shorter form. Both may have an `"about"`, an object of texts such as `source` and `claim`,
which is shown beside the network and changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from tallystick.cells import Cell, LinearLayer, LruLayer, ScalarCell, Stack
from tallystick.cells.stack import ONE_HOT_VECTORS
from tallystick.cells.vector import State
from tallystick.errors import BadInput
from tallystick.files import Document, read_as, write_document
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.tasks import Task
from tallystick.networks.answers import (
    Asked,
    answer_to_json,
    asked_readout,
    read_answer,
    read_numbers,
    read_readout,
    read_task,
    write_numbers,
)
from tallystick.networks.cell_files import cell_to_json, read_cell
from tallystick.networks.complex_layers import real_readout
from tallystick.networks.network import Network, usual_task
from tallystick.networks.tensors.safetensors_files import read_safetensors, write_safetensors
from tallystick.networks.tensors.torch_files import SAVE, SUFFIXES, read_torch
from tallystick.numbers import exact
from tallystick.numbers.values import dot

_MOST_LAYERS = 16
_SAFETENSORS = ".safetensors"
# Reading one runs whatever code its writer put into it.
_PICKLES = (*SUFFIXES, ".ckpt", ".bin", ".pkl", ".pickle")


def read_network(
    path: Path | str,
    *,
    task: Task | str | None = None,
    classes: Sequence[str] | None = None,
    tokens: Mapping[str, object] | str | None = None,
    nonlinearity: str | None = None,
) -> Network:
    """Read a network; every complaint names the file and the field or the tensor.

    Args:
        path: a JSON or a safetensors file, or a state dict that torch.save wrote, of which PyTorch reads the tensors alone.
        task: what the network is asked for; the default is what the file says.
        classes: the task's classes in the order of the outputs; the default is what the file says.
        tokens: what is read for each token (`networks.declaration`), where the file holds PyTorch's tensors.
        nonlinearity: `linear`, `relu` or `tanh`, of an nn.RNN in such a file.
    """
    path, asked = Path(path), Asked(task, classes, tokens, nonlinearity)
    if path.suffix.lower() in SUFFIXES:
        return read_torch(path, asked)
    _refuse_pickles(path)
    if path.suffix.lower() == _SAFETENSORS:
        return read_safetensors(path, asked)
    if (tokens, nonlinearity) != (None, None):
        raise BadInput(
            f"{path}: tokens and nonlinearity are for tensors of PyTorch's; a JSON file has both in its own fields"
        )
    return read_as(path, lambda document: network_from_json(document, asked))


def read_scalar_network(path: Path | str) -> Network:
    """Read a network whose cell has one unit and no gates, and refuse any other."""
    network = read_network(path)
    if not isinstance(network.cell, ScalarCell):
        raise BadInput(
            f"{path}: a {network.cell.name} cell; this is for linear, selective, relu and tanh cells, which have no gates"
            " (tallystick certify, accuracy and evaluate take any cell)"
        )
    return network


def write_network(network: Network, path: Path | str) -> None:
    """Write a network so that `read_network` gives an equal one back, every number exact."""
    path = Path(path)
    _refuse_pickles(path)
    if path.suffix.lower() == _SAFETENSORS:
        write_safetensors(network, path)
    else:
        write_document(network_to_json(network), path)


def _refuse_pickles(path: Path) -> None:
    if path.suffix.lower() in _PICKLES:
        raise BadInput(
            f"{path}: {path.suffix} is a pickle, which can run code; save the weights as .safetensors: {SAVE}"
        )


def network_from_json(document: Document, asked: Asked | None = None) -> Network:
    """Return the network that an object holds, asked for what its reader says; every complaint names the field."""
    document, _ = split_about(document)
    content = document.value
    if isinstance(content, dict) and "layers" in content:
        cell, fields = _read_stack(document)
        shown = ()
    else:
        cell, shown, fields, _ = read_cell(document, ("readout",), ("answer", "task"), tokens=ONE_HOT_VECTORS)
    if isinstance(cell.layers[-1] if isinstance(cell, Stack) else cell, LruLayer) and not shown:
        fields["readout"] = real_readout(fields["readout"], cell.units)
    units, asked = len(shown) or cell.units, asked or Asked()
    readout = read_answer(fields, units) if "answer" in fields else read_readout(fields["readout"], type(cell), units)
    if shown:
        rows = tuple(tuple(dot(row, column) for column in zip(*shown, strict=True)) for row in readout.weight)
        readout = replace(readout, weight=rows)
    readout = asked_readout(readout, asked)
    return Network(cell, readout, read_task(fields, readout, usual_task(cell, readout), asked))


def split_about(document: Document) -> tuple[Document, dict[str, str]]:
    """Return a network without its `about`, and that: texts by name, which nothing depends on."""
    content = document.value
    if not isinstance(content, dict) or "about" not in content:
        return document, {}
    content = dict(cast("dict[str, object]", content))
    about = Document(content.pop("about"), f"{document.where}: about")
    found = about.value
    if not isinstance(found, dict):
        about.refuse("an object of texts, such as source and claim")
    names = tuple(cast("dict[str, object]", found))
    return Document(content, document.where), {name: text.text() for name, text in about.fields(names).items()}


def network_to_json(network: Network) -> dict[str, object]:
    """Return the network as the object that its file holds."""
    cell, readout = network.cell.map_weights(exact), network.readout.map_weights(exact)
    answer = answer_to_json(Network(cell, readout, network.task), long=isinstance(cell, Stack))
    if isinstance(cell, Stack):
        return {**_stack_to_json(cell), **answer}
    assert isinstance(cell, Cell)
    return {**cell_to_json(cell, tokens=ONE_HOT_VECTORS), **answer}


def _read_stack(document: Document) -> tuple[Stack, dict[str, Document]]:
    """Read the longer form of a network; return its stack and all fields."""
    fields = document.fields(required=("layers", "readout", "answer"), optional=("tokens", "first", "last", "task"))
    tokens = ONE_HOT_VECTORS
    if "tokens" in fields:
        by_token = fields["tokens"].fields(required=tuple(ALPHABET))
        vectors = [by_token[token] for token in ALPHABET]  # in whatever order the file has them
        longest = max(len(list(vector.items())) for vector in vectors)
        tokens = tuple(read_numbers(vector, longest) for vector in vectors)
    ends = [
        tuple(read_numbers(vector, len(tokens[0])) for vector in fields[name].items()) if name in fields else ()
        for name in ("first", "last")
    ]
    layers: list[Cell] = []
    start: list[Any] = []
    inputs = len(tokens[0])
    for place, entry in enumerate(fields["layers"].items()):
        if place >= _MOST_LAYERS:
            fields["layers"].refuse(f"a list of at most {_MOST_LAYERS} layers")
        cell, shown, parts, reads_tokens = read_cell(
            entry, optional=("initial_state",), inputs=inputs, tokens=None if layers else tokens
        )
        if reads_tokens:
            if any(ends):
                entry.refuse(
                    "a layer with a matrix per token, where first or last is read too: say tokens as one-hot vectors"
                )
            tokens = tuple((*vector, *which) for vector, which in zip(tokens, ONE_HOT_VECTORS, strict=True))
        elif cell.inputs != inputs:  # a cell with one unit has as many inputs as there are tokens
            entry.refuse(f"a cell that reads vectors of {inputs} numbers")
        layers.append(cell)
        start.append(_read_state(parts["initial_state"], cell) if "initial_state" in parts else cell.initial_state)
        if shown:  # a layer of its own, which remembers nothing
            zeros = (Fraction(0),) * len(shown)
            layers.append(LinearLayer(shown, (zeros,) * len(shown), zeros, zeros))
            start.append(layers[-1].initial_state)
        inputs = layers[-1].units
    if not layers:
        fields["layers"].refuse("a list of at least one layer")
    return Stack(tuple(layers), tokens, tuple(start), first=ends[0], last=ends[1]), fields


def _read_state(document: Document, cell: Cell) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    """Read the numbers that a layer starts from: h, and c where the cell has a memory."""
    form = cell.initial_state
    memory = ("c",) if isinstance(form, State) and form.memory else ()
    fields = document.fields(required=("h", *memory))
    hidden, *others = (read_numbers(fields[name], cell.units) for name in ("h", *memory))
    if isinstance(form, State):
        return State(hidden, *others)
    return hidden if isinstance(form, tuple) else hidden[0]


def _stack_to_json(stack: Stack) -> dict[str, object]:
    layers: list[object] = []
    for cell, state in zip(stack.layers, stack.start, strict=True):
        hidden = cell.hidden(state)
        memory = {"c": state.memory} if isinstance(state, State) and state.memory else {}
        numbers = {
            name: write_numbers(values, f"initial_state.{name}") for name, values in {"h": hidden, **memory}.items()
        }
        starts = {} if state == cell.initial_state else {"initial_state": numbers}
        written = cell_to_json(cell, tokens=None if layers else stack.tokens)
        layers.append({**written, **starts})
    vectors = zip(ALPHABET, stack.tokens, strict=True)
    return {
        "tokens": {token: write_numbers(vector, f"tokens.{token}") for token, vector in vectors},
        **{name: write_numbers(found, name) for name, found in (("first", stack.first), ("last", stack.last)) if found},
        "layers": layers,
    }
