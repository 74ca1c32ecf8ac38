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
        def outputs_of(weights: GatedWeights) -> tuple[list[Outputs], Vector]:
            states = states_along(weights.cell(kind), string, jnp.zeros_like(weights.example))
            scored = states if every_token else states[-1:]
            return [weights.outputs(state.hidden) for state in scored], states[-1].hidden

        outputs, send_back, h = jax.vjp(outputs_of, weights, has_aux=True)
        errors = _errors(objective, outputs, targets, string) if every_token else [objective.error(outputs[0], targets)]
        return send_back(errors)[0], h

    return gradient


def states_along(cell: GatedCell, string: Token, start: Array) -> list[State]:
    """Return the state after each token of one string, unrolled: training strings are short.

    What a string is padded with leaves the state as it is; gates with biases would not.
    """
    states = [jax.tree.map(lambda _: start, cell.initial_state)]
    for opening, closing in zip(string.opening, string.closing, strict=True):
        states.append(step_if_present(cell, states[-1], Token(opening, closing)))
    return states[1:]


def step_if_present(cell: GatedCell, state: State, token: Token) -> State:
    """Take a step, or none where the token is neither bracket."""
    after, present = cell.step(state, token), token.opening + token.closing > 0
    return jax.tree.map(lambda new, old: jnp.where(present, new, old), after, state)


def _errors(objective: Objective, outputs: list[Outputs], targets: Outputs, string: Token) -> list[Outputs]:
    """The error after each token, shared out evenly over those that are there."""
    present = string.opening + string.closing
    shares = present / present.sum()
    return [
        tuple(shares[place] * error for error in objective.error(found, tuple(target[place] for target in targets)))
        for place, found in enumerate(outputs)
    ]
