"""A stack of cells in a JSON file: the vectors that are read, and the layers with the states that they start from.

    {"tokens": {"a": [0.25, -1], "b": [1, 0], "#": [0, 0]}, "start": "#",
     "layers": [{"cell": "lstm", "input_weight": [[…], …], …, "initial_state": {"h": [0.5], "c": [0]}}, {"cell": "gru", …}], …}

- `tokens` holds the vector of each token of the task; where it is missing they are one-hot, in the order of the task's alphabet.
  Further names may stand there only if the file says what they are for.
- `start` names what is read before every string, and `end` what is read after it, before one answer is given. `first` and `last`
  are lists of vectors in their place.
- `"padding": {"left": [0, 0], "to": 10}` is what strings of fewer tokens are filled up with on the left, before `start`.
"""

from fractions import Fraction
from typing import Any, NamedTuple

from tallystick.cells import Cell, GraphCell, LinearLayer, Stack
from tallystick.cells.vector import State
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.networks.cell_files import cell_to_json, one_hot_vectors, read_cell
from tallystick.networks.steps import STEPWISE
from tallystick.numbers.values import Matrix, Vector, read_numbers, write_numbers

_MOST_LAYERS = 16
_OPTIONAL = ("tokens", "first", "last", "start", "end", "padding", "task", "empty")


class _Read(NamedTuple):
    """The vectors of a file: of the tokens, before and after every string, and of the padding with its length."""

    tokens: Matrix
    first: Matrix = ()
    last: Matrix = ()
    padding: Vector = ()
    padded_to: int = 0


def read_stack(document: Document, alphabet: tuple[str, ...]) -> tuple[Stack, dict[str, Document]]:
    """Read the longer form of a network over an alphabet; return its stack and all fields."""
    fields = document.fields(required=("layers", "readout", "answer"), optional=_OPTIONAL)
    read = _read_vectors(fields, alphabet)
    tokens, inputs = read.tokens, len(read.tokens[0])
    layers: list[Cell] = []
    start: list[Any] = []
    for place, entry in enumerate(fields["layers"].items()):
        if place >= _MOST_LAYERS:
            fields["layers"].refuse(f"a list of at most {_MOST_LAYERS} layers")
        cell, shown, parts, reads_tokens = read_cell(
            entry, optional=("initial_state",), inputs=inputs, tokens=None if layers else tokens, alphabet=alphabet
        )
        if reads_tokens:
            if read.first or read.last or read.padding:
                entry.refuse(
                    "a layer with a matrix per token, where something else is read too: say tokens as one-hot vectors"
                )
            tokens = tuple((*vector, *which) for vector, which in zip(tokens, one_hot_vectors(alphabet), strict=True))
        elif cell.inputs != inputs:  # a cell with one unit has two inputs
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
    return Stack(tuple(layers), tokens, tuple(start), *read[1:]), fields


def _read_vectors(fields: dict[str, Document], alphabet: tuple[str, ...]) -> _Read:
    """Read what every token and whatever else is read stands for."""
    if "tokens" in fields:
        by_name = fields["tokens"].fields(required=alphabet, optional=_further_names(fields, alphabet))
        size = max(len(list(vector.items())) for vector in by_name.values())
        vectors = {name: read_numbers(vector, size) for name, vector in by_name.items()}
        tokens = tuple(vectors[token] for token in alphabet)  # in whatever order the file has them
    else:
        vectors, tokens = {}, one_hot_vectors(alphabet)
    first, last = (
        _read_around(fields, *names, vectors, len(tokens[0])) for names in (("start", "first"), ("end", "last"))
    )
    if "padding" not in fields:
        return _Read(tokens, first, last)
    padding = fields["padding"].fields(required=("left", "to"))
    return _Read(tokens, first, last, read_numbers(padding["left"], len(tokens[0])), padding["to"].whole())


def _further_names(fields: dict[str, Document], alphabet: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names beside the alphabet that may have a vector: those of the start, the end, and the answer's end symbol."""
    named = [*(fields[name].value for name in ("start", "end") if name in fields), fields["answer"].content.get("end")]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str) and name not in alphabet))


def _read_around(fields: dict[str, Document], name: str, listed: str, vectors: dict[str, Vector], size: int) -> Matrix:
    """Read what stands around every string: a token by its name, or a list of vectors."""
    if name in fields and listed in fields:
        raise BadInput(f"{fields[listed].where}: {name!r} says the same; leave one of them out")
    if listed in fields:
        return tuple(read_numbers(vector, size) for vector in fields[listed].items())
    if name not in fields:
        return ()
    kind = fields["answer"].content.get("kind")
    if name == "end" and kind in STEPWISE:
        raise BadInput(
            f"{fields[name].where}: the answer {kind} predicts the end, and nothing reads it; say it as the answer's end"
        )
    if fields[name].text() not in vectors:
        fields[name].refuse("a name that has a vector in tokens; give it one")
    return (vectors[fields[name].text()],)


def _read_state(document: Document, cell: Cell) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    """Read the numbers that a layer starts from: h, and c where the cell has a memory."""
    form = cell.initial_state
    memory = ("c",) if isinstance(form, State) and form.memory else ()
    fields = document.fields(required=("h", *memory))
    hidden, *others = (read_numbers(fields[name], cell.units) for name in ("h", *memory))
    if isinstance(form, State):
        return State(hidden, *others)
    return hidden if isinstance(form, tuple) else hidden[0]


def stack_to_json(stack: Stack, alphabet: tuple[str, ...]) -> dict[str, object]:
    """Return the fields of a file that hold a stack."""
    layers: list[object] = []
    for cell, state in zip(stack.layers, stack.start, strict=True):
        hidden = state if isinstance(cell, GraphCell) else cell.hidden(state)
        memory = {"c": state.memory} if isinstance(state, State) and state.memory else {}
        numbers = {
            name: write_numbers(values, f"initial_state.{name}") for name, values in {"h": hidden, **memory}.items()
        }
        starts = {} if state == cell.initial_state else {"initial_state": numbers}
        written = cell_to_json(cell, tokens=None if layers else stack.tokens, alphabet=alphabet)
        layers.append({**written, **starts})
    vectors = zip(alphabet, stack.tokens, strict=True)
    padding = {"left": write_numbers(stack.padding, "padding"), "to": stack.padded_to}
    return {
        "tokens": {token: write_numbers(vector, f"tokens.{token}") for token, vector in vectors},
        **{name: write_numbers(found, name) for name, found in (("first", stack.first), ("last", stack.last)) if found},
        **({"padding": padding} if stack.is_padded else {}),
        "layers": layers,
    }
