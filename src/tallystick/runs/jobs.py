"""What a run is asked for: jobs, and how many of their rows are kept.

A job is one setting of one edition, with the strings that it is trained and tested on and the weights that it starts from.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import jax
import numpy as np

from tallystick.cells import VectorCell
from tallystick.datasets.strings import RUNS, TEST_LENGTHS, long_suite, published_strings, training_set
from tallystick.errors import BadInput, check_whole, is_count
from tallystick.languages.tasks import Task
from tallystick.training.lessons import check_training_set
from tallystick.training.setting import Setting
from tallystick.training.snapping import exact_counters
from tallystick.training.weights import fresh_weights, published_weights

if TYPE_CHECKING:
    import polars as pl

TRAIN_LENGTHS = (2, 4, 8)
MOST_SEEDS = 10_000_000
"""So many rows are kept; more seeds are for runs that keep a summary or a sample of them."""

MOST_SUMMED_UP = 1_000_000_000
"""So many seeds a run may have that does not keep all rows."""

SAMPLE = 100_000
"""Rows in a sample, unless another number is asked for."""

KINDS = ("all", "summary", "sample")

DESCRIBED_BY = ("task", "bias", "train_length", "cell", "method", "precision")
"""What tells one setting from another."""

VARIED = ("learning_rate", "initial_scale", "epochs", "optimiser")
"""What else tells the settings of a sweep apart, in columns of their own."""

EXACT = "exact"
"""The edition that starts from the authors' own weights."""


@dataclass(frozen=True)
class Keep:
    """What is kept.

    Attributes:
        kind: `all`, `summary` or `sample`.
        size: the rows in a sample.
    """

    kind: str = "all"
    size: int = 0

    @classmethod
    def read(cls, text: str) -> "Keep":
        """Read all, summary, sample or sample:N.

        >>> Keep.read("sample:500")
        Keep(kind='sample', size=500)
        """
        kind, colon, digits = text.partition(":")
        if kind not in KINDS or (colon and (kind != "sample" or not is_count(digits))):
            raise BadInput(f"keep: {text!r} is not one of all, summary, sample and sample:N")
        if kind != "sample":
            return cls(kind)
        size = int(digits) if colon else SAMPLE
        check_whole(size, "keep: the sample's size", least=1, most=MOST_SEEDS)
        return cls(kind, size)

    def __str__(self) -> str:
        """As it is read."""
        return f"sample:{self.size}" if self.kind == "sample" else self.kind

    @property
    def rows(self) -> bool:
        """Whether there are rows at the end."""
        return self.kind != "summary"

    @property
    def summary(self) -> bool:
        """Whether there are a summary and histograms at the end."""
        return self.kind != "all"

    def check_seeds(self, seeds: int) -> None:
        """Refuse more seeds than can be kept so."""
        if self.kind == "all" and seeds > MOST_SEEDS:
            raise BadInput(
                f"seeds: {seeds} is more than {MOST_SEEDS:,}, the most rows that are kept; "
                f"--keep summary and --keep sample take {MOST_SUMMED_UP:,}"
            )
        check_whole(seeds, "seeds", least=1, most=MOST_SUMMED_UP)

    def choose(self, rows: "pl.DataFrame", seeds: int) -> "pl.DataFrame":
        """Return which of the rows are kept: of a sample of n out of `seeds`, those with seed·n mod seeds < n.

        These are n seeds at even distances. Every seed draws from a key of its own, so they are as good as any others.
        """
        if self.kind != "sample" or self.size >= seeds:
            return rows
        return rows.filter(rows["seed"] * self.size % seeds < self.size)


ALL = Keep()


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
    """Everything that decides the rows of one setting; plain data, so that a job can be sent to another machine.

    Attributes:
        edition: `exact`, `fresh`, `float32` or `float64`.
        setting: what is trained.
        seeds: how many seeds, from 0 on.
        strings: the training set, in order.
        tests: the test strings of each length.
        device: the kind of device it is done on; each rounds in its own way.
        engine: auto, fused or scan; these, too, round differently.
        also: further fields of the setting that its rows have columns for.
        seed: draws what strings are generated.
    """

    edition: str
    setting: Setting
    seeds: int
    strings: list[str]
    tests: dict[int, list[str]]
    device: str = "cpu"
    engine: str = "auto"
    also: tuple[str, ...] = ()
    seed: int = 0

    @property
    def name(self) -> str:
        """A word for files and progress: fresh-ternary-bias-8."""
        setting = self.setting
        words = (self.edition, setting.task, "bias" if setting.bias else "nobias", setting.train_length)
        return "-".join(map(str, (*words, *(getattr(setting, name) for name in self.also))))

    @property
    def description(self) -> dict[str, object]:
        """The columns that tell its rows from those of other jobs."""
        return {"edition": self.edition, **{name: getattr(self.setting, name) for name in (*DESCRIBED_BY, *self.also)}}

    def initial(self, numbers: np.ndarray) -> Any:  # noqa: ANN401 -- weights in the layout of the cell
        """Return the initial weights of some seeds: the authors', the seeds' own, or exact counters of the seeds' own step."""
        setting, task = self.setting, self.setting.goal
        if self.edition == EXACT:
            return published_weights(task, bias=setting.bias, dtype=setting.dtype).places(numbers)
        drawn = fresh_weights(setting.kind, task, numbers, bias=setting.bias, dtype=setting.dtype, units=setting.units)
        if setting.initial_scale != 1:
            drawn = jax.tree.map(lambda weight: (setting.initial_scale * weight).astype(weight.dtype), drawn)
        return exact_counters(drawn, setting.kind, task) if setting.start == "exact" else drawn


def paper_grid(precision: str) -> list[Setting]:
    """Return the paper's twelve settings, in the order of its table."""
    return [
        Setting(task, bias, length, precision=precision)
        for bias in (False, True)
        for task in ("binary", "ternary")
        for length in TRAIN_LENGTHS
    ]


def fresh_job(edition: str, setting: Setting, seeds: int, source: Source) -> Job:
    """Return a job whose seeds 0, 1, … start from weights of their own."""
    job = _job(edition, setting, seeds, source)
    return replace(job, seed=source.seed) if isinstance(source, Generated) else job


def exact_job(setting: Setting, directory: Path) -> Job:
    """Return the job that repeats the paper's ten runs: the authors' strings, and the initial weights of their seeds."""
    return _job(EXACT, setting, RUNS, Published(directory))


def _job(edition: str, setting: Setting, seeds: int, source: Source) -> Job:
    task = setting.goal
    tests = {length: source.test(task, length) for length in TEST_LENGTHS}
    also = ("units",) if issubclass(setting.kind, VectorCell) else ()
    return Job(edition, setting, seeds, source.training(task, setting.train_length), tests, also=also)


def training_job(setting: Setting, seeds: int, seed: int, keep: Keep = ALL) -> Job:
    """Return the one job of a training run."""
    check_run(setting, seeds, seed, keep)
    return fresh_job("fresh", setting, seeds, Generated(seed))


def check_run(setting: Setting, seeds: int, seed: int, keep: Keep = ALL) -> None:
    """Refuse what cannot be trained, before anything is written."""
    keep.check_seeds(seeds)
    check_whole(seed, "seed", least=0, most=MOST_SEEDS)
    check_training_set(setting, training_set(setting.goal, setting.train_length, seed))
