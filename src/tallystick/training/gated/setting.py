"""A setting of gated networks: the kind of cell and its units, taught as any other cell is."""

from dataclasses import dataclass

from tallystick.cells.gated import GATED_CELLS, GatedCell
from tallystick.errors import BadInput, check_whole
from tallystick.training.setting import Setting

MOST_UNITS = 16
"""More units would take a compiler minutes: each weight is a number of its own in the step."""


@dataclass(frozen=True)
class GatedSetting:
    """What is trained and how.

    Attributes:
        cell: gru or lstm.
        units: how many.
        taught: the task, the training length, the method, the precision and so on; its own cell is left aside.
    """

    cell: str
    units: int
    taught: Setting

    def __post_init__(self) -> None:
        """Refuse what cannot be trained, naming it."""
        if self.cell not in GATED_CELLS:
            raise BadInput(f"cell: {self.cell!r} is not one of {', '.join(GATED_CELLS)}")
        check_whole(self.units, "units", least=1, most=MOST_UNITS)
        taught = self.taught
        for field, needed in (
            ("method", taught.procedure.uses_conditions),
            ("start", taught.start == "exact"),
            ("snap", taught.snap),
        ):
            if needed:
                asked = f"{field}: {getattr(taught, field)!r}"
                raise BadInput(f"{asked} needs the conditions of a counting theorem, and a {self.cell} cell has none")
        if taught.initial_scale != 1:
            raise BadInput(f"initial_scale: {taught.initial_scale!r} is for cells without gates, not for a {self.cell}")

    @property
    def kind(self) -> type[GatedCell]:
        """The class of the cell."""
        return GATED_CELLS[self.cell]
