"""Which cells of an ensemble count exactly: those that meet the conditions of their theorem, decided in rationals."""

import numpy as np

from tallystick.cells import Recurrence, ScalarCell
from tallystick.certificates.ensemble_models import Mask
from tallystick.languages.brackets import CLOSE, OPEN
from tallystick.numbers import standard_floats


def has_theorem(kind: type[Recurrence]) -> bool:
    """Say whether a theorem tells when this kind of cell counts exactly."""
    return kind.conditions is not Recurrence.conditions


@standard_floats()
def meets_conditions(cells: ScalarCell) -> Mask:
    """Say which cells of arrays meet the conditions of their theorem; none do where there is no theorem.

    Every theorem asks that `()` ends at 0. Where it does in real numbers, it does in doubles: Q·a is the double −b, which no
    rounding moves. So the few that rationals are asked about are picked in doubles.

    >>> from tallystick.cells import LinearCell
    >>> meets_conditions(LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -0.5]), np.array([1.0, 0.5]))).tolist()
    [True, False]
    """
    kind = type(cells)
    doubles = [np.asarray(weight, np.float64) for weight in vars(cells).values()]
    if not has_theorem(kind):
        return np.zeros(len(doubles[0]), bool)
    # What overflows or is no number does not end at 0.
    met = np.asarray(kind(*doubles).final_state(OPEN + CLOSE) == 0)
    for place in np.flatnonzero(met):
        met[place] = all(condition.holds for condition in kind(*(float(w[place]) for w in doubles)).conditions())
    return met
