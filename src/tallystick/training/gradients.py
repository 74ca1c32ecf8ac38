"""The gradient of the loss on one string, for every seed at once: by hand for some cells, by autodiff for any.

By hand means carrying ∂h/∂a, ∂h/∂b and ∂h/∂U along with h, which needs no stored states; a test compares it with autodiff.

The fused engines take the linear cell's gradient with the least arithmetic. A state is a·p + b·q, where p and q are sums of
powers of U, one for each token of their kind. With their derivatives by U,

    h = a·p + b·q,    ∂h/∂a = p,    ∂h/∂b = q,    ∂h/∂U = a·p' + b·q'.

The tokens are scalars, so that a step is four multiply-adds and no network has to choose between a and b.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.cells import Cell, LinearCell, ReluCell, SelectiveCell, TanhCell, Token
from tallystick.numbers.values import Vector
from tallystick.training.descent import Objective, Outputs
from tallystick.training.layers import STEPS, array_gradient
from tallystick.training.weights import AnyWeights, Weights

String = Token | Sequence[Token]
"""One string: its tokens along the first axis of a token of arrays, or one by one."""

Gradient = Callable[[Any, String, Outputs], tuple[Any, Vector]]
"""From the weights, one string and its targets to the gradient, in the form of the weights, and h as a vector.

The targets are one number per output, or one array per output with an entry for each token if every token is scored."""

Derivatives = tuple[Array, ...]
"""∂h by a, b and each recurrent weight."""

Advance = Callable[[Cell, Array, Derivatives, Token], tuple[Array, Derivatives]]
"""From a state and its derivatives to the next."""


def gradient_of(kind: type[Cell], objective: Objective, *, every_token: bool = False) -> Gradient:
    """Return the quickest gradient for a kind of cell."""
    if kind in STEPS:
        return array_gradient(kind, objective, every_token=every_token)
    if not kind.rests:
        return scan_gradient(kind, objective, every_token=every_token)
    if kind not in CARRIED:
        return autodiff_gradient(kind, objective, every_token=every_token)
    return (_every_token_gradient if every_token else _last_token_gradient)(kind, objective)


def linear_derivatives(cell: Cell, h: Array, by: Derivatives, token: Token) -> tuple[Array, Derivatives]:
    """Advance the linear cell's: ∂h'/∂a = U·∂h/∂a + 1 on `(`, ∂h'/∂U = U·∂h/∂U + h, and so on."""
    assert isinstance(cell, LinearCell)
    U, (by_a, by_b, by_U) = cell.recurrent_weight, by
    by_U = U * by_U + h
    by_a, by_b = U * by_a + token.opening, U * by_b + token.closing
    return cell.step(h, token), (by_a, by_b, by_U)


def selective_derivatives(cell: Cell, h: Array, by: Derivatives, token: Token) -> tuple[Array, Derivatives]:
    """Advance the selective cell's, with P or Q in U's place: ∂h'/∂P = P·∂h/∂P + h on `(` and Q·∂h/∂P on `)`."""
    assert isinstance(cell, SelectiveCell)
    factor = token.choose(cell.open_recurrent_weight, cell.close_recurrent_weight)
    added = (token.opening, token.closing, token.opening * h, token.closing * h)
    return cell.step(h, token), tuple(factor * before + more for before, more in zip(by, added, strict=True))


def relu_derivatives(cell: Cell, h: Array, by: Derivatives, token: Token) -> tuple[Array, Derivatives]:
    """Advance the ReLU cell's: the linear cell's where the new state is above zero, and 0 where it was cut off."""
    after = cell.step(h, token)
    return after, tuple(jnp.where(after > 0, derivative, 0) for derivative in _inner_derivatives(cell, h, by, token))


def tanh_derivatives(cell: Cell, h: Array, by: Derivatives, token: Token) -> tuple[Array, Derivatives]:
    """Advance the tanh cell's: the linear cell's times 1 − h'², the slope of tanh."""
    after = cell.step(h, token)
    slope = 1 - after * after
    return after, tuple(slope * derivative for derivative in _inner_derivatives(cell, h, by, token))


def _inner_derivatives(cell: Cell, h: Array, by: Derivatives, token: Token) -> Derivatives:
    """Return the derivatives of U·h + c(x), to which the cell applies its function."""
    assert isinstance(cell, ReluCell | TanhCell)
    linear = LinearCell(cell.open_step, cell.close_step, cell.recurrent_weight)
    return linear_derivatives(linear, h, by, token)[1]


CARRIED: dict[type[Cell], Advance] = {
    LinearCell: linear_derivatives,
    SelectiveCell: selective_derivatives,
    ReluCell: relu_derivatives,
    TanhCell: tanh_derivatives,
}
"""The cells whose derivatives are carried by hand, which is quicker; JAX differentiates all others."""


def autodiff_gradient(kind: type[Cell], objective: Objective, *, every_token: bool = False) -> Gradient:
    """Return the gradient that JAX finds by differentiating the cell's own step backwards."""

    def total_loss(weights: AnyWeights, string: String, targets: Outputs) -> tuple[Array, Vector]:
        cell: Cell = weights.cell(kind)
        start = jax.tree.map(lambda _: jnp.zeros_like(weights.example), cell.initial_state)
        hidden = [cell.hidden(state) for state in states_along(cell, string, start)]
        # No seed depends on another, so the gradient of the sum holds each seed's own gradient.
        if not every_token:
            return objective.loss(weights.outputs(hidden[-1]), targets).sum(), hidden[-1]
        shares = _shares(string)
        losses = [
            shares[place] * objective.loss(weights.outputs(h), tuple(target[place] for target in targets))
            for place, h in enumerate(hidden)
        ]
        return sum(losses[1:], start=losses[0]).sum(), hidden[-1]

    return jax.grad(total_loss, has_aux=True)


def scan_gradient(kind: type[Cell], objective: Objective, *, every_token: bool = False) -> Gradient:
    """Return the gradient that sends the errors back through a scan: unrolled, a large step takes minutes to compile."""

    def gradient(weights: AnyWeights, string: String, targets: Outputs) -> tuple[AnyWeights, Vector]:
        assert isinstance(string, Token)

        def outputs_of(weights: AnyWeights) -> tuple[Outputs, Vector]:
            cell: Cell = weights.cell(kind)
            last, along = scan_states(cell, string, jnp.zeros_like(weights.example))
            return weights.outputs(cell.hidden(along if every_token else last)), cell.hidden(last)

        outputs, send_back, h = jax.vjp(outputs_of, weights, has_aux=True)
        errors = objective.error(outputs, tuple(target[:, None] for target in targets) if every_token else targets)
        if every_token:
            present = string.opening + string.closing
            errors = tuple((present / present.sum())[:, None] * part for part in errors)
        return send_back(errors)[0], h

    return gradient


def last_state(cell: Cell, string: Token, start: Array) -> Any:  # noqa: ANN401 -- each cell has its own kind of state
    """Return the state after a string of any length."""
    return scan_states(cell, string, start, keep=lambda _: None)[0]


def scan_states(
    cell: Cell, string: Token, start: Array, keep: Callable[[Any], Any] = lambda state: state
) -> tuple[Any, Any]:
    """Return the last state, and what is kept of the state after each token; padding changes no state."""

    def step(state: Any, token: Token) -> tuple[Any, Any]:  # noqa: ANN401
        after = cell.step(state, token)
        if not cell.rests:
            present = token.opening + token.closing > 0
            after = jax.tree.map(lambda new, old: jnp.where(present, new, old), after, state)
        return after, keep(after)

    return jax.lax.scan(step, jax.tree.map(lambda _: start, cell.initial_state), string)


def final_state(cell: Cell, string: String, start: Array) -> Array:
    """Return h after the whole string."""
    return states_along(cell, string, start)[-1]


def states_along(cell: Cell, string: String, start: Any) -> list[Any]:  # noqa: ANN401 -- each cell has its own kind of state
    """Return the state after each token of one string, unrolled: training strings are short."""
    states = [start]
    for token in tokens_of(string):
        states.append(cell.step(states[-1], token))
    return states[1:]


def _last_token_gradient(kind: type[Cell], objective: Objective) -> Gradient:
    advance = CARRIED[kind]

    def gradient(weights: Weights, string: String, targets: Outputs) -> tuple[Weights, Vector]:
        cell, h, by = _at_the_start(kind, weights)
        for token in tokens_of(string):
            h, by = advance(cell, h, by, token)
        return chain_errors(weights, objective.error(weights.outputs((h,)), targets), h, by), (h,)

    return gradient


def _every_token_gradient(kind: type[Cell], objective: Objective) -> Gradient:
    """Return the gradient of the mean loss over the string's tokens, without the padding."""
    advance = CARRIED[kind]

    def gradient(weights: Weights, string: String, targets: Outputs) -> tuple[Weights, Vector]:
        cell, h, by = _at_the_start(kind, weights)
        slope, shares = None, _shares(string)
        for place, token in enumerate(tokens_of(string)):
            h, by = advance(cell, h, by, token)
            errors = objective.error(weights.outputs((h,)), tuple(target[place] for target in targets))
            part = chain_errors(weights, tuple(shares[place] * error for error in errors), h, by)
            slope = part if slope is None else jax.tree.map(jnp.add, slope, part)
        assert slope is not None  # a training string has a token
        return slope, (h,)

    return gradient


def _at_the_start(kind: type[Cell], weights: Weights) -> tuple[Cell, Array, Derivatives]:
    zero = jnp.zeros_like(weights.recurrent[0])
    return weights.cell(kind), zero, (zero, zero, *(zero for _ in weights.recurrent))


def tokens_of(string: String) -> Sequence[Token]:
    """Return the tokens one by one."""
    if isinstance(string, Token):
        return [Token(*token) for token in zip(string.opening, string.closing, strict=True)]
    return string


def _shares(string: String) -> Sequence[Array]:
    """Return 1/N for each of a string's N tokens and 0 for the padding."""
    if isinstance(string, Token):
        present = string.opening + string.closing
        return present / present.sum()
    present = [token.opening + token.closing for token in string]
    share = 1 / sum(present[1:], start=present[0])
    return [one * share for one in present]


def chain_errors(weights: Weights, errors: Outputs, h: Array, by: Derivatives) -> Weights:
    """Apply the chain rule from the outputs' errors to every weight; the bias is part of both steps."""
    by_a, by_b, *by_recurrent = by
    products = [error * weight for error, weight in zip(errors, weights.readout_weight, strict=True)]
    to_h = sum(products[1:], start=products[0])
    return Weights(
        inputs=(to_h * by_a, to_h * by_b),
        recurrent=tuple(to_h * by_weight for by_weight in by_recurrent),
        bias=(to_h * (by_a + by_b),) if weights.bias else (),
        readout_weight=tuple(error * h for error in errors),
        readout_bias=errors if weights.readout_bias else (),
    )


Sum = Any
"""One number per network, or after the first tokens one for all networks."""


def linear_gradient(objective: Objective) -> Gradient:
    """Return the linear cell's gradient of the loss after the last token, with the least arithmetic."""

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
