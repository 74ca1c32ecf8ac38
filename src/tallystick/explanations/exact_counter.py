"""What an objective says at the exact counter: its loss there, its gradient in closed form, and which way training leaves.

At U = 1, b = −a the outputs are o = v·a·d + c, and with e = ∂loss/∂o and E over the training set

    ∂/∂a = E[(e·v)·n]    ∂/∂b = E[(e·v)·m]    ∂/∂U = a·E[(e·v)·A]    ∂/∂v = a·E[e·d]    ∂/∂c = E[e]

(the cell's bias moves a and b together). These are finite sums over the counts of the training set (`profile`).

**Binary cross-entropy without bias.** A balanced string has o = 0 and p = 1/2 whatever v and a are, so e = 1/2 there: the loss is
at least P(d = 0)·ln 2, which it tends to as the scale v·a grows, and each balanced string pushes a and b down by v/2 times n and
m. As the scale grows nothing balances that: the exact counter is not at rest, a and b are pushed down alike, and a/b rises above
−1.

**Squared error on the count.** e = 2·(v·a·d − d) = 0 for v·a = 1: every derivative is 0 and the loss is 0, its minimum.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.datasets.tasks import Task
from tallystick.explanations.profile import Profile
from tallystick.training.counters import output_lines
from tallystick.training.lessons import targets_of_counts
from tallystick.training.setting import Setting


@dataclass(frozen=True)
class Lines:
    """A readout of h = a·d with a = 1: a weight and a bias an output, s times those of `training.counters`."""

    weight: np.ndarray
    bias: np.ndarray

    @classmethod
    def of_scale(cls, task: Task, scale: float, *, readout_bias: bool, threshold: float = 0.5) -> "Lines":
        """Return the exact counter's own readout, its outputs multiplied by a scale; the threshold is in steps of the count."""
        slopes, intercepts = output_lines(task, readout_bias=readout_bias)
        shifts = 2 * threshold * np.array(intercepts) * readout_bias  # the intercepts are those of half a step
        return cls(scale * np.array(slopes, float), scale * shifts)

    def outputs(self, h: Any) -> tuple[Any, ...]:  # noqa: ANN401 -- an array of NumPy's or JAX's
        """Return v·h + c, output by output."""
        return tuple(v * h + c for v, c in zip(self.weight, self.bias, strict=True))


@dataclass(frozen=True)
class AtCounter:
    """What an objective says at the exact counter a = 1, b = −1, U = 1 with a given readout.

    Attributes:
        loss: the mean loss over the training set.
        by_open_step: ∂loss/∂a.
        by_close_step: ∂loss/∂b.
        by_recurrent_weight: ∂loss/∂U.
        by_weight: ∂loss/∂v, one an output.
        by_bias: ∂loss/∂c, one an output.
        error: the greatest derivative by an output, over the strings: 0 where no string pulls at all.
    """

    loss: float
    by_open_step: float
    by_close_step: float
    by_recurrent_weight: float
    by_weight: np.ndarray
    by_bias: np.ndarray
    error: float

    @property
    def is_minimum(self) -> bool:
        """Whether the exact counter is a minimum, and so a place to stay.

        It is where no string pulls, its loss being 0, the least there is. Elsewhere it is none: cross-entropy always has a
        string that pulls, and what cancels in the mean at one scale does not at another.
        """
        return self.error == 0

    @property
    def ratio_moves(self) -> float:
        """How a/b moves as the weights follow the gradient down: above 0 it rises above −1.

        d(a/b) = (b·da − a·db)/b² = ∂/∂a + ∂/∂b for a = 1, b = −1 and a step against the gradient.
        """
        return self.by_open_step + self.by_close_step

    @property
    def recurrent_weight_moves(self) -> float:
        """How U moves as the weights follow the gradient down."""
        return -self.by_recurrent_weight

    @property
    def force(self) -> float:
        """The greatest derivative by a weight of the cell: 0 where the two conditions are a place to stay."""
        return max(map(abs, (self.by_open_step, self.by_close_step, self.by_recurrent_weight)))


def at_counter(setting: Setting, profile: Profile, lines: Lines) -> AtCounter:
    """Work out the loss and gradient of a setting's objective at the exact counter, by the sums over counts."""
    d, objective = profile.counts.astype(np.float64), setting.objective
    with jax.enable_x64(True):
        outputs = tuple(map(jnp.asarray, lines.outputs(d)))
        targets = tuple(jnp.asarray(column) for column in targets_of_counts(setting, profile.counts).T)
        loss = np.asarray(objective.loss(outputs, targets))
        errors = np.stack([np.asarray(error) for error in objective.error(outputs, targets)])
    to_h = lines.weight @ errors
    return AtCounter(
        loss=float(loss @ profile.share),
        by_open_step=float((to_h * profile.openings) @ profile.share),
        by_close_step=float((to_h * profile.closings) @ profile.share),
        by_recurrent_weight=float((to_h * profile.area) @ profile.share),
        by_weight=(errors * d) @ profile.share,
        by_bias=errors @ profile.share,
        error=float(np.abs(errors).max()),
    )
