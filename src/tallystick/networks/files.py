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

A stack of cells, with a vector for each token and a state that each layer starts from, has a longer form
(`networks.stack_files`):

    {"tokens": {"(": [0.25, -1], ")": [1, 0]},
     "layers": [{"cell": "lstm", "input_weight": [[…], …], …, "initial_state": {"h": [0.5], "c": [0]}}, {"cell": "gru", …}],
     "readout": {"weight": [[2.5]], "bias": [0]}, "answer": {"kind": "sign"}, "task": "binary"}

Tokens are one-hot and states start at zero where the file does not say otherwise. What the outputs mean is said as in
`networks.answers`, here and in the shorter form. The alphabet is that of the task. Both forms may have an `"about"`, an object of
texts such as `source` and `claim`, which is shown beside the network and changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tallystick.cells import Cell, LruLayer, Recurrence, ScalarCell, Stack
from tallystick.errors import BadInput
from tallystick.files import Document, read_as, write_document
from tallystick.languages.brackets import ALPHABET
from tallystick.languages.machine_files import chosen_task
from tallystick.languages.tasks import Task
from tallystick.networks.answers import answer_to_json, read_answer
from tallystick.networks.asked import Asked, alphabet_of, asked_readout, has_order, own_task, read_task, task_fields
from tallystick.networks.cell_files import cell_to_json, one_hot_vectors, read_cell
from tallystick.networks.complex_layers import real_readout
from tallystick.networks.int8_files import INT8, read_int8
from tallystick.networks.network import Network, usual_task
from tallystick.networks.readout import COUNT, DECISIONS, Readout, usual_outputs
from tallystick.networks.stack_files import read_stack, stack_to_json
from tallystick.numbers import exact
from tallystick.numbers.values import dot, read_numbers

# What reads tensors takes a moment to load, and is imported for a file that has some.
# ruff: noqa: PLC0415

_SAFETENSORS = ".safetensors"
_STATE_DICTS = (".pt", ".pth")
# Reading one runs whatever code its writer put into it.
_PICKLES = (*_STATE_DICTS, ".ckpt", ".bin", ".pkl", ".pickle")

_DECLARATIONS = {"layers", "tokens", "answer", "task", "empty"}
"""The fields of a file that say, or may leave open, what its network is asked."""


def read_network(
    path: Path | str,
    *,
    task: Task | str | Path | None = None,
    classes: Sequence[str] | None = None,
    tokens: Mapping[str, object] | str | None = None,
    nonlinearity: str | None = None,
    empty: bool | None = None,
) -> Network:
    """Read a network; every complaint names the file and the field or the tensor.

    Args:
        path: a JSON or a safetensors file, or a state dict that torch.save wrote, of which PyTorch reads the tensors alone.
        task: what the network is asked for: a task, the name of a ready one or a machine's file; the default is what the file
            says.
        classes: the task's classes in the order of the outputs; the default is what the file says.
        tokens: what is read for each token (`networks.declaration`), where the file holds PyTorch's tensors.
        nonlinearity: `linear`, `relu` or `tanh`, of an nn.RNN in such a file.
        empty: whether the empty string is a member; the default is what the file says, or else the task.
    """
    chosen = None if task is None else chosen_task(task)
    path, asked = Path(path), Asked(chosen, classes, tokens, nonlinearity, empty)
    if path.suffix.lower() in _STATE_DICTS:
        from tallystick.networks.tensors.torch_files import read_torch

        return read_torch(path, asked)
    _refuse_pickles(path)
    if path.suffix.lower() == _SAFETENSORS:
        from tallystick.networks.tensors.safetensors_files import read_safetensors

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
        from tallystick.networks.tensors.safetensors_files import write_safetensors

        write_safetensors(network, path)
    else:
        write_document(network_to_json(network), path)


def _refuse_pickles(path: Path) -> None:
    if path.suffix.lower() in _PICKLES:
        from tallystick.networks.tensors.torch_files import SAVE

        raise BadInput(
            f"{path}: {path.suffix} is a pickle, which can run code; save the weights as .safetensors: {SAVE}"
        )


def network_from_json(document: Document, asked: Asked | None = None) -> Network:
    """Return the network that an object holds, asked for what its reader says; every complaint names the field."""
    document, _ = split_about(document.replace_objects(INT8, read_int8))
    asked = asked or Asked()
    # Where neither the file nor its reader says what is asked, it is the usual thing, and nothing needs to be matched.
    is_usual = asked == Asked() and not _DECLARATIONS & document.content.keys()
    own = None if is_usual else own_task(document)
    alphabet = ALPHABET if is_usual else alphabet_of(document, own, asked.task)
    if "layers" in document.content:
        cell, fields = read_stack(document, alphabet)
        shown = ()
    else:
        cell, shown, fields, _ = read_cell(
            document,
            ("readout",),
            ("answer", "task", "empty"),
            len(alphabet),
            tokens=one_hot_vectors(alphabet),
            alphabet=alphabet,
        )
    if isinstance(cell.layers[-1] if isinstance(cell, Stack) else cell, LruLayer) and not shown:
        fields["readout"] = real_readout(fields["readout"], cell.units)
    units = len(shown) or cell.units
    readout = read_answer(fields, units) if "answer" in fields else _read_readout(fields["readout"], type(cell), units)
    if shown:
        rows = tuple(tuple(dot(row, column) for column in zip(*shown, strict=True)) for row in readout.weight)
        readout = replace(readout, weight=rows)
    if is_usual:
        return Network(cell, readout)
    readout = asked_readout(readout, asked)
    return Network(cell, readout, read_task(fields, readout, usual_task(cell, readout), asked, own))


def _read_readout(document: Document, kind: type[Recurrence], units: int) -> Readout:
    """Read a readout of the shorter spelling, whose kind says the decision too."""
    given = document.fields(required=("kind",), optional=("weight", "bias"))
    scalar = issubclass(kind, ScalarCell)
    known = {decision.kind: key for key, decision in DECISIONS.items()} | {COUNT: COUNT}
    if given["kind"].text() not in known:
        given["kind"].refuse(f"one of {', '.join(known)}")
    key = known[given["kind"].text()]
    if key in DECISIONS and not DECISIONS[key].has_weights and (scalar or (units == 1 and "weight" not in given)):
        document.fields(required=("kind",))
        return Readout(((1,),), (0,), key)
    size = usual_outputs(key)
    fields = document.fields(required=("kind", "weight"), optional=("bias",))
    weight = read_numbers(fields["weight"], size, *(() if scalar else (units,)))
    bias = read_numbers(fields["bias"], size) if "bias" in fields else (Fraction(0),) * size
    return Readout(tuple((value,) for value in weight) if scalar else weight, bias, key)


def split_about(document: Document) -> tuple[Document, dict[str, str]]:
    """Return a network without its `about`, and that: texts by name, which nothing depends on."""
    if "about" not in document.content:
        return document, {}
    rest = dict(document.content)
    about = Document(rest.pop("about"), f"{document.where}: about")
    if not isinstance(about.value, dict):
        about.refuse("an object of texts, such as source and claim")
    texts = about.fields(tuple(about.content))
    return Document(rest, document.where), {name: text.text() for name, text in texts.items()}


def network_to_json(network: Network) -> dict[str, object]:
    """Return the network as the object that its file holds."""
    cell, readout = network.cell.map_weights(exact), network.readout.map_weights(exact)
    exact_network = Network(cell, readout, network.task)
    answer = answer_to_json(exact_network, long=isinstance(cell, Stack), has_order=has_order(network))
    answer |= task_fields(exact_network)
    if isinstance(cell, Stack):
        return {**stack_to_json(cell, network.alphabet), **answer}
    assert isinstance(cell, Cell)
    written = cell_to_json(cell, tokens=one_hot_vectors(network.alphabet), alphabet=network.alphabet)
    return {**written, **answer}
