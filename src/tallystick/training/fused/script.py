"""What the fused engines train from: a run as a script, and the loop's own learner in the form that needs the least arithmetic.

A string is two integers, one bit per token, and Adam's corrections are a table. The learner is the one of `training.loop`; an
engine traces it and decides how each operation is computed.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Cell, GruCell, LinearCell, VectorCell
from tallystick.languages.tasks import Task
from tallystick.training.compiling import compile_once
from tallystick.training.descent import Folded, fold, folded_adam
from tallystick.training.gradients import Gradient, gradient_of, linear_gradient
from tallystick.training.layers import GATES, gate_gradient, with_bias_in_steps
from tallystick.training.lessons import Course, Lessons
from tallystick.training.loop import Learner
from tallystick.training.methods import Method
from tallystick.training.weights import AnyWeights

Result = TypeVar("Result")


_LEAST_ROOM = 4096
"""Steps that a table of corrections has room for, at least."""


class Script(NamedTuple):
    """What every block of networks reads, step by step; a row of `asked` holds targets, then answers."""

    opening: Int[Any, " string"]
    closing: Int[Any, " string"]
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
    """Put a training set and its course into words and tables, without the padding."""
    strings = int(course.stage_strings[-1])
    present = (lessons.opening + lessons.closing)[:strings]
    tokens = max(1, int(present.sum(axis=1).max()))  # an empty string is a token of padding
    opening, closing = (_words(part[:strings, -tokens:]) for part in (lessons.opening, lessons.closing))
    targets = lessons.targets[:strings, -tokens:] if method.every_token else lessons.targets[:strings]
    asked = np.concatenate([targets.reshape(strings, -1), lessons.answers[:strings]], axis=1)
    steps = int(np.sum(course.stage_strings * course.stage_epochs))
    # Few lengths of tables, so that few programs are compiled for them.
    room = max(_LEAST_ROOM, 1 << (steps - 1).bit_length())
    table = _folded_corrections(jnp.arange(room, dtype=jnp.int32), jax.tree.map(jnp.asarray, course), method=method)
    folded = Folded(*(part[:steps] for part in map(np.asarray, table)))
    numbers = (course.strength[None], course.learning_rate[None])
    stages = np.stack([course.stage_strings, course.stage_epochs], axis=1)
    script = Script(opening, closing, asked, stages, folded, _temperatures(course, method), *numbers)
    return script, Shape(tokens, lessons.answers.shape[1], lessons.targets.shape[-1], method.every_token)


@compile_once
@partial(jax.jit, static_argnames="method")
def _folded_corrections(steps: Array, course: Course, *, method: Method) -> Folded:
    dtype = course.learning_rate.dtype
    corrections = course.corrections(steps, method)
    return Folded(*(jnp.broadcast_to(part, steps.shape).astype(dtype) for part in fold(corrections, method.momenta)))


def _temperatures(course: Course, method: Method) -> np.ndarray:
    """Return what gates are multiplied by after each number of steps, for a method that sharpens them."""
    steps = int(np.sum(course.stage_strings * course.stage_epochs))
    done = jnp.arange(steps + 1 if method.sharpens else 0, dtype=jnp.int32)
    found = jax.tree.map(jnp.asarray, course).temperature(done, method)
    return np.zeros(1, course.learning_rate.dtype) if found is None else np.asarray(found)


def _words(tokens: np.ndarray) -> np.ndarray:
    """Write each string as an integer; the first token is the lowest bit."""
    return (tokens.astype(np.int32) << np.arange(tokens.shape[1], dtype=np.int32)).sum(axis=1, dtype=np.int32)


def learner_of(
    initial: AnyWeights,
    folded: Callable[[Array], Folded],
    numbers: tuple[Array, Array],
    *,
    kind: type[Cell],
    task: Task,
    method: Method,
    sharing: int,
) -> Learner:
    """Return the loop's own learner, with the forms of Adam and of the gradient that need the least arithmetic.

    Args:
        initial: the weights before the first step.
        folded: Adam's two numbers after so many steps.
        numbers: the strength of a regulariser and the learning rate.
        kind: the kind of cell.
        task: what is asked.
        method: how it is trained.
        sharing: how many of Adam's quotients share one reciprocal.
    """
    optimiser = folded_adam(folded, method.momenta, sharing)
    gradient = _gradient(kind, task, method)
    return Learner(initial, optimiser, *numbers, kind=kind, task=task, method=method, gradient=gradient)


def _gradient(kind: type[Cell], task: Task, method: Method) -> Gradient:
    """Return the gradient with the least arithmetic."""
    # Errors are differences of nearly equal numbers, so their rounding decides where training ends.
    objective = method.objective(task)
    objective = replace(objective, error=as_written(objective.error))
    if kind is LinearCell and not method.every_token:
        return linear_gradient(objective)
    if kind in GATES:
        gradient = gate_gradient(kind, objective, every_token=method.every_token, memory=bool(method.memory))
    else:
        gradient = gradient_of(kind, objective, every_token=method.every_token)
    return with_bias_in_steps(gradient) if issubclass(kind, VectorCell) and kind is not GruCell else gradient


# --- Traced programs ------------------------------------------------------------------------------------------------------------

LEFT_AS_WRITTEN = "left_as_written"
"""The name of a part of a program whose products are rounded before they are added."""


def as_written(work: Callable[..., Result]) -> Callable[..., Result]:
    """Return the function as one whose products are rounded before they are added, as it says."""

    def left_as_written(*arguments: Any) -> Result:  # noqa: ANN401
        return work(*arguments)

    return jax.jit(left_as_written)
