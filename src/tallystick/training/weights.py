"""The weights of an ensemble of networks: one array a weight, one entry a seed."""

from typing import Any, NamedTuple

import jax
from jaxtyping import Array, Float

from tallystick.cells import Cell
from tallystick.readouts import BinaryReadout, Readout, TernaryReadout

PerSeed = Float[Any, " seed"]
"""One number a seed, as a NumPy or a JAX array."""


class Weights(NamedTuple):
    """W, U, W_b, v and c of every network; a missing bias is an empty tuple, and stays out of the training.

    Layout matters: an array a weight, rather than a row a network, is what lets a step run over many seeds at once.
    """

    inputs: tuple[PerSeed, PerSeed]
    recurrent: tuple[PerSeed, ...]
    bias: tuple[PerSeed, ...]
    readout_weight: tuple[PerSeed, ...]
    readout_bias: tuple[PerSeed, ...]

    @property
    def example(self) -> Any:  # noqa: ANN401 -- a NumPy or a JAX array
        """One of the weights, an entry a seed, for its shape and type."""
        return self.inputs[0]

    def cell(self, kind: type[Cell]) -> Cell:
        """Return the cell: a = W_open + W_b and b = W_close + W_b."""
        opening, closing = (weight + self.bias[0] if self.bias else weight for weight in self.inputs)
        return kind(opening, closing, *self.recurrent)

    def outputs(self, h: Array) -> tuple[Array, ...]:
        """Return v·h + c, output by output."""
        products = tuple(weight * h for weight in self.readout_weight)
        return tuple(p + c for p, c in zip(products, self.readout_bias, strict=True)) if self.readout_bias else products

    def readout(self) -> Readout:
        """Return the readout: three outputs make it ternary, one binary."""
        bias = self.readout_bias or tuple(0 * weight for weight in self.readout_weight)
        if len(self.readout_weight) == 1:
            return BinaryReadout(self.readout_weight[0], bias[0])
        negative, zero, positive = self.readout_weight
        return TernaryReadout((negative, zero, positive), (bias[0], bias[1], bias[2]))

    def places(self, chosen: object) -> "Weights":
        """Return the weights of some of the seeds."""
        return jax.tree.map(lambda array: array[chosen], self)
