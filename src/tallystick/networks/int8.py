"""Weights of eight binary digits: every row of a matrix is whole numbers from −128 to 127 times a scale of its own.

This is how networks are deployed where memory is short: weights are rounded once, symmetrically and row by row, and what is
computed is floating point as before. Biases, the vectors of tokens and initial states stay as they are.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tallystick.cells import Recurrence, Stack
from tallystick.cells.vector import VectorCell
from tallystick.errors import BadInput
from tallystick.networks.network import Network
from tallystick.networks.readout import Readout
from tallystick.numbers.any_order import MOST_SCALE
from tallystick.numbers.floats import FORMATS, nearest
from tallystick.numbers.scaled_weights import LEAST_SCALE, MOST_WHOLE, check_row
from tallystick.numbers.values import Vector, exact

MATRICES = ("input_weight", "recurrent_weight", "weight")
"""The weights that are matrices, by their names in files: two of a layer, and one of a readout."""

MapRow = Callable[[Vector, str], Vector]


def quantise(network: Network) -> Network:
    """Return a network whose matrices are kept in eight binary digits and a scale for each row; its weights are exact numbers.

    The scale is the float32 nearest to a 127th of the greatest size in the row, and every weight goes to the nearest multiple.
    A row so small that its scale would not be a normal number becomes 0.

    >>> from tallystick.cells import LinearLayer
    >>> layer = LinearLayer(((127.0, -60.2),), ((0.5,),), (0.0,), (0.0,))
    >>> [float(weight) for weight in quantise(Network(layer, Readout.binary(1, 0))).cell.input_weight[0]]
    [127.0, -60.0]
    """
    return _map_rows(network, _quantise_row)


def check_int8(network: Network) -> None:
    """Refuse a network whose matrices are not whole numbers of eight binary digits times a scale for each row."""

    def check(row: Vector, field: str) -> Vector:
        check_row(row, field)
        return row

    _map_rows(network, check)


def _quantise_row(row: Vector, field: str) -> Vector:
    numbers = [exact(weight, field) for weight in row]
    scale = Fraction(float(nearest(max(map(abs, numbers)) / MOST_WHOLE, FORMATS["float32"], field)))  # type: ignore[arg-type]
    if scale < LEAST_SCALE:
        return (Fraction(0),) * len(row)
    if scale > MOST_SCALE:
        raise BadInput(f"{field}: a scale of {float(scale):g} is above 2^60; quantise smaller weights")
    return tuple(max(-MOST_WHOLE, min(MOST_WHOLE, round(number / scale))) * scale for number in numbers)


def _map_rows(network: Network, row: MapRow) -> Network:
    readout = network.readout
    if readout.has_weights:
        weight = tuple(row(one, "weight") for one in readout.weight)
        readout = Readout(weight, readout.bias, readout.decision, readout.steps)
    return Network(_map_cell(network.cell, row), readout, network.task)


def _map_cell(cell: Recurrence, row: MapRow) -> Any:  # noqa: ANN401 -- the same kind of recurrence
    if isinstance(cell, Stack):
        return replace(cell, layers=tuple(_map_cell(layer, row) for layer in cell.layers))
    if not isinstance(cell, VectorCell):
        raise BadInput(
            f"cell: a {type(cell).__name__} has no matrix whose rows have a scale; write it as a layer of one unit"
        )
    shapes = cell.shapes(cell.units, cell.inputs)
    found = {name: _map_matrix(getattr(cell, name), name, row) for name in MATRICES if len(shapes.get(name, ())) > 1}
    return replace(cell, **found)


def _map_matrix(matrix: Any, name: str, row: MapRow) -> Any:  # noqa: ANN401 -- rows of numbers, or a matrix for each token
    if isinstance(matrix[0], tuple):
        return tuple(_map_matrix(part, name, row) for part in matrix)
    return row(matrix, name)
