"""The recurrences: h' = f(h, token). Each step is written once, for any kind of number."""

from tallystick.cells.cell import ONE_HOT, Cell, Token
from tallystick.cells.linear import LinearCell
from tallystick.cells.relu import ReluCell
from tallystick.cells.selective import SelectiveCell
from tallystick.cells.tanh import TanhCell

CELLS: dict[str, type[Cell]] = {
    "linear": LinearCell,
    "selective": SelectiveCell,
    "relu": ReluCell,
    "tanh": TanhCell,
}
"""Every cell by the name it has in files; a new one is tested by being listed here."""

__all__ = ["CELLS", "ONE_HOT", "Cell", "LinearCell", "ReluCell", "SelectiveCell", "TanhCell", "Token"]
