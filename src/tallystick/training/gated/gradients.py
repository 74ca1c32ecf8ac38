"""The gradient of a gated network's loss on one string: the objective's error at the outputs, sent back by reverse mode."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array

from tallystick.cells import Token
from tallystick.cells.gated import GatedCell, State, Vector
from tallystick.training.gated.weights import GatedWeights
from tallystick.training.objectives import Objective, Outputs

GatedGradient = Callable[[GatedWeights, Token, Outputs], tuple[GatedWeights, Vector]]
"""From the weights, one string (its tokens along the first axis) and its targets to the gradient and h."""


def gated_gradient_of(kind: type[GatedCell], objective: Objective, *, every_token: bool = False) -> GatedGradient:
    """Return the gradient for a kind of cell, after the last token or as the mean over every token."""

    def gradient(weights: GatedWeights, string: Token, targets: Outputs) -> tuple[GatedWeights, Vector]:
        def outputs_of(weights: GatedWeights) -> tuple[Outputs, Vector]:
            last, along = states_along(weights.cell(kind), string, jnp.zeros_like(weights.example))
            return weights.outputs(along.hidden if every_token else last.hidden), last.hidden

        outputs, send_back, h = jax.vjp(outputs_of, weights, has_aux=True)
        errors = (
            _shared_out(objective.error, outputs, targets, string) if every_token else objective.error(outputs, targets)
        )
        return send_back(errors)[0], h

    return gradient


def states_along(cell: GatedCell, string: Token, start: Array) -> tuple[State, State]:
    """Return the last state, and the states after each token along a new first axis.

    A scan, since a gated step unrolled eight times takes a compiler minutes. What a string is padded with leaves the state as
    it is; gates with biases would not.
    """

    def step(state: State, token: Token) -> tuple[State, State]:
        after, present = cell.step(state, token), token.opening + token.closing > 0
        state = jax.tree.map(lambda new, old: jnp.where(present, new, old), after, state)
        return state, state

    return jax.lax.scan(step, jax.tree.map(lambda _: start, cell.initial_state), string)


def _shared_out(
    error: Callable[[Outputs, Outputs], Outputs], outputs: Outputs, targets: Outputs, string: Token
) -> Outputs:
    """The error after each token, the tokens that are there having even shares."""
    present = string.opening + string.closing
    shares = present / present.sum()
    by_token = tuple(target[:, None] for target in targets)
    return tuple(shares[:, None] * part for part in error(outputs, by_token))
