"""What a method makes of the gradient: which numbers it moves, and where the network goes as they follow the gradient down.

A method trains numbers of its own, which make the network's weights (`training.methods`); it may add a term to the
loss, and move the weights after a step. At the exact counter every term is 0 and so is its slope, since the conditions r = 0
hold there. What can move is what these parts leave: with the slope g by the trained numbers, the network goes as

    d/dt of projection(weights(trained − t·g)) at t = 0

which is −∂loss for free weights, the part along b = −a where that holds by construction, and the tangent of both conditions
for a projection.

**Multipliers.** A term Σ μ·r has the slope Σ μ·∂r. Multipliers μ with J·(g + Jᵀ·μ) = 0, J the derivative of r, take away all
of the pull that leads off the conditions, and leave what goes along them. They begin at 0 and grow by λ·η·r a step: at the
exact counter itself they do not move, so training has to leave it before they grow.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from tallystick.studies.explain.counter import ExactCounter
from tallystick.training.methods import Multipliers, Trained, residuals
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights


class Speed(NamedTuple):
    """How fast a, b, U and a/b move; a/b rises above −1 where its speed is above 0."""

    open_step: float
    close_step: float
    recurrent_weight: float
    ratio: float


@dataclass(frozen=True)
class Pull:
    """How the network moves as the trained numbers follow the gradient down.

    Attributes:
        by_trained: the derivative of the loss, and of what is added to it, by every trained number.
        speed: how fast the network moves.
        holds_steps: whether b = −a whatever the trained numbers are.
        holds_recurrent: whether U = 1 whatever they are.
        added_term: what is added to the loss.
        added_slope: the greatest derivative of that.
        multipliers: those that would cancel the pull off the conditions; none where a method has none.
    """

    by_trained: Weights
    speed: Speed
    holds_steps: bool
    holds_recurrent: bool
    added_term: float
    added_slope: float
    multipliers: tuple[float, ...]


def pull_of(setting: Setting, counter: ExactCounter, slope: Weights) -> Pull:
    """Return what a setting's method makes of the loss's slope at an exact counter."""
    parametrisation = setting.procedure.parametrisation
    with jax.enable_x64(True):
        weights = jax.tree.map(jnp.asarray, counter.weights(setting))
        trained = parametrisation.start(setting.kind, weights)
        _, pull_back = parametrisation.pull_back(setting.kind, trained, weights)
        term, added = jax.value_and_grad(partial(term_beside, setting))(weights)
        by_trained = pull_back(jax.tree.map(jnp.add, slope, added))
        network = _Network(setting, weights)
        turned = network.residual_slopes(trained)
        steps_turn, recurrent_turns = (bool(row.any()) for row in turned)
        return Pull(
            by_trained=jax.tree.map(float, by_trained),
            speed=Speed(*map(float, network.speed(trained, by_trained))),
            holds_steps=not steps_turn,
            holds_recurrent=not recurrent_turns,
            added_term=float(term),
            added_slope=float(np.abs(_flat(added)).max()),
            multipliers=_cancelling(turned, _flat(by_trained)) if _starting_multipliers(setting) else (),
        )


def term_beside(setting: Setting, weights: Weights) -> jax.Array:
    """Return what a setting adds to the loss of some weights, its multipliers where they start."""
    regulariser, strength = setting.procedure.regulariser, jnp.asarray(setting.procedure.strength)
    if regulariser is None:
        return jnp.zeros(())
    return regulariser.term(residuals(setting.kind, weights), _starting_multipliers(setting), strength)


def _starting_multipliers(setting: Setting) -> Multipliers:
    regulariser = setting.procedure.regulariser
    return () if regulariser is None else regulariser.start(jnp.zeros(()))


@dataclass(frozen=True)
class _Network:
    """The network that trained numbers make, as a function of them; `like` gives the shape of what is not trained."""

    setting: Setting
    like: Weights

    def __call__(self, trained: Trained) -> Weights:
        method, kind = self.setting.procedure, self.setting.kind
        weights = method.parametrisation.weights(kind, trained, self.like)
        return weights if method.projection is None else method.projection(kind, weights)

    def speed(self, trained: Trained, slope: Trained) -> tuple[Any, ...]:
        """Return how fast a, b, U and a/b move as the trained numbers go against a slope."""

        def indicators(numbers: Trained) -> tuple[Any, ...]:
            cell: Any = self(numbers).cell(self.setting.kind)
            return cell.open_step, cell.close_step, cell.recurrent_weight, cell.open_step / cell.close_step

        return jax.jvp(indicators, (trained,), (jax.tree.map(jnp.negative, slope),))[1]

    def residual_slopes(self, trained: Trained) -> np.ndarray:
        """Return the derivative of each condition by the trained numbers, one row per condition."""
        slopes = jax.jacrev(lambda numbers: residuals(self.setting.kind, self(numbers)))(trained)
        return np.stack([_flat(row) for row in slopes])


def _flat(tree: Any) -> np.ndarray:  # noqa: ANN401 -- a tree of JAX's
    return np.asarray(ravel_pytree(tree)[0])


def _cancelling(turned: np.ndarray, slope: np.ndarray) -> tuple[float, ...]:
    """Return the multipliers μ with J·(g + Jᵀ·μ) = 0."""
    found, *_ = np.linalg.lstsq(turned @ turned.T, -turned @ slope, rcond=None)
    return tuple(map(float, found))
