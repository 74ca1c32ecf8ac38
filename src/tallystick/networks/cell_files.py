"""A cell in a JSON file: its weights by name, of the shapes that `Cell.shapes` says, and what has a form of its own.

- The `recurrent_weight` of a linear layer is a matrix, or a vector, which is its diagonal.
- That of a selective layer has a matrix for each token, or a vector, its diagonal: `{"(": [0.5, 1], ")": [2, 1]}`. A layer
  above another has one row of factors per unit instead, or one matrix, for each entry of what it reads.
- A GRU says where its reset gate stands: `"reset": "after"` the product with h, which is the default, `"before"` it, or `false`
  for none; its rows are then those of z and n.
- A complex layer is read in `networks.complex_layers`, and a graph of units in `networks.graph_files`.
"""

import json
from collections.abc import Sized
from fractions import Fraction
from typing import Any, NamedTuple

from tallystick.cells import (
    CELLS,
    GRUS,
    KINDS,
    LAYERS,
    UNTRAINED,
    AffineLayer,
    Cell,
    GraphCell,
    Gru,
    GruCell,
    LinearLayer,
    LruLayer,
    MatrixLayer,
    ScalarCell,
    SelectiveLayer,
)
from tallystick.cells.cell import TOKENS
from tallystick.files import Document
from tallystick.languages.brackets import ALPHABET
from tallystick.networks.complex_layers import complex_layer_to_json, read_complex_layer
from tallystick.networks.graph_files import graph_to_json, read_graph
from tallystick.networks.network import MOST_UNITS
from tallystick.numbers.values import Matrix, depth_of, read_numbers, write_numbers

_OPTIONAL = ("input_bias", "recurrent_bias")
_VECTOR, _MATRIX, _MATRICES = 1, 2, 3
_ZERO = Fraction(0)


class ReadCell(NamedTuple):
    """A cell from a file.

    Attributes:
        cell: the cell.
        shown: the rows over what the cell shows that the readout or the next layer reads; empty where it reads all as it is.
        fields: the fields of its object.
        reads_tokens: whether the last entries of what it reads, one per token, say which token it is, beside its own vector.
    """

    cell: Cell
    shown: Matrix
    fields: dict[str, Document]
    reads_tokens: bool = False


def read_cell(
    document: Document,
    required: tuple[str, ...] = (),
    optional: tuple[str, ...] = (),
    inputs: int = TOKENS,
    *,
    tokens: Matrix | None,
    alphabet: tuple[str, ...] = ALPHABET,
) -> ReadCell:
    """Read the weights of a cell.

    Args:
        document: the object that holds them.
        required: the fields that the object has beside the weights.
        optional: the fields that it may have.
        inputs: the length of the vectors that the cell reads.
        tokens: the vectors of the tokens where it reads these; None for a layer above another.
        alphabet: the tokens.
    """
    name = str(document.content.get("cell"))
    kind = UNTRAINED.get(name) or KINDS["input_weight" in document.content].get(name)
    if kind is LruLayer:
        return ReadCell(*read_complex_layer(document, required, optional, inputs))
    if kind is GraphCell:
        graph, fields = read_graph(document, required, optional, inputs)
        return ReadCell(graph, (), fields)
    if kind is None and "cell" in document.content:
        said = Document(document.content["cell"], f"{document.where}: cell")
        said.text()
        said.refuse(f"one of {', '.join(CELLS | LAYERS | UNTRAINED)}")
    is_gru = kind is not None and issubclass(kind, Gru)
    weights = tuple((kind or ScalarCell).shapes(1))
    fields = document.fields(
        required=("cell", *(field for field in weights if field not in _OPTIONAL), *required),
        optional=(*(field for field in weights if field in _OPTIONAL), *optional, *(("reset",) if is_gru else ())),
    )
    if "reset" in fields:
        kind = _gru(fields["reset"])
    assert kind is not None  # or the field was missing
    recurrent = fields["recurrent_weight"]
    if issubclass(kind, SelectiveLayer):
        return _read_selective(fields, inputs, tokens, alphabet)
    units = _units(kind, recurrent)
    tensors = {
        field: read_numbers(fields[field], *shape) if field in fields else (_ZERO,) * shape[0]
        for field, shape in kind.shapes(units, inputs).items()
        if field != "recurrent_weight" or not _is_diagonal(kind, recurrent)
    }
    if _is_diagonal(kind, recurrent):
        tensors["recurrent_weight"] = _diagonal(read_numbers(recurrent, units))
    return ReadCell(kind.from_tensors(tensors), (), fields)


def cell_to_json(cell: Cell, *, tokens: Matrix | None, alphabet: tuple[str, ...] = ALPHABET) -> dict[str, object]:
    """Return a cell as the object that its file holds; `tokens` are the vectors of the tokens where it reads these."""
    if isinstance(cell, LruLayer):
        return {"cell": cell.name, **complex_layer_to_json(cell)}
    if isinstance(cell, GraphCell):
        return {"cell": cell.name, **graph_to_json(cell)}
    written = {name: write_numbers(numbers, name) for name, numbers in cell.tensors().items()}
    if isinstance(cell, SelectiveLayer | MatrixLayer) and _is_one_hot(tokens):
        by_token = cell.recurrent_weight if isinstance(cell, MatrixLayer) else zip(*cell.recurrent_weight, strict=True)
        written["recurrent_weight"] = {
            token: write_numbers(numbers, f"recurrent_weight.{token}")
            for token, numbers in zip(alphabet, by_token, strict=True)
        }
    if isinstance(cell, Gru) and not isinstance(cell, GruCell):
        return {"cell": GruCell.name, "reset": cell.reset, **written}
    return {"cell": cell.name, **written}


def _gru(document: Document) -> type[Gru]:
    """Return the kind of GRU by where its reset gate stands."""
    found = next(
        (kind for reset, kind in GRUS.items() if type(reset) is type(document.value) and reset == document.value), None
    )
    if found is None:
        document.refuse(f"one of {', '.join(map(json.dumps, GRUS))}")
    return found


def one_hot_vectors(tokens: Sized) -> Matrix:
    """Return a one-hot vector for each token.

    >>> one_hot_vectors(("a", "b"))
    ((1, 0), (0, 1))
    """
    places = range(len(tokens))
    return tuple(tuple(int(place == one) for place in places) for one in places)


def _is_one_hot(tokens: Matrix | None) -> bool:
    return tokens is not None and tuple(map(tuple, tokens)) == one_hot_vectors(tokens)


def _is_diagonal(kind: type[Cell], recurrent: Document) -> bool:
    return kind is LinearLayer and depth_of(recurrent) == _VECTOR


def _read_selective(
    fields: dict[str, Document], inputs: int, tokens: Matrix | None, alphabet: tuple[str, ...]
) -> ReadCell:
    recurrent = fields["recurrent_weight"]
    by_token = isinstance(recurrent.value, dict)
    if by_token and tokens is None:
        recurrent.refuse("one row of factors per unit, or one matrix per entry of what the layer below shows")
    parts = _parts_by_token(recurrent, alphabet) if by_token else []
    depth = depth_of(parts[0]) + 1 if by_token else depth_of(recurrent)
    if depth not in (_MATRIX, _MATRICES):
        recurrent.refuse('{"(": …, ")": …} with a matrix or a vector for each token')
    kind: type[AffineLayer] = SelectiveLayer if depth == _MATRIX else MatrixLayer
    first = parts[0] if by_token else recurrent if depth == _MATRIX else next(recurrent.items())
    units = len(list(first.items()))
    if not 0 < units <= MOST_UNITS:
        first.refuse(f"a list for 1 to {MOST_UNITS} units")
    weight = read_numbers(fields["input_weight"], units, inputs)
    bias = read_numbers(fields["input_bias"], units) if "input_bias" in fields else (_ZERO,) * units
    if not by_token:
        shape = kind.shapes(units, inputs)["recurrent_weight"]
        return ReadCell(kind(weight, read_numbers(recurrent, *shape), bias), (), fields)
    matrices: list[Any] = [read_numbers(part, *([units] * (depth - 1))) for part in parts]
    widened = not _is_one_hot(tokens)
    if widened:  # further entries of what is read say which token it is, and these alone choose the matrix
        weight = tuple((*row, *(_ZERO for _ in alphabet)) for row in weight)
        none = (_ZERO,) * units
        matrices = [none if depth == _MATRIX else (none,) * units] * inputs + matrices
    chosen = tuple(zip(*matrices, strict=True)) if depth == _MATRIX else tuple(matrices)
    return ReadCell(kind(weight, chosen, bias), (), fields, widened)


def _parts_by_token(document: Document, alphabet: tuple[str, ...]) -> list[Document]:
    fields = document.fields(required=alphabet)
    parts = [fields[token] for token in alphabet]
    for part in parts:
        if depth_of(part) not in (_VECTOR, _MATRIX):
            part.refuse("a matrix, or a vector, which is its diagonal")
    for part in parts[1:]:
        if depth_of(part) != depth_of(parts[0]):
            part.refuse(f"of the form of the other token's: a {('vector', 'matrix')[depth_of(parts[0]) - 1]}")
    return parts


def _diagonal(entries: tuple[Fraction, ...]) -> Matrix:
    size = range(len(entries))
    return tuple(tuple(entries[row] if row == column else _ZERO for column in size) for row in size)


def _units(kind: type[Cell], document: Document) -> int:
    """Return how many units a cell has by the rows of its recurrent weight."""
    if issubclass(kind, ScalarCell):
        return 1
    rows, of_each = len(list(document.items())), kind.shapes(1)["recurrent_weight"][0]
    units = rows // of_each
    if rows % of_each or not 0 < units <= MOST_UNITS:
        document.refuse(f"a list of {of_each} rows a unit, for 1 to {MOST_UNITS} units: {rows} rows do not go")
    return units
