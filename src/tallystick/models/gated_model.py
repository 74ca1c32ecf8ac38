"""A gated cell and a layer that reads it: a network with several units that gives a string a class."""

from dataclasses import dataclass
from enum import StrEnum

from tallystick.arithmetic import ARITHMETICS
from tallystick.cells.gated import GatedCell
from tallystick.errors import BadInput
from tallystick.languages.brackets import bracket_difference
from tallystick.readouts import LayerReadout


@dataclass(frozen=True)
class GatedModel:
    """A GRU or an LSTM with its readout; right is the class of the count n − m."""

    cell: GatedCell
    readout: LayerReadout

    def __post_init__(self) -> None:
        """Refuse what is no gated cell, no layer, or a layer over another number of units."""
        for field, kind in (("cell", GatedCell), ("readout", LayerReadout)):
            if not isinstance(getattr(self, field), kind):
                raise BadInput(f"{field}: {getattr(self, field)!r} is not a {kind.__name__}")
        if self.readout.units != self.cell.units:
            raise BadInput(f"readout: reads {self.readout.units} units; the cell has {self.cell.units}")

    def class_of(self, string: str) -> StrEnum:
        """Return the class that the model gives a string."""
        return self.readout.class_of(self.cell.final_state(string))

    def right_class(self, string: str) -> StrEnum:
        """Return the class that the model should give a string."""
        return self.readout.right_class(bracket_difference(string))

    def in_arithmetic(self, name: str) -> "GatedModel":
        """Return the model with every weight rounded to a named arithmetic; running it then rounds at every step."""
        if name not in ARITHMETICS:
            raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(ARITHMETICS)}")
        return GatedModel(self.cell.converted(ARITHMETICS[name]), self.readout.converted(ARITHMETICS[name]))
