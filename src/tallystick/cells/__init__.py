"""The recurrences: state' = f(state, token). Each step is written once, for any kind of number."""

from tallystick.cells.affine import AffineLayer
from tallystick.cells.cell import ONE_HOT, Cell, Input, Recurrence, ScalarCell, Token
from tallystick.cells.gru import GruCell
from tallystick.cells.linear import LinearCell
from tallystick.cells.lru import LruLayer
from tallystick.cells.lstm import LstmCell
from tallystick.cells.relu import ReluCell
from tallystick.cells.selective import MatrixLayer, SelectiveCell, SelectiveLayer
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.cells.stack import Stack
from tallystick.cells.tanh import TanhCell
from tallystick.cells.vector import GatedCell, TensorCell, VectorCell

CELLS: dict[str, type[Cell]] = {
    cell.name: cell for cell in (LinearCell, SelectiveCell, ReluCell, TanhCell, GruCell, LstmCell)
}
"""Every cell that is trained, by the name it has in files; a new one is tested by being listed here."""

LAYERS: dict[str, type[Cell]] = {
    layer.name: layer for layer in (LinearLayer, SelectiveLayer, ReluLayer, TanhLayer, LruLayer)
}
"""Layers of any size. In files their matrices tell them apart from a cell of one unit with the same name, and square matrices
tell a `MatrixLayer` from a `SelectiveLayer`."""


def kind_of_cell(name: object, *, has_matrices: bool) -> type[Cell] | None:
    """Return the kind of cell that a file names, given whether it has an `input_weight`; None where there is none.

    >>> kind_of_cell("tanh", has_matrices=True).__name__, kind_of_cell("tanh", has_matrices=False).__name__
    ('TanhLayer', 'TanhCell')
    """
    if not isinstance(name, str):
        return None
    return LAYERS[name] if name in LAYERS and (has_matrices or name not in CELLS) else CELLS.get(name)


__all__ = [
    "CELLS",
    "LAYERS",
    "ONE_HOT",
    "AffineLayer",
    "Cell",
    "GatedCell",
    "GruCell",
    "Input",
    "LinearCell",
    "LinearLayer",
    "LruLayer",
    "LstmCell",
    "MatrixLayer",
    "Recurrence",
    "ReluCell",
    "ReluLayer",
    "ScalarCell",
    "SelectiveCell",
    "SelectiveLayer",
    "Stack",
    "TanhCell",
    "TanhLayer",
    "TensorCell",
    "Token",
    "VectorCell",
    "kind_of_cell",
]
