"""Whether a network's answer is right, and how many of its answers on a set of strings are."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tallystick.cells import Cell, Token
from tallystick.datasets.encoding import Encoded
from tallystick.languages.tasks import COUNT, Task
from tallystick.numbers.values import Vector
from tallystick.training.gradients import last_state
from tallystick.training.weights import AnyWeights


def is_right(task: Task, weights: AnyWeights, hidden: Vector, targets: tuple[Array, ...]) -> Array:
    """Say where the answer for h is the target's: p > 1/2, the largest output, or the nearest whole count."""
    if task is COUNT:
        return jnp.abs(weights.outputs(hidden)[0] - targets[0]) < 0.5  # noqa: PLR2004 -- nearer to this count than to any other
    right_index = targets[0] if len(targets) == 1 else targets[1] + 2 * targets[2]
    return weights.readout().class_index(hidden) == right_index


@partial(jax.jit, static_argnames=("kind", "task"))
def right_answers(
    weights: AnyWeights, opening: Array, closing: Array, targets: Array, *, kind: type[Cell], task: Task
) -> Float[Array, "seed string"]:
    """Return for every seed and string whether the answer is right; the tokens are the first axis, scanned over."""
    column = jax.tree.map(lambda array: array[..., None], weights)
    cell: Cell = column.cell(kind)
    start = jnp.zeros(jnp.broadcast_shapes(column.example.shape, opening.shape[1:]), column.example.dtype)
    last = last_state(cell, Token(opening, closing), start)
    return is_right(task, column, cell.hidden(last), tuple(jnp.moveaxis(targets, -1, 0)))


def accuracies(
    weights: AnyWeights, strings: Encoded, targets: np.ndarray, *, kind: type[Cell], task: Task
) -> np.ndarray:
    """Return each seed's share of right answers, in percent, in the arithmetic of its weights."""
    dtype = weights.example.dtype
    tokens = [jnp.asarray(part.T, dtype) for part in strings]
    right = right_answers(weights, *tokens, jnp.asarray(targets, dtype), kind=kind, task=task)
    return 100 * np.asarray(right).mean(axis=1)
