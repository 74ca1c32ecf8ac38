"""Where in the plane (a/b, U) the loss is least, once the readout has the scale that training gave it.

With the scale free the question has no answer: inside R_N, where every training string is right, a larger scale always lowers
the loss, towards 0. Training has so many steps and reaches some scale v·a; the point of least loss at that scale lies inside
the region, away from its edge, and the exact counter is a corner of every region.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import LinearCell, Token
from tallystick.datasets.encoding import encode
from tallystick.explanations.exact_counter import Lines
from tallystick.training.gradients import final_state
from tallystick.training.lessons import targets_of
from tallystick.training.objectives import Objective
from tallystick.training.setting import Setting


def loss_over_plane(
    setting: Setting, strings: list[str], lines: Lines, ratios: np.ndarray, recurrent_weights: np.ndarray
) -> np.ndarray:
    """Return the mean loss on a grid, U down and a/b across, for a = 1 and the given readout."""
    distinct, repeats = np.unique(np.array(strings), return_counts=True)
    listed = [str(string) for string in distinct]
    with jax.enable_x64(True):
        tokens = Token(*(jnp.asarray(part.T) for part in encode(listed)))
        targets = tuple(jnp.asarray(column) for column in targets_of(setting, listed, 0).T)
        share, closes = jnp.asarray(repeats / repeats.sum()), jnp.asarray(1 / ratios)
        line = (jnp.asarray(lines.weight), jnp.asarray(lines.bias))
        rows = [
            _row(closes, jnp.asarray(float(U)), tokens, targets, share, line, objective=setting.objective)
            for U in recurrent_weights
        ]
        return np.stack([np.asarray(row) for row in rows])


@partial(jax.jit, static_argnames="objective")
def _row(closes, U, tokens, targets, share, line, *, objective: Objective) -> Any:  # noqa: ANN001, ANN401 -- JAX's arrays
    cell = LinearCell(jnp.ones_like(closes)[:, None], closes[:, None], U)
    h = final_state(cell, tokens, jnp.zeros((closes.shape[0], share.shape[0])))
    outputs = tuple(line[0][i] * h + line[1][i] for i in range(len(targets)))
    return objective.loss(outputs, targets) @ share


def least_loss_point(loss: np.ndarray, ratios: np.ndarray, recurrent_weights: np.ndarray) -> tuple[float, float]:
    """Return the a/b and U of the least loss on a grid."""
    down, across = np.unravel_index(np.argmin(loss), loss.shape)
    return float(ratios[across]), float(recurrent_weights[down])
