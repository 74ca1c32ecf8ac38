"""Losses: what the outputs of a network are scored by, each with its derivative, and which of them a kind of task has."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.languages.tasks import Task

Outputs = tuple[Array, ...]


@dataclass(frozen=True)
class Objective:
    """A loss of the outputs and the targets, and its derivative by each output, the error.

    The error is in closed form, since its form shows in float32 (docs/experiment.md): here it is sigmoid(o) − y and
    softmax(o) − y, not the derivative of a loss written on logits.
    """

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
    """Apply the softmax's derivative to the error of a cross-entropy that takes the softmax's shares for logits."""
    shares = _softmax(outputs)
    inner = _softmax_error(shares, targets)
    mean = sum(share * error for share, error in zip(shares, inner, strict=True))
    return tuple(share * (error - mean) for share, error in zip(shares, inner, strict=True))


def _squared_loss(outputs: Outputs, targets: Outputs) -> Array:
    squares = [(output - target) ** 2 for output, target in zip(outputs, targets, strict=True)]
    return sum(squares[1:], start=squares[0])


def _squared_error(outputs: Outputs, targets: Outputs) -> Outputs:
    return tuple(2 * (output - target) for output, target in zip(outputs, targets, strict=True))


def with_memory(objective: Objective, factor: float, outputs: int) -> Objective:
    """Return an objective that also takes each unit's memory, after the outputs, and the count as the last target."""

    def counts(values: Outputs, targets: Outputs) -> Outputs:
        return targets[-1:] * (len(values) - outputs)

    def loss(values: Outputs, targets: Outputs) -> Array:
        squares = _squared_loss(values[outputs:], counts(values, targets))
        return objective.loss(values[:outputs], targets[:-1]) + factor * squares

    def error(values: Outputs, targets: Outputs) -> Outputs:
        errors = _squared_error(values[outputs:], counts(values, targets))
        return objective.error(values[:outputs], targets[:-1]) + tuple(factor * one for one in errors)

    return Objective(f"{objective.name}_and_memory", loss, error)


BINARY_CROSS_ENTROPY = Objective("binary_cross_entropy", _sigmoid_loss, _sigmoid_error)
CROSS_ENTROPY = Objective("cross_entropy", _softmax_loss, _softmax_error)
DOUBLED_SOFTMAX = Objective("doubled_softmax", _doubled_loss, _doubled_error)
SQUARED_ERROR = Objective("squared_error", _squared_loss, _squared_error)

OBJECTIVES: dict[str, Objective] = {
    objective.name: objective for objective in (BINARY_CROSS_ENTROPY, CROSS_ENTROPY, DOUBLED_SOFTMAX, SQUARED_ERROR)
}


@dataclass(frozen=True)
class Objectives:
    """One objective for each kind of task."""

    binary: Objective
    ternary: Objective
    count: Objective

    def of(self, task: Task) -> Objective:
        """Return the objective for a task."""
        if not task.classes:
            return self.count
        return self.binary if task.outputs == 1 else self.ternary


PUBLISHED_LOSSES = Objectives(BINARY_CROSS_ENTROPY, DOUBLED_SOFTMAX, SQUARED_ERROR)
"""The paper's. The ternary loss applies softmax twice and cannot go below 0.5514."""

ORDINARY_LOSSES = Objectives(BINARY_CROSS_ENTROPY, CROSS_ENTROPY, SQUARED_ERROR)
"""Cross-entropy for classes and squared error for the count."""

COUNT_REGRESSION = Objectives(SQUARED_ERROR, SQUARED_ERROR, SQUARED_ERROR)
"""Squared error between the outputs and those of an exact counter, whatever the task (`lessons.counter_outputs`)."""
