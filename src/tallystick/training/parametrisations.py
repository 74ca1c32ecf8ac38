"""Parametrisations: which numbers are trained, and the weights they make. A condition can hold by construction.

    free        every weight
    tied        α, with a = α and b = −α           (relu: a = |α|; selective: b = −Q·α)
    unit        everything but U, which is 1       (selective: σ, with P = e^σ and Q = e^−σ)
    tied-unit   both

Where a or b is made from α, a bias of the cell would only shift them apart: it stays in the network as a zero.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import jax
import jax.numpy as jnp
import optax

from tallystick.cells import Cell, SelectiveCell
from tallystick.training.weights import Weights

Trained = optax.Params
"""The numbers that are trained: any tree of arrays."""


@dataclass(frozen=True)
class Parametrisation:
    """Which conditions hold by construction.

    Attributes:
        tied: the steps undo each other.
        unit: the recurrent weights undo each other.
    """

    tied: bool = False
    unit: bool = False

    @property
    def is_free(self) -> bool:
        """Whether every weight is trained."""
        return not (self.tied or self.unit)

    def start(self, weights: Weights) -> Trained:
        """Return the trained numbers that initial weights stand for; what is not trained is left out."""
        if self.is_free:
            return weights
        if self.tied:
            weights = weights._replace(inputs=(_bias_added(weights),), bias=())
        return weights._replace(recurrent=weights.recurrent[1:]) if self.unit else weights

    def weights(self, kind: type[Cell], trained: Trained, like: Weights) -> Weights:
        """Return the network's weights; `like` gives the shape of what was left out."""
        if self.is_free:
            return cast("Weights", trained)
        assert isinstance(trained, Weights)
        recurrent = _undoing_factors(kind, trained, like) if self.unit else trained.recurrent
        weights = trained._replace(recurrent=recurrent)
        return _with_undoing_steps(kind, weights, like) if self.tied else weights

    def pull_back(
        self, kind: type[Cell], trained: Trained, like: Weights
    ) -> tuple[Weights, Callable[[Weights], Trained]]:
        """Return the weights, and the map from a slope by the weights to one by the trained numbers."""
        if self.is_free:
            return cast("Weights", trained), lambda slope: slope
        weights, back = jax.vjp(lambda numbers: self.weights(kind, numbers, like), trained)
        return weights, lambda slope: back(slope)[0]


def _bias_added(weights: Weights) -> jax.Array:
    return weights.inputs[0] + weights.bias[0] if weights.bias else weights.inputs[0]


def _undoing_factors(kind: type[Cell], trained: Weights, like: Weights) -> tuple[jax.Array, ...]:
    """U = 1, or P = e^σ and Q = e^−σ, which no step of training can make negative."""
    if kind is SelectiveCell:
        (sigma,) = trained.recurrent
        return jnp.exp(sigma), jnp.exp(-sigma)
    return (jnp.ones_like(like.recurrent[0]),)


def _with_undoing_steps(kind: type[Cell], weights: Weights, like: Weights) -> Weights:
    alpha, *_ = weights.inputs
    a = jnp.abs(alpha) if kind.counting and kind.counting.only_counts_up else alpha
    b = -weights.recurrent[1] * a if kind is SelectiveCell else -a
    return weights._replace(inputs=(a, b), bias=tuple(jnp.zeros_like(bias) for bias in like.bias))


FREE = Parametrisation()
TIED = Parametrisation(tied=True)
UNIT = Parametrisation(unit=True)
TIED_UNIT = Parametrisation(tied=True, unit=True)
