"""From weights to the paper's indicators a, b, a/b and U; a cell knows the conditions of its theorem (`Cell.conditions`)."""

from dataclasses import dataclass
from fractions import Fraction

from tallystick.cells import LinearCell, Recurrence, ReluCell
from tallystick.cells.conditions import Condition
from tallystick.errors import BadInput
from tallystick.numbers import exact


@dataclass(frozen=True)
class Indicators:
    """The paper's two indicators of a linear or ReLU cell, exactly.

    >>> found = indicators(LinearCell(1, -0.75, 1.25))
    >>> found.ab_ratio, found.ab_distance, found.recurrent_distance
    (Fraction(-4, 3), Fraction(-1, 3), Fraction(1, 4))
    """

    open_step: Fraction
    close_step: Fraction
    recurrent_weight: Fraction

    @property
    def ab_ratio(self) -> Fraction | None:
        """a/b, and None where b = 0."""
        return self.open_step / self.close_step if self.close_step else None

    @property
    def ab_distance(self) -> Fraction | None:
        """a/b − (−1): zero iff the first condition holds."""
        return None if self.ab_ratio is None else self.ab_ratio + 1

    @property
    def recurrent_distance(self) -> Fraction:
        """U − 1: zero iff the second condition holds."""
        return self.recurrent_weight - 1


def indicators(cell: LinearCell | ReluCell) -> Indicators:
    """Return the cell's indicators, its weights read exactly."""
    if not isinstance(cell, LinearCell | ReluCell):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"cell: a {type(cell).__name__} has no single U; conditions() decides it")
    cell = cell.map_weights(exact)
    return Indicators(cell.open_step, cell.close_step, cell.recurrent_weight)


def conditions(cell: Recurrence) -> list[Condition]:
    """Return the conditions under which this kind of cell counts exactly, each decided in rationals."""
    return cell.conditions()
