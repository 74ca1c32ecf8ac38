"""The one training loop: Adam, one string a step, the same order in every epoch, every seed of a block at once."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from tallystick.cells import Cell, Token
from tallystick.datasets.tasks import Task
from tallystick.training.answers import is_right
from tallystick.training.gradients import gradient_of
from tallystick.training.objectives import Objective
from tallystick.training.weights import PerSeed, Weights


class Lessons(NamedTuple):
    """A training set as arrays: the tokens and the targets of each string. Rows beyond the set's own are never read."""

    opening: Float[Any, "string token"]
    closing: Float[Any, "string token"]
    targets: Float[Any, "string output"]


class Course(NamedTuple):
    """The numbers that a run is made with; arguments and not constants, so that one program serves every setting."""

    strings: Int[Array, ""]
    epochs: Int[Array, ""]
    learning_rate: Float[Array, ""]


class _State(NamedTuple):
    weights: Weights
    moments: optax.OptState
    right: PerSeed


@partial(jax.jit, static_argnames=("kind", "task", "objective"))
def train_block(
    weights: Weights, lessons: Lessons, course: Course, *, kind: type[Cell], task: Task, objective: Objective
) -> tuple[Weights, PerSeed]:
    """Train a block of networks; return their weights and how many strings each got right in the last epoch.

    Right is counted as the paper counts it: during the last epoch, each string just before its own update.
    """
    step = _step(lessons, course, kind, task, objective)
    end = jax.lax.fori_loop(0, course.strings * course.epochs, step, _start(weights, course))
    return end.weights, end.right


@partial(jax.jit, static_argnames=("epochs", "kind", "task", "objective"))
def train_path(
    weights: Weights,
    lessons: Lessons,
    course: Course,
    *,
    epochs: int,
    kind: type[Cell],
    task: Task,
    objective: Objective,
) -> Weights:
    """Train a block of networks; return their weights at the start and after every epoch, along a new first axis."""
    step = _step(lessons, course, kind, task, objective)

    def epoch(state: _State, number: Array) -> tuple[_State, Weights]:
        first = number * course.strings
        state = jax.lax.fori_loop(first, first + course.strings, step, state)
        return state, state.weights

    _, weights_after = jax.lax.scan(epoch, _start(weights, course), jnp.arange(epochs))
    return jax.tree.map(lambda start, later: jnp.concatenate([start[None], later]), weights, weights_after)


def _start(weights: Weights, course: Course) -> _State:
    return _State(weights, optax.adam(course.learning_rate).init(weights), jnp.zeros_like(weights.inputs[0]))


def _step(
    lessons: Lessons, course: Course, kind: type[Cell], task: Task, objective: Objective
) -> Callable[[Array, _State], _State]:
    """One step of training, whatever the loop around it: the string in turn, its gradient, Adam's update."""
    optimiser = optax.adam(course.learning_rate)
    gradient = gradient_of(kind, objective)
    last_epoch = course.strings * (course.epochs - 1)

    def step(number: Array, state: _State) -> _State:
        place = number % course.strings
        targets = tuple(lessons.targets[place])
        slope, h = gradient(state.weights, Token(lessons.opening[place], lessons.closing[place]), targets)
        right = jnp.where(number >= last_epoch, is_right(task, state.weights, h, targets), 0)
        updates, moments = optimiser.update(slope, state.moments, state.weights)
        return _State(cast("Weights", optax.apply_updates(state.weights, updates)), moments, state.right + right)

    return step
