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

from tallystick.cells import Cell, LinearLayer, LruLayer, ReluLayer, SelectiveLayer, TanhLayer, Token
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


def _selective(weights: TensorWeights, h: State, token: Token) -> State:
    """Return A(x)∘h + W·x + b; padding leaves 0 as it is."""
    factors = token.choose(weights.recurrent[:, 0], weights.recurrent[:, 1])
    return factors * h + _from_token(weights, token)


def _complex(weights: TensorWeights, h: State, token: Token) -> State:
    """Return the real and the imaginary parts of λ∘z + B·x + b."""
    (a, b), size = weights.recurrent, len(h) // 2
    x, y = h[:size], h[size:]
    return jnp.concatenate((a * x - b * y, b * x + a * y)) + _from_token(weights, token)


STEPS: dict[type[Cell], Step] = {
    LinearLayer: _simple(lambda x: x),
    ReluLayer: _simple(lambda x: jnp.maximum(x, 0)),
    TanhLayer: _simple(jnp.tanh),
    SelectiveLayer: _selective,
    LruLayer: _complex,
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

        def run(weights: TensorWeights) -> tuple[Outputs, State]:
            along = [jnp.zeros_like(weights.readout_weight[0])]
            for token in tokens:
                along.append(step(weights, along[-1], token))
            # With every token scored, tokens take an axis of their own before the seeds, so that all outputs are one product.
            seen = jnp.stack(along[1:], axis=1) if every_token else along[-1]
            return outputs_of(_beside(weights, len(tokens)) if every_token else weights, seen), along[-1]

        outputs, send_back, h = jax.vjp(run, weights, has_aux=True)
        if every_token:
            present = string.opening + string.closing
            found = objective.error(outputs, tuple(target[:, None] for target in targets))
            errors = tuple((present / present.sum())[:, None] * part for part in found)
        else:
            errors = objective.error(outputs, targets)
        return send_back(errors)[0], tuple(h)

    return gradient


def _beside(weights: TensorWeights, tokens: int) -> TensorWeights:
    """Return the weights with an axis of tokens in the readout."""
    V, c = weights.readout_weight[:, :, None], tuple(bias[:, None] for bias in weights.readout_bias)
    return weights._replace(readout_weight=jnp.broadcast_to(V, (*V.shape[:2], tokens, *V.shape[3:])), readout_bias=c)


def last_array(kind: type[Cell], weights: TensorWeights, string: Token, start: State) -> State:
    """Return the state after strings of any length, whose tokens are the first axis."""
    step = STEPS[kind]
    return jax.lax.scan(lambda h, token: (step(weights, h, token), None), start, string)[0]
