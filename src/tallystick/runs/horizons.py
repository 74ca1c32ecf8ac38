"""Up to which length trained networks are right on all strings: the one way by which runs and comparisons are certified.

Networks that a GPU trained begin to be certified there: it fails most of them in the time that the host needs for a few. The
bounds are those of `linear_ensemble`, in float64, and the host decides what the GPU leaves open.
"""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import LinearCell, ScalarCell, SelectiveLayer
from tallystick.certificates.linear.ensemble import has_linear_horizons, layer_horizons
from tallystick.certificates.linear.sorting import DEFAULT_LIMIT
from tallystick.certificates.one_unit.ensemble import SEARCHED, Horizons, has_horizons, horizons
from tallystick.certificates.one_unit.linear_ensemble import FirstFailures, HeadStart, Mask, Powers, decide_length
from tallystick.certificates.one_unit.sorted_strings import critical_strings
from tallystick.networks import Network, Readout
from tallystick.training.engines import devices_named
from tallystick.training.ensemble import Ensemble

LONGEST = 4096
"""Lengths that a device goes through; the few cells that last longer are left to the host."""


class Certified(NamedTuple):
    """Which networks have a horizon, and the horizons: one entry per network, 0 where there is none."""

    networks: np.ndarray
    horizons: Horizons


def certify_many(networks: Ensemble) -> Certified:
    """Certify trained networks of any cell and task, in real arithmetic.

    Where the count is asked for the zero check answers for the cell: it is right iff h = 0 says that the count is 0. Networks
    with a weight that is not finite have no horizon, and neither has a new cell until the certifier knows it, nor a gated one.
    """
    weights, kind = networks.weights, networks.setting.kind
    found = are_finite(networks) & (has_horizons(kind) or has_linear_horizons(kind))
    empty = Horizons(*(np.zeros(len(found), kind) for kind in (np.int64, np.int64, bool, bool)))
    if not found.any():
        return Certified(found, empty)
    chosen = replace(networks, weights=weights.places(found)).networks()
    if issubclass(kind, ScalarCell):
        decided = horizons(chosen, head_start=_head_start(networks.device))
    else:
        # Networks with a matrix for each token are decided one by one, at a cost that grows with the square of the length.
        decided = layer_horizons(chosen, SEARCHED if kind is SelectiveLayer else DEFAULT_LIMIT)
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


def head_start_on(device: AbstractContextManager[object]) -> HeadStart:
    """Return a head start on the device that a context chooses."""

    def run(models: Network, chosen: Mask) -> FirstFailures:
        arrays = (tuple(vars(models.cell).values()), (models.readout.weight, models.readout.bias))
        with device, jax.enable_x64(True):
            found = _first_failures(*arrays, chosen)
            return FirstFailures(*(np.asarray(part) for part in found))

    return run


@jax.jit
def _first_failures(cell: Any, readout: Any, chosen: Any) -> FirstFailures:  # noqa: ANN401 -- trees
    """Go through two lengths at a time, an odd and an even one, while a model is left."""
    models = Network(LinearCell(*cell), Readout(*readout))
    strings = [critical_strings(models.task, parity) for parity in (0, 1)]

    open_yet = jnp.full(chosen.shape, -1)

    def two_lengths(state: tuple[Any, ...]) -> tuple[Any, ...]:
        length, powers, active, found_all, found_even = state
        powers = powers.longer(even=False)
        passes, fails = decide_length(models, powers, strings[1], length + 1)
        waiting = found_all < 0
        found_all = jnp.where(active & fails & waiting, length, found_all)
        active = active & (passes | fails | ~waiting)
        powers = powers.longer(even=True)
        passes, fails = decide_length(models, powers, strings[0], length + 2)
        found_all = jnp.where(active & fails & (found_all < 0), length + 1, found_all)
        found_even = jnp.where(active & fails, length, found_even)
        return length + 2, powers, active & passes, found_all, found_even

    start = (jnp.int32(0), Powers.at_zero(cell[2]), chosen, open_yet, open_yet)
    _, _, _, found_all, found_even = jax.lax.while_loop(
        lambda state: (state[0] < LONGEST) & state[2].any(), two_lengths, start
    )
    return FirstFailures(found_all, found_even)
