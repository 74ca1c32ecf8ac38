"""Jobs: one setting of one edition, with the strings it is trained and tested on and the weights it starts from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from tallystick.datasets.long_tests import TEST_LENGTHS, long_suite
from tallystick.datasets.published import RUNS, published_strings
from tallystick.datasets.tasks import Task
from tallystick.datasets.training_sets import training_set
from tallystick.training.initial_weights import fresh_weights, published_weights
from tallystick.training.setting import Setting
from tallystick.training.snapping import exact_counters
from tallystick.training.weights import Weights

TRAIN_LENGTHS = (2, 4, 8)
MOST_SEEDS = 10_000_000
"""Rows of a run are put together in memory at the end; beyond this, make several runs."""


class Source(Protocol):
    """Where strings come from."""

    def training(self, task: Task, length: int) -> list[str]:
        """Return a training set, in the order of the epochs."""
        ...

    def test(self, task: Task, length: int) -> list[str]:
        """Return the test strings of a length."""
        ...


@dataclass(frozen=True)
class Generated:
    """Strings made by the paper's rules from a seed."""

    seed: int

    def training(self, task: Task, length: int) -> list[str]:
        """Return a training set, shuffled once."""
        return training_set(task, length, self.seed)

    def test(self, task: Task, length: int) -> list[str]:
        """Return a fresh suite."""
        return long_suite(task, length, self.seed)


@dataclass(frozen=True)
class Published:
    """The authors' own strings, in their order, read from where they lie."""

    directory: Path

    def training(self, task: Task, length: int) -> list[str]:
        """Return the authors' training set."""
        return published_strings(self.directory, task, length)

    def test(self, task: Task, length: int) -> list[str]:
        """Return the authors' test strings."""
        return published_strings(self.directory, task, length)


@dataclass(frozen=True)
class Job:
    """Everything that decides the rows of one setting.

    Attributes:
        edition: `exact`, `fresh` or `float64`.
        setting: what is trained.
        seeds: how many seeds, from 0 on.
        strings: the training set, in order.
        tests: the test strings of each length.
        initial: the initial weights of some seeds.
    """

    edition: str
    setting: Setting
    seeds: int
    strings: list[str]
    tests: dict[int, list[str]]
    initial: Callable[[np.ndarray], Weights]

    @property
    def name(self) -> str:
        """A word for files and progress: fresh-ternary-bias-8."""
        return f"{self.edition}-{self.setting.task}-{'bias' if self.setting.bias else 'nobias'}-{self.setting.train_length}"


def paper_grid(precision: str) -> list[Setting]:
    """Return the paper's twelve settings, in the order of its table."""
    return [
        Setting(task, bias, length, precision=precision)
        for bias in (False, True)
        for task in ("binary", "ternary")
        for length in TRAIN_LENGTHS
    ]


def fresh_job(edition: str, setting: Setting, seeds: int, source: Source) -> Job:
    """Return a job whose seeds 0, 1, … draw their own initial weights, or start at exact counters of their own step."""

    def initial(numbers: np.ndarray) -> Weights:
        drawn = fresh_weights(setting.kind, setting.scored_as, numbers, bias=setting.bias, dtype=setting.dtype)
        return exact_counters(drawn, setting.kind, setting.scored_as) if setting.start == "exact" else drawn

    return _job(edition, setting, seeds, source, initial)


def exact_job(setting: Setting, directory: Path) -> Job:
    """Return the job that repeats the paper's ten runs: the authors' strings, and the initial weights of their seeds."""

    def initial(numbers: np.ndarray) -> Weights:
        return published_weights(setting.scored_as, bias=setting.bias, dtype=setting.dtype).places(numbers)

    return _job("exact", setting, RUNS, Published(directory), initial)


def _job(edition: str, setting: Setting, seeds: int, source: Source, initial: Callable[[np.ndarray], Weights]) -> Job:
    task = setting.scored_as
    tests = {length: source.test(task, length) for length in TEST_LENGTHS}
    return Job(edition, setting, seeds, source.training(task, setting.train_length), tests, initial)
