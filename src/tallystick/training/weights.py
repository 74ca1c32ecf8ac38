"""The weights of an ensemble of networks, in one of two layouts; the last axis of every array is the seed.

Cells with one unit have one array per weight (`Weights`), which is what lets a step run over many seeds at once. Cells with
several units have one array per tensor (`TensorWeights`), so that the optimiser has six arrays to go through, however many
units there are. Both offer the same.
"""

from typing import Any, NamedTuple, TypeAlias

import jax
from jaxtyping import Array, Float

from tallystick.cells import Cell
from tallystick.networks import Readout
from tallystick.numbers.values import Vector, layer, rows_of

PerSeed = Float[Any, " seed"]
"""One number per seed, as a NumPy or a JAX array."""


class Weights(NamedTuple):
    """W, U, W_b, v and c of networks with one unit; a missing bias is an empty tuple, and stays out of the training."""

    inputs: tuple[PerSeed, PerSeed]
    recurrent: tuple[PerSeed, ...]
    bias: tuple[PerSeed, ...]
    readout_weight: tuple[PerSeed, ...]
    readout_bias: tuple[PerSeed, ...]

    @property
    def example(self) -> Any:  # noqa: ANN401 -- a NumPy or a JAX array
        """One of the weights, with one entry per seed, for its shape and type."""
        return self.inputs[0]

    def cell(self, kind: type[Cell]) -> Any:  # noqa: ANN401 -- of that kind
        """Return the cells as one cell of arrays."""
        return kind.from_training(self.inputs, self.recurrent, self.bias)

    def outputs(self, hidden: Vector) -> tuple[Array, ...]:
        """Return v·h + c, output by output."""
        (h,) = hidden
        products = tuple(weight * h for weight in self.readout_weight)
        return tuple(p + c for p, c in zip(products, self.readout_bias, strict=True)) if self.readout_bias else products

    def readout(self) -> Readout:
        """Return the readouts as one readout of arrays."""
        bias = self.readout_bias or tuple(0 * weight for weight in self.readout_weight)
        return Readout(tuple((weight,) for weight in self.readout_weight), bias)

    def places(self, chosen: object) -> "Weights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[chosen], self)


class TensorWeights(NamedTuple):
    """W, U, the biases, V and c of networks with several units; a missing bias is an empty tuple."""

    inputs: Float[Any, "row token seed"]
    recurrent: Float[Any, "row unit seed"]
    bias: tuple[Float[Any, "row seed"], ...]
    readout_weight: Float[Any, "output unit seed"]
    readout_bias: tuple[Float[Any, "output seed"], ...]

    @property
    def example(self) -> Any:  # noqa: ANN401
        """One of the weights, with one entry per seed, for its shape and type."""
        return self.readout_weight[0, 0]

    def cell(self, kind: type[Cell]) -> Any:  # noqa: ANN401
        """Return the cells as one cell of arrays."""
        return kind.from_training(self.inputs, self.recurrent, self.bias)

    def outputs(self, hidden: Vector) -> tuple[Array, ...]:
        """Return V·h + c, output by output."""
        readout = self.readout()
        return tuple(layer(readout.weight, readout.bias, hidden))

    def readout(self) -> Readout:
        """Return the readouts as one readout of arrays."""
        missing = (0 * self.example,) * len(self.readout_weight)
        return Readout(
            rows_of(self.readout_weight, 2), rows_of(self.readout_bias[0], 1) if self.readout_bias else missing
        )

    def places(self, chosen: object) -> "TensorWeights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[..., chosen], self)


AnyWeights: TypeAlias = Any
"""`Weights` for a cell with one unit, `TensorWeights` for one with several."""
