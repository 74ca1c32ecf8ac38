"""How fast this tool trains a setting, on a device and by an engine."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tallystick.bench.timing import sized
from tallystick.cells import Cell
from tallystick.datasets.tasks import Task
from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput
from tallystick.training.cores import cores
from tallystick.training.engines import WIDE, WIDEST
from tallystick.training.ensemble import train
from tallystick.training.initial_weights import fresh_weights
from tallystick.training.setting import Setting
from tallystick.training.weights import Weights

# A block a core, or the widest a GPU takes, so that no other width is compiled; and the most, which bounds the memory where a
# run takes next to nothing.
_FIRST = {"cpu": WIDE, "gpu": WIDEST}
_MOST = {"cpu": 2**20, "gpu": 2 * WIDEST}


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
        seeds, taken = sized(
            lambda size: prepared(setting, size, device, engine), _FIRST[device] * (used or 1), _MOST[device], seconds
        )
    except BadInput as error:
        return str(error)
    return Timing(seeds, taken, used)


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
