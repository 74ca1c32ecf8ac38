"""The recurrences: state' = f(state, token). Each step is written once, for any kind of number."""

from tallystick.cells.cell import ONE_HOT, Cell, Input, Recurrence, ScalarCell, Token
from tallystick.cells.gru import GruCell
from tallystick.cells.linear import LinearCell
from tallystick.cells.lstm import LstmCell
from tallystick.cells.relu import ReluCell
from tallystick.cells.selective import SelectiveCell
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.cells.stack import Stack
from tallystick.cells.tanh import TanhCell
from tallystick.cells.vector import GatedCell, TensorCell, VectorCell

CELLS: dict[str, type[Cell]] = {
    cell.name: cell for cell in (LinearCell, SelectiveCell, ReluCell, TanhCell, GruCell, LstmCell)
}
"""Every cell that is trained, by the name it has in files; a new one is tested by being listed here."""

LAYERS: dict[str, type[Cell]] = {layer.name: layer for layer in (LinearLayer, ReluLayer, TanhLayer)}
"""Layers of any size that share their name with the cell of one unit; in files they are told apart by their matrices."""


def kind_of_cell(name: object, *, has_matrices: bool) -> type[Cell] | None:
    """Return the kind of cell that a file names, given whether it has an `input_weight`; None where there is none.

    >>> kind_of_cell("tanh", has_matrices=True).__name__, kind_of_cell("tanh", has_matrices=False).__name__
    ('TanhLayer', 'TanhCell')
    """
    if not isinstance(name, str):
        return None
    return LAYERS[name] if has_matrices and name in LAYERS else CELLS.get(name)


__all__ = [
    "CELLS",
    "LAYERS",
    "ONE_HOT",
    "Cell",
    "GatedCell",
    "GruCell",
    "Input",
    "LinearCell",
    "LinearLayer",
    "LstmCell",
    "Recurrence",
    "ReluCell",
    "ReluLayer",
    "ScalarCell",
    "SelectiveCell",
    "Stack",
    "TanhCell",
    "TanhLayer",
    "TensorCell",
    "Token",
    "VectorCell",
    "kind_of_cell",
]
