"""The first lengths of an ensemble of linear cells on a device of JAX: the bounds are those of `linear_ensemble`, in float64.

A GPU fails most trained cells in the time that the host needs for a few; what it leaves open, the host decides.
"""

from contextlib import AbstractContextManager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import LinearCell
from tallystick.certificates.critical_strings import critical_strings
from tallystick.certificates.ensemble_models import Mask
from tallystick.certificates.linear_ensemble import FirstFailures, HeadStart, Powers, decided_length
from tallystick.networks import Network, Readout

LONGEST = 4096
"""Lengths that a device goes through; the few cells that last longer are left to the host."""


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
        passes, fails = decided_length(models, powers, strings[1], length + 1)
        waiting = found_all < 0
        found_all = jnp.where(active & fails & waiting, length, found_all)
        active = active & (passes | fails | ~waiting)
        powers = powers.longer(even=True)
        passes, fails = decided_length(models, powers, strings[0], length + 2)
        found_all = jnp.where(active & fails & (found_all < 0), length + 1, found_all)
        found_even = jnp.where(active & fails, length, found_even)
        return length + 2, powers, active & passes, found_all, found_even

    start = (jnp.int32(0), Powers.at_zero(cell[2]), chosen, open_yet, open_yet)
    _, _, _, found_all, found_even = jax.lax.while_loop(
        lambda state: (state[0] < LONGEST) & state[2].any(), two_lengths, start
    )
    return FirstFailures(found_all, found_even)
