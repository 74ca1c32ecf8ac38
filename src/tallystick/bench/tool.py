"""How fast this tool trains a setting, on a device and by an engine."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tallystick.bench.timing import best_of, sized
from tallystick.cells import Cell
from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput
from tallystick.languages.tasks import Task
from tallystick.training.cores import cores
from tallystick.training.devices import Devices, devices_named
from tallystick.training.engines import WIDE, Engine, engine_for
from tallystick.training.ensemble import train, training_precision
from tallystick.training.initial_weights import fresh_weights
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

# A block a core, or whole blocks of a GPU, so that no other width is compiled; and the most, which bounds the memory where a
# run takes next to nothing. A GPU needs several blocks to be fed while it works.
_CPU_MOST = 2**20
_GPU_BLOCKS, _GPU_MOST_BLOCKS = 4, 8
_MANY = 10**9


class Timing(NamedTuple):
    """So many seeds, the seconds that full runs of them take, on how many cores (None on a GPU), and what to know of it."""

    seeds: int
    seconds: float
    cores: int | None
    note: str = ""

    @property
    def runs_per_second(self) -> float:
        """Full runs per second."""
        return self.seeds / self.seconds


def time_tool(setting: Setting, device: str, engine: str | None = None, seconds: float = 1.0) -> Timing | str:
    """Time full runs of so many seeds that they take about so long; or say why they cannot be run."""
    used = cores() if device == "cpu" else None
    try:
        first, most = _sizes(setting, device, engine)
        seeds, taken = sized(lambda size: prepared(setting, size, device, engine), first, most, seconds)
    except BadInput as error:
        return str(error)
    return Timing(seeds, taken, used)


def _sizes(setting: Setting, device: str, engine: str | None) -> tuple[int, int]:
    """Return how many seeds are timed first, and how many at most."""
    if device == "cpu":
        return WIDE * cores(), _CPU_MOST
    block = engine_for(setting, strings_of(setting), devices_named(device), engine).width(_MANY)
    return _GPU_BLOCKS * block, _GPU_MOST_BLOCKS * block


def time_kernel(setting: Setting, devices: Devices, seeds: int | None = None) -> Timing:
    """Time the fused kernel alone, on networks that lie on the device already and stay there."""
    engine = Engine("fused", devices)
    seeds = seeds or _GPU_BLOCKS * engine.width(_MANY)
    with devices.using(), training_precision(setting):
        block = jax.tree.map(jnp.asarray, drawn(setting, seeds))
        trainer = engine.trainer(setting, strings_of(setting))
        work = lambda: jax.block_until_ready(trainer(block))  # noqa: E731 -- what is timed, in a word
        work()  # compiles
        return Timing(seeds, best_of(work, 2), None, "on the device before and after")


def prepared(
    setting: Setting, seeds: int, device: str, engine: str | None = None, workers: int | None = None
) -> Callable[[], object]:
    """Draw the initial weights, so that what is timed is the training."""
    initial, strings = drawn(setting, seeds), strings_of(setting)
    return lambda: train(setting, initial, strings, workers=workers, device=device, engine=engine)


def drawn(setting: Setting, seeds: int) -> Weights:
    """Draw initial weights; the last few draws are kept, since settings share them."""
    return _drawn(setting.kind, setting.scored_as, setting.bias, setting.dtype, seeds)


@lru_cache(maxsize=3)
def _drawn(kind: type[Cell], task: Task, bias: bool, dtype: np.dtype, seeds: int) -> Weights:
    return fresh_weights(kind, task, np.arange(seeds), bias=bias, dtype=dtype)


def strings_of(setting: Setting) -> list[str]:
    """Return the training set that every measurement uses."""
    return training_set(setting.scored_as, setting.train_length, seed=0)


def steps_of(setting: Setting) -> int:
    """Return how many steps a run has."""
    return setting.epochs * len(strings_of(setting))
