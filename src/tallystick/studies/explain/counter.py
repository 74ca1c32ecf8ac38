"""What an objective says at the exact counter: its loss there, and its gradient in closed form.

A method scores the strings of a training set, or every prefix of them. A loss after every token is the mean over a string's
prefixes, so a string of length N counts as N shorter strings with a share of 1/N each. Everything else about it is then the same.

With U = 1 and b = −a the state is h = a·d, so the outputs, the loss and its derivative by the outputs depend on the count d
alone. What the weights' own derivatives need beside that are three averages over the strings of a count:

    ∂h/∂a = n,    ∂h/∂b = m,    ∂h/∂U = Σᵢ U^(N−1−i)·h at U = 1, the sum of the states before each token = a·A

where A, the *area*, is the sum of the running counts before each token. The outputs are o = v·a·d + c, and with e = ∂loss/∂o and
E over what is scored

    ∂/∂a = E[(e·v)·n]    ∂/∂b = E[(e·v)·m]    ∂/∂U = a·E[(e·v)·A]    ∂/∂v = a·E[e·d]    ∂/∂c = E[e]

(a bias of the cell moves a and b together: ∂/∂a + ∂/∂b). These are finite sums over the counts of the training set.

**Binary cross-entropy without bias.** A balanced string has o = 0 and p = 1/2 whatever v and a are, so e = 1/2 there: the loss is
at least P(d = 0)·ln 2, which it tends to as the scale v·a grows, and each balanced string pushes a and b down by v/2 times n and
m. As the scale grows nothing balances that: the exact counter is not at rest, a and b are pushed down alike, and a/b rises above
−1.

**Squared error on the count.** e = 2·(v·a·d − d) = 0 for v·a = 1: every derivative is 0 and the loss is 0, its minimum.

**No finite scale is a minimum of a cross-entropy.** Where d > 0 the derivative of the loss by v·a is (p − 1)·d for two classes,
and for three it is (e₊ − e₋)·d with e₊ < e₋, of the doubled softmax too; for d < 0 all is turned over. A larger v·a lowers the
loss on every string that is not balanced and leaves it on those that are: it falls along the exact counters themselves.
"""

from collections import Counter
from dataclasses import dataclass, replace
from math import lcm

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.languages.brackets import BB, CLOSE, OPEN
from tallystick.training.lessons import output_lines, targets_of_counts
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """The strings that a loss is a mean over.

    Attributes:
        strings: each once.
        weight: how much each counts, as whole numbers, so that what cancels cancels exactly.
    """

    strings: list[str]
    weight: NDArray[np.int64]

    @property
    def share(self) -> NDArray[np.float64]:
        """Which part of the mean each string is."""
        return self.weight / self.weight.sum()


def scored_strings(setting: Setting, strings: list[str]) -> Scored:
    """Return what a setting scores of a training set, repeats taken together.

    >>> found = scored_strings(Setting("count", False, 2, method="count-tokens"), ["()", "(("])
    >>> dict(zip(found.strings, found.share.tolist()))
    {'(': 0.5, '()': 0.25, '((': 0.25}
    """
    if not strings:
        raise BadInput("strings: an empty training set")
    lines = [_parts(string, every_token=setting.procedure.every_token) for string in strings]
    whole = lcm(*map(len, lines))
    weights: Counter[str] = Counter()
    for parts in lines:
        for part in parts:
            weights[part] += whole // len(parts)
    return Scored(list(weights), np.array(list(weights.values())))


def _parts(string: str, *, every_token: bool) -> list[str]:
    return [string[:end] for end in range(1, len(string) + 1)] if every_token else [string]


@dataclass(frozen=True)
class Profile:
    """What is scored of a training set by count, one entry per count.

    Attributes:
        counts: the counts d that occur, in order.
        share: which part of the strings has each.
        openings: the mean number n of opening brackets among them.
        closings: the mean number m of closing brackets.
        area: the mean A.
        longest: the greatest length.
    """

    counts: NDArray[np.int64]
    share: Floats
    openings: Floats
    closings: Floats
    area: Floats
    longest: int

    @property
    def balanced_share(self) -> float:
        """The part of the strings that are balanced."""
        return float(self.share[self.counts == 0].sum())

    @property
    def uses_recurrence(self) -> bool:
        """Whether U has a part in the loss: the first token of a string meets the state 0."""
        return self.longest > 1


def profile(found: Scored) -> Profile:
    """Sum up what is scored.

    >>> found = profile(Scored(["()", ")(", "(("], np.array([1, 1, 2])))
    >>> found.counts.tolist(), found.share.tolist(), found.area.tolist()
    ([0, 2], [0.5, 0.5], [0.0, 1.0])
    """
    measures = np.array([_measures(string) for string in found.strings])
    counts, place = np.unique(measures[:, 0], return_inverse=True)
    weight = np.bincount(place, weights=found.weight)
    means = [np.bincount(place, weights=measures[:, column] * found.weight) / weight for column in (1, 2, 3)]
    return Profile(counts, weight / found.weight.sum(), *means, longest=max(map(len, found.strings)))


def _measures(string: str) -> tuple[int, int, int, int]:
    """Return d, n, m and A of a string."""
    running = BB.running_counts(string)
    return running[-1], string.count(OPEN), string.count(CLOSE), sum(running[:-1])


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
        """Return a counter for a setting, the outputs of `training.lessons` multiplied by a scale.

        The threshold is where a readout with bias goes from one class to the next, in steps of the count.
        """
        slopes, intercepts = map(np.array, output_lines(setting.goal, readout_bias=setting.readout_bias))
        return cls(step, scale * slopes, scale * 2 * threshold * intercepts)  # the intercepts are those of half a step

    @property
    def scale(self) -> float:
        """How far the outputs move with one count."""
        return float(self.slopes[-1])

    @property
    def threshold(self) -> float:
        """Where the readout goes from one class to the next, in steps of the count."""
        return float(-self.intercepts[-1] / self.slopes[-1])

    def scale_by(self, factor: float) -> "ExactCounter":
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
    limit, _ = _loss_and_error(setting, profile, counter.scale_by(_LARGE))
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
