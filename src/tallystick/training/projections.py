"""Projections: after each update the weights are moved to a point that meets the conditions."""

import jax.numpy as jnp

from tallystick.cells import Cell
from tallystick.training.weights import Weights


def onto_conditions(kind: type[Cell], weights: Weights) -> Weights:
    """Return the weights with steps and recurrent weights that meet the conditions; a cell's bias goes into the steps."""
    opening, closing = (weight + weights.bias[0] if weights.bias else weight for weight in weights.inputs)
    assert kind.counting is not None, "a setting with a projection has a cell with conditions"
    steps, recurrent = kind.counting.met_by((opening, closing), weights.recurrent)
    return weights._replace(inputs=steps, recurrent=recurrent, bias=tuple(jnp.zeros_like(b) for b in weights.bias))
