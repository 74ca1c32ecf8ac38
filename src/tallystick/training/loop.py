"""The one training loop: Adam, one string a step, the same order in every epoch, every seed of a block at once."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from tallystick.cells import Cell, Token
from tallystick.cells.gated import GatedCell
from tallystick.datasets.tasks import Task
from tallystick.training.adam import adam
from tallystick.training.answers import is_right
from tallystick.training.gated.gradients import gated_gradient_of
from tallystick.training.gradients import Gradient, gradient_of
from tallystick.training.lessons import Course, Lessons
from tallystick.training.methods import Method
from tallystick.training.objectives import Objective
from tallystick.training.parametrisations import Trained
from tallystick.training.regularisers import Multipliers, residuals
from tallystick.training.schedules import SCHEDULES
from tallystick.training.weights import PerSeed, Weights


class _State(NamedTuple):
    """Where training stands: before it learns from a string, it has looked at it, and holds the slope it saw."""

    trained: Trained
    moments: optax.OptState
    slope: Trained
    right: PerSeed
    multipliers: Multipliers


# Eight floats a register is XLA's choice; where the machine has sixteen, they are the quicker ones.
_compiled = partial(jax.jit, compiler_options={"xla_cpu_prefer_vector_width": 512})


@partial(_compiled, static_argnames=("kind", "task", "method"))
def train_block(
    weights: Weights, lessons: Lessons, course: Course, *, kind: type[Cell], task: Task, method: Method
) -> tuple[Weights, PerSeed]:
    """Train a block of networks; return their weights and how many strings each got right in the last epoch.

    Right is counted as the paper counts it: during the last epoch, each string just before its own update.
    """
    run = _Run(weights, lessons, course, kind, task, method)
    end = jax.lax.fori_loop(0, course.steps, run.step, run.start())
    return run.weights(end.trained), end.right


@partial(_compiled, static_argnames=("epochs", "kind", "task", "method"))
def train_path(
    weights: Weights, lessons: Lessons, course: Course, *, epochs: int, kind: type[Cell], task: Task, method: Method
) -> Weights:
    """Train a block of networks; return their weights at the start and after every epoch, along a new first axis."""
    run = _Run(weights, lessons, course, kind, task, method)

    def epoch(state: _State, number: Array) -> tuple[_State, Weights]:
        state = jax.lax.fori_loop(course.first_step(number), course.first_step(number + 1), run.step, state)
        return state, run.weights(state.trained)

    start = run.start()
    _, weights_after = jax.lax.scan(epoch, start, jnp.arange(epochs, dtype=jnp.int32))
    first = run.weights(start.trained)
    return jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), first, weights_after)


class _Run:
    """One run of a method: the state before the first step, and a step.

    A step learns from the string that was looked at, then looks at the next. Looking ahead makes the slope a value that is
    handed from step to step. Were it worked out in the step that uses it, the compiler would work it out again for each of
    Adam's moments.
    """

    def __init__(
        self, initial: Weights, lessons: Lessons, course: Course, kind: type[Cell], task: Task, method: Method
    ) -> None:
        self._initial, self._lessons, self._course = initial, lessons, course
        self._kind, self._task, self._method = kind, task, method
        self._gradient = _gradient(kind, method.losses.of(task), every_token=method.every_token)
        self._optimiser = adam(self._learning_rate(), method.momenta)

    def start(self) -> _State:
        """Return the state before the first step."""
        weights, regulariser = self._initial, self._method.regulariser
        if self._method.projection is not None:
            weights = self._method.projection(self._kind, weights)
        trained = self._method.parametrisation.start(weights)
        multipliers = regulariser.start(jnp.zeros_like(weights.inputs[0])) if regulariser else ()
        slope, right, multipliers = self._look(jnp.int32(0), trained, multipliers)
        return _State(trained, self._optimiser.init(trained), slope, right, multipliers)

    def step(self, number: Array, state: _State) -> _State:
        """Learn from the string that was looked at, then look at the next."""
        updates, moments = self._optimiser.update(state.slope, state.moments, state.trained)
        trained = optax.apply_updates(state.trained, updates)
        if self._method.projection is not None:
            trained = self._method.projection(self._kind, cast("Weights", trained))
        slope, right, multipliers = self._look(number + 1, trained, state.multipliers)
        return _State(trained, moments, slope, state.right + right, multipliers)

    def weights(self, trained: Trained) -> Weights:
        """Return the network's weights."""
        return self._method.parametrisation.weights(self._kind, trained, self._initial)

    def _learning_rate(self) -> Array | Callable[[Array], Array]:
        rate, steps = self._course.learning_rate, self._course.steps
        if self._method.schedule == "constant":
            return rate
        schedule = SCHEDULES[self._method.schedule]
        return lambda count: rate * schedule(count.astype(rate.dtype) / steps)

    def _look(self, number: Array, trained: Trained, multipliers: Multipliers) -> tuple[Trained, PerSeed, Multipliers]:
        """Return the slope that a string gives, whether the answer to it counts as right, and the multipliers moved on."""
        weights, pull_back = self._method.parametrisation.pull_back(self._kind, trained, self._initial)
        slope, right = self._look_at_string(number, weights)
        regulariser, course = self._method.regulariser, self._course
        if regulariser is not None:
            added = regulariser.slope(self._kind, weights, multipliers, course.strength)
            slope = jax.tree.map(jnp.add, slope, added)
            found = residuals(self._kind, weights)
            multipliers = regulariser.advance(found, multipliers, course.strength * course.learning_rate)
        return pull_back(slope), right, multipliers

    def _look_at_string(self, number: Array, weights: Weights) -> tuple[Weights, PerSeed]:
        """The loss's slope, worked out in the lessons' precision and given in the weights' own."""
        lessons, course = self._lessons, self._course
        dtype, finer = weights.example.dtype, lessons.opening.dtype
        seen = jax.tree.map(lambda array: array.astype(finer), weights)
        place = course.place(number)
        string = Token(lessons.opening[place], lessons.closing[place])
        slope, h = self._gradient(seen, string, tuple(jnp.moveaxis(lessons.targets[place], -1, 0)))
        last_epoch = course.steps - course.stage_strings[-1]
        counts = (number >= last_epoch) & (number < course.steps)
        right = is_right(self._task, seen, h, tuple(lessons.answers[place]))
        return jax.tree.map(lambda array: array.astype(dtype), slope), jnp.where(counts, right, 0).astype(dtype)


def _gradient(kind: type[Cell], objective: Objective, *, every_token: bool) -> Gradient:
    """Return the gradient for a kind of cell; a gated one hands vectors through the same loop."""
    if issubclass(kind, GatedCell):
        return cast("Gradient", gated_gradient_of(kind, objective, every_token=every_token))
    return gradient_of(kind, objective, every_token=every_token)
