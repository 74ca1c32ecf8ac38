"""The horizons of every model of an ensemble, of any scalar cell, in real arithmetic.

- **Linear cells with classes** are decided completely (`linear_ensemble`).
- **Exact counters** of any cell need no lengths: their theorem decides (`ensemble_search`).
- **All others** are searched length by length, in boxes around the extremes of all models at once, up to a limit; where the boxes
  do not decide, the certifier does, model by model. What fails has an exact horizon, what lasts to the limit a lower bound.

A model's horizon depends on its own weights alone, whatever stands beside it.
"""

from tallystick.arithmetic import standard_floats
from tallystick.cells import Cell, LinearCell
from tallystick.certificates.ensemble_models import UNLIMITED, Horizons, ensemble_of_arrays
from tallystick.certificates.ensemble_search import searched_horizons
from tallystick.certificates.horizon import is_decidable
from tallystick.certificates.linear_ensemble import HeadStart, linear_horizons
from tallystick.errors import BadInput, check_whole
from tallystick.readouts import Readout, ZeroCheck

SEARCHED = 100
"""How far an ensemble is searched; a model that is right to there has at least this horizon."""

__all__ = ["SEARCHED", "UNLIMITED", "Horizons", "horizons"]


@standard_floats()
def horizons(cells: Cell, readouts: Readout, limit: int = SEARCHED, *, head_start: HeadStart | None = None) -> Horizons:
    """Return the horizons of cells and readouts given as arrays, one entry a model, as `certify` finds them one by one.

    A head start may go through the first lengths of linear cells elsewhere, such as on a GPU.

    >>> import numpy as np
    >>> from tallystick.readouts import BinaryReadout
    >>> cells = LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([1.0, 0.5]))
    >>> found = horizons(cells, BinaryReadout(np.array([1.0, 1.0]), np.array([-0.5, -0.5])))
    >>> (found.all == UNLIMITED).tolist(), found.even.tolist()[1:], found.even_exact.tolist()
    ([True, False], [2], [True, True])
    """
    check_whole(limit, "limit", least=2)
    if not is_decidable(type(cells)):
        raise BadInput(f"cells: a {type(cells).__name__} is outside what can be decided")
    models = ensemble_of_arrays(cells, readouts)
    if isinstance(cells, LinearCell) and not isinstance(readouts, ZeroCheck):
        return linear_horizons(models, head_start)
    return searched_horizons(models, limit)
