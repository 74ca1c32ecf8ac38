"""The gradient of the loss on one string, for every seed at once: by hand for the linear cell, by autodiff for any.

Both give the gradient by every weight and the state h after the string. By hand means carrying ∂h/∂a, ∂h/∂b and ∂h/∂U
along with h, which needs no stored states and is quicker than reverse mode; a test holds the two together.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.cells import Cell, LinearCell, Token
from tallystick.training.objectives import Objective, Outputs
from tallystick.training.weights import Weights

Gradient = Callable[[Weights, Token, Outputs], tuple[Weights, Array]]
"""From the weights, one string (its tokens along the first axis) and its targets to the gradient and h."""


def gradient_of(kind: type[Cell], objective: Objective) -> Gradient:
    """Return the quickest gradient there is for a kind of cell."""
    return by_hand(objective) if kind is LinearCell else by_autodiff(kind, objective)


def by_autodiff(kind: type[Cell], objective: Objective) -> Gradient:
    """Reverse-mode differentiation through the cell's own step."""

    def summed_loss(weights: Weights, string: Token, targets: Outputs) -> tuple[Array, Array]:
        h = final_state(weights.cell(kind), string, jnp.zeros_like(weights.inputs[0]))
        # Seeds do not meet, so the gradient of the sum holds each seed's own gradient.
        return objective.loss(weights.outputs(h), targets).sum(), h

    return jax.grad(summed_loss, has_aux=True)


def by_hand(objective: Objective) -> Gradient:
    """The linear cell's derivatives, carried forward: ∂h'/∂a = U·∂h/∂a + 1 on `(`, ∂h'/∂U = U·∂h/∂U + h, and so on."""

    def gradient(weights: Weights, string: Token, targets: Outputs) -> tuple[Weights, Array]:
        cell = weights.cell(LinearCell)
        (U,) = weights.recurrent
        h = by_a = by_b = by_U = jnp.zeros_like(U)
        for opening, closing in zip(string.opening, string.closing, strict=True):
            by_U = U * by_U + h
            by_a, by_b = U * by_a + opening, U * by_b + closing
            h = cell.step(h, Token(opening, closing))
        return _chained(weights, objective.error(weights.outputs(h), targets), h, (by_a, by_b, by_U)), h

    return gradient


def final_state(cell: Cell, string: Token, start: Array) -> Array:
    """Run the cell over the tokens of one string, unrolled: training strings are short."""
    h = start
    for opening, closing in zip(string.opening, string.closing, strict=True):
        h = cell.step(h, Token(opening, closing))
    return h


def _chained(weights: Weights, errors: Outputs, h: Array, by: tuple[Array, Array, Array]) -> Weights:
    """The chain rule from the outputs' errors to every weight; both input steps hold the bias."""
    by_a, by_b, by_U = by
    products = [error * weight for error, weight in zip(errors, weights.readout_weight, strict=True)]
    to_h = sum(products[1:], start=products[0])
    return Weights(
        inputs=(to_h * by_a, to_h * by_b),
        recurrent=(to_h * by_U,),
        bias=(to_h * (by_a + by_b),) if weights.bias else (),
        readout_weight=tuple(error * h for error in errors),
        readout_bias=errors if weights.readout_bias else (),
    )
