"""Cells with gates and several units, as in PyTorch: the state is a vector. Each step is written once, for any kind of number."""

from tallystick.cells.gated.gated_cell import GatedCell, Matrix, State, Vector, check_shape, layer
from tallystick.cells.gated.gru import GruCell
from tallystick.cells.gated.lstm import LstmCell

GATED_CELLS: dict[str, type[GatedCell]] = {"gru": GruCell, "lstm": LstmCell}
"""Every gated cell by the name it has in files; a new one is tested by being listed here."""

__all__ = ["GATED_CELLS", "GatedCell", "GruCell", "LstmCell", "Matrix", "State", "Vector", "check_shape", "layer"]
