"""The horizons of every model of an ensemble, of any scalar cell, in real arithmetic.

- **Linear cells with classes** are decided completely (`linear_ensemble`).
- **Exact counters** of any cell need no lengths: their theorem decides (`ensemble_search`).
- **All others** are searched length by length, in boxes around the extremes of all models at once, up to a limit; where the boxes
  do not decide, the certifier does, model by model. What fails has an exact horizon, what lasts to the limit a lower bound.

A model's horizon depends on its own weights alone, whatever stands beside it.
"""

from tallystick.cells import Cell, LinearCell, ScalarCell
from tallystick.certificates.critical_strings import is_usual
from tallystick.certificates.ensemble_models import UNLIMITED, Horizons, ensemble_of_arrays
from tallystick.certificates.ensemble_search import searched_horizons
from tallystick.certificates.linear_ensemble import HeadStart, linear_horizons
from tallystick.errors import BadInput, check_whole
from tallystick.networks import Network
from tallystick.networks.readout import ZERO
from tallystick.numbers import standard_floats

SEARCHED = 100
"""How far an ensemble is searched; a model that is right to there has at least this horizon."""

__all__ = ["SEARCHED", "UNLIMITED", "Horizons", "has_horizons", "horizons"]


def has_horizons(kind: type[Cell]) -> bool:
    """Say whether many networks of this kind can be certified at once: one unit, and deciders that know the cell."""
    return issubclass(kind, ScalarCell) and bool(kind.deciders)


@standard_floats()
def horizons(networks: Network, limit: int = SEARCHED, *, head_start: HeadStart | None = None) -> Horizons:
    """Return the horizons of networks given as arrays, one entry per network, as `certify` finds them one by one.

    A head start may go through the first lengths of linear cells elsewhere, such as on a GPU.

    >>> import numpy as np
    >>> from tallystick.networks import Readout
    >>> cells = LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([1.0, 0.5]))
    >>> found = horizons(Network(cells, Readout.binary(np.array([1.0, 1.0]), np.array([-0.5, -0.5]))))
    >>> (found.all == UNLIMITED).tolist(), found.even.tolist()[1:], found.even_exact.tolist()
    ([True, False], [2], [True, True])
    """
    check_whole(limit, "limit", least=2)
    if not has_horizons(type(networks.scalar_cell)):
        raise BadInput(f"cells: a {type(networks.scalar_cell).__name__} is outside what can be decided")
    models = ensemble_of_arrays(networks)
    if isinstance(networks.scalar_cell, LinearCell) and networks.readout.decision != ZERO and is_usual(networks):
        return linear_horizons(models, head_start)
    return searched_horizons(models, limit)
