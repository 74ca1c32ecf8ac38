"""An ensemble as one model of arrays, an entry a network, and the horizons that are found for one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tallystick.certificates.critical_strings import sides
from tallystick.errors import BadInput
from tallystick.networks import Network

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

UNLIMITED = int(np.iinfo(np.int64).max)
"""Stands for an unlimited horizon: larger than every other, so that medians and maxima come out right."""


class Horizons(NamedTuple):
    """The horizon of each model when all lengths count, and when only even ones do; each is exact, or at least so much."""

    all: NDArray[np.int64]
    even: NDArray[np.int64]
    all_exact: Mask
    even_exact: Mask


def ensemble_of_arrays(networks: Network) -> Network:
    """Return the ensemble with its weights as float64, which holds every float32 exactly; refuse anything but an ensemble."""
    shape = np.shape(networks.scalar_cell.open_step)

    def read(value: object, _: str) -> Floats:
        return _array(value, shape)

    return networks.map_weights(read)


def size_of(models: Network) -> int:
    """Return how many models there are."""
    return len(models.scalar_cell.open_step)


def some_of(models: Network, chosen: object) -> Network:
    """Return some of the models, by a mask, a slice or an array of positions."""

    def part(values: Any, _: str) -> Floats:  # noqa: ANN401 -- an array
        return values[chosen]

    return models.map_weights(part)


def right_at_zero(models: Network) -> Mask:
    """Say which networks give h = 0 the class of the count 0: a comparison of biases, whose sign floats get right."""
    needed = sides(models.readout, models.task.index_of_count(0))
    return np.logical_and.reduce([side.bias > 0 if side.strict else side.bias >= 0 for side in needed])


def _array(value: object, shape: tuple[int, ...]) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind != "f" or array.itemsize > np.dtype(np.float64).itemsize or len(shape) != 1:
        raise BadInput("models: an ensemble's weights are arrays of one dimension, of float64 or less")
    if not np.isfinite(array).all():
        raise BadInput("models: a weight is not a finite number")
    return np.broadcast_to(array.astype(np.float64), shape)
