"""How large the gradient is along training, how much of it is rounding, and the step at which rounding takes over.

At every step the gradient that a run learns from is compared with the same one in float64, at the run's own weights and on
the same string. Over the last n steps, n the number of training strings, the root mean square of the float64 gradient's length
is the *signal* and that of the difference's the *noise*. Noise takes over at the first step at which it is a given share of the
signal. Adam divides by the size of what it sees: far above its ε it goes on taking full steps, and takes them along the noise.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Cell
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.runs.jobs import training_job
from tallystick.training.descent import adam
from tallystick.training.lessons import Course, Lessons, course_of, lessons_of
from tallystick.training.loop import Learner, Student
from tallystick.training.methods import Method
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

SEEDS = 64
SHARES = (0.5, 1.0)
"""Noise has taken over where it is half the signal; where it is all of it, nothing else is left."""
NEVER = -1


@dataclass(frozen=True)
class Rounding:
    """Signal and noise of the gradient along training.

    Attributes:
        setting: what was trained.
        steps: how many steps are done at the end of each epoch; a curriculum's short ones, too.
        ends: how many steps are done where each window ends.
        signal: over each window, with the axes window and seed.
        noise: the same of the error.
        first: for each share asked about and each seed the first step at which noise is that share of the signal, or `NEVER`.
        then: the signal at those steps.
        most: the greatest share of the signal that noise is for each seed.
    """

    setting: Setting
    steps: Int[np.ndarray, " epoch"]
    ends: Int[np.ndarray, " window"]
    signal: Float[np.ndarray, "window seed"]
    noise: Float[np.ndarray, "window seed"]
    first: Int[np.ndarray, "share seed"]
    then: Float[np.ndarray, "share seed"]
    most: Float[np.ndarray, " seed"]

    def epoch(self, step: int) -> int:
        """Return the epoch that a step, counted from 1, belongs to."""
        return int(np.searchsorted(self.steps, step)) + 1


def gradient_rounding(
    setting: Setting, seeds: int = SEEDS, seed: int = 0, shares: tuple[float, ...] = SHARES
) -> Rounding:
    """Measure signal and noise along the training of some seeds, whose weights are float32."""
    if setting.precision != "float32":
        raise BadInput(f"precision: {setting.precision!r}; only float32 has a finer arithmetic to be compared with")
    job = training_job(setting, seeds, seed)
    lessons, course = lessons_of(setting, job.strings), course_of(setting, job.strings)
    steps = np.cumsum(np.repeat(course.stage_strings, course.stage_epochs))
    size = int(course.stage_strings[-1])
    windows = -(-int(steps[-1]) // size)
    with jax.enable_x64(True):
        arrays = (jax.tree.map(jnp.asarray, part) for part in (job.initial(np.arange(seeds)), lessons, course))
        kind, task, method = setting.kind, setting.goal, setting.procedure
        found, sizes = _watch(*arrays, shares=shares, windows=windows, kind=kind, task=task, method=method)
        ends = np.minimum(size * np.arange(1, windows + 1), steps[-1])
        return Rounding(setting, steps, ends, *map(np.asarray, (*sizes, *found)))


class _Sizes(NamedTuple):
    """Signal and noise, or their squares, along any axes."""

    signal: Array
    noise: Array


class _Found(NamedTuple):
    """What was seen of noise so far; see `Rounding`."""

    first: Array
    then: Array
    most: Array


@partial(jax.jit, static_argnames=("shares", "windows", "kind", "task", "method"))
def _watch(
    initial: Weights,
    lessons: Lessons,
    course: Course,
    *,
    shares: tuple[float, ...],
    windows: int,
    kind: type[Cell],
    task: Task,
    method: Method,
) -> tuple[_Found, _Sizes]:
    """Train, and return what was found, with the sizes where each window ends."""
    run, limits = _WatchedRun(initial, lessons, course, kind, task, method), jnp.array(shares)
    size, shape = course.stage_strings[-1], (lessons.opening.shape[0], *initial.example.shape)
    nothing = _Sizes(jnp.zeros(shape), jnp.zeros(shape))

    def window(carry: tuple[Student, _Sizes, _Found], number: Array) -> tuple[tuple[Student, _Sizes, _Found], _Sizes]:
        student, before, found = carry
        begun = number * size
        count = jnp.minimum(size, course.steps - begun)
        student, squares = jax.lax.fori_loop(0, count, partial(run.step, begun), (student, nothing))
        sizes = jax.tree.map(lambda old, new: jnp.sqrt(_trailing(old, new) / size), before, squares)
        steps = begun + 1 + jnp.arange(shape[0], dtype=jnp.int32)
        full = (steps >= size) & (steps <= begun + count)  # so many steps are done, and these were
        return (student, squares, _notice(found, sizes, limits, steps, full)), jax.tree.map(
            lambda part: part[count - 1], sizes
        )

    each = (len(shares), *shape[1:])
    found = _Found(jnp.full(each, NEVER, jnp.int32), jnp.zeros(each), jnp.zeros(shape[1:]))
    (_, _, found), sizes = jax.lax.scan(
        window, (run.learner.start(), nothing, found), jnp.arange(windows, dtype=jnp.int32)
    )
    return found, sizes


class _WatchedRun:
    """A run of the training loop that looks at every string twice: as it is trained, and in float64."""

    def __init__(
        self, initial: Weights, lessons: Lessons, course: Course, kind: type[Cell], task: Task, method: Method
    ) -> None:
        self._lessons, self._course = lessons, course
        optimiser = adam(partial(course.corrections, method=method), method.momenta)
        learner = partial(
            Learner,
            optimiser=optimiser,
            strength=course.strength,
            learning_rate=course.learning_rate,
            kind=kind,
            task=task,
            method=method,
        )
        self.learner, self._finer = learner(initial), learner(_fine(initial))

    def step(self, begun: Array, place: Array, state: tuple[Student, _Sizes]) -> tuple[Student, _Sizes]:
        """Learn from a string, and write down the squares of its gradient and of the gradient's error."""
        student, squares = state
        exercise = self._lessons.exercise(self._course.place(begun + place))
        look = self.learner.look(exercise, student, self._lessons.opening.dtype)
        exact = self._finer.look(exercise, _fine(student), jnp.float64).slope
        error = jax.tree.map(jnp.subtract, _fine(look.slope), exact)
        signal, noise = (part.at[place].set(_square(of)) for part, of in zip(squares, (exact, error), strict=True))
        return self.learner.learn(student, look), _Sizes(signal, noise)


def _notice(found: _Found, sizes: _Sizes, limits: Array, steps: Array, full: Array) -> _Found:
    """Return what was found with one more window; `steps` and `full` are its steps, and which of them count."""
    signal, noise = sizes
    large = (noise > 0) & (noise >= limits[:, None, None] * signal) & full[:, None]
    place = large.argmax(axis=1)
    new = large.any(axis=1) & (found.first == NEVER)
    there = jnp.take_along_axis(signal[None], place[:, None], axis=1)[:, 0]
    share = jnp.where(full[:, None] & (noise > 0), noise / signal, 0).max(axis=0)
    return _Found(
        jnp.where(new, steps[place], found.first),
        jnp.where(new, there, found.then),
        jnp.maximum(found.most, share),
    )


def _trailing(before: Array, now: Array) -> Array:
    """Return at each row the sum over the last so many, from two windows; nothing is subtracted, so small sums stay exact."""
    later = jnp.cumsum(before[::-1], axis=0)[::-1]
    return jnp.cumsum(now, axis=0) + jnp.concatenate([later[1:], jnp.zeros_like(later[:1])])


def _fine(tree: Any) -> Any:  # noqa: ANN401 -- a tree of JAX's
    """Return the same numbers as float64; whole numbers stay."""
    return jax.tree.map(
        lambda array: array.astype(jnp.float64) if jnp.issubdtype(array.dtype, jnp.floating) else array, tree
    )


def _square(slope: Any) -> Array:  # noqa: ANN401
    """Return the squared length of a gradient, one entry per seed."""
    return jnp.stack([leaf**2 for leaf in jax.tree.leaves(slope)]).sum(axis=0)
