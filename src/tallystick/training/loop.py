"""The one training loop: Adam, one string per step, the same order in every epoch, every seed of a block at once.

A `Learner` is what one string teaches a block of networks: a look at it gives a slope, and learning moves the weights down it.
Every engine trains with it, the compiled scan below as well as the fused kernel of `fused/`.
"""

from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from tallystick.cells import Cell
from tallystick.languages.tasks import COUNT, Task
from tallystick.numbers.values import Vector
from tallystick.training.descent import adam
from tallystick.training.gradients import Gradient, gradient_of
from tallystick.training.layers import gate_gradient
from tallystick.training.lessons import Course, Exercise, Lessons
from tallystick.training.methods import Method, Multipliers, Trained
from tallystick.training.weights import AnyWeights, PerSeed, compile_once


class Student(NamedTuple):
    """Where training stands: the trained numbers, Adam's moments, and a regulariser's multipliers."""

    trained: Trained
    moments: optax.OptState
    multipliers: Multipliers


class Look(NamedTuple):
    """What a look at a string gives: the slope, whether the answer was right, and the multipliers after it."""

    slope: Trained
    right: PerSeed
    multipliers: Multipliers


class Learner:
    """A method for one kind of cell, task and block of initial weights."""

    def __init__(
        self,
        initial: AnyWeights,
        optimiser: optax.GradientTransformation,
        strength: Any,  # noqa: ANN401 -- a number, or an array of one
        learning_rate: Any,  # noqa: ANN401
        *,
        kind: type[Cell],
        task: Task,
        method: Method,
        gradient: Gradient | None = None,
    ) -> None:
        """Hold what stays the same from step to step; the default gradient is the quickest for the kind of cell."""
        self._initial, self._optimiser = initial, optimiser
        self._strength, self._multiplier_rate = strength, strength * learning_rate
        self._kind, self._task, self._method = kind, task, method
        self._gradient = gradient or _gradient(kind, task, method)

    def start(self) -> Student:
        """Return the state before the first step."""
        weights, regulariser = self._initial, self._method.regulariser
        if self._method.projection is not None:
            weights = self._method.projection(self._kind, weights)
        trained = self._method.parametrisation.start(self._kind, weights)
        multipliers = regulariser.start(regulariser.residuals(self._kind, weights)[0]) if regulariser else ()
        return Student(trained, self._optimiser.init(trained), multipliers)

    def look(
        self,
        exercise: Exercise,
        student: Student,
        precision: Any,  # noqa: ANN401 -- a NumPy type
        temperature: Array | None = None,
    ) -> Look:
        """Look at a string through gates of a temperature; loss and slope are computed in the given precision."""
        parametrisation, regulariser = self._method.parametrisation, self._method.regulariser
        weights, pull_back = parametrisation.pull_back(self._kind, student.trained, self._initial)
        slope, right = self._look_at_string(exercise, _sharpen(weights, temperature), precision)
        slope = _sharpen(slope, temperature)  # the chain rule: the derivative of τ·w by w is τ
        multipliers = student.multipliers
        if regulariser is not None:
            added = regulariser.slope(self._kind, weights, multipliers, self._strength)
            slope = jax.tree.map(jnp.add, slope, added)
            found = regulariser.residuals(self._kind, weights)
            multipliers = regulariser.advance(found, multipliers, self._multiplier_rate)
        return Look(pull_back(slope), right, multipliers)

    def learn(self, student: Student, look: Look) -> Student:
        """Move the weights down the slope that was seen."""
        updates, moments = self._optimiser.update(look.slope, student.moments, student.trained)
        trained = optax.apply_updates(student.trained, updates)
        if self._method.projection is not None:
            trained = self._method.projection(self._kind, cast("AnyWeights", trained))
        return Student(trained, moments, look.multipliers)

    def weights(self, student: Student, temperature: Array | None = None) -> AnyWeights:
        """Return the network's weights, a temperature folded into them."""
        weights = self._method.parametrisation.weights(self._kind, student.trained, self._initial)
        return _sharpen(weights, temperature)

    def _look_at_string(self, exercise: Exercise, weights: AnyWeights, precision: Any) -> tuple[AnyWeights, Array]:  # noqa: ANN401
        """Return the slope of the loss, computed in the given precision and rounded to the weights' own, and who was right."""
        dtype = weights.example.dtype
        seen = jax.tree.map(lambda array: array.astype(precision), weights)
        slope, h = self._gradient(seen, exercise.string, exercise.targets)
        right = is_right(self._task, seen, h, exercise.answers)
        return jax.tree.map(lambda array: array.astype(dtype), slope), right


def _gradient(kind: type[Cell], task: Task, method: Method) -> Gradient:
    """Return the quickest gradient for a method; where the gates are sharpened, or the memory scored, it is over arrays."""
    if method.uses_gates:
        scored = {"every_token": method.every_token, "memory": bool(method.memory)}
        return gate_gradient(kind, method.objective(task), **scored)
    return gradient_of(kind, method.objective(task), every_token=method.every_token)


def _sharpen(weights: AnyWeights, temperature: Array | None) -> AnyWeights:
    return weights if temperature is None else weights.sharpen(temperature)


def is_right(task: Task, weights: AnyWeights, hidden: Vector, targets: tuple[Array, ...]) -> Array:
    """Say where the answer for h is the target's: p > 1/2, the largest output, or the nearest whole count."""
    if task is COUNT:
        return jnp.abs(weights.outputs(hidden)[0] - targets[0]) < 0.5  # noqa: PLR2004 -- nearer to this count than to any other
    right_index = targets[0] if len(targets) == 1 else targets[1] + 2 * targets[2]
    return weights.readout().class_index(hidden) == right_index


class _State(NamedTuple):
    """Where training stands: the student, what it saw of the string it is about to learn from, and its right answers."""

    student: Student
    seen: Look
    right: PerSeed


# XLA prefers vectors of eight floats; vectors of sixteen are quicker on machines that have them.
_jit = partial(jax.jit, compiler_options={"xla_cpu_prefer_vector_width": 512})


@compile_once
@partial(_jit, static_argnames=("kind", "task", "method"))
def train_block(
    weights: AnyWeights, lessons: Lessons, course: Course, *, kind: type[Cell], task: Task, method: Method
) -> tuple[AnyWeights, PerSeed]:
    """Train a block of networks; return their weights and how many strings each got right in the last epoch.

    Right is counted as the paper counts it: during the last epoch, each string just before its own update.
    """
    run = _Run(weights, lessons, course, kind, task, method)
    end = jax.lax.fori_loop(0, course.steps, run.step, run.start())
    return run.weights(end, course.steps), end.right


@partial(_jit, static_argnames=("epochs", "kind", "task", "method"))
def train_path(
    weights: AnyWeights, lessons: Lessons, course: Course, *, epochs: int, kind: type[Cell], task: Task, method: Method
) -> AnyWeights:
    """Train a block of networks; return their weights at the start and after every epoch, along a new first axis."""
    run = _Run(weights, lessons, course, kind, task, method)

    def epoch(state: _State, number: Array) -> tuple[_State, AnyWeights]:
        state = jax.lax.fori_loop(course.first_step(number), course.first_step(number + 1), run.step, state)
        return state, run.weights(state, course.first_step(number + 1))

    start = run.start()
    _, weights_after = jax.lax.scan(epoch, start, jnp.arange(epochs, dtype=jnp.int32))
    first = run.weights(start, jnp.int32(0))
    return jax.tree.map(lambda first, later: jnp.concatenate([first[None], later]), first, weights_after)


class _Run:
    """One run of a method: the state before the first step, and a step.

    A step learns from the string that was looked at, then looks at the next. Looking ahead makes the slope a value that is
    handed from step to step. If the step that uses the slope computed it, the compiler would compute it again for each of
    Adam's moments.
    """

    def __init__(
        self, initial: AnyWeights, lessons: Lessons, course: Course, kind: type[Cell], task: Task, method: Method
    ) -> None:
        self._lessons, self._course, self._method = lessons, course, method
        optimiser = adam(partial(course.corrections, method=method), method.momenta)
        numbers = (course.strength, course.learning_rate)
        self._learner = Learner(initial, optimiser, *numbers, kind=kind, task=task, method=method)

    def start(self) -> _State:
        """Return the state before the first step."""
        student = self._learner.start()
        return _State(student, *self._look(jnp.int32(0), student))

    def step(self, number: Array, state: _State) -> _State:
        """Learn from the string that was looked at, then look at the next."""
        student = self._learner.learn(state.student, state.seen)
        seen, right = self._look(number + 1, student)
        return _State(student, seen, state.right + right)

    def weights(self, state: _State, done: Array) -> AnyWeights:
        """Return the network's weights after `done` steps."""
        return self._learner.weights(state.student, self._course.temperature(done, self._method))

    def _look(self, number: Array, student: Student) -> tuple[Look, Array]:
        """Look at the string of a step; the answer counts in the last epoch."""
        lessons, course = self._lessons, self._course
        temperature = course.temperature(number, self._method)
        look = self._learner.look(lessons.exercise(course.place(number)), student, lessons.opening.dtype, temperature)
        last_epoch = course.steps - course.stage_strings[-1]
        counts = (number >= last_epoch) & (number < course.steps)
        right = jnp.where(counts, look.right, 0).astype(_dtype(student))
        return look._replace(right=()), right


def _dtype(student: Student) -> jnp.dtype:
    return jax.tree.leaves(student.trained)[0].dtype
