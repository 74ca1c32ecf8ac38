"""Strings as lessons: tokens, what the loss asks of the outputs, which answer is right, and in which stages they are read.

A loss on the count asks for the outputs of an exact counter. With a readout of slope s and intercept t an exact counter of
step a has v = s/a and c = t, so that its outputs for the count d are s·d + t:

    count                 d
    binary, no bias       d                     positive iff d > 0
    binary with bias      d − ½
    ternary               −d − ½, 0, d − ½      the largest is the sign of d

For the fused engines the same lessons are a script of tables: a row per string, without the padding that all strings share, and a
row of Adam's corrections per step.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Token
from tallystick.datasets.strings import encode
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.training.descent import SCHEDULES, SQUARED_ERROR, Corrections, Folded, Outputs, corrections, fold, grow
from tallystick.training.gradients import String
from tallystick.training.methods import Method, risen
from tallystick.training.setting import Setting
from tallystick.training.weights import compile_once

_WIDEST, _MOST_STRINGS = 8, 354
"""The shape of the paper's largest training set. Smaller ones are padded to it, since a program is compiled for each shape."""

_MOST_STEPS = 10**9
"""Steps are counted in 32 bits; this many take days."""

_LEAST_ROOM = 4096
"""Steps that a table of corrections has room for, at least."""


class Exercise(NamedTuple):
    """One string, what the loss asks of the outputs on it, and the right answer."""

    string: String
    targets: Outputs
    answers: Outputs


class Lessons(NamedTuple):
    """A training set as arrays: tokens, targets and right answers. The rows that fill it up are never read."""

    opening: Float[Any, "string token"]
    closing: Float[Any, "string token"]
    targets: Float[Any, "string *token output"]
    answers: Float[Any, "string output"]

    def exercise(self, place: Array) -> Exercise:
        """Return one string of the set."""
        string = Token(self.opening[place], self.closing[place])
        return Exercise(string, tuple(jnp.moveaxis(self.targets[place], -1, 0)), tuple(self.answers[place]))


class Course(NamedTuple):
    """The numbers that decide a run; they are arguments and not constants, so that one program serves every setting.

    A stage reads the first `stage_strings` strings for `stage_epochs` epochs. Only a curriculum has several stages.
    """

    stage_strings: Int[Any, " stage"]
    stage_epochs: Int[Any, " stage"]
    learning_rate: Float[Any, ""]
    strength: Float[Any, ""]

    def first_step(self, epoch: Array) -> Array:
        """Return the number of steps before an epoch."""
        begun = jnp.cumsum(self.stage_epochs, dtype=jnp.int32) - self.stage_epochs
        return jnp.sum(self.stage_strings * jnp.clip(epoch - begun, 0, self.stage_epochs), dtype=jnp.int32)

    @property
    def steps(self) -> Array:
        """The number of steps in all."""
        return jnp.sum(self.stage_strings * self.stage_epochs, dtype=jnp.int32)

    def place(self, step: Array) -> Array:
        """Return which string a step reads."""
        if self.stage_strings.shape == (1,):
            return jax.lax.rem(step, self.stage_strings[0])
        lasts = jnp.cumsum(self.stage_strings * self.stage_epochs, dtype=jnp.int32)
        stage = jnp.minimum(jnp.sum(step >= lasts), len(lasts) - 1)
        begun = lasts[stage] - self.stage_strings[stage] * self.stage_epochs[stage]
        return jax.lax.rem(step - begun, self.stage_strings[stage])

    def temperature(self, done: Array, method: Method) -> Array | None:
        """Return what the inputs of the gates are multiplied by after `done` steps; None for a method that leaves them."""
        if not method.sharpens:
            return None
        return risen(done.astype(self.learning_rate.dtype) / self.steps, method.temperature)

    def corrections(self, done: Array, method: Method) -> Corrections:
        """Return Adam's corrections for the next step, after `done` steps, by the method's schedule of the learning rate."""
        rate, steps = self.learning_rate, self.steps
        if method.schedule == "constant":
            return corrections(done, rate, method.momenta)
        schedule = SCHEDULES[method.schedule]
        return corrections(done, lambda count: rate * schedule(count.astype(rate.dtype) / steps), method.momenta)


def check_training_set(setting: Setting, strings: list[str]) -> None:
    """Refuse an empty training set, and one that takes too many steps."""
    if not strings:
        raise BadInput("strings: an empty training set")
    if setting.epochs * len(strings) > _MOST_STEPS:
        raise BadInput(f"epochs: {setting.epochs} over {len(strings)} strings are more than {_MOST_STEPS:,} steps")


def lessons_of(setting: Setting, strings: list[str]) -> Lessons:
    """Return the training set as arrays of one shape for all of the paper's lengths, so that they share a program."""
    check_training_set(setting, strings)
    strings = in_order(setting, strings)
    tokens, language = encode(strings, _WIDEST), setting.language
    if setting.procedure.every_token:
        # Padded on the left, as the tokens are: before its first token a string has the count 0.
        running = [language.running_counts(string)[1:] for string in strings]
        counts = np.array([[0] * (tokens.opening.shape[1] - len(row)) + row for row in running])
    else:
        counts = np.array([language.count(string) for string in strings])
    arrays = (*tokens, targets_of_counts(setting, counts), setting.answers(strings))
    rows = max(_MOST_STRINGS, len(strings))
    return Lessons(*(_fill_up(part.astype(setting.gradient_dtype), rows) for part in arrays))


def in_order(setting: Setting, strings: list[str]) -> list[str]:
    """Return the strings as every epoch reads them: in their own order, or the shorter ones first in a curriculum."""
    return sorted(strings, key=len) if setting.procedure.curriculum else strings


def course_of(setting: Setting, strings: list[str]) -> Course:
    """Return the numbers of a run; a curriculum divides its epochs evenly over the lengths, and the last takes the rest."""
    lengths = sorted({len(string) for string in strings}) if setting.procedure.curriculum else [max(map(len, strings))]
    sizes = [sum(len(string) <= length for string in strings) for length in lengths]
    share = setting.epochs // len(lengths)
    epochs = [share] * (len(lengths) - 1) + [setting.epochs - share * (len(lengths) - 1)]
    return Course(
        np.array(sizes, np.int32),
        np.array(epochs, np.int32),
        np.asarray(setting.learning_rate, setting.dtype),
        np.asarray(setting.procedure.strength, setting.dtype),
    )


def targets_of_counts(setting: Setting, counts: Int[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape output"]:
    """Return what the loss asks of the outputs for counts: the class, or the outputs of an exact counter.

    Where it asks for something of the memory, too, that is the count itself.
    """
    if setting.objective is SQUARED_ERROR:
        targets = counter_outputs(setting.goal, counts, readout_bias=setting.readout_bias)
    else:
        targets = setting.goal.targets_of_counts(counts)
    return np.concatenate([targets, counts[..., None]], axis=-1) if setting.procedure.memory else targets


class OutputLines(NamedTuple):
    """Each output of an exact counter as a line s·d + t."""

    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]


def output_lines(task: Task, *, readout_bias: bool) -> OutputLines:
    """Return the lines for a task; without a readout bias they go through the origin."""
    if task.outputs > 1:
        return OutputLines((-1, 0, 1), (-0.5, 0, -0.5))
    return OutputLines((1,), (-0.5,) if task.classes and readout_bias else (0,))


def counter_outputs(
    task: Task, counts: Int[np.ndarray, "*shape"], *, readout_bias: bool
) -> Float[np.ndarray, "*shape output"]:
    """Return the outputs of an exact counter."""
    slopes, intercepts = output_lines(task, readout_bias=readout_bias)
    return counts[..., None] * np.array(slopes, np.float64) + np.array(intercepts)


def _fill_up(array: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([array, np.zeros((rows - len(array), *array.shape[1:]), array.dtype)])


# --- Tables -------------------------------------------------------------------------------------------------------------------


class Script(NamedTuple):
    """What every block of networks reads, step by step; a row of `asked` holds targets, then answers."""

    opening: Float[Any, "string token"]
    closing: Float[Any, "string token"]
    asked: Float[Any, "string number"]
    stages: Int[Any, "stage 2"]
    folded: Folded
    temperature: Float[Any, " done"]
    strength: Float[Any, " 1"]
    learning_rate: Float[Any, " 1"]


class Shape(NamedTuple):
    """The part of a script that is fixed when the kernel is compiled.

    Attributes:
        tokens: the width of the strings, which are padded on the left.
        outputs: how many numbers answer a string.
        targets: how many numbers the loss asks for.
        every_token: whether there are targets for each token.
    """

    tokens: int
    outputs: int
    targets: int
    every_token: bool


def script_of(lessons: Lessons, course: Course, method: Method) -> tuple[Script, Shape]:
    """Put a training set and its course into tables, without the padding."""
    strings = int(course.stage_strings[-1])
    present = (lessons.opening + lessons.closing)[:strings]
    tokens = max(1, int(present.sum(axis=1).max()))  # an empty string is a token of padding
    opening, closing = (part[:strings, -tokens:] for part in (lessons.opening, lessons.closing))
    targets = lessons.targets[:strings, -tokens:] if method.every_token else lessons.targets[:strings]
    asked = np.concatenate([targets.reshape(strings, -1), lessons.answers[:strings]], axis=1)
    steps = int(np.sum(course.stage_strings * course.stage_epochs))
    # Few lengths of tables, so that few programs are compiled for them.
    room = max(_LEAST_ROOM, 1 << (steps - 1).bit_length())
    table = _folded_corrections(jnp.arange(room, dtype=jnp.int32), jax.tree.map(jnp.asarray, course), method=method)
    stages = np.stack([course.stage_strings, course.stage_epochs], axis=1)
    folded = grow(jax.tree.map(lambda part: np.asarray(part)[:steps], table), _starts(stages), method.momenta)
    numbers = (course.strength[None], course.learning_rate[None])
    script = Script(opening, closing, asked, stages, folded, _temperatures(course, method), *numbers)
    return script, Shape(tokens, lessons.answers.shape[1], lessons.targets.shape[-1], method.every_token)


def _starts(stages: np.ndarray) -> np.ndarray:
    """Return, for every step, how many were done before its epoch."""
    firsts = np.cumsum(np.append(0, stages.prod(axis=1)))
    parts = zip(stages, firsts[:-1], strict=True)
    return np.concatenate(
        [first + np.repeat(np.arange(epochs) * strings, strings) for (strings, epochs), first in parts]
    )


@compile_once
@partial(jax.jit, static_argnames="method")
def _folded_corrections(steps: Array, course: Course, *, method: Method) -> Folded:
    dtype = course.learning_rate.dtype
    corrections = course.corrections(steps, method)
    folded = fold(corrections, method.momenta)
    return jax.tree.map(lambda part: jnp.broadcast_to(part, steps.shape).astype(dtype), folded)


def _temperatures(course: Course, method: Method) -> np.ndarray:
    """Return what gates are multiplied by after each number of steps, for a method that sharpens them."""
    steps = int(np.sum(course.stage_strings * course.stage_epochs))
    done = jnp.arange(steps + 1 if method.sharpens else 0, dtype=jnp.int32)
    found = jax.tree.map(jnp.asarray, course).temperature(done, method)
    return np.zeros(1, course.learning_rate.dtype) if found is None else np.asarray(found)
