"""Layers with several units over arrays: the step as a few products of arrays, where the cell's own has one per weight.

A state is one array with the axes unit and seed, and any further axes, such as one of strings. The cell's own step takes the
weights apart into single numbers, so that it runs in every arithmetic; compiled, it grows with their number, and takes minutes
for sixteen units. A test compares the two, and the gradient with autodiff through the cell's own step.

A bias counts as part of both brackets' steps, so that padding leaves the state at zero.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tallystick.cells import Cell, LinearLayer, ReluLayer, TanhLayer, Token
from tallystick.training.methods import Objective, Outputs
from tallystick.training.weights import TensorWeights

State = Float[Array, "unit seed *string"]

Step = Callable[[TensorWeights, State, Token], State]
"""From the weights, a state and a token to the next state."""


@jax.custom_vjp
def multiply(matrix: Float[Array, "row column seed *string"], vector: State) -> State:
    """Return M·h for every seed: the columns are added one by one, which compiles to one loop over the seeds."""
    terms = [matrix[:, column] * vector[column] for column in range(matrix.shape[1])]
    return sum(terms[1:], start=terms[0])


def _multiply(matrix: Array, vector: Array) -> tuple[Array, tuple[Array, Array]]:
    return multiply(matrix, vector), (matrix, vector)


def _send_back(given: tuple[Array, Array], error: Array) -> tuple[Array, Array]:
    # What JAX would find for each column is an array of zeros beside it, of the size of the whole matrix.
    matrix, vector = given
    return error[:, None] * vector[None], multiply(jnp.swapaxes(matrix, 0, 1), error)


multiply.defvjp(_multiply, _send_back)


def _from_token(weights: TensorWeights, token: Token) -> State:
    """Return W·x, with the biases where there is a token."""
    added = token.choose(weights.inputs[:, 0], weights.inputs[:, 1])
    for bias in weights.bias:
        added = added + (token.opening + token.closing) * bias
    return added


def _simple(squash: Callable[[Array], Array]) -> Step:
    """Return the step f(W·x + b + U·h)."""
    return lambda weights, h, token: squash(multiply(weights.recurrent, h) + _from_token(weights, token))


STEPS: dict[type[Cell], Step] = {
    LinearLayer: _simple(lambda x: x),
    ReluLayer: _simple(lambda x: jnp.maximum(x, 0)),
    TanhLayer: _simple(jnp.tanh),
}
"""The layers that are trained over arrays; all other cells with several units run through their own step."""


def outputs_of(weights: TensorWeights, h: State) -> Outputs:
    """Return V·h + c, output by output."""
    found = multiply(weights.readout_weight, h)
    return tuple(found + weights.readout_bias[0] if weights.readout_bias else found)


def array_gradient(kind: type[Cell], objective: Objective, *, every_token: bool = False) -> Callable[..., Any]:
    """Return the gradient that sends the errors back through the steps of one string, unrolled: training strings are short."""
    step = STEPS[kind]

    def gradient(weights: TensorWeights, string: Token, targets: Outputs) -> tuple[TensorWeights, tuple[Array, ...]]:
        tokens = [Token(*token) for token in zip(string.opening, string.closing, strict=True)]
        present = string.opening + string.closing
        shares = present / present.sum()

        def outputs_along(weights: TensorWeights) -> tuple[list[Outputs], State]:
            h, along = jnp.zeros_like(weights.readout_weight[0]), []
            for token in tokens:
                h = step(weights, h, token)
                along.append(outputs_of(weights, h) if every_token else h)
            return (along if every_token else [outputs_of(weights, h)]), h

        outputs, send_back, h = jax.vjp(outputs_along, weights, has_aux=True)
        if every_token:
            errors = [
                tuple(share * part for part in objective.error(found, tuple(target[place] for target in targets)))
                for place, (share, found) in enumerate(zip(shares, outputs, strict=True))
            ]
        else:
            errors = [objective.error(outputs[0], targets)]
        return send_back(errors)[0], tuple(h)

    return gradient


def last_array(kind: type[Cell], weights: TensorWeights, string: Token, start: State) -> State:
    """Return the state after strings of any length, whose tokens are the first axis."""
    step = STEPS[kind]
    return jax.lax.scan(lambda h, token: (step(weights, h, token), None), start, string)[0]
