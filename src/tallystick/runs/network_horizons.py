"""Up to which length trained networks are right on all strings: the one way by which runs and comparisons are certified."""

from dataclasses import replace
from typing import NamedTuple

import jax
import numpy as np

from tallystick.certificates.ensemble import Horizons, has_horizons, horizons
from tallystick.certificates.linear_ensemble import HeadStart
from tallystick.runs.device_lengths import head_start_on
from tallystick.training.devices import devices_named
from tallystick.training.ensemble import Ensemble


class Certified(NamedTuple):
    """Which networks have a horizon, and the horizons: an entry a network, 0 where there is none."""

    networks: np.ndarray
    horizons: Horizons


def certify_many(networks: Ensemble) -> Certified:
    """Certify trained networks of any cell and task, in real arithmetic.

    Where the count is asked for the zero check answers for the cell: it is right iff h = 0 says that the count is 0. Networks
    with a weight that is not finite have no horizon, and neither has a new cell until the certifier knows it.
    """
    weights = networks.weights
    found = are_finite(networks) & has_horizons(networks.setting.kind)
    empty = Horizons(*(np.zeros(len(found), kind) for kind in (np.int64, np.int64, bool, bool)))
    if not found.any():
        return Certified(found, empty)
    chosen = replace(networks, weights=weights.places(found)).networks()
    decided = horizons(chosen, head_start=_head_start(networks.device))
    for whole, part in zip(empty, decided, strict=True):
        whole[found] = part
    return Certified(found, empty)


def are_finite(networks: Ensemble) -> np.ndarray:
    """Say of each network whether all its weights are finite."""
    with np.errstate(all="ignore"):
        leaves = [*jax.tree.leaves(networks.weights), *jax.tree.leaves(networks.cell().tensors())]
    size = len(networks.accuracy_train)
    return np.all([np.isfinite(row) for leaf in leaves for row in np.asarray(leaf).reshape(-1, size)], axis=0)


def _head_start(device: str) -> HeadStart | None:
    """Networks that a GPU trained begin to be certified there; processors do as well without."""
    return head_start_on(devices_named(device).using()) if device == "gpu" else None
