"""Ensembles of seeds, trained and tested block by block, the blocks spread over the cores.

A block is as wide as suits the engine, and always filled up to that width, so that every seed goes through the same compiled
program whatever stands beside it: the same seed gives the same weights, bit for bit, for any block size, number of workers
or order.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from tallystick.cells import Cell, LinearCell, ScalarCell, Token
from tallystick.datasets.strings import Encoded, encode
from tallystick.display import Chart, Shown, View
from tallystick.errors import BadInput, check_whole
from tallystick.languages.tasks import BINARY, COUNT, Task
from tallystick.networks import Network, Readout
from tallystick.training.engines import (
    NARROW,
    PORTION,
    devices_for,
    devices_named,
    engine_for,
    on_every_core,
    on_processors,
)
from tallystick.training.gradients import last_state
from tallystick.training.layers import STEPS, last_array
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import is_right, train_path
from tallystick.training.setting import Setting
from tallystick.training.snapping import snap
from tallystick.training.weights import AnyWeights, Weights, compile_once

_TESTED = {"cpu": NARROW, "gpu": 2 * PORTION}
"""Seeds that are tested at once."""

_MOST_STATES = 2**27
"""Networks times strings that are tested at once; a limit only for sets much larger than the paper's."""

_VECTOR = 64
"""Four of the longest vectors that processors have, in float32."""


_SHOWN, _BINS = 1000, 20
"""How many networks a notebook shows as points, and in how many bins otherwise."""


def _indicators(cell: LinearCell) -> tuple[Any, Any]:
    """Return a/b and U of many cells at once."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return cell.open_step / cell.close_step, cell.recurrent_weight


def silent(*_: object) -> None:
    """Report no progress."""


@dataclass(frozen=True, repr=False)
class Ensemble(Shown):
    """Trained networks of one setting, one entry per seed; the weights are NumPy arrays in the setting's precision.

    They are tested on the kind of device that trained them, since each rounds in its own way; networks that are read from the
    rows of a run are tested on processors.
    """

    setting: Setting
    weights: AnyWeights
    accuracy_train: np.ndarray
    device: str = "cpu"

    def __repr__(self) -> str:
        setting, number = self.setting, len(self.accuracy_train)
        return (
            f"Ensemble({number:,} {setting.cell} networks, task {setting.task}, trained to length {setting.train_length} by "
            f"{setting.method}: {self.accuracy_train.mean():.1f} % of the training strings are right)"
        )

    def view(self) -> View:
        """Return what a notebook shows: a/b and U of cells with one U, else how accurate the networks are in training."""
        setting, accuracy = self.setting, self.accuracy_train
        facts = {
            "cell": f"{setting.cell}, {setting.units} unit{'' if setting.units == 1 else 's'}",
            "task": setting.task,
            "training": f"strings to length {setting.train_length}, {setting.epochs} epochs, method {setting.method}",
            "right in training": f"{accuracy.mean():.1f} % of the strings; {accuracy.min():.1f} % for the worst network",
        }
        title, cell = f"Ensemble of {len(accuracy):,} networks", self.cell()
        if isinstance(cell, LinearCell):
            ratio, weight = (np.asarray(part, np.float64)[:_SHOWN] for part in _indicators(cell))
            chart = Chart(ratio.tolist(), {"networks": weight.tolist()}, "a/b", "U", kind="points", guide=1.0)
        else:
            counts, edges = np.histogram(accuracy, bins=_BINS, range=(0, 100))
            middles = (edges[:-1] + edges[1:]) / 2
            chart = Chart(
                middles.tolist(), {"networks": counts.tolist()}, "right in training, %", "networks", kind="bars"
            )
        return View(title, (), facts, chart=chart)

    def cell(self) -> Any:  # noqa: ANN401 -- of the setting's kind
        """Return the cells as one cell of arrays."""
        return self.weights.cell(self.setting.kind)

    def networks(self) -> Network:
        """Return all networks as one network of arrays."""
        return self._classify(self._network)

    def network(self, seed: int) -> Network:
        """Return one network, its weights the doubles that they equal."""
        return self._classify(self._network.place(seed))

    @property
    def _network(self) -> Network:
        """The networks with their own readout; where they were trained on the count, it is taken for the sign of the count."""
        task = self.setting.goal
        return Network(self.cell(), self.weights.readout(), task if task.classes else BINARY)

    def _classify(self, network: Network) -> Network:
        """Give a network trained on the count a class: one unit by its zero check, several by an output above one half."""
        if self.setting.goal is not COUNT:
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
                return accuracies(block.weights, encoded, targets, kind=self.setting.kind, task=self.setting.goal)

        width = min(_TESTED[devices.kind], _whole_vectors(max(1, _MOST_STATES // len(strings))))
        return _join(on_every_core(test, enumerate(_blocks(self.weights, width))), len(self.accuracy_train))


def train(
    setting: Setting,
    initial: AnyWeights,
    strings: list[str],
    *,
    block: int | None = None,
    workers: int | None = None,
    progress: Callable[[int], object] = silent,
    device: str = "auto",
    engine: str = "auto",
) -> Ensemble:
    """Train a network from each entry of the initial weights on the strings, in their order.

    Args:
        setting: what is trained, and how.
        initial: the initial weights, one entry per seed.
        strings: the training set.
        block: how many seeds are trained together; the default is the width that suits the device.
        workers: how many blocks are trained side by side; the default is one per core, or three per GPU.
        progress: called with the number of seeds of each block that is done.
        device: auto, cpu or gpu.
        engine: auto, fused or scan; auto is the fused kernel for what it can train, and the compiled scan for the rest.
    """
    size, devices = len(initial.example), devices_for(setting, device)
    if not size:
        raise BadInput("seeds: none to train")
    chosen = engine_for(setting, strings, devices, engine)
    with devices.using(), training_precision(setting):
        train_block = chosen.trainer(setting, strings)
    width = chosen.width(size, setting) if block is None else _whole_vectors(block)

    weights, accuracy = jax.tree.map(lambda part: np.empty(part.shape, setting.dtype), initial), np.empty(size)

    def run(numbered: tuple[int, Block]) -> None:
        number, block = numbered
        with devices.using(number), training_precision(setting):
            found = train_block(*block)
            trained, right = jax.tree.map(lambda part: np.asarray(part)[..., : block.seeds], found)
        # Each block is put in its place while others are trained: at the end that would keep everyone waiting.
        own = slice(number * width, number * width + block.seeds)
        for whole, part in zip(jax.tree.leaves(weights), jax.tree.leaves(trained), strict=True):
            whole[..., own] = part
        accuracy[own] = 100 * right.astype(np.float64) / len(strings)
        progress(block.seeds)

    # Three blocks per GPU: while one is trained, another is brought to it and a third is fetched.
    side_by_side = workers or (None if devices.kind == "cpu" else 3 * len(devices.units))
    on_every_core(run, enumerate(_blocks(initial, width)), side_by_side)
    if setting.snap:
        weights = snap(weights, setting.kind, setting.goal)
    return Ensemble(setting, weights, accuracy, devices.kind)


def paths(setting: Setting, initial: Weights, strings: list[str]) -> Weights:
    """Return the weights along training, with the axes epoch and seed, the start included."""
    lessons, course = lessons_of(setting, strings), course_of(setting, strings)
    with on_processors(), training_precision(setting):
        arguments = jax.tree.map(jnp.asarray, (initial, lessons, course))
        parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
        along = train_path(*arguments, epochs=setting.epochs, **parts)
        return jax.tree.map(np.asarray, along)


def precision_context(precision: str) -> AbstractContextManager[object]:
    """Let JAX compute in float64 in this thread if that is asked for, and only then, whatever the user's own setting."""
    return jax.enable_x64(precision == "float64")


def training_precision(setting: Setting) -> AbstractContextManager[object]:
    """Let JAX compute in the precision of the gradients, which may be finer than that of the weights."""
    return precision_context(setting.gradient_dtype.name)


def _whole_vectors(block: int) -> int:
    """Round a width up to whole vectors, so that no seed goes through the code for the rest of a vector."""
    check_whole(block, "block", least=1)
    return -(-block // _VECTOR) * _VECTOR


class Block(NamedTuple):
    """Some of the seeds: their weights, filled up to the width of a block, and how many seeds there are."""

    weights: AnyWeights
    seeds: int


def _blocks(weights: AnyWeights, width: int) -> Iterator[Block]:
    """Cut the seeds into blocks of one width; the last is filled up with copies of the last seed."""
    size = len(weights.example)
    for start in range(0, size, width):
        block = weights.places(slice(start, start + width))
        seeds = len(block.example)
        yield Block(block if seeds == width else block.places(np.minimum(np.arange(width), seeds - 1)), seeds)


def _join(parts: Sequence[np.ndarray], size: int) -> np.ndarray:
    """Put blocks together again, without the copies that fill up the last one; a single block needs no copy."""
    return (parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1))[..., :size]


@partial(jax.jit, static_argnames=("kind", "task"))
def right_answers(
    weights: AnyWeights, opening: Array, closing: Array, targets: Array, *, kind: type[Cell], task: Task
) -> Float[Array, "seed string"]:
    """Return for every seed and string whether the answer is right; the tokens are the first axis, scanned over."""
    column = jax.tree.map(lambda array: array[..., None], weights)
    start = jnp.zeros(jnp.broadcast_shapes(column.example.shape, opening.shape[1:]), column.example.dtype)
    tokens = Token(opening, closing)
    if kind in STEPS:
        zeros = jnp.broadcast_to(start, (column.readout_weight.shape[1], *start.shape))
        hidden = tuple(last_array(kind, column, tokens, zeros))
    else:
        cell: Cell = column.cell(kind)
        hidden = cell.hidden(last_state(cell, tokens, start))
    return is_right(task, column, hidden, tuple(jnp.moveaxis(targets, -1, 0)))


def accuracies(
    weights: AnyWeights, strings: Encoded, targets: np.ndarray, *, kind: type[Cell], task: Task
) -> np.ndarray:
    """Return each seed's share of right answers, in percent, in the arithmetic of its weights."""
    dtype = weights.example.dtype
    tokens = [jnp.asarray(part.T, dtype) for part in strings]
    # Counted where they are computed: a GPU hands over one number per seed instead of one answer per string.
    right = _count_right(weights, *tokens, jnp.asarray(targets, dtype), kind=kind, task=task)
    return 100 * (np.asarray(right) / len(targets))


@compile_once
@partial(jax.jit, static_argnames=("kind", "task"))
def _count_right(
    weights: AnyWeights, opening: Array, closing: Array, targets: Array, *, kind: type[Cell], task: Task
) -> Int[Array, " seed"]:
    return right_answers(weights, opening, closing, targets, kind=kind, task=task).sum(axis=1, dtype=jnp.int32)
