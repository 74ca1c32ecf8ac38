"""Networks of one unit, each with a floating point in which it is judged: at the edges of the format, or near a counter."""

from brute_force import READOUTS, SCALAR_CELLS
from claim_forgers import ARITHMETICS
from edge_models import edge_model
from unit_cases import some_unit

from tallystick.networks.readout import COUNT

CELLS = ("linear", "selective", "relu")
_EDGE_LIMIT, _LIMITS = 10, (40, 40, 120)
"""How far networks are looked at: those at the edges, of which all states may have to be listed, and those near a counter."""


def some_executed(generator):
    """A network, the floating point that it is judged in, and how far to look."""
    arithmetic = generator.choice(ARITHMETICS)
    if generator.randrange(2):
        cell, readout = SCALAR_CELLS[generator.choice(CELLS)], generator.choice(READOUTS)
        return edge_model(cell, readout, arithmetic, generator), arithmetic, _EDGE_LIMIT
    while (network := some_unit(generator)).readout.decision == COUNT:
        pass  # no proof speaks of the count in floating point
    return network, arithmetic, generator.choice(_LIMITS)
