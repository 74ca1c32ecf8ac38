"""From weights to the paper's indicators a, b, a/b and U, and to the conditions of the theorems.

A cell with one unit knows the conditions of its theorem (`Cell.conditions`). What a linear network of several units counts hangs
on its readout too, so its conditions are those of the network.
"""

from dataclasses import dataclass
from fractions import Fraction

from tallystick.cells import LinearCell, Recurrence, ReluCell, ScalarCell
from tallystick.cells.conditions import Condition
from tallystick.certificates.linear.conditions import Fact, network_conditions, network_facts
from tallystick.errors import BadInput
from tallystick.networks import Network
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


def conditions(counts: Recurrence | Network) -> list[Condition]:
    """Return the conditions under which a cell or a network counts exactly, each decided in rationals.

    Args:
        counts: a cell with one unit, or a network. Those of a linear network of several units are about its outputs: δ_k, what a
            bracket with k tokens after it adds by opening instead of closing, is always the same, and the drift ε_k is 0.

    >>> from tallystick.cells import LinearLayer
    >>> from tallystick.networks import Readout
    >>> layer = LinearLayer(((1, -1), (0, 0)), ((1, 0), (0, 0.5)), (0, 0), (0, 0))
    >>> all(condition.holds for condition in conditions(Network(layer, Readout(((1, 7),), (-0.5,)))))
    True
    """
    if not isinstance(counts, Network):
        return counts.conditions()
    counts.require_usual()
    return counts.cell.conditions() if isinstance(counts.cell, ScalarCell) else network_conditions(counts)


def facts(network: Network) -> list[Fact]:
    """Return what else tells how far a linear network of several units counts; nothing for any other."""
    is_linear = network.is_usual and network.cell.is_affine and not isinstance(network.cell, ScalarCell)
    return network_facts(network) if is_linear else []
