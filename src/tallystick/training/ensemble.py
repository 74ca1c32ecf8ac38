"""Ensembles of seeds trained block by block, the blocks spread over the cores.

A block is as wide as fits the cache, and always filled up to that width, so that every seed goes through the same compiled
program whatever stands beside it: the same seed gives the same weights, bit for bit, for any block size, number of workers
or order.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.cells import ScalarCell
from tallystick.datasets.encoding import encode
from tallystick.errors import BadInput, check_whole
from tallystick.languages.tasks import BINARY, COUNT, Task
from tallystick.networks import Network, Readout
from tallystick.training.answers import accuracies
from tallystick.training.cores import on_every_core
from tallystick.training.devices import devices_named
from tallystick.training.engines import NARROW, devices_for, engine_for, on_host
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import train_path
from tallystick.training.setting import Setting
from tallystick.training.snapping import snapped
from tallystick.training.weights import AnyWeights, Weights

_TESTED = {"cpu": NARROW, "gpu": 2**16}
"""Seeds that are tested at once."""

# Four of the longest vectors there are.
_VECTOR = 64
_MOST_STATES = 2**27
"""Networks times strings that are tested at once; only where there are more strings than the paper's does it matter."""


def silent(*_: object) -> None:
    """Tell nobody how far the work is."""


@dataclass(frozen=True)
class Ensemble:
    """Trained networks of one setting, an entry a seed; the weights are NumPy arrays in the setting's precision.

    They are tested on the kind of device that trained them, since each rounds in its own way; those that are read from a
    run's rows, on processors.
    """

    setting: Setting
    weights: AnyWeights
    accuracy_train: np.ndarray
    device: str = "cpu"

    def cell(self) -> Any:  # noqa: ANN401 -- of the setting's kind
        """Return the cells as one cell of arrays."""
        return self.weights.cell(self.setting.kind)

    def networks(self) -> Network:
        """Return all networks as one network of arrays."""
        return self._asked_for_a_class(Network(self.cell(), self.weights.readout(), self._task))

    def network(self, seed: int) -> Network:
        """Return one network, its weights the doubles that they equal."""
        return self._asked_for_a_class(Network(self.cell(), self.weights.readout(), self._task).place(seed))

    @property
    def _task(self) -> Task:
        """What the networks are asked for: their task, or where that is the count, the sign of it."""
        return self.setting.scored_as if self.setting.scored_as.classes else BINARY

    def _asked_for_a_class(self, network: Network) -> Network:
        """Ask what was trained on the count for a class: one unit by its zero check, several by an output above one half."""
        if self.setting.scored_as is not COUNT:
            return network
        if issubclass(self.setting.kind, ScalarCell):
            return Network(network.cell, Readout.zero())
        return Network(network.cell, Readout(network.readout.weight, (network.readout.bias[0] - 0.5,)))

    def accuracy(self, strings: list[str]) -> np.ndarray:
        """Return each network's accuracy on the strings, in percent."""
        if not strings:
            raise BadInput("strings: none to test on")
        encoded, targets = encode(strings), self.setting.answers(strings)
        devices = devices_named(self.device)

        def test(numbered: tuple[int, Block]) -> np.ndarray:
            number, block = numbered
            with devices.using(number), precision_context(self.setting.precision):
                return accuracies(block.weights, encoded, targets, kind=self.setting.kind, task=self.setting.scored_as)

        width = min(_TESTED[devices.kind], _whole_vectors(max(1, _MOST_STATES // len(strings))))
        done = on_every_core(test, enumerate(_blocks(self.weights, width)))
        return _joined(done, len(self.accuracy_train))


def train(
    setting: Setting,
    initial: AnyWeights,
    strings: list[str],
    *,
    block: int | None = None,
    workers: int | None = None,
    progress: Callable[[int], object] = silent,
    device: str = "auto",
    engine: str | None = None,
) -> Ensemble:
    """Train a network from each entry of the initial weights on the strings, in their order.

    Args:
        setting: what is trained, and how.
        initial: the initial weights, an entry a seed.
        strings: the training set.
        block: seeds that are trained together, if not the width that suits the device.
        workers: blocks that are trained side by side, if not one a core or one a GPU.
        progress: is told of seeds done.
        device: auto, cpu or gpu.
        engine: scan or fused, if not the quickest that the device has.
    """
    size, devices = len(initial.example), devices_for(setting, device)
    if not size:
        raise BadInput("seeds: none to train")
    lessons_of(setting, strings)  # refuses what cannot be learnt
    chosen = engine_for(setting, strings, devices, engine)
    with training_precision(setting):
        train_one = chosen.trainer(setting, strings)
    width = chosen.width(size, setting) if block is None else _whole_vectors(block)

    def run(numbered: tuple[int, Block]) -> tuple[AnyWeights, np.ndarray]:
        number, block = numbered
        with devices.using(number), training_precision(setting):
            trained = on_host(train_one(block.weights))
        progress(block.seeds)
        return trained

    # Three blocks a GPU: while one is trained, another is brought to it and a third fetched.
    side_by_side = workers or (None if devices.kind == "cpu" else 3 * len(devices.units))
    done = on_every_core(run, enumerate(_blocks(initial, width)), side_by_side)
    weights = jax.tree.map(lambda *parts: _joined(parts, size), *(weights for weights, _ in done))
    if setting.snap:
        weights = snapped(weights, setting.kind, setting.scored_as)
    right = _joined((right for _, right in done), size)
    return Ensemble(setting, weights, 100 * right / len(strings), devices.kind)


def paths(setting: Setting, initial: Weights, strings: list[str]) -> Weights:
    """Return the weights along training, with the axes epoch and seed, the start included."""
    lessons, course = lessons_of(setting, strings), course_of(setting, strings)
    with devices_named("cpu").using(), training_precision(setting):
        arguments = jax.tree.map(jnp.asarray, (initial, lessons, course))
        parts = {"kind": setting.kind, "task": setting.scored_as, "method": setting.procedure}
        along = train_path(*arguments, epochs=setting.epochs, **parts)
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

    weights: AnyWeights
    seeds: int


def _blocks(weights: AnyWeights, width: int) -> Iterator[Block]:
    """Cut the seeds into blocks of one width; the last is filled up with copies of the last seed, cut off again later."""
    size = len(weights.example)
    for start in range(0, size, width):
        block = weights.places(slice(start, start + width))
        seeds = len(block.example)
        yield Block(block if seeds == width else block.places(np.minimum(np.arange(width), seeds - 1)), seeds)


def _joined(parts: Iterable[np.ndarray], size: int) -> np.ndarray:
    """Put blocks together again, without what the last was filled up with; a single one needs no copy."""
    parts = list(parts)
    return (parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1))[..., :size]
