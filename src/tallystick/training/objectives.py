"""What training minimises: each objective with its loss, and the error that it sends back to the outputs.

The error is the derivative of the loss by each output, in closed form. Which form is used shows in float32 (docs/experiment.md):
here it is sigmoid(o) − y and softmax(o) − y, not the derivative of a loss written on logits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.datasets.tasks import BINARY, COUNT, TERNARY, Task
from tallystick.errors import BadInput

Outputs = tuple[Array, ...]


@dataclass(frozen=True)
class Objective:
    """A loss of the outputs and the targets, and its derivative by each output."""

    name: str
    loss: Callable[[Outputs, Outputs], Array]
    error: Callable[[Outputs, Outputs], Outputs]


def _sigmoid_loss(outputs: Outputs, targets: Outputs) -> Array:
    return jax.nn.softplus(outputs[0]) - targets[0] * outputs[0]


def _sigmoid_error(outputs: Outputs, targets: Outputs) -> Outputs:
    return (jax.nn.sigmoid(outputs[0]) - targets[0],)


def _softmax(outputs: Outputs) -> Outputs:
    largest = outputs[0]
    for output in outputs[1:]:
        largest = jnp.maximum(largest, output)
    powers = [jnp.exp(output - largest) for output in outputs]
    total = sum(powers[1:], start=powers[0])
    return tuple(power / total for power in powers)


def _softmax_loss(outputs: Outputs, targets: Outputs) -> Array:
    total = jax.nn.logsumexp(jnp.stack(outputs), axis=0)
    return total - sum(target * output for target, output in zip(targets, outputs, strict=True))


def _softmax_error(outputs: Outputs, targets: Outputs) -> Outputs:
    return tuple(share - target for share, target in zip(_softmax(outputs), targets, strict=True))


def _doubled_loss(outputs: Outputs, targets: Outputs) -> Array:
    return _softmax_loss(_softmax(outputs), targets)


def _doubled_error(outputs: Outputs, targets: Outputs) -> Outputs:
    """The softmax's derivative applied to the error of a cross-entropy that took its shares for logits."""
    shares = _softmax(outputs)
    inner = _softmax_error(shares, targets)
    mean = sum(share * error for share, error in zip(shares, inner, strict=True))
    return tuple(share * (error - mean) for share, error in zip(shares, inner, strict=True))


def _squared_loss(outputs: Outputs, targets: Outputs) -> Array:
    return (outputs[0] - targets[0]) ** 2


def _squared_error(outputs: Outputs, targets: Outputs) -> Outputs:
    return (2 * (outputs[0] - targets[0]),)


BINARY_CROSS_ENTROPY = Objective("binary_cross_entropy", _sigmoid_loss, _sigmoid_error)
CROSS_ENTROPY = Objective("cross_entropy", _softmax_loss, _softmax_error)
DOUBLED_SOFTMAX = Objective("doubled_softmax", _doubled_loss, _doubled_error)
SQUARED_ERROR = Objective("squared_error", _squared_loss, _squared_error)

OBJECTIVES: dict[str, Objective] = {
    objective.name: objective for objective in (BINARY_CROSS_ENTROPY, CROSS_ENTROPY, DOUBLED_SOFTMAX, SQUARED_ERROR)
}

METHODS: dict[str, dict[Task, Objective]] = {
    "published": {BINARY: BINARY_CROSS_ENTROPY, TERNARY: DOUBLED_SOFTMAX, COUNT: SQUARED_ERROR},
    "corrected": {BINARY: BINARY_CROSS_ENTROPY, TERNARY: CROSS_ENTROPY, COUNT: SQUARED_ERROR},
}
"""How each method scores each task. The published ternary loss applies softmax twice and cannot go below 0.5514."""


def objective_of(method: str, task: Task) -> Objective:
    """Return the objective that a method uses for a task."""
    if not isinstance(method, str) or method not in METHODS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"method: {method!r} is not one of {', '.join(METHODS)}")
    return METHODS[method][task]
