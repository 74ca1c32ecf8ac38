"""The recurrences: state' = f(state, token). Each step is written once, for any kind of number."""

from collections import ChainMap

from tallystick.cells.cell import ONE_HOT, Cell, Input, OneHot, Recurrence, ScalarCell, Token, inputs_of
from tallystick.cells.graph import GraphCell, Unit
from tallystick.cells.gru import GRUS, Gru, GruCell, NoResetGruCell, ResetBeforeGruCell
from tallystick.cells.linear import LinearCell
from tallystick.cells.lru import LruLayer
from tallystick.cells.lstm import LstmCell
from tallystick.cells.relu import ReluCell
from tallystick.cells.selective import MatrixLayer, SelectiveCell, SelectiveLayer
from tallystick.cells.simple import LinearLayer, ReluLayer, TanhLayer
from tallystick.cells.stack import Stack
from tallystick.cells.tanh import TanhCell
from tallystick.cells.vector import AffineLayer, GatedCell, TensorCell, VectorCell

CELLS: dict[str, type[Cell]] = {
    cell.name: cell for cell in (LinearCell, SelectiveCell, ReluCell, TanhCell, GruCell, LstmCell)
}
"""Every cell that is trained, by the name it has in files; a new one is tested by being listed here."""

LAYERS: dict[str, type[Cell]] = {
    layer.name: layer for layer in (LinearLayer, SelectiveLayer, ReluLayer, TanhLayer, LruLayer)
}
"""Layers of any size. In files their matrices tell them apart from a cell of one unit with the same name, and square matrices
tell a `MatrixLayer` from a `SelectiveLayer`."""


UNTRAINED: dict[str, type[Cell]] = {GraphCell.name: GraphCell}
"""Cells that are read and decided, and that nobody trains here."""

KINDS: dict[bool, ChainMap[str, type[Cell]]] = {False: ChainMap(CELLS, LAYERS), True: ChainMap(LAYERS, CELLS)}
"""What a file means by the name of a cell, given whether its weights are matrices, such as an `input_weight`: "tanh" is a
`TanhLayer` if they are, else a `TanhCell`. What is added to either table is found here too."""

__all__ = [
    "CELLS",
    "GRUS",
    "KINDS",
    "LAYERS",
    "ONE_HOT",
    "UNTRAINED",
    "AffineLayer",
    "Cell",
    "GatedCell",
    "GraphCell",
    "Gru",
    "GruCell",
    "Input",
    "LinearCell",
    "LinearLayer",
    "LruLayer",
    "LstmCell",
    "MatrixLayer",
    "NoResetGruCell",
    "OneHot",
    "Recurrence",
    "ReluCell",
    "ReluLayer",
    "ResetBeforeGruCell",
    "ScalarCell",
    "SelectiveCell",
    "SelectiveLayer",
    "Stack",
    "TanhCell",
    "TanhLayer",
    "TensorCell",
    "Token",
    "Unit",
    "VectorCell",
    "inputs_of",
]
