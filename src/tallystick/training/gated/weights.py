"""The weights of an ensemble of gated networks: PyTorch's tensors, with the seeds as a last axis.

An array a tensor, rather than an array a weight: the optimiser then has six arrays to go through, however many units there are.
"""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from tallystick.cells.gated import GatedCell, Vector, layer
from tallystick.models import GatedModel
from tallystick.readouts import LayerReadout

_MATRIX, _VECTOR = 2, 1


class GatedWeights(NamedTuple):
    """W, U, b_x and b_h, V and c of every network; a missing bias is an empty tuple, and stays out of the training."""

    input_weight: Float[Any, "row token seed"]
    recurrent_weight: Float[Any, "row unit seed"]
    bias: tuple[Float[Any, "row seed"], ...]
    readout_weight: Float[Any, "output unit seed"]
    readout_bias: tuple[Float[Any, "output seed"], ...]

    @property
    def example(self) -> Array:
        """One of the weights, an entry a seed, for its shape and type."""
        return self.input_weight[0, 0]

    def cell(self, kind: type[GatedCell]) -> GatedCell:
        """Return the cell; a missing bias is zero."""
        rows = len(self.input_weight)
        biases = [_numbers(bias, _VECTOR) for bias in self.bias] or [(0 * self.example,) * rows] * 2
        return kind(_numbers(self.input_weight, _MATRIX), _numbers(self.recurrent_weight, _MATRIX), *biases)

    def outputs(self, h: Vector) -> tuple[Array, ...]:
        """Return V·h + c, output by output."""
        readout = self.readout()
        return tuple(layer(readout.weight, readout.bias, h))

    def readout(self) -> LayerReadout:
        """Return the readout: three outputs make it ternary, one binary."""
        missing = (0 * self.example,) * len(self.readout_weight)
        bias = _numbers(self.readout_bias[0], _VECTOR) if self.readout_bias else missing
        return LayerReadout(_numbers(self.readout_weight, _MATRIX), bias)

    def places(self, chosen: object) -> "GatedWeights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[..., chosen], self)

    def model(self, kind: type[GatedCell], seed: int) -> GatedModel:
        """Return one network as a model, its weights the doubles that they equal."""
        one: GatedWeights = jax.tree.map(lambda array: np.asarray(array, np.float64)[..., seed], self)

        def number(value: object, _: str) -> float:
            return float(value)  # pyright: ignore[reportArgumentType] -- a NumPy float

        return GatedModel(one.cell(kind).converted(number), one.readout().converted(number))


def _numbers(array: Any, axes: int) -> tuple[Any, ...]:  # noqa: ANN401 -- a NumPy or a JAX array
    """Take an array apart along its first axes into nested tuples, whose entries hold a number a seed."""
    return tuple(_numbers(part, axes - 1) for part in array) if axes else array
