"""Ensembles of gated networks, trained block by block on the one loop and tested on strings of any length."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tallystick.cells import Cell, Token
from tallystick.cells.gated import GatedCell
from tallystick.datasets.encoding import encode
from tallystick.datasets.tasks import COUNT, Task
from tallystick.errors import BadInput
from tallystick.models import GatedModel
from tallystick.readouts import LayerReadout
from tallystick.training.answers import is_right
from tallystick.training.cores import on_every_core
from tallystick.training.devices import on_processors
from tallystick.training.ensemble import precision_context, silent, training_precision
from tallystick.training.gated.gradients import states_along
from tallystick.training.gated.setting import GatedSetting
from tallystick.training.gated.weights import GatedWeights
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import train_block
from tallystick.training.weights import Weights

BLOCK = 128
"""Seeds in a block, filled up to this width, so that each goes through the same compiled program whatever stands beside it."""

_MOST_STATES = 2**22
"""Networks times strings that are tested at once."""


@dataclass(frozen=True)
class GatedEnsemble:
    """Trained networks of one setting; the weights are NumPy arrays whose last axis is the seed."""

    setting: GatedSetting
    weights: GatedWeights
    accuracy_train: Float[np.ndarray, " seed"]

    def model(self, seed: int) -> GatedModel:
        """Return one network as a model; one trained on the count is positive where its output is above one half."""
        return self._deciding(self.weights.model(self.setting.kind, seed))

    def networks(self) -> GatedModel:
        """Return all networks as one model of arrays."""
        return self._deciding(GatedModel(self.weights.cell(self.setting.kind), self.weights.readout()))

    def _deciding(self, model: GatedModel) -> GatedModel:
        if self.setting.taught.scored_as is not COUNT:
            return model
        return GatedModel(model.cell, LayerReadout(model.readout.weight, (model.readout.bias[0] - 0.5,)))

    def accuracy(self, strings: list[str]) -> Float[np.ndarray, " seed"]:
        """Return each network's share of right answers, in percent, in the precision of its weights."""
        if not strings:
            raise BadInput("strings: none to test on")
        taught = self.setting.taught
        encoded, targets = encode(strings), taught.answers(strings).astype(taught.dtype)
        tokens = Token(*(part.T.astype(taught.dtype) for part in encoded))
        width = max(_MOST_STATES // len(strings), 1)
        with on_processors(), precision_context(taught.precision):
            right = [
                np.asarray(
                    _right_answers(block.weights, tokens, targets, kind=self.setting.kind, task=taught.scored_as)
                )
                for block in _blocks(self.weights, min(width, len(self.accuracy_train)))
            ]
        return 100 * np.concatenate(right)[: len(self.accuracy_train)].mean(axis=1)


def train_gated_weights(
    setting: GatedSetting, initial: GatedWeights, strings: list[str], progress: Callable[[int], object] = silent
) -> GatedEnsemble:
    """Train a network from each entry of the initial weights on the strings, in their order; `progress` is told of seeds done."""
    taught, size = setting.taught, initial.example.shape[-1]
    arguments: tuple[Any, ...] = lessons_of(taught, strings), course_of(taught, strings)

    def run(block: Block) -> tuple[GatedWeights, np.ndarray]:
        with on_processors(), training_precision(taught):
            arrays = jax.tree.map(jnp.asarray, (block.weights, *arguments))
            # The loop goes through vectors as it goes through numbers; what needs a cell without gates was refused before.
            trained = train_block(
                cast("Weights", arrays[0]),
                *arrays[1:],
                kind=cast("type[Cell]", setting.kind),
                task=taught.scored_as,
                method=taught.procedure,
            )
            weights, right = jax.tree.map(np.asarray, trained)
        progress(block.seeds)
        return weights, right

    done = on_every_core(run, _blocks(initial, BLOCK))
    weights = jax.tree.map(lambda *parts: np.concatenate(parts, axis=-1)[..., :size], *(part for part, _ in done))
    right = np.concatenate([right for _, right in done])[:size]
    return GatedEnsemble(setting, weights, 100 * right.astype(np.float64) / len(strings))


class Block(NamedTuple):
    """Some of the seeds: their weights, filled up to the width of a block, and how many they are."""

    weights: GatedWeights
    seeds: int


def _blocks(weights: GatedWeights, width: int) -> Iterator[Block]:
    """Cut the seeds into blocks of one width; the last is filled up with copies of the last seed, cut off again later."""
    size = weights.example.shape[-1]
    for start in range(0, size, width):
        yield Block(weights.places(np.minimum(np.arange(start, start + width), size - 1)), min(width, size - start))


@partial(jax.jit, static_argnames=("kind", "task"))
def _right_answers(
    weights: GatedWeights, tokens: Token, targets: Array, *, kind: type[GatedCell], task: Task
) -> Float[Array, "seed string"]:
    column: GatedWeights = jax.tree.map(lambda array: array[..., None], weights)
    shape = jnp.broadcast_shapes(column.example.shape, tokens.opening.shape[1:])
    last, _ = states_along(column.cell(kind), tokens, jnp.zeros(shape, column.example.dtype))
    answers = tuple(jnp.moveaxis(targets, -1, 0))
    return is_right(task, cast("Weights", column), cast("Array", last.hidden), answers)
