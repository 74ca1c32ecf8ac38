"""Layers with several units over arrays: the step as a few products of arrays, where the cell's own has one per weight.

A state is one array with the axes unit and seed, and any further axes, such as one of strings. The cell's own step takes the
weights apart into single numbers, so that it runs in every arithmetic; compiled, it grows with their number, and takes minutes
for sixteen units. A test compares the two, and the gradient with autodiff through the cell's own step.

A bias counts as part of both brackets' steps, so that padding leaves the state at zero. GRUs and LSTMs, too, rest there: the
input of every gate is then 0, so g and n are 0.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tallystick.cells import Cell, GruCell, LinearLayer, LruLayer, LstmCell, ReluLayer, SelectiveLayer, TanhLayer, Token
from tallystick.training.descent import Objective, Outputs
from tallystick.training.weights import TensorWeights

State = Float[Array, "unit seed *string"]


class GatedState(NamedTuple):
    """What an LSTM or a GRU carries from token to token; a GRU has no memory, which is an empty tuple."""

    hidden: State
    memory: Any = ()


Step = Callable[[TensorWeights, Any, Token], Any]
"""From the weights, a state and a token to the next state."""


_FEW_COLUMNS = 8


@jax.custom_vjp
def multiply_onto(start: State, matrix: Float[Array, "row column seed *string"], vector: State) -> State:
    """Return s + M·h for every seed: few columns are added one by one, which compiles to one loop over the seeds.

    Of many, such loops take several times as long as a sum over an axis.
    """
    if matrix.shape[1] > _FEW_COLUMNS:
        return start + (matrix * vector[None]).sum(axis=1)
    for column in range(matrix.shape[1]):
        start = start + matrix[:, column] * vector[column]
    return start


def _multiply_onto(start: Array, matrix: Array, vector: Array) -> tuple[Array, tuple[Array, Array]]:
    return multiply_onto(start, matrix, vector), (matrix, vector)


def _send_back(given: tuple[Array, Array], error: Array) -> tuple[Array, Array, Array]:
    # What JAX would find for each column is an array of zeros beside it, of the size of the whole matrix.
    matrix, vector = given
    return error, error[:, None] * vector[None], multiply(jnp.swapaxes(matrix, 0, 1), error)


multiply_onto.defvjp(_multiply_onto, _send_back)


def multiply(matrix: Float[Array, "row column seed *string"], vector: State) -> State:
    """Return M·h for every seed."""
    return multiply_onto(jnp.zeros_like(matrix[:, 0]), matrix, vector)


def _from_token(weights: TensorWeights, token: Token) -> State:
    """Return W·x, with the biases where there is a token."""
    added = token.choose(weights.inputs[:, 0], weights.inputs[:, 1])
    for bias in weights.bias:
        added = added + (token.opening + token.closing) * bias
    return added


def _simple(squash: Callable[[Array], Array]) -> Step:
    """Return the step f(W·x + b + U·h)."""
    return lambda weights, h, token: squash(multiply_onto(_from_token(weights, token), weights.recurrent, h))


def _selective(weights: TensorWeights, h: State, token: Token) -> State:
    """Return A(x)∘h + W·x + b; padding leaves 0 as it is."""
    factors = token.choose(weights.recurrent[:, 0], weights.recurrent[:, 1])
    return factors * h + _from_token(weights, token)


def _complex(weights: TensorWeights, h: State, token: Token) -> State:
    """Return the real and the imaginary parts of λ∘z + B·x + b."""
    (a, b), size = weights.recurrent, len(h) // 2
    x, y = h[:size], h[size:]
    return jnp.concatenate((a * x - b * y, b * x + a * y)) + _from_token(weights, token)


def _lstm(weights: TensorWeights, state: GatedState, token: Token) -> GatedState:
    """Return c' = f·c + i·g and h' = o·tanh c'."""
    rows = multiply_onto(_from_token(weights, token), weights.recurrent, state.hidden)
    i, f, g, o = jnp.split(rows, LstmCell.gates)
    memory = jax.nn.sigmoid(f) * state.memory + jax.nn.sigmoid(i) * jnp.tanh(g)
    return GatedState(jax.nn.sigmoid(o) * jnp.tanh(memory), memory)


def _gru(weights: TensorWeights, state: GatedState, token: Token) -> GatedState:
    """Return h' = (1 − z)·n + z·h, with n = tanh(W_n·x + b_xn + r·(U_n·h + b_hn))."""
    own, looped = weights.bias or (jnp.zeros_like(weights.inputs[:, 0]),) * 2
    present = token.opening + token.closing
    from_token = token.choose(weights.inputs[:, 0], weights.inputs[:, 1]) + present * own
    from_hidden = multiply_onto(present * looped, weights.recurrent, state.hidden)
    (r_x, z_x, n_x), (r_h, z_h, n_h) = (jnp.split(rows, GruCell.gates) for rows in (from_token, from_hidden))
    z, n = jax.nn.sigmoid(z_x + z_h), jnp.tanh(n_x + jax.nn.sigmoid(r_x + r_h) * n_h)
    return GatedState((1 - z) * n + z * state.hidden)


GATES: dict[type[Cell], Step] = {LstmCell: _lstm, GruCell: _gru}
"""The gated cells, which a method with a temperature trains over arrays. Any other method runs them through their own step, as it
did before there was one, so that the same seed still gives the same weights."""

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
        return send_back(_errors(objective, outputs, string, targets, every_token=every_token))[0], tuple(h)

    return gradient


def _errors(objective: Objective, outputs: Outputs, string: Token, targets: Outputs, *, every_token: bool) -> Outputs:
    """Return the errors of the outputs; those of every token add up to the error of their mean, without the padding."""
    if not every_token:
        return objective.error(outputs, targets)
    present = string.opening + string.closing
    found = objective.error(outputs, tuple(target[:, None] for target in targets))
    return tuple((present / present.sum())[:, None] * part for part in found)


def gate_gradient(kind: type[Cell], objective: Objective, *, every_token: bool, memory: bool) -> Callable[..., Any]:
    """Return the same for a cell with gates; where it is asked for, the objective scores each unit's memory after the outputs.

    The steps are a scan: unrolled, the compiler computes the same gates again and again.
    """
    step = GATES[kind]

    def gradient(weights: TensorWeights, string: Token, targets: Outputs) -> tuple[TensorWeights, tuple[Array, ...]]:
        def run(weights: TensorWeights) -> tuple[Outputs, State]:
            zeros = jnp.zeros_like(weights.readout_weight[0])
            start = GatedState(zeros, zeros if kind is LstmCell else ())
            last, along = jax.lax.scan(lambda state, token: (step(weights, state, token),) * 2, start, string)
            # The tokens of a scan are the first axis, and belong before the seeds.
            seen = jax.tree.map(lambda part: jnp.moveaxis(part, 0, 1), along) if every_token else last
            outputs = outputs_of(_beside(weights, len(string.opening)) if every_token else weights, seen.hidden)
            return outputs + (tuple(seen.memory) if memory else ()), last.hidden

        outputs, send_back, h = jax.vjp(run, weights, has_aux=True)
        return send_back(_errors(objective, outputs, string, targets, every_token=every_token))[0], tuple(h)

    return gradient


def with_bias_in_steps(gradient: Callable[..., Any]) -> Callable[..., Any]:
    """Return a gradient with the least arithmetic: each bias is added to both brackets' steps, once per string.

    Its slope is then the sum of theirs.
    """

    def of_steps(weights: TensorWeights, string: Token, targets: Outputs) -> tuple[TensorWeights, tuple[Array, ...]]:
        steps = weights._replace(inputs=jnp.stack(weights.steps, axis=1), bias=())
        slope, h = gradient(steps, string, targets)
        return slope._replace(bias=(slope.inputs.sum(axis=1),) * len(weights.bias)), h

    return of_steps


def _beside(weights: TensorWeights, tokens: int) -> TensorWeights:
    """Return the weights with an axis of tokens in the readout."""
    V, c = weights.readout_weight[:, :, None], tuple(bias[:, None] for bias in weights.readout_bias)
    return weights._replace(readout_weight=jnp.broadcast_to(V, (*V.shape[:2], tokens, *V.shape[3:])), readout_bias=c)


def last_array(kind: type[Cell], weights: TensorWeights, string: Token, start: State) -> State:
    """Return the state after strings of any length, whose tokens are the first axis."""
    step = STEPS[kind]
    return jax.lax.scan(lambda h, token: (step(weights, h, token), None), start, string)[0]
