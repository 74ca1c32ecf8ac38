"""The plane (a/b, U) around an exact counter, with its readout: where the loss is least, and where all strings are right.

**Least loss.** With the scale free the question has no answer: inside R_N, where every training string is right, a larger scale
always lowers the loss, towards 0. Training has so many steps and reaches some scale v·a; the point of least loss at that scale
lies inside the region, away from its edge, and the exact counter is a corner of every region. What a method adds to the loss is
part of it, and where a method holds a condition, only the points that meet it are looked at.

**All strings right.** At U > 0 and a > b the least and the greatest state of the strings with n opening and m closing brackets
are those of the two sorted ones, (ⁿ)ᵐ and )ᵐ(ⁿ: h is the sum of the tokens' steps times powers of U, and these rise or fall
along the string. Right on both is right on all. For the binary task without bias this is the region R_N of
`certificates.one_unit.regions`; a threshold elsewhere, three classes or the count have a region of their own.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import LinearCell, Token
from tallystick.certificates.verdict import lengths_of
from tallystick.datasets.strings import encode, training_lengths
from tallystick.languages.brackets import CLOSE, OPEN, bracket_difference
from tallystick.languages.tasks import COUNT, Task
from tallystick.studies.explain.counter import ExactCounter, Scored
from tallystick.studies.explain.pull import Pull, term_beside
from tallystick.training.descent import Objective
from tallystick.training.gradients import final_state
from tallystick.training.lessons import targets_of_counts
from tallystick.training.setting import Setting


class Plane(NamedTuple):
    """A grid of points: some a/b, and some U."""

    ratios: np.ndarray
    recurrent_weights: np.ndarray

    @classmethod
    def between(
        cls, ratios: tuple[float, float], recurrent_weights: tuple[float, float], across: int, down: int
    ) -> "Plane":
        """Return a grid of so many points across and down."""
        return cls(np.linspace(*ratios, across), np.linspace(*recurrent_weights, down))

    def part_within(self, pull: Pull) -> "Plane":
        """Return the part of the grid that a method can reach."""
        return Plane(
            np.array([-1.0]) if pull.holds_steps else self.ratios,
            np.array([1.0]) if pull.holds_recurrent else self.recurrent_weights,
        )

    def around(self, across: int, down: int) -> "Plane":
        """Return a finer grid that reaches to the neighbours of a point."""
        return Plane(_finer(self.ratios, across), _finer(self.recurrent_weights, down))


LOOKED_AT = Plane.between((-1.8, -0.2), (0.6, 1.7), 161, 111)
"""Where the least loss is looked for: around the exact counter, and where trained networks are found."""

_FINER = 21
_ROUNDS = 3


@dataclass(frozen=True)
class LossOverPlane:
    """The loss of the cells around an exact counter, with its step and its readout, and what a method adds to it."""

    setting: Setting
    scored: Scored
    counter: ExactCounter

    def __call__(self, plane: Plane) -> np.ndarray:
        """Return the mean loss on a grid, U down and a/b across."""
        setting, counter = self.setting, self.counter
        counts = np.array([bracket_difference(string) for string in self.scored.strings])
        with jax.enable_x64(True):
            tokens = Token(*(jnp.asarray(part.T) for part in encode(self.scored.strings)))
            targets = tuple(jnp.asarray(column) for column in targets_of_counts(setting, counts).T)
            share, lines = (
                jnp.asarray(self.scored.share),
                (jnp.asarray(counter.slopes), jnp.asarray(counter.intercepts)),
            )
            closes = jnp.asarray(1 / plane.ratios)
            rows = [
                _row(closes, jnp.asarray(float(U)), tokens, targets, share, lines, objective=setting.objective)
                for U in plane.recurrent_weights
            ]
            return np.stack([np.asarray(row) for row in rows]) + np.asarray(self._added(plane))

    def _added(self, plane: Plane) -> Any:  # noqa: ANN401 -- an array of JAX's
        U, ratio = (jnp.asarray(part) for part in np.meshgrid(plane.recurrent_weights, plane.ratios, indexing="ij"))
        a = jnp.full_like(U, self.counter.step)
        weights = self.counter.weights(self.setting)._replace(inputs=(a, a / ratio), recurrent=(U,))
        return term_beside(self.setting, weights)


@partial(jax.jit, static_argnames="objective")
def _row(closes, U, tokens, targets, share, lines, *, objective: Objective) -> Any:  # noqa: ANN001, ANN401 -- JAX's arrays
    """The mean loss for a = 1, some b and one U."""
    cell = LinearCell(jnp.ones_like(closes)[:, None], closes[:, None], U)
    h = final_state(cell, tokens, jnp.zeros((closes.shape[0], share.shape[0])))
    outputs = tuple(lines[0][i] * h + lines[1][i] for i in range(len(targets)))
    return objective.loss(outputs, targets) @ share


class Least(NamedTuple):
    """A point of least loss."""

    loss: float
    ratio: float
    recurrent_weight: float


def least_loss(loss_over: LossOverPlane, plane: Plane) -> Least | None:
    """Return where the loss is least, looked for on ever finer grids; None where that is on the edge of the plane."""
    down, across, loss = _lowest(loss_over, plane)
    if _at_end(plane.ratios, across) or _at_end(plane.recurrent_weights, down):
        return None
    for _ in range(_ROUNDS):
        plane = plane.around(across, down)
        down, across, loss = _lowest(loss_over, plane)
    return Least(loss, float(plane.ratios[across]), float(plane.recurrent_weights[down]))


def _lowest(loss_over: LossOverPlane, plane: Plane) -> tuple[int, int, float]:
    loss = loss_over(plane)
    down, across = np.unravel_index(np.argmin(loss), loss.shape)
    return int(down), int(across), float(loss[down, across])


def _at_end(values: np.ndarray, place: int) -> bool:
    return len(values) > 1 and place in (0, len(values) - 1)


def _finer(values: np.ndarray, place: int) -> np.ndarray:
    """Return a finer row of points between the neighbours of one, that one among them; a single point stays alone."""
    if len(values) == 1:
        return values
    near = values[max(place - 1, 0) : place + 2]
    return np.linspace(near[0], near[-1], _FINER)


def margin_over(setting: Setting, counter: ExactCounter, plane: Plane) -> np.ndarray:
    """Return on a grid, U down and a/b across, by how much the worst string is right: above 0 where all are.

    Counted are the lengths up to the training length; the even ones alone, where no training string is odd.
    """
    cell = LinearCell(1.0, 1 / plane.ratios, plane.recurrent_weights[:, None])
    least = np.full((len(plane.recurrent_weights), len(plane.ratios)), np.inf)
    for string in _sorted_strings(setting.train_length, counted_lengths(setting)):
        h = np.broadcast_to(cell.final_state(string), least.shape)
        outputs = np.multiply.outer(counter.slopes, h) + counter.intercepts[:, None, None]
        least = np.minimum(least, _margin(setting.goal, outputs, bracket_difference(string)))
    return least


def counted_lengths(setting: Setting) -> str:
    """Return which lengths a training set is about: the even ones, or all."""
    return "all" if any(length % 2 for length in training_lengths(setting.train_length)) else "even"


def _sorted_strings(longest: int, lengths: str) -> list[str]:
    sizes = [(n, length - n) for length in lengths_of(lengths).upto(longest) for n in range(length + 1)]
    return sorted({part for n, m in sizes for part in (OPEN * n + CLOSE * m, CLOSE * m + OPEN * n)})


def _margin(task: Task, outputs: np.ndarray, count: int) -> np.ndarray:
    """Return how far the outputs, along the first axis, are from another answer than the right one."""
    wanted = task.targets_of_counts(np.array(count))
    if task is COUNT:
        return 0.5 - np.abs(outputs[0] - count)
    if len(outputs) == 1:
        return outputs[0] if wanted[0] else -outputs[0]
    right = int(np.argmax(wanted))
    return outputs[right] - np.delete(outputs, right, axis=0).max(axis=0)
