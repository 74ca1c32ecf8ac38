"""The layers that signals make: once sums are put into one another, a layer is left per recurrence and nonlinearity.

An answer may read the last token beside the state, as the D of a state-space model does. A linear layer may have units without
memory, which are the one-hot vector of the token that was read last; these give the answer what it reads.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any

from tallystick.cells import (
    CELLS,
    LAYERS,
    AffineLayer,
    Cell,
    LinearLayer,
    MatrixLayer,
    Recurrence,
    SelectiveCell,
    SelectiveLayer,
    Stack,
)
from tallystick.cells.vector import State
from tallystick.networks.pytorch.signals import SUM, TOKENS, Column, Signal, Unreadable, exact_weight
from tallystick.networks.pytorch.sums import Form, Gated, Sums
from tallystick.numbers.values import Matrix, Vector, add

_ZERO = Fraction(0)
ON_TOP = ("sigmoid", "softmax", "log_softmax", "tanh")
"""What leaves the class as it is, and so is read at the very end of a module."""

_GATED = ("gru", "lstm")
_LAYERS = {SUM: "linear", "relu": "relu", "tanh": "tanh"}


@dataclass(frozen=True)
class Layer:
    """A cell, the state that it starts from, the signal that it reads, and whether anything goes from token to token."""

    cell: Cell
    start: Any
    reads: Signal
    is_recurrent: bool


def layers_below(top: Signal, sums: Sums, tokens: Signal) -> list[Layer]:
    """Return the layers that make a signal, the lowest first."""
    found: list[Layer] = []
    while top is not tokens:
        found.append(_layer(top, sums, tokens))
        top = found[-1].reads
    return found[::-1]


def recurrence(layers: list[Layer], first: tuple[int, ...], last: tuple[int, ...]) -> Recurrence:
    """Return a cell that reads one-hot tokens, or a stack of them; `first` and `last` are read around every string."""
    cells, start = tuple(layer.cell for layer in layers), tuple(layer.start for layer in layers)
    size = cells[0].inputs
    if len(cells) == 1 and not first and not last and start == (cells[0].initial_state,):
        return _with_one_unit(cells[0])
    unit: Matrix = tuple(tuple(int(place == token) for place in range(size)) for token in range(size))
    return Stack(cells, unit[:2], start, tuple(unit[token] for token in first), tuple(unit[token] for token in last))


def _with_one_unit(cell: Cell) -> Cell:
    """Return the cell of one unit that a layer equals, for which there are exact deciders."""
    if type(cell) not in LAYERS.values() or cell.units != 1:
        return cell
    tensors = cell.tensors()
    if isinstance(cell, SelectiveLayer):
        ((opening, closing),), (factors,), (bias,) = tensors.values()
        return SelectiveCell(opening + bias, closing + bias, *factors)
    ((opening, closing),), ((recurrent,),) = tensors["input_weight"], tensors["recurrent_weight"]
    bias = tensors["input_bias"][0] + tensors["recurrent_bias"][0]
    steps = {"open_step": opening + bias, "close_step": closing + bias, "recurrent_weight": recurrent}
    return CELLS[cell.name].from_tensors(steps)


def _layer(signal: Signal, sums: Sums, tokens: Signal) -> Layer:
    units = signal.units
    if signal.operation in _GATED:
        return _gated_layer(signal, sums, tokens)
    if signal.operation not in _LAYERS:
        is_on_top = signal.operation in ON_TOP
        raise signal.refuse(
            f"{signal.operation} is {'read at the very end of a module alone' if is_on_top else 'not read'}"
        )
    rows = sums.rows(signal.weight, signal.biases, signal.columns)
    own: Matrix = tuple(tuple(row.pop((signal, -1, unit), _ZERO) for unit in range(units)) for row in rows)
    start = signal.start or (_ZERO,) * units
    chosen = [_chosen(signal, rows, token) for token in range(tokens.size)]
    if any(map(any, chain(*chosen))):
        matrices = tuple(tuple(map(add, own, matrix)) for matrix in chosen)
        return Layer(_selective_layer(signal, rows, matrices, sums), start, tokens, is_recurrent=True)
    reads, weight, bias = read_by(signal, rows, tokens)
    zeros = (_ZERO,) * units
    cell = LAYERS[_LAYERS[signal.operation]].from_tensors(_tensors(weight, own, bias, zeros))
    return Layer(cell, start, reads, signal.start is not None)


def _chosen(signal: Signal, rows: list[Form], token: int) -> Matrix:
    """Return the matrix that a token adds to the one that multiplies the state at every token."""
    units = range(signal.units)
    return tuple(tuple(row.pop((signal, -1, unit, token), _ZERO) for unit in units) for row in rows)


def _selective_layer(signal: Signal, rows: list[Form], matrices: tuple[Matrix, ...], sums: Sums) -> AffineLayer:
    """Return a layer with a matrix for each token; where all are diagonal, with their diagonals."""
    try:
        weight = tuple(tuple(sums.values(row, rounded=True)) for row in rows)
    except Unreadable:
        weight = ()
    if signal.operation != SUM or not weight:
        raise signal.refuse(
            f"{signal.function} multiplies its state by what the token decides, and reads more than the token"
        )
    size, bias = range(len(rows)), (_ZERO,) * len(rows)
    if any(matrix[row][column] for matrix in matrices for row in size for column in size if row != column):
        return MatrixLayer(weight, matrices, bias)
    return SelectiveLayer(weight, tuple(tuple(matrix[unit][unit] for matrix in matrices) for unit in size), bias)


def _gated_layer(signal: Signal, sums: Sums, tokens: Signal) -> Layer:
    units, inputs = signal.units, signal.weight.shape[1] - signal.units
    if signal.start is None or signal.columns[inputs:] != tuple(
        (signal, -1, feature) for feature in range(signal.size)
    ):
        raise signal.refuse("its state is not what it was one token before")
    rows = sums.rows(signal.weight[:, :inputs], signal.biases[:, :1], signal.columns[:inputs])
    reads, weight, bias = read_by(signal, rows, tokens)
    own = tuple(tuple(map(exact_weight, row)) for row in signal.weight[:, inputs:].tolist())
    second = tuple(map(exact_weight, signal.biases[:, 1].tolist()))
    start = signal.start
    cell = CELLS[signal.operation].from_tensors(_tensors(weight, own, bias, second))
    return Layer(cell, State(start[:units], start[units:]), reads, is_recurrent=True)


def _tensors(weight: Matrix, own: Matrix, bias: Vector, second: Vector) -> dict[str, Any]:
    return {"input_weight": weight, "recurrent_weight": own, "input_bias": bias, "recurrent_bias": second}


def read_by(signal: Signal, rows: list[Form], tokens: Signal) -> tuple[Signal, Matrix, Vector]:
    """Return the one signal that sums read, and their W and b; `signal` is named where they read more."""
    reads = tokens
    for other, shift, feature, *gated in sorted(_columns(rows), key=lambda column: column[0] is tokens):
        if gated:
            raise signal.refuse(f"multiplies {_name(other)} by what the token decides")
        reads = other if reads is tokens else reads
        if other is not reads:
            raise signal.refuse(f"reads both {_name(reads)} and {_name(other)}, and a layer reads one below it")
        if shift:
            raise signal.refuse(f"reads {_name(other)} of another token than the last")
        if feature >= other.units:
            raise signal.refuse(f"reads the memory c of {_name(other)}, of which the next layer sees h alone")
    weight = tuple(tuple(row.get((reads, 0, feature), _ZERO) for feature in range(reads.units)) for row in rows)
    return reads, weight, tuple(row.get(None, _ZERO) for row in rows)


def _columns(rows: list[Form]) -> Iterator[Column | Gated]:
    for row in rows:
        yield from (column for column in row if column)


def _name(signal: Signal) -> str:
    return "the token" if signal.operation == TOKENS else f"the {signal.function} of {signal.place}"


def layers_of(
    signal: Signal, rows: list[Form], sums: Sums, tokens: Signal
) -> tuple[Signal, list[Layer], Matrix, Vector]:
    """Return the signal that sums read, the layers that make it, and the matrix and biases of the sums."""
    others = [
        {column: value for column, value in row.items() if column is None or column[0] is not tokens} for row in rows
    ]
    if all(row.keys() <= {None} for row in others) or others == rows:
        top, weight, bias = read_by(signal, rows, tokens)
        return top, layers_below(top, sums, tokens), weight, bias
    top, weight, bias = read_by(signal, others, tokens)
    layers = layers_below(top, sums, tokens)
    places = [(tokens, 0, token) for token in range(tokens.size)]
    wide = _widened(layers[0], tokens.size) if len(layers) == 1 else None
    if wide is None or any(column and column[0] is tokens and column not in places for row in rows for column in row):
        read_by(signal, rows, tokens)  # which refuses, and says what is read
    assert wide is not None
    direct = [tuple(row.get(place, _ZERO) for place in places) for row in rows]
    return top, [wide], tuple((*row, *more) for row, more in zip(weight, direct, strict=True)), bias


def _widened(layer: Layer, tokens: int) -> Layer | None:
    """Return a layer with one more unit per token, which is 1 after that token and 0 after any other; None for other layers."""
    cell = layer.cell
    units: Matrix = tuple(tuple(Fraction(row == column) for column in range(tokens)) for row in range(tokens))
    zeros = (_ZERO,) * tokens
    start = (*layer.start, *zeros)
    if not isinstance(cell, LinearLayer | SelectiveLayer | MatrixLayer):
        return None
    weight, bias = (*cell.input_weight, *units), (*cell.input_bias, *zeros)
    if isinstance(cell, LinearLayer):
        wide = LinearLayer(weight, _padded(cell.recurrent_weight, tokens), bias, (*cell.recurrent_bias, *zeros))
    elif isinstance(cell, SelectiveLayer):
        wide = SelectiveLayer(weight, (*cell.recurrent_weight, *((_ZERO,) * cell.inputs for _ in units)), bias)
    else:
        wide = MatrixLayer(weight, tuple(_padded(matrix, tokens) for matrix in cell.recurrent_weight), bias)
    return replace(layer, cell=wide, start=start)


def _padded(matrix: Sequence[Vector], more: int) -> Matrix:
    """Return a square matrix with so many more rows and columns of zeros."""
    wide = len(matrix) + more
    return (*((*row, *(_ZERO,) * more) for row in matrix), *((_ZERO,) * wide for _ in range(more)))
