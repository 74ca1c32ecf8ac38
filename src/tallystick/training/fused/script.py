"""A training run as the kernel reads it: a string is two integers, one bit per token, and Adam's corrections are a table."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Token
from tallystick.training.fused.arithmetic import Folded, fold
from tallystick.training.lessons import Course, Exercise, Lessons
from tallystick.training.methods import Method


class Script(NamedTuple):
    """What every block of networks reads, step by step; a row of `asked` holds targets, then answers."""

    opening: Int[Any, " string"]
    closing: Int[Any, " string"]
    asked: Float[Any, "string number"]
    stages: Int[Any, "stage 2"]
    folded: Folded
    strength: Float[Any, " 1"]
    learning_rate: Float[Any, " 1"]


class Shape(NamedTuple):
    """The part of a script that is fixed when the kernel is compiled.

    Attributes:
        tokens: the width of the strings, which are padded on the left.
        outputs: how many numbers answer a string.
        every_token: whether there are targets for each token.
    """

    tokens: int
    outputs: int
    every_token: bool


def script_of(lessons: Lessons, course: Course, method: Method) -> tuple[Script, Shape]:
    """Put a training set and its course into words and tables, without the padding."""
    strings = int(course.stage_strings[-1])
    present = (lessons.opening + lessons.closing)[:strings]
    tokens = int(present.sum(axis=1).max())
    opening, closing = (_words(part[:strings, -tokens:]) for part in (lessons.opening, lessons.closing))
    targets = lessons.targets[:strings, -tokens:] if method.every_token else lessons.targets[:strings]
    asked = np.concatenate([targets.reshape(strings, -1), lessons.answers[:strings]], axis=1)
    steps = jnp.arange(int(np.sum(course.stage_strings * course.stage_epochs)), dtype=jnp.int32)
    folded = _folded_corrections(steps, jax.tree.map(jnp.asarray, course), method=method)
    numbers = (course.strength[None], course.learning_rate[None])
    stages = np.stack([course.stage_strings, course.stage_epochs], axis=1)
    script = Script(opening, closing, asked, stages, folded, *numbers)
    return script, Shape(tokens, lessons.answers.shape[1], method.every_token)


def read_exercise(script: Script, shape: Shape, place: Array) -> Exercise:
    """Read one string inside the kernel, where the script's arrays are references: its tokens are scalars."""
    opening, closing = script.opening[place], script.closing[place]
    dtype = script.asked.dtype
    bits = range(shape.tokens)
    tokens = [Token(_bit(opening, bit, dtype), _bit(closing, bit, dtype)) for bit in bits]
    rows = shape.tokens if shape.every_token else 1
    numbers = [script.asked[place, number] for number in range((rows + 1) * shape.outputs)]
    *targets, answers = (tuple(numbers[row * shape.outputs :][: shape.outputs]) for row in range(rows + 1))
    by_output: Any = tuple(zip(*targets, strict=True)) if shape.every_token else targets[0]
    return Exercise(tokens, by_output, answers)


@partial(jax.jit, static_argnames="method")
def _folded_corrections(steps: Array, course: Course, *, method: Method) -> Folded:
    dtype = course.learning_rate.dtype
    corrections = course.corrections(steps, method)
    return Folded(*(jnp.broadcast_to(part, steps.shape).astype(dtype) for part in fold(corrections, method.momenta)))


def _words(tokens: np.ndarray) -> np.ndarray:
    """Write each string as an integer; the first token is the lowest bit."""
    return (tokens.astype(np.int32) << np.arange(tokens.shape[1], dtype=np.int32)).sum(axis=1, dtype=np.int32)


def _bit(word: Array, place: int, dtype: np.dtype) -> Array:
    return jnp.where((word & (1 << place)) != 0, jnp.ones((), dtype), jnp.zeros((), dtype))
