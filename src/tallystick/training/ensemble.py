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
from tallystick.training.loop import Course, Lessons, train_block, train_path
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

NARROW, WIDE = 512, 2048
"""Seeds in a block: wide enough that the vector units outweigh the calls, small enough for all of it to stay in the cache;
narrow where there are few seeds, so that every core has some."""

# The paper's largest training set; smaller ones are padded to it, since a program is compiled per shape.
_WIDEST, _MOST_STRINGS = 8, 354
# Steps are counted in 32 bits; this many take days.
_MOST_STEPS = 10**9
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
        encoded, targets = encode(strings), self.setting.scored_as.targets(strings)
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
    lessons = lessons_of(setting, strings)
    size = len(initial.inputs[0])
    if not size:
        raise BadInput("seeds: none to train")
    width = (NARROW if size <= 2 * NARROW else WIDE) if block is None else _whole_vectors(block)

    def run(block: Block) -> tuple[Weights, np.ndarray]:
        trained = _train_one_block(setting, block.weights, lessons, len(strings))
        progress(block.seeds)
        return trained

    done = on_every_core(run, _blocks(initial, width), workers)
    weights = jax.tree.map(lambda *parts: np.concatenate(parts)[:size], *(weights for weights, _ in done))
    right = np.concatenate([right for _, right in done])[:size]
    return Ensemble(setting, weights, 100 * right / len(strings))


def paths(setting: Setting, initial: Weights, strings: list[str]) -> Weights:
    """Return the weights along training, with the axes epoch and seed, the start included."""
    with precision_context(setting.precision):
        arguments = _arguments(setting, initial, lessons_of(setting, strings), len(strings))
        along = train_path(*arguments, epochs=setting.epochs, **_parts(setting))
        return jax.tree.map(np.asarray, along)


def lessons_of(setting: Setting, strings: list[str]) -> Lessons:
    """Return the training set as arrays of one shape for all of the paper's lengths, so that they share a program."""
    if not strings:
        raise BadInput("strings: an empty training set")
    if setting.epochs * len(strings) > _MOST_STEPS:
        raise BadInput(f"epochs: {setting.epochs} over {len(strings)} strings are more than {_MOST_STEPS:,} steps")
    encoded, targets = encode(strings, _WIDEST), setting.scored_as.targets(strings)
    rows = max(_MOST_STRINGS, len(strings))
    return Lessons(*(_rows(part.astype(setting.dtype), rows) for part in (encoded.opening, encoded.closing, targets)))


def precision_context(precision: str) -> AbstractContextManager[object]:
    """Let JAX compute in float64 where that is asked for and only there, whatever the user's own setting; for this thread."""
    return jax.enable_x64(precision == "float64")


def _whole_vectors(block: int) -> int:
    """Round a width up to whole vectors, so that no seed is worked on by the code for what is left over."""
    check_whole(block, "block", least=1)
    return -(-block // _VECTOR) * _VECTOR


def _rows(array: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([array, np.zeros((rows - len(array), *array.shape[1:]), array.dtype)])


class Block(NamedTuple):
    """Some of the seeds: their weights, filled up to the width of a block, and how many they are."""

    weights: Weights
    seeds: int


def _blocks(weights: Weights, width: int) -> Iterator[Block]:
    """Cut the seeds into blocks of one width; the last is filled up with copies of the last seed, cut off again later."""
    size = len(weights.inputs[0])
    for start in range(0, size, width):
        yield Block(weights.places(np.minimum(np.arange(start, start + width), size - 1)), min(width, size - start))


def _train_one_block(setting: Setting, block: Weights, lessons: Lessons, strings: int) -> tuple[Weights, np.ndarray]:
    with precision_context(setting.precision):
        weights, right = train_block(*_arguments(setting, block, lessons, strings), **_parts(setting))
        return jax.tree.map(np.asarray, weights), np.asarray(right, np.float64)


def _arguments(setting: Setting, block: Weights, lessons: Lessons, strings: int) -> tuple[Weights, Lessons, Course]:
    course = Course(jnp.int32(strings), jnp.int32(setting.epochs), jnp.asarray(setting.learning_rate, setting.dtype))
    return jax.tree.map(jnp.asarray, block), jax.tree.map(jnp.asarray, lessons), course


def _parts(setting: Setting) -> dict[str, Any]:
    return {"kind": setting.kind, "task": setting.scored_as, "objective": setting.objective}
