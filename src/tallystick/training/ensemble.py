"""Ensembles of seeds trained block by block, the blocks spread over the cores.

A block is as wide as fits the cache, and always filled up to that width, so that every seed goes through the same compiled
program whatever stands beside it: the same seed gives the same weights, bit for bit, for any block size, number of workers
or order.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import Cell
from tallystick.datasets.encoding import Encoded, encode
from tallystick.errors import BadInput, check_whole
from tallystick.training.answers import accuracies
from tallystick.training.cores import on_every_core
from tallystick.training.lessons import Course, Lessons, course_of, lessons_of
from tallystick.training.loop import train_block, train_path
from tallystick.training.setting import Setting
from tallystick.training.snapping import snapped
from tallystick.training.weights import Weights

NARROW, WIDE = 512, 2048
"""Seeds in a block: wide enough that the vector units outweigh the calls, small enough for all of it to stay in the cache;
narrow where there are few seeds, so that every core has some."""

# Four of the longest vectors there are.
_VECTOR = 64


def silent(*_: object) -> None:
    """Tell nobody how far the work is."""


@dataclass(frozen=True)
class Ensemble:
    """Trained networks of one setting, an entry a seed; the weights are NumPy arrays in the setting's precision."""

    setting: Setting
    weights: Weights
    accuracy_train: np.ndarray

    def cell(self) -> Cell:
        """Return the cells as one cell of arrays."""
        return self.weights.cell(self.setting.kind)

    def accuracy(self, strings: list[str]) -> np.ndarray:
        """Return each network's accuracy on the strings, in percent."""
        if not strings:
            raise BadInput("strings: none to test on")
        encoded, targets = encode(strings), self.setting.answers(strings)
        done = on_every_core(
            lambda block: self._block_accuracy(block.weights, encoded, targets), _blocks(self.weights, NARROW)
        )
        return np.concatenate(done)[: len(self.accuracy_train)]

    def _block_accuracy(self, block: Weights, encoded: Encoded, targets: np.ndarray) -> np.ndarray:
        with precision_context(self.setting.precision):
            return accuracies(block, encoded, targets, kind=self.setting.kind, task=self.setting.scored_as)


def train(
    setting: Setting,
    initial: Weights,
    strings: list[str],
    *,
    block: int | None = None,
    workers: int | None = None,
    progress: Callable[[int], object] = silent,
) -> Ensemble:
    """Train a network from each entry of the initial weights on the strings, in their order; `progress` is told of seeds done."""
    lessons, course = lessons_of(setting, strings), course_of(setting, strings)
    size = len(initial.inputs[0])
    if not size:
        raise BadInput("seeds: none to train")
    width = (NARROW if size <= 2 * NARROW else WIDE) if block is None else _whole_vectors(block)

    def run(block: Block) -> tuple[Weights, np.ndarray]:
        trained = _train_one_block(setting, block.weights, lessons, course)
        progress(block.seeds)
        return trained

    done = on_every_core(run, _blocks(initial, width), workers)
    weights = jax.tree.map(lambda *parts: np.concatenate(parts)[:size], *(weights for weights, _ in done))
    if setting.snap:
        weights = snapped(weights, setting.kind, setting.scored_as)
    right = np.concatenate([right for _, right in done])[:size]
    return Ensemble(setting, weights, 100 * right / len(strings))


def paths(setting: Setting, initial: Weights, strings: list[str]) -> Weights:
    """Return the weights along training, with the axes epoch and seed, the start included."""
    lessons, course = lessons_of(setting, strings), course_of(setting, strings)
    with training_precision(setting):
        arguments = _arguments(initial, lessons, course)
        along = train_path(*arguments, epochs=setting.epochs, **_parts(setting))
        return jax.tree.map(np.asarray, along)


def precision_context(precision: str) -> AbstractContextManager[object]:
    """Let JAX compute in float64 where that is asked for and only there, whatever the user's own setting; for this thread."""
    return jax.enable_x64(precision == "float64")


def training_precision(setting: Setting) -> AbstractContextManager[object]:
    """The same for training, where the gradients may be finer than the weights."""
    return precision_context(setting.gradient_dtype.name)


def _whole_vectors(block: int) -> int:
    """Round a width up to whole vectors, so that no seed is worked on by the code for what is left over."""
    check_whole(block, "block", least=1)
    return -(-block // _VECTOR) * _VECTOR


class Block(NamedTuple):
    """Some of the seeds: their weights, filled up to the width of a block, and how many they are."""

    weights: Weights
    seeds: int


def _blocks(weights: Weights, width: int) -> Iterator[Block]:
    """Cut the seeds into blocks of one width; the last is filled up with copies of the last seed, cut off again later."""
    size = len(weights.inputs[0])
    for start in range(0, size, width):
        yield Block(weights.places(np.minimum(np.arange(start, start + width), size - 1)), min(width, size - start))


def _train_one_block(setting: Setting, block: Weights, lessons: Lessons, course: Course) -> tuple[Weights, np.ndarray]:
    with training_precision(setting):
        weights, right = train_block(*_arguments(block, lessons, course), **_parts(setting))
        return jax.tree.map(np.asarray, weights), np.asarray(right, np.float64)


def _arguments(block: Weights, lessons: Lessons, course: Course) -> tuple[Weights, Lessons, Course]:
    return (jax.tree.map(jnp.asarray, block), jax.tree.map(jnp.asarray, lessons), jax.tree.map(jnp.asarray, course))


def _parts(setting: Setting) -> dict[str, Any]:
    return {"kind": setting.kind, "task": setting.scored_as, "method": setting.procedure}
