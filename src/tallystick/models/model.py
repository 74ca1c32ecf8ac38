"""A cell and a readout together: a network that reads a string and gives a class."""

from dataclasses import dataclass
from enum import StrEnum

from tallystick.arithmetic import ARITHMETICS
from tallystick.cells import Cell
from tallystick.errors import BadInput
from tallystick.readouts import Readout


@dataclass(frozen=True)
class Model:
    """A network as a whole: it reads a string and gives a class."""

    cell: Cell
    readout: Readout

    def __post_init__(self) -> None:
        """Refuse what is no cell or no readout."""
        for field, kind in (("cell", Cell), ("readout", Readout)):
            if not isinstance(getattr(self, field), kind):
                raise BadInput(f"{field}: {getattr(self, field)!r} is not a {kind.__name__}")

    def class_of(self, string: str) -> StrEnum:
        """Return the class that the model gives a string."""
        return self.readout.class_of(self.cell.final_state(string))

    def in_arithmetic(self, name: str) -> "Model":
        """Return the model with every weight rounded to a named arithmetic; running it then rounds at every step."""
        if name not in ARITHMETICS:
            raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(ARITHMETICS)}")
        return Model(self.cell.converted(ARITHMETICS[name]), self.readout.converted(ARITHMETICS[name]))
