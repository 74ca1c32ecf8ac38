"""The weights of an ensemble of gated networks: one array a weight, one entry a seed, in PyTorch's order of rows."""

from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array

from tallystick.cells.gated import GatedCell, Vector, layer
from tallystick.models import GatedModel
from tallystick.readouts import LayerReadout

Row = tuple[Any, ...]
"""An array a weight."""


class GatedWeights(NamedTuple):
    """W, U, b_x, b_h, V and c of every network; a missing bias is an empty tuple, and stays out of the training."""

    input_weight: tuple[Row, ...]
    recurrent_weight: tuple[Row, ...]
    input_bias: Row
    recurrent_bias: Row
    readout_weight: tuple[Row, ...]
    readout_bias: Row

    @property
    def example(self) -> Any:  # noqa: ANN401 -- a NumPy or a JAX array
        """One of the weights, for its shape and type."""
        return self.input_weight[0][0]

    def cell(self, kind: type[GatedCell]) -> GatedCell:
        """Return the cell; a missing bias is zero."""
        zeros = (0 * self.example,) * len(self.recurrent_weight)
        biases = self.input_bias or zeros, self.recurrent_bias or zeros
        return kind(self.input_weight, self.recurrent_weight, *biases)

    def outputs(self, h: Vector) -> tuple[Array, ...]:
        """Return V·h + c, output by output."""
        return tuple(layer(self.readout_weight, self._readout_bias, h))

    def readout(self) -> LayerReadout:
        """Return the readout: three outputs make it ternary, one binary."""
        return LayerReadout(self.readout_weight, self._readout_bias)

    def places(self, chosen: object) -> "GatedWeights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[chosen], self)

    def model(self, kind: type[GatedCell], seed: int) -> GatedModel:
        """Return one network as a model, its weights the doubles that they equal."""
        one = jax.tree.map(lambda array: float(np.asarray(array)[seed]), self)
        return GatedModel(one.cell(kind), one.readout())

    @property
    def _readout_bias(self) -> Row:
        return self.readout_bias or (0 * self.example,) * len(self.readout_weight)
