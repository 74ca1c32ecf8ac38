"""The one training loop: Adam, one string a step, the same order in every epoch, every seed of a block at once."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.cells import Cell
from tallystick.languages.tasks import Task
from tallystick.training.adam import adam
from tallystick.training.learner import Learner, Look, Student
from tallystick.training.lessons import Course, Lessons
from tallystick.training.methods import Method
from tallystick.training.weights import PerSeed, Weights


class _State(NamedTuple):
    """Where training stands: before it learns from a string, it has looked at it, and holds what it saw."""

    student: Student
    seen: Look
    right: PerSeed


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
    return run.weights(end), end.right


@partial(_compiled, static_argnames=("epochs", "kind", "task", "method"))
def train_path(
    weights: Weights, lessons: Lessons, course: Course, *, epochs: int, kind: type[Cell], task: Task, method: Method
) -> Weights:
    """Train a block of networks; return their weights at the start and after every epoch, along a new first axis."""
    run = _Run(weights, lessons, course, kind, task, method)

    def epoch(state: _State, number: Array) -> tuple[_State, Weights]:
        state = jax.lax.fori_loop(course.first_step(number), course.first_step(number + 1), run.step, state)
        return state, run.weights(state)

    start = run.start()
    _, weights_after = jax.lax.scan(epoch, start, jnp.arange(epochs, dtype=jnp.int32))
    first = run.weights(start)
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
        self._lessons, self._course = lessons, course
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

    def weights(self, state: _State) -> Weights:
        """Return the network's weights."""
        return self._learner.weights(state.student)

    def _look(self, number: Array, student: Student) -> tuple[Look, Array]:
        """Look at the string of a step; the answer counts in the last epoch."""
        lessons, course = self._lessons, self._course
        look = self._learner.look(lessons.exercise(course.place(number)), student, lessons.opening.dtype)
        last_epoch = course.steps - course.stage_strings[-1]
        counts = (number >= last_epoch) & (number < course.steps)
        right = jnp.where(counts, look.right, 0).astype(_dtype(student))
        return look._replace(right=()), right


def _dtype(student: Student) -> jnp.dtype:
    return jax.tree.leaves(student.trained)[0].dtype
