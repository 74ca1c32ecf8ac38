"""What an answer reads of the last token beside the state, as the D of a state-space model: units that hold that token.

A linear layer may have units without memory, which are the one-hot vector of the token that was read last.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tallystick.cells import LinearLayer, MatrixLayer, SelectiveLayer
from tallystick.networks.pytorch.layers import Layer, layers_below, read_by
from tallystick.networks.pytorch.signals import Signal
from tallystick.networks.pytorch.sums import Form, Sums
from tallystick.numbers.values import Matrix, Vector

_ZERO = Fraction(0)


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
