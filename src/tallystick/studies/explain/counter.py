"""What an objective says at the exact counter: its loss there, and its gradient in closed form.

At U = 1, b = −a the outputs are o = v·a·d + c, and with e = ∂loss/∂o and E over what is scored

    ∂/∂a = E[(e·v)·n]    ∂/∂b = E[(e·v)·m]    ∂/∂U = a·E[(e·v)·A]    ∂/∂v = a·E[e·d]    ∂/∂c = E[e]

(a bias of the cell moves a and b together: ∂/∂a + ∂/∂b). These are finite sums over the
counts of the training set (`strings.profile`).

**Binary cross-entropy without bias.** A balanced string has o = 0 and p = 1/2 whatever v and a are, so e = 1/2 there: the loss is
at least P(d = 0)·ln 2, which it tends to as the scale v·a grows, and each balanced string pushes a and b down by v/2 times n and
m. As the scale grows nothing balances that: the exact counter is not at rest, a and b are pushed down alike, and a/b rises above
−1.

**Squared error on the count.** e = 2·(v·a·d − d) = 0 for v·a = 1: every derivative is 0 and the loss is 0, its minimum.

**No finite scale is a minimum of a cross-entropy.** Where d > 0 the derivative of the loss by v·a is (p − 1)·d for two classes,
and for three it is (e₊ − e₋)·d with e₊ < e₋, of the doubled softmax too; for d < 0 all is turned over. A larger v·a lowers the
loss on every string that is not balanced and leaves it on those that are: it falls along the exact counters themselves.
"""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.studies.explain.strings import Profile
from tallystick.training.lessons import output_lines, targets_of_counts
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights


@dataclass(frozen=True)
class ExactCounter:
    """A network with b = −a and U = 1, and so the outputs s·d + t.

    Attributes:
        step: a.
        slopes: s = v·a, one per output.
        intercepts: t = c, one per output.
    """

    step: float
    slopes: np.ndarray
    intercepts: np.ndarray

    @classmethod
    def of_scale(
        cls, setting: Setting, scale: float = 1.0, *, step: float = 1.0, threshold: float = 0.5
    ) -> "ExactCounter":
        """Return a counter for a setting, the outputs of `training.counters` multiplied by a scale.

        The threshold is where a readout with bias goes from one class to the next, in steps of the count.
        """
        slopes, intercepts = map(np.array, output_lines(setting.scored_as, readout_bias=setting.readout_bias))
        return cls(step, scale * slopes, scale * 2 * threshold * intercepts)  # the intercepts are those of half a step

    @property
    def scale(self) -> float:
        """How far the outputs move with one count."""
        return float(self.slopes[-1])

    @property
    def threshold(self) -> float:
        """Where the readout goes from one class to the next, in steps of the count."""
        return float(-self.intercepts[-1] / self.slopes[-1])

    def scaled(self, factor: float) -> "ExactCounter":
        """Return the same counter with larger outputs."""
        return replace(self, slopes=factor * self.slopes, intercepts=factor * self.intercepts)

    def weights(self, setting: Setting) -> Weights:
        """Return the weights of the network."""
        a = np.float64(self.step)
        return Weights(
            inputs=(a, -a),
            recurrent=(np.float64(1),),
            bias=(np.float64(0),) if setting.bias else (),
            readout_weight=tuple(self.slopes / a),
            readout_bias=tuple(self.intercepts) if setting.readout_bias else (),
        )


@dataclass(frozen=True)
class AtCounter:
    """What an objective says at an exact counter.

    Attributes:
        loss: the mean loss over what is scored.
        limit: what the loss tends to as the outputs are scaled up.
        slope: its derivative by every weight.
        error: the greatest derivative by an output, over the strings: 0 where no string pulls at all.
    """

    loss: float
    limit: float
    slope: Weights
    error: float

    @property
    def is_minimum(self) -> bool:
        """Whether the exact counter is a minimum, and so a place to stay.

        It is where no string pulls: the loss is then 0, the least there is. Elsewhere it is none, since the loss falls as
        the scale grows.
        """
        return self.error == 0

    @property
    def force(self) -> float:
        """The greatest derivative by a weight of the cell: 0 where the two conditions are a place to stay."""
        return max(map(abs, (*self.slope.inputs, *self.slope.recurrent)))


def at_counter(setting: Setting, profile: Profile, counter: ExactCounter) -> AtCounter:
    """Work out the loss and gradient of a setting's objective at an exact counter, by the sums over counts."""
    losses, errors = _loss_and_error(setting, profile, counter)
    limit, _ = _loss_and_error(setting, profile, counter.scaled(_LARGE))
    by_outputs = errors * profile.share
    by_state = (counter.slopes / counter.step) @ by_outputs
    steps = (by_state @ profile.openings, by_state @ profile.closings)
    slope = Weights(
        inputs=steps,
        recurrent=(counter.step * by_state @ profile.area,),
        bias=(sum(steps),) if setting.bias else (),
        readout_weight=tuple(counter.step * by_outputs @ profile.counts),
        readout_bias=tuple(by_outputs.sum(axis=1)) if setting.readout_bias else (),
    )
    return AtCounter(float(losses @ profile.share), float(limit @ profile.share), slope, float(np.abs(errors).max()))


_LARGE = 1e9
"""A scale at which every output that is not 0 has decided."""


def _loss_and_error(setting: Setting, profile: Profile, counter: ExactCounter) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss of each count, and its derivative by each output."""
    objective, counts = setting.objective, profile.counts
    outputs = counter.slopes[:, None] * counts + counter.intercepts[:, None]
    with jax.enable_x64(True):
        given = tuple(map(jnp.asarray, outputs))
        wanted = tuple(map(jnp.asarray, targets_of_counts(setting, counts).T))
        return np.asarray(objective.loss(given, wanted)), np.stack(
            [np.asarray(error) for error in objective.error(given, wanted)]
        )
