"""What one string teaches a block of networks: a look at it gives a slope, and learning moves the weights down it.

Every engine trains with these two: the compiled scan of `loop.py` and the fused kernel of `fused/`.
"""

from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from tallystick.cells import Cell
from tallystick.languages.tasks import Task
from tallystick.training.answers import is_right
from tallystick.training.gradients import Gradient, String, gradient_of
from tallystick.training.methods import Method
from tallystick.training.objectives import Outputs
from tallystick.training.parametrisations import Trained
from tallystick.training.regularisers import Multipliers, residuals
from tallystick.training.weights import PerSeed, Weights


class Exercise(NamedTuple):
    """One string, what the loss asks of the outputs on it, and the right answer."""

    string: String
    targets: Outputs
    answers: Outputs


class Student(NamedTuple):
    """Where training stands: the trained numbers, Adam's moments, and a regulariser's multipliers."""

    trained: Trained
    moments: optax.OptState
    multipliers: Multipliers


class Look(NamedTuple):
    """What a look at a string gives: the slope, whether the answer was right, and the multipliers moved on."""

    slope: Trained
    right: PerSeed
    multipliers: Multipliers


class Learner:
    """A method for one kind of cell, task and block of initial weights."""

    def __init__(
        self,
        initial: Weights,
        optimiser: optax.GradientTransformation,
        strength: Any,  # noqa: ANN401 -- a number, or an array of one
        learning_rate: Any,  # noqa: ANN401
        *,
        kind: type[Cell],
        task: Task,
        method: Method,
        gradient: Gradient | None = None,
    ) -> None:
        """Hold what stays the same from step to step; `gradient` is used instead of the quickest one there is."""
        self._initial, self._optimiser = initial, optimiser
        self._strength, self._multiplier_rate = strength, strength * learning_rate
        self._kind, self._task, self._method = kind, task, method
        self._gradient = gradient or gradient_of(kind, method.losses.of(task), every_token=method.every_token)

    def start(self) -> Student:
        """Return the state before the first step."""
        weights, regulariser = self._initial, self._method.regulariser
        if self._method.projection is not None:
            weights = self._method.projection(self._kind, weights)
        trained = self._method.parametrisation.start(weights)
        multipliers = regulariser.start(jnp.zeros_like(weights.example)) if regulariser else ()
        return Student(trained, self._optimiser.init(trained), multipliers)

    def look(self, exercise: Exercise, student: Student, precision: Any) -> Look:  # noqa: ANN401 -- a NumPy type
        """Look at a string; loss and slope are worked out in the given precision."""
        parametrisation, regulariser = self._method.parametrisation, self._method.regulariser
        weights, pull_back = parametrisation.pull_back(self._kind, student.trained, self._initial)
        slope, right = self._look_at_string(exercise, weights, precision)
        multipliers = student.multipliers
        if regulariser is not None:
            added = regulariser.slope(self._kind, weights, multipliers, self._strength)
            slope = jax.tree.map(jnp.add, slope, added)
            found = residuals(self._kind, weights)
            multipliers = regulariser.advance(found, multipliers, self._multiplier_rate)
        return Look(pull_back(slope), right, multipliers)

    def learn(self, student: Student, look: Look) -> Student:
        """Move the weights down the slope that was seen."""
        updates, moments = self._optimiser.update(look.slope, student.moments, student.trained)
        trained = optax.apply_updates(student.trained, updates)
        if self._method.projection is not None:
            trained = self._method.projection(self._kind, cast("Weights", trained))
        return Student(trained, moments, look.multipliers)

    def weights(self, student: Student) -> Weights:
        """Return the network's weights."""
        return self._method.parametrisation.weights(self._kind, student.trained, self._initial)

    def _look_at_string(self, exercise: Exercise, weights: Weights, precision: Any) -> tuple[Weights, Array]:  # noqa: ANN401
        """The loss's slope, worked out in the lessons' precision and given in the weights' own."""
        dtype = weights.example.dtype
        seen = jax.tree.map(lambda array: array.astype(precision), weights)
        slope, h = self._gradient(seen, exercise.string, exercise.targets)
        right = is_right(self._task, seen, h, exercise.answers)
        return jax.tree.map(lambda array: array.astype(dtype), slope), right
