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
from tallystick.training.adam import adam
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
    """Where training stands: before it learns from a string, it has looked at it, and holds the slope it saw."""

    weights: Weights
    moments: optax.OptState
    slope: Weights
    right: PerSeed


# Eight floats a register is XLA's choice; where the machine has sixteen, they are the quicker ones.
_compiled = partial(jax.jit, compiler_options={"xla_cpu_prefer_vector_width": 512})


@partial(_compiled, static_argnames=("kind", "task", "objective"))
def train_block(
    weights: Weights, lessons: Lessons, course: Course, *, kind: type[Cell], task: Task, objective: Objective
) -> tuple[Weights, PerSeed]:
    """Train a block of networks; return their weights and how many strings each got right in the last epoch.

    Right is counted as the paper counts it: during the last epoch, each string just before its own update.
    """
    start, step = _start_and_step(weights, lessons, course, kind, task, objective)
    end = jax.lax.fori_loop(0, course.strings * course.epochs, step, start)
    return end.weights, end.right


@partial(_compiled, static_argnames=("epochs", "kind", "task", "objective"))
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
    start, step = _start_and_step(weights, lessons, course, kind, task, objective)

    def epoch(state: _State, number: Array) -> tuple[_State, Weights]:
        first = number * course.strings
        state = jax.lax.fori_loop(first, first + course.strings, step, state)
        return state, state.weights

    _, weights_after = jax.lax.scan(epoch, start, jnp.arange(epochs, dtype=jnp.int32))
    return jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), weights, weights_after)


def _start_and_step(
    weights: Weights, lessons: Lessons, course: Course, kind: type[Cell], task: Task, objective: Objective
) -> tuple[_State, Callable[[Array, _State], _State]]:
    """The state before the first step, and one step: learn from the string that was looked at, then look at the next.

    Looking ahead makes the slope a value that is handed from step to step. Were it worked out in the step that uses it, the
    compiler would work it out again for each of Adam's moments.
    """
    optimiser = adam(course.learning_rate)
    gradient = gradient_of(kind, objective)
    last_epoch = course.strings * (course.epochs - 1)

    def look(number: Array, weights: Weights) -> tuple[Weights, PerSeed]:
        place = jax.lax.rem(number, course.strings)
        targets = tuple(lessons.targets[place])
        slope, h = gradient(weights, Token(lessons.opening[place], lessons.closing[place]), targets)
        counts = (number >= last_epoch) & (number < last_epoch + course.strings)
        return slope, jnp.where(counts, is_right(task, weights, h, targets), 0).astype(h.dtype)

    def step(number: Array, state: _State) -> _State:
        updates, moments = optimiser.update(state.slope, state.moments, state.weights)
        weights = cast("Weights", optax.apply_updates(state.weights, updates))
        slope, right = look(number + 1, weights)
        return _State(weights, moments, slope, state.right + right)

    slope, right = look(jnp.int32(0), weights)
    return _State(weights, optimiser.init(weights), slope, right), step
