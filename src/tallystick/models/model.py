"""A cell and a readout together: a network that reads a string and gives a class."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tallystick.arithmetic import ARITHMETICS
from tallystick.cells import Cell, ReluCell
from tallystick.errors import BadInput
from tallystick.languages.brackets import SEMI_DYCK1, bracket_difference
from tallystick.readouts import Readout, ZeroCheck


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

    @property
    def answers_for_semi_dyck1(self) -> bool:
        """Whether the right answer follows from κ instead of the count n − m: a ReLU cell's zero check cannot know better."""
        return isinstance(self.cell, ReluCell) and isinstance(self.readout, ZeroCheck)

    def right_class(self, string: str) -> StrEnum:
        """Return the class that the model should give a string.

        >>> from tallystick.cells import LinearCell
        >>> [str(Model(kind(1, -1, 1), ZeroCheck()).right_class("())")) for kind in (LinearCell, ReluCell)]
        ['rejected', 'accepted']
        """
        count = SEMI_DYCK1.count if self.answers_for_semi_dyck1 else bracket_difference
        return self.readout.right_class(count(string))

    def in_arithmetic(self, name: str) -> "Model":
        """Return the model with every weight rounded to a named arithmetic; running it then rounds at every step."""
        if name not in ARITHMETICS:
            raise BadInput(f"arithmetic: {name!r} is not one of {', '.join(ARITHMETICS)}")
        return Model(self.cell.converted(ARITHMETICS[name]), self.readout.converted(ARITHMETICS[name]))

    def place(self, position: int) -> "Model":
        """Return one network of a model whose weights are arrays, each weight the double that it equals."""

        def number(values: Any, _: str) -> float:  # noqa: ANN401 -- an array
            return float(values[position])

        return Model(self.cell.converted(number), self.readout.converted(number))
