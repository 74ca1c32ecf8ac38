"""The linear cell's gradient with the least arithmetic: a state is a·p + b·q, and p and q need no weights but U.

p and q are sums of powers of U, one for each token of their kind. With their derivatives by U,

    h = a·p + b·q,    ∂h/∂a = p,    ∂h/∂b = q,    ∂h/∂U = a·p' + b·q'.

The tokens are scalars, so that a step is four multiply-adds and no choice between a and b is made for every network.
"""

from typing import Any

from jaxtyping import Array

from tallystick.cells import LinearCell
from tallystick.numbers.values import Vector
from tallystick.training.gradients import Gradient, String, chained, tokens_of
from tallystick.training.objectives import Objective, Outputs
from tallystick.training.weights import Weights

Sum = Any
"""A number for each network, or one for all of them after the first tokens."""


def linear_gradient(objective: Objective) -> Gradient:
    """Return the gradient of the loss after the last token."""

    def gradient(weights: Weights, string: String, targets: Outputs) -> tuple[Weights, Vector]:
        cell = weights.cell(LinearCell)
        assert isinstance(cell, LinearCell)
        U = cell.recurrent_weight
        p, p_by_U, q, q_by_U = _sums_of_powers(U, string)
        h = cell.open_step * p + cell.close_step * q
        by_U = cell.open_step * p_by_U + cell.close_step * q_by_U
        return chained(weights, objective.error(weights.outputs((h,)), targets), h, (p, q, by_U)), (h,)

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
