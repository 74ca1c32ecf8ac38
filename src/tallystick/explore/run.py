"""A run directory held in memory for looking at: one NumPy array a column, setting by setting.

The networks of a setting are kept in a random order that never changes, each with a random key that grows along it. Those with
the least keys inside a window are then a fair sample of the window: the same each time, and they stay when it is made smaller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from tallystick.certificates.verdict import UNLIMITED
from tallystick.explore.refusals import NotFound
from tallystick.reports.paper import PaperSetting

Values = np.ndarray[tuple[int], np.dtype[np.float64]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Places = np.ndarray[tuple[int], np.dtype[np.int64]]

CONDITIONS = {"ab_ratio": -1.0, "recurrent_weight": 1.0}
"""The columns that a theorem asks a value of."""

_HORIZONS = ("horizon_all", "horizon_even")
COLUMNS = (*CONDITIONS, "accuracy_train", "accuracy_20", "accuracy_50", *_HORIZONS)
_KEPT = (5.0, 95.0)
_MARGIN, _NARROWEST = 0.15, 0.02
_PLAIN = {"cell": "linear", "method": "published", "precision": "float32"}


class Window(NamedTuple):
    """A part of the plane (a/b, U)."""

    x0: float
    x1: float
    y0: float
    y1: float


@dataclass(frozen=True)
class Networks:
    """The networks of one setting.

    Attributes:
        described: what tells the setting from the others.
        rows: their rows of the run's table, in the table's order.
        seeds: the seed of each network.
        columns: the numbers to look at; no number is NaN, an unlimited horizon infinite.
        keys: the random keys, which grow.
    """

    described: dict[str, object]
    rows: pl.DataFrame
    seeds: Places
    columns: dict[str, Values]
    keys: Values

    @classmethod
    def of(cls, described: dict[str, object], rows: pl.DataFrame) -> "Networks":
        """Hold a setting's rows."""
        generator = np.random.default_rng(list(_id(described).encode()))  # a key is no other network's
        order = generator.permutation(len(rows))
        columns = {name: _numbers(rows[name])[order] for name in COLUMNS}
        return cls(described, rows, rows["seed"].to_numpy()[order], columns, np.sort(generator.random(len(rows))))

    @property
    def id(self) -> str:
        """A word for the setting: fresh-binary-nobias-8-linear-published-float32."""
        return _id(self.described)

    @property
    def title(self) -> str:
        """The setting as a reader names it: what is not as in the paper is said."""
        described = dict(self.described)
        del described["edition"]
        paper = PaperSetting(*(described.pop(name) for name in PaperSetting._fields))  # type: ignore[arg-type]
        others = [str(value) for name, plain in _PLAIN.items() if (value := described.pop(name)) != plain]
        swept = [f"{name.replace('_', ' ')} {value}" for name, value in described.items()]
        return ", ".join([str(paper), *others, *swept])

    @property
    def in_plane(self) -> bool:
        """Whether the regions R_N speak of these networks."""
        return (self.described["cell"], self.described["task"], self.described["bias"]) == ("linear", "binary", False)

    def __len__(self) -> int:
        return len(self.keys)

    def inside(self, window: Window) -> Mask:
        """Say which networks lie in a window, its edges included; what is no number lies in none."""
        x, y = self.columns["ab_ratio"], self.columns["recurrent_weight"]
        return (x >= window.x0) & (x <= window.x1) & (y >= window.y0) & (y <= window.y1)

    def counted(self, window: Window, nx: int, ny: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Count the networks in a grid over a window."""
        inside = self.inside(window)
        column = _places(self.columns["ab_ratio"][inside], window.x0, window.x1, nx)
        row = _places(self.columns["recurrent_weight"][inside], window.y0, window.y1, ny)
        return np.bincount(row * nx + column, minlength=nx * ny).reshape(ny, nx)

    def row(self, seed: int) -> pl.DataFrame:
        """Return the row of one network."""
        rows = self.rows.filter(pl.col("seed") == seed)
        if rows.is_empty():
            raise NotFound(f"seed: {seed} is not one of the {len(self):,} networks of {self.id}")
        return rows[:1]


@dataclass(frozen=True)
class ExploredRun:
    """A run: its settings by their ids, and where it lies."""

    path: Path
    settings: dict[str, Networks]

    def chosen(self, names: str) -> list[Networks]:
        """Return the settings of a list of ids with commas; all of them where it is empty."""
        if not names:
            return list(self.settings.values())
        wanted = dict.fromkeys(names.split(","))
        for name in wanted:
            if name not in self.settings:
                raise NotFound(f"setting: {name[:80]!r} is not in this run")
        return [self.settings[name] for name in wanted]

    @cached_property
    def window(self) -> Window:
        """Where most networks lie, and the exact counter."""
        return Window(*(end for name in CONDITIONS for end in self._usual(name)))

    def _usual(self, name: str) -> tuple[float, float]:
        numbers = np.concatenate([networks.columns[name] for networks in self.settings.values()])
        numbers = numbers[np.isfinite(numbers)]
        ends = [CONDITIONS[name], *(np.percentile(numbers, _KEPT) if len(numbers) else ())]
        margin = _MARGIN * max(max(ends) - min(ends), _NARROWEST)
        return float(min(ends) - margin), float(max(ends) + margin)

    def setting_of(self, edition: str, paper: PaperSetting) -> str | None:
        """Return the id of a row of the paper's table in one edition."""
        wanted = {"edition": edition, **paper._asdict()}
        return next((name for name, found in self.settings.items() if wanted.items() <= found.described.items()), None)


class Sample(NamedTuple):
    """Some of the networks in a window: the setting and the places of each, and how many there are in all."""

    places: list[tuple[Networks, Places]]
    inside: int


def sample(settings: Iterable[Networks], window: Window, limit: int) -> Sample:
    """Return the networks in a window, or as many of them as asked for, drawn fairly over all settings."""
    found = [(networks, np.flatnonzero(networks.inside(window))) for networks in settings]
    inside = sum(len(places) for _, places in found)
    found = [(networks, places[:limit]) for networks, places in found]
    keys = np.concatenate([networks.keys[places] for networks, places in found]) if found else np.zeros(0)
    if len(keys) > limit:
        last = np.partition(keys, limit - 1)[limit - 1]
        found = [(networks, places[networks.keys[places] <= last]) for networks, places in found]
    return Sample(found, inside)


def _id(described: dict[str, object]) -> str:
    words = {**described, "bias": "bias" if described["bias"] else "nobias"}
    return "-".join(str(word) for word in words.values())


def _numbers(column: pl.Series) -> Values:
    numbers = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if column.name in _HORIZONS:
        return np.where(numbers >= float(UNLIMITED), np.inf, numbers)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _places(values: Values, low: float, high: float, bins: int) -> Places:
    """Return the bin of each value; the greatest of all belongs to the last."""
    return np.minimum(((values - low) * (bins / (high - low))).astype(np.int64), bins - 1)
