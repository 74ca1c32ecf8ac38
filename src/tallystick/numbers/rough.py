"""Doubles for a search that proves nothing: a layer of them is one product of matrices, added in any order.

A cell's step adds from the left, so that what is executed is known to the last digit. Where that does not matter, a large
layer takes a fraction of the time this way.
"""

from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from tallystick.numbers.operations import Number
from tallystick.numbers.products import FEWEST, multiply
from tallystick.numbers.values import LayerKey, Matrix, Vector, layer_of


@final
class Rough(np.ndarray):  # pyright: ignore[reportMissingTypeArgument, reportUntypedBaseClass] -- of doubles
    """An array of doubles whose sums may be added in any order; NumPy's functions give such arrays too."""


@layer_of.register
def _(first: Rough, weight: Matrix, bias: Vector, inputs: Vector) -> list[Number]:
    """Return W·x + b by a product of matrices, or weight by weight where there are few or each string has its own."""
    if len(inputs) < FEWEST or np.ndim(weight[0][0]) or np.ndim(bias[0]):
        return layer_of.dispatch(object)(first, weight, bias, inputs)
    weights, terms = _matrices(LayerKey(weight, bias))
    arrays = np.broadcast_arrays(*inputs)
    found = multiply(weights, np.stack(arrays).reshape(len(arrays), -1))
    found += terms
    return [row.reshape(arrays[0].shape).view(Rough) for row in found]


@lru_cache(maxsize=32)
def _matrices(layer: LayerKey) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array(layer.weight, np.float64), np.array(layer.bias, np.float64)[:, None]
