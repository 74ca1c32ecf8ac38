"""The recurrences: state' = f(state, token). Each step is written once, for any kind of number."""

from tallystick.cells.cell import ONE_HOT, Cell, Input, Recurrence, ScalarCell, Token
from tallystick.cells.gru import GruCell
from tallystick.cells.linear import LinearCell
from tallystick.cells.lstm import LstmCell
from tallystick.cells.relu import ReluCell
from tallystick.cells.selective import SelectiveCell
from tallystick.cells.stack import Stack
from tallystick.cells.tanh import TanhCell
from tallystick.cells.vector import GatedCell, VectorCell

CELLS: dict[str, type[Cell]] = {
    cell.name: cell for cell in (LinearCell, SelectiveCell, ReluCell, TanhCell, GruCell, LstmCell)
}
"""Every cell by the name it has in files; a new one is tested by being listed here."""

__all__ = [
    "CELLS",
    "ONE_HOT",
    "Cell",
    "GatedCell",
    "GruCell",
    "Input",
    "LinearCell",
    "LstmCell",
    "Recurrence",
    "ReluCell",
    "ScalarCell",
    "SelectiveCell",
    "Stack",
    "TanhCell",
    "Token",
    "VectorCell",
]
