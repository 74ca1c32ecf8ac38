"""Three ways of bringing the weights to the conditions of a cell's counting theorem (`Cell.counting`).

A parametrisation lets conditions hold by construction, since it decides which numbers are trained:

    free        every weight
    tied        α, with a = α and b = −α           (relu: a = |α|; selective: b = −Q·α)
    unit        everything but U, which is 1       (selective: σ, with P = e^σ and Q = e^−σ)
    tied-unit   both

In a layer α is a vector, U is made from a trained matrix so that U·u = u for u = (a − b)/2, and a selective layer has its
conditions unit by unit. An LRU's λ are always made of other numbers, by which they lie inside the unit circle.

A regulariser adds to the loss a term that draws the residuals r of the conditions to zero:

    penalty       λ·Σ r²
    lagrangian    Σ μ·r + λ·Σ r², where each multiplier μ grows by λ·η·r at every step

With a penalty alone the task's loss keeps r away from zero; a multiplier grows until it balances the loss at r = 0. Gated cells
have no such theorem; their penalty is on the recurrent weights (`RECURRENT_PENALTY`).

A projection moves the weights after each update to a point that meets the conditions.

Where a and b are made from α or projected, a bias of the cell would only shift them apart: it stays in the network as a zero.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from tallystick.cells import Cell
from tallystick.cells.conditions import RecurrentForm
from tallystick.training.weights import AnyWeights

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

    def start(self, kind: type[Cell], weights: AnyWeights) -> Trained:
        """Return the trained numbers that initial weights stand for; what is not trained is left out."""
        form = self._form(kind)
        if form is not None:
            weights = weights._replace(recurrent=form.start(weights.factors))
        return weights._replace(inputs=(weights.steps[0],), bias=()) if self.tied else weights

    def weights(self, kind: type[Cell], trained: Trained, like: AnyWeights) -> AnyWeights:
        """Return the network's weights; `like` gives the shape of what was left out."""
        form, weights = self._form(kind), cast("AnyWeights", trained)
        a = _opening_step(kind, weights) if self.tied else None
        if form is not None:
            direction = (weights.steps[0] - weights.steps[1]) / 2 if a is None else a
            weights = weights.with_factors(form.weights(weights.recurrent, direction, like.factors))
        if a is None:
            return weights
        assert kind.counting is not None, "a setting with tied steps has a cell with conditions"
        return weights._replace(bias=like.bias).with_steps(a, kind.counting.closing_step(a, weights.factors))

    def pull_back(
        self, kind: type[Cell], trained: Trained, like: AnyWeights
    ) -> tuple[AnyWeights, Callable[[AnyWeights], Trained]]:
        """Return the weights, and the map from a slope by the weights to one by the trained numbers."""
        if self.is_free and kind.recurrent_form is None:
            return cast("AnyWeights", trained), lambda slope: slope
        weights, back = jax.vjp(lambda numbers: self.weights(kind, numbers, like), trained)
        return weights, lambda slope: back(slope)[0]

    def _form(self, kind: type[Cell]) -> RecurrentForm | None:
        """Return what the recurrent weights are made of: what meets their condition, or the cell's own numbers."""
        return kind.counting.unit if self.unit and kind.counting else kind.recurrent_form


def _opening_step(kind: type[Cell], trained: AnyWeights) -> Array:
    (alpha,) = trained.inputs
    return jnp.abs(alpha) if kind.counting and kind.counting.only_counts_up else alpha


FREE = Parametrisation()
TIED = Parametrisation(tied=True)
UNIT = Parametrisation(unit=True)
TIED_UNIT = Parametrisation(tied=True, unit=True)

Multipliers = tuple[Array, ...]
"""One number per condition and seed, or none where a regulariser keeps nothing from step to step."""


def residuals(kind: type[Cell], weights: AnyWeights) -> tuple[Array, Array]:
    """Return what the conditions ask to be zero: for the linear cell a + b and U − 1; for a layer, one row per unit."""
    conditions, arrays = kind.counting, (weights.steps, weights.factors)
    assert conditions is not None, "a setting with a regulariser has a cell with conditions"
    return conditions.step_residual(*arrays), conditions.recurrent_residual(*arrays)


@dataclass(frozen=True)
class Regulariser:
    """A term that is added to the loss.

    Attributes:
        start: the multipliers before the first step, in the shape of a residual.
        term: the term for residuals, multipliers and the strength λ.
        advance: the multipliers after a step of the size λ·η.
        residuals: what is drawn to zero.
    """

    start: Callable[[Array], Multipliers]
    term: Callable[[tuple[Array, ...], Multipliers, Array], Array]
    advance: Callable[[tuple[Array, ...], Multipliers, Array], Multipliers]
    residuals: Callable[[type[Cell], AnyWeights], tuple[Array, ...]] = residuals

    @property
    def uses_conditions(self) -> bool:
        """Whether what is drawn to zero are the conditions of a counting theorem."""
        return self.residuals is residuals

    def slope(self, kind: type[Cell], weights: AnyWeights, multipliers: Multipliers, strength: Array) -> AnyWeights:
        """Return the derivative of the term by every weight."""

        def total(weights: AnyWeights) -> Array:
            return self.term(self.residuals(kind, weights), multipliers, strength).sum()

        return jax.grad(total)(weights)


def _squares(found: tuple[Array, ...]) -> Array:
    return sum((residual**2 for residual in found[1:]), start=found[0] ** 2)


PENALTY = Regulariser(
    start=lambda _: (),
    term=lambda found, _, strength: strength * _squares(found),
    advance=lambda _, multipliers, __: multipliers,
)

LAGRANGIAN = Regulariser(
    start=lambda residual: (jnp.zeros_like(residual), jnp.zeros_like(residual)),
    term=lambda found, multipliers, strength: (
        strength * _squares(found) + multipliers[0] * found[0] + multipliers[1] * found[1]
    ),
    advance=lambda found, multipliers, size: tuple(m + size * r for m, r in zip(multipliers, found, strict=True)),
)

RECURRENT_PENALTY = replace(PENALTY, residuals=lambda _, weights: (weights.recurrent,))
"""λ·Σ U²: the gates learn to look at the token alone, so that they saturate whatever h is."""


def project(kind: type[Cell], weights: AnyWeights) -> AnyWeights:
    """Move steps and recurrent weights to a point that meets the conditions; a cell's bias goes into the steps."""
    assert kind.counting is not None, "a setting with a projection has a cell with conditions"
    steps, recurrent = kind.counting.met_by(weights.steps, weights.factors)
    return weights.with_factors(recurrent).with_steps(*steps)
