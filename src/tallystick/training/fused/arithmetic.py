"""Adam and the linear cell's gradient with the least arithmetic.

**Adam.** What is the same for every weight is folded into the table of corrections. With m = (1 − β₁)·M and s = (1 − β₂)·S the
sums M = β₁·M + g and S = β₂·S + g² need no factors of their own, and

    η'·m/(√s·r + ε) = (η'·(1 − β₁)/ρ) · M/(√S + ε/ρ)    with ρ = r·√(1 − β₂).

Some quotients share a reciprocal, 1/d = d'·(1/(d·d')): where a reciprocal is expensive, three products are cheaper. The factor
before M is put into it, so that a weight's change is one multiply-add.

**The linear cell.** A state is a·p + b·q, where p and q are sums of powers of U, one for each token of their kind. With their
derivatives by U,

    h = a·p + b·q,    ∂h/∂a = p,    ∂h/∂b = q,    ∂h/∂U = a·p' + b·q'.

The tokens are scalars, so that a step is four multiply-adds and no network has to choose between a and b.

**Biases.** A bias that every token adds is added to both brackets' steps once per string, and its slope is the sum of theirs.
"""

from collections.abc import Callable
from itertools import accumulate
from operator import mul
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from tallystick.cells import LinearCell
from tallystick.numbers.values import Vector
from tallystick.training.adam import Corrections, Momenta, Moments, optimiser_of
from tallystick.training.gradients import Gradient, String, chain_errors, tokens_of
from tallystick.training.objectives import Objective, Outputs
from tallystick.training.weights import TensorWeights, Weights


class Folded(NamedTuple):
    """A step's two numbers: the factor before M, and what is added to √S."""

    rate: Float[Any, "*step"]
    offset: Float[Any, "*step"]


def fold(corrections: Corrections, momenta: Momenta) -> Folded:
    """Return the folded numbers of every step."""
    scale = corrections.root * np.sqrt(1 - momenta.square_decay)
    return Folded(corrections.rate * (1 - momenta.decay) / scale, momenta.epsilon / scale)


def folded_adam(folded: Callable[[Array], Folded], momenta: Momenta, sharing: int = 2) -> optax.GradientTransformation:
    """Return the optimiser; the folded numbers are a function of the steps done, and `sharing` quotients share a reciprocal."""
    decay, square_decay, _ = momenta

    def step(moments: Moments, gradient: optax.Updates, done: Array) -> tuple[optax.Updates, Moments]:
        sums = jax.tree.map(lambda m, g: decay * m + g, moments.first, gradient)
        squares = jax.tree.map(lambda s, g: square_decay * s + g * g, moments.second, gradient)
        rate, offset = folded(done)
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


Sum = Any
"""One number per network, or after the first tokens one for all networks."""


def linear_gradient(objective: Objective) -> Gradient:
    """Return the gradient of the loss after the last token."""

    def gradient(weights: Weights, string: String, targets: Outputs) -> tuple[Weights, Vector]:
        cell = weights.cell(LinearCell)
        assert isinstance(cell, LinearCell)
        U = cell.recurrent_weight
        p, p_by_U, q, q_by_U = _sums_of_powers(U, string)
        h = cell.open_step * p + cell.close_step * q
        by_U = cell.open_step * p_by_U + cell.close_step * q_by_U
        return chain_errors(weights, objective.error(weights.outputs((h,)), targets), h, (p, q, by_U)), (h,)

    return gradient


def _sums_of_powers(U: Array, string: String) -> tuple[Sum, Sum, Sum, Sum]:
    """Horner's scheme for p and q and for their derivatives; the first two tokens need no products with zero."""
    first, *rest = tokens_of(string)
    if not rest:
        return first.opening, 0.0, first.closing, 0.0
    second, *rest = rest
    p, q = U * first.opening + second.opening, U * first.closing + second.closing
    p_by_U, q_by_U = first.opening, first.closing
    for token in rest:
        p_by_U, q_by_U = U * p_by_U + p, U * q_by_U + q
        p, q = U * p + token.opening, U * q + token.closing
    return p, p_by_U, q, q_by_U


def with_bias_in_steps(gradient: Gradient) -> Gradient:
    """Return a gradient of layers whose biases are part of what either bracket adds."""

    def of_steps(weights: TensorWeights, string: String, targets: Outputs) -> tuple[TensorWeights, Vector]:
        steps = weights._replace(inputs=jnp.stack(weights.steps, axis=1), bias=())
        slope, h = gradient(steps, string, targets)
        return slope._replace(bias=(slope.inputs.sum(axis=1),) * len(weights.bias)), h

    return of_steps
