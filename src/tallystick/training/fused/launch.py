"""What the kernel can train on, and how it is laid out on a device."""

from typing import NamedTuple

import numpy as np

from tallystick.cells import ScalarCell
from tallystick.training.setting import Setting


class Launch(NamedTuple):
    """How a kernel is laid out.

    Attributes:
        block: networks that are trained together.
        warps: groups of 32 threads that train them.
        sharing: of Adam's quotients so many have one reciprocal.
    """

    block: int
    warps: int
    sharing: int


LONGEST = 16
"""Tokens that are worth unrolling: the kernel grows with the strings, and its compilation with it."""

MOST_STEPS = 2**25
"""Steps whose corrections make a table of less than a gigabyte."""

NETWORKS = 512
"""Every layout's block divides this many networks."""

FILLINGS = 6144
"""Networks for each multiprocessor in the widest block: a whole number of fillings, or nearly, for every layout.

A filling is as many networks as there are registers for, and all of them end at the same time: a last one that is half empty
takes as long as a full one."""

MOST = {"initial_scale": 2, "learning_rate": 0.05, "strength": 100}
"""What gradients grow with. The kernel multiplies their lengths by each other, and float32 ends at 10^38; that of a network
whose weights are ten times the paper's has been seen to leave it."""

_FEW_WEIGHTS, _USUAL = 6, 128


def launch_for(weights: int, precision: np.dtype) -> Launch:
    """Return the layout that measured best: the more numbers a network needs, the fewer networks share a thread.

    More than four divisors have no reciprocal in common: a product of many leaves the range of float32.
    """
    few = weights <= _FEW_WEIGHTS
    if precision == np.float32:
        return Launch(NETWORKS if few else NETWORKS // 2, warps=4, sharing=2 if few else 4)
    return Launch(NETWORKS // 2 if few else NETWORKS // 4, warps=4, sharing=2 if few else 4)


def widest_on(multiprocessors: int) -> int:
    """Return how many seeds make the widest block on a device; for one that does not say how large it is, a usual one's."""
    return FILLINGS * (multiprocessors or _USUAL)


def reason_against(setting: Setting, strings: list[str]) -> str | None:
    """Say why the kernel cannot train a setting on the strings, or nothing."""
    longest, steps = max(map(len, strings)), len(strings) * setting.epochs
    if not issubclass(setting.kind, ScalarCell):
        return f"a {setting.cell} may have several units, and the fused kernel is for cells with one"
    for name, most in MOST.items():
        if getattr(setting, name) > most:
            return f"{name}: {getattr(setting, name):g} is more than {most:g}, and may lead beyond what the fused kernel holds"
    if longest > LONGEST:
        return f"strings of {longest} tokens are longer than the {LONGEST} that the fused kernel holds"
    if steps > MOST_STEPS:
        return f"{steps:,} steps are more than the {MOST_STEPS:,} that the fused kernel has corrections for"
    return None
