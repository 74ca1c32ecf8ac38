"""Losses, and how they are descended: what outputs are scored by, how the learning rate changes, and Adam in its two forms.

Each loss comes with its derivative, and a kind of task has one of them.

Adam's update is −η·m̂/(√ŝ + ε), where m is the mean of the gradients over about 1/(1 − β₁) steps and s that of their squares
over 1/(1 − β₂). It is that of `optax.adam`, which a test compares it with. The two bias corrections are the same for every
weight and seed, so they are computed once per step and multiplied in, instead of divided by everywhere.

The fused engines take it in the form with the least arithmetic, in which what is the same for every weight is folded into the
table of corrections. With m = (1 − β₁)·M and s = (1 − β₂)·S the sums M = β₁·M + g and S = β₂·S + g² need no factors of their
own, and

    η'·m/(√s·r + ε) = (η'·(1 − β₁)/ρ) · M/(√S + ε/ρ)    with ρ = r·√(1 − β₂).

The kernel for GPUs mostly leaves out the product with β₂, too (`launch_for`). In step n every gradient is then made c = β₂^(−n/2)
times as large, by way of the error that it comes from. With c·M and c²·S in place of M and S,

    c²·S = c'²·S' + (c·g)²,    c·M = β₁/√β₂·(c'·M') + c·g    and    M/(√S + ε/ρ) = c·M/(√(c²·S) + c·ε/ρ),

where c', M' and S' are those of the step before. After an epoch in which c has come to 2, c and M are halved and S quartered,
which rounds nothing.

Some quotients share a reciprocal, 1/d = d'·(1/(d·d')): where a reciprocal is expensive, three products are cheaper. The factor
before M is put into it, so that a weight's change is one multiply-add.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

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


def enlarge(objective: Objective, growth: Array) -> Objective:
    """Return an objective that is so many times as large."""

    def error(outputs: Outputs, targets: Outputs) -> Outputs:
        return tuple(growth.astype(one.dtype) * one for one in objective.error(outputs, targets))

    def loss(outputs: Outputs, targets: Outputs) -> Array:
        found = objective.loss(outputs, targets)
        return growth.astype(found.dtype) * found

    return replace(objective, loss=loss, error=error)


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


# --- How the learning rate changes --------------------------------------------------------------------------------------------

Schedule = Callable[[Float[Array, ""]], Float[Array, ""]]
"""From the share of the steps that are done, in [0, 1), to the factor on the learning rate."""


def constant(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return 1 throughout, as in the paper."""
    return jnp.ones_like(done)


def cosine(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return ½(1 + cos πx): a half-wave from 1 down to 0, flat at both ends."""
    return (1 + jnp.cos(jnp.pi * done)) / 2


def linear(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return 1 − x: straight down to 0."""
    return 1 - done


def late_cosine(done: Float[Array, ""]) -> Float[Array, ""]:
    """Return 1 over the first half, then a half-wave down to 0."""
    return cosine(jnp.maximum(2 * done - 1, 0))


SCHEDULES: dict[str, Schedule] = {
    "constant": constant,
    "cosine": cosine,
    "linear": linear,
    "late-cosine": late_cosine,
}


# --- Adam ---------------------------------------------------------------------------------------------------------------------


class Momenta(NamedTuple):
    """Adam's own numbers: how slowly the mean gradient and the mean square forget, and what is added to the root.

    Attributes:
        decay: β₁.
        square_decay: β₂.
        epsilon: ε; steps are in proportion to gradients far below it, and of one size for gradients far above it.
    """

    decay: float = 0.9
    square_decay: float = 0.999
    epsilon: float = 1e-8


PUBLISHED_MOMENTA = Momenta()
"""The paper's: β = (0.9, 0.999) and ε = 1e-8."""

CALM = Momenta(decay=0.5, epsilon=0.01)
"""The mean of the gradients forgets half at every step, and gradients below a hundredth make small steps. Close to a zero of
the loss Adam then comes to rest, where the paper's numbers blow the gradients' rounding errors up to full steps."""

OPTIMISERS: dict[str, Momenta] = {
    "adam": PUBLISHED_MOMENTA,
    "calm": CALM,
    "short": Momenta(square_decay=0.99),
    "rmsprop": Momenta(decay=0.0),
    "sign": Momenta(decay=0.0, square_decay=0.0),
}
"""Adam with other numbers than a method's own, by name. short forgets squares ten times as fast; rmsprop has no mean of the
gradients; sign moves every weight by η, against the sign of its slope."""


class Corrections(NamedTuple):
    """What a step multiplies by: the learning rate over 1 − β₁ⁿ, and 1/√(1 − β₂ⁿ)."""

    rate: Float[Any, "*step"]
    root: Float[Any, "*step"]


LearningRate = Array | float | Callable[[Array], Array]
"""A number, or a function of the number of steps done."""


def corrections(done: Array, learning_rate: LearningRate, momenta: Momenta = PUBLISHED_MOMENTA) -> Corrections:
    """Return the corrections of the next step, after `done` steps."""
    now = learning_rate(done) if callable(learning_rate) else learning_rate
    rate = jnp.asarray(now / (1 - jnp.power(momenta.decay, done + 1)))
    return Corrections(rate, 1 / jnp.sqrt(1 - jnp.power(momenta.square_decay, done + 1)))


def adam(
    corrected: Callable[[Array], Corrections], momenta: Momenta = PUBLISHED_MOMENTA
) -> optax.GradientTransformation:
    """Return Adam without weight decay or clipping; the corrections are a function of the number of steps done."""
    decay, square_decay, epsilon = momenta

    def step(moments: Moments, gradient: optax.Updates, done: Array) -> tuple[optax.Updates, Moments]:
        mean = jax.tree.map(lambda m, g: decay * m + (1 - decay) * g, moments.first, gradient)
        square = jax.tree.map(lambda s, g: square_decay * s + (1 - square_decay) * g * g, moments.second, gradient)
        rate, root = corrected(done)
        changes = jax.tree.map(lambda m, s: _change(m, s, rate, root, epsilon), mean, square)
        return changes, Moments(mean, square)

    return optimiser_of(step)


class Moments(NamedTuple):
    """What Adam remembers of the gradients: of each weight, and of its square."""

    first: optax.Params
    second: optax.Params


MomentsStep = Callable[[Moments, optax.Updates, Array], tuple[optax.Updates, Moments]]
"""From the moments, a gradient and the number of steps done to the changes of the weights and the moments after."""


def optimiser_of(step: MomentsStep) -> optax.GradientTransformation:
    """Return an optimiser that takes such steps; its moments begin at zero."""

    def init(params: optax.Params) -> optax.ScaleByAdamState:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return optax.ScaleByAdamState(count=jnp.zeros([], jnp.int32), mu=zeros, nu=zeros)

    def update(
        updates: optax.Updates, state: optax.OptState, params: optax.Params | None = None
    ) -> tuple[optax.Updates, optax.ScaleByAdamState]:
        del params  # part of optax's interface; Adam does not look at the weights
        assert isinstance(state, optax.ScaleByAdamState)
        changes, (first, second) = step(Moments(state.mu, state.nu), updates, jnp.asarray(state.count))
        return changes, optax.ScaleByAdamState(state.count + 1, first, second)

    return optax.GradientTransformation(init, update)


def _change(mean: Array, square: Array, rate: Array, root: Array, epsilon: float) -> Array:
    return -rate.astype(mean.dtype) * mean / (jnp.sqrt(square) * root.astype(mean.dtype) + epsilon)


class Folded(NamedTuple):
    """A step's numbers: the factor before M, what is added to √S, and what gradients have grown by if they grow."""

    rate: Float[Any, "*step"]
    offset: Float[Any, "*step"]
    growth: Any = None


def fold(corrections: Corrections, momenta: Momenta) -> Folded:
    """Return the folded numbers of every step."""
    scale = corrections.root * np.sqrt(1 - momenta.square_decay)
    return Folded(corrections.rate * (1 - momenta.decay) / scale, momenta.epsilon / scale)


def grow(folded: Folded, starts: np.ndarray, momenta: Momenta) -> Folded:
    """Add to the numbers of steps what gradients have grown by; where all squares are forgotten, they cannot grow.

    Args:
        folded: the numbers of all steps.
        starts: how many steps were done before the epoch that a step belongs to.
        momenta: Adam's own numbers.
    """
    if not momenta.square_decay:
        return folded
    dtype = folded.offset.dtype
    power = -np.log2(_rounded(momenta.square_decay, dtype)) / 2
    growth = np.exp2(np.arange(1, len(starts) + 1) * power - np.floor(starts * power))
    return folded._replace(growth=growth.astype(dtype))


def enlarge_offset(folded: Folded) -> Folded:
    """Return the numbers of steps whose gradients grow: what is added to √S grows as well."""
    return folded._replace(offset=folded.offset * folded.growth)


def _rounded(number: float, dtype: np.dtype) -> float:
    """Return a number as an optimiser of some precision multiplies by it."""
    return float(np.asarray(number, dtype))


def shrink(state: optax.OptState, factor: Array) -> optax.OptState:
    """Return the state with smaller sums: M times the factor, and S times its square."""
    assert isinstance(state, optax.ScaleByAdamState)
    first = jax.tree.map(lambda m: m * factor, state.mu)
    return state._replace(mu=first, nu=jax.tree.map(lambda s: s * (factor * factor), state.nu))


def folded_adam(
    folded: Callable[[Array], Folded], momenta: Momenta, sharing: int = 2, *, grows: bool = False
) -> optax.GradientTransformation:
    """Return the optimiser; the folded numbers are a function of the steps done, and `sharing` quotients share a reciprocal."""

    def step(moments: Moments, gradient: optax.Updates, done: Array) -> tuple[optax.Updates, Moments]:
        decay, square_decay, _ = momenta
        if grows:
            # Of β₁ and β₂ as Adam multiplies by them: an error in the last digit of β₁ is ten times as large in M.
            dtype = jax.tree.leaves(gradient)[0].dtype
            decay, square_decay = _rounded(decay, dtype), _rounded(square_decay, dtype)
            decay, square_decay = decay / square_decay**0.5, 1.0
        sums = jax.tree.map(lambda m, g: decay * m + g, moments.first, gradient)
        squares = jax.tree.map(lambda s, g: square_decay * s + g * g, moments.second, gradient)
        rate, offset, _ = folded(done)
        divisors = [jnp.sqrt(s) + offset for s in jax.tree.leaves(squares)]
        scales = _over_numbers(-rate, divisors, sharing)
        leaves, structure = jax.tree.flatten(sums)
        changes = [total * scale for total, scale in zip(leaves, scales, strict=True)]
        return jax.tree.unflatten(structure, changes), Moments(sums, squares)

    return optimiser_of(step)


def _over_numbers(dividend: Array, divisors: list[Array], sharing: int) -> list[Array]:
    """Divide one number by arrays, whose last axis is that of the networks, number by number."""
    rows = [row for divisor in divisors for row in divisor.reshape(-1, divisor.shape[-1])]
    found = iter(_over_each(dividend, rows, sharing))
    each = ([next(found) for _ in range(divisor.size // divisor.shape[-1])] for divisor in divisors)
    return [jnp.stack(part).reshape(divisor.shape) for part, divisor in zip(each, divisors, strict=True)]


def _over_each(dividend: Array, divisors: list[Array], sharing: int) -> list[Array]:
    """Divide one number by each divisor, `sharing` divisors at a time."""
    groups = range(0, len(divisors), sharing)
    return [one for start in groups for one in _over_some(dividend, divisors[start : start + sharing])]


def _over_some(dividend: Array, divisors: list[Array]) -> list[Array]:
    """Divide by the product of all divisors, and multiply by the product of the others, from the last to the first."""
    products = list(accumulate(divisors, mul))
    rest, found = dividend / products[-1], []
    for before, divisor in zip(products[-2::-1], divisors[:0:-1], strict=True):
        found.append(rest * before)
        rest = rest * divisor
    return [rest, *found[::-1]]
