"""A run directory held in memory for looking at: one NumPy array per column, setting by setting.

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

from tallystick.cells import Cell, LinearCell, VectorCell
from tallystick.certificates.verdict import UNLIMITED
from tallystick.errors import BadInput
from tallystick.networks import Network
from tallystick.reports.paper import EDITIONS, PaperSetting
from tallystick.runs.columns import COLUMNS, LONG, Column, explored_columns

# A run directory is opened where one is given; what reads it loads JAX, which takes a second.
# ruff: noqa: PLC0415

Values = np.ndarray[tuple[int], np.dtype[np.float64]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Places = np.ndarray[tuple[int], np.dtype[np.int64]]

MOST_NETWORKS = 20_000_000
PLANE = ("ab_ratio", "recurrent_weight")
"""The columns that are the coordinates of the plane of cells with one unit."""

UNITS_PLANE = ("counting_r_squared", f"accuracy_{LONG}")
"""The same of cells with several units, of which no two weights say enough: how well a unit counts, and how far that carries."""

_KEPT = (5.0, 95.0)
_MARGIN, _NARROWEST = 0.15, 0.02
_PLAIN = {"cell": "linear", "method": "published", "precision": "float32"}


class NotFound(BadInput):
    """There is no such thing in what is being explored."""


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
        columns: the numbers to look at, column by column; a missing one is NaN, an unlimited horizon infinite.
        keys: the random keys, which grow.
        plane: the columns that are its coordinates in the plane.
    """

    described: dict[str, object]
    rows: pl.DataFrame
    seeds: Places
    columns: dict[str, Values]
    keys: Values
    plane: tuple[str, str]

    @classmethod
    def of(cls, described: dict[str, object], rows: pl.DataFrame, kind: type[Cell]) -> "Networks":
        """Hold a setting's rows, whose networks have a kind of cell."""
        generator = np.random.default_rng(list(_id(described).encode()))  # a key is no other network's
        order = generator.permutation(len(rows))
        columns = {column.name: _numbers(rows[column.name], column)[order] for column in explored_columns(kind)}
        keys = np.sort(generator.random(len(rows)))
        plane = UNITS_PLANE if issubclass(kind, VectorCell) else PLANE
        return cls(described, rows, rows["seed"].to_numpy()[order], columns, keys, plane)

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
        asked = (self.described["cell"], self.described["task"], self.described["bias"])
        return self.plane == PLANE and asked == ("linear", "binary", False)

    def __len__(self) -> int:
        return len(self.keys)

    def inside(self, window: Window) -> Mask:
        """Return which networks lie in a window, its edges included; one without coordinates lies in none."""
        x, y = (self.columns[name] for name in self.plane)
        return (x >= window.x0) & (x <= window.x1) & (y >= window.y0) & (y <= window.y1)

    def counts(self, window: Window, nx: int, ny: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """Count the networks in a grid over a window."""
        inside = self.inside(window)
        x, y = (self.columns[name][inside] for name in self.plane)
        column, row = _places(x, window.x0, window.x1, nx), _places(y, window.y0, window.y1, ny)
        return np.bincount(row * nx + column, minlength=nx * ny).reshape(ny, nx)

    def network(self, seed: int) -> Network:
        """Return one network, its weights as they were trained."""
        from tallystick.runs.rows import ensemble_of
        from tallystick.training.setting import Setting

        rows = self.rows.filter(pl.col("seed") == seed)
        if rows.is_empty():
            raise NotFound(f"seed: {seed} is not one of the {len(self):,} networks of {self.id}")
        setting = Setting(**{name: value for name, value in self.described.items() if name != "edition"})  # type: ignore[arg-type]
        return ensemble_of(rows[:1], setting).network(0)


@dataclass(frozen=True)
class ExploredRun:
    """A run: its settings by their ids, where it lies, and the kind of its networks' cells."""

    path: Path
    settings: dict[str, Networks]
    kind: type[Cell] = LinearCell

    @property
    def plane(self) -> tuple[str, str]:
        """The columns that are the coordinates of the plane."""
        return next(iter(self.settings.values())).plane

    def choose(self, names: str) -> list[Networks]:
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
        return Window(*(end for name in self.plane for end in self._usual_range(name)))

    def _usual_range(self, name: str) -> tuple[float, float]:
        numbers = np.concatenate([networks.columns[name] for networks in self.settings.values()])
        numbers = numbers[np.isfinite(numbers)]
        (condition,) = (column.centre for column in COLUMNS if column.name == name)
        kept = _KEPT if self.plane == PLANE else (0, 100)  # a/b has no bounds, R² and accuracies have
        known = [*([] if condition is None else [condition]), *(np.percentile(numbers, kept) if len(numbers) else ())]
        ends = known or [0.0]
        margin = _MARGIN * max(max(ends) - min(ends), _NARROWEST)
        return float(min(ends) - margin), float(max(ends) + margin)

    def setting_of(self, edition: str, paper: PaperSetting) -> str | None:
        """Return the id of a row of the paper's table in one edition."""
        wanted = {"edition": edition, **paper._asdict()}
        return next((name for name, found in self.settings.items() if wanted.items() <= found.described.items()), None)


def open_run(path: Path) -> ExploredRun:
    """Read a run directory; raise `BadInput` naming the file that is missing or not what it should be."""
    from tallystick.runs.directory import CONFIG, RunDirectory
    from tallystick.runs.jobs import DESCRIBED_BY, VARIED

    if not (path / CONFIG).is_file():
        raise BadInput(f"{path}: not a run directory; tallystick reproduce --out {path} makes one")
    directory = RunDirectory(path)
    kind = directory.cell
    rows = directory.rows()
    size = directory.collect(rows.select(pl.len())).item()
    if not 0 < size <= MOST_NETWORKS:
        raise BadInput(f"{path}: {size:,} networks; the explorer shows 1 to {MOST_NETWORKS:,}")
    columns = rows.collect_schema().names()
    names = ["edition", *DESCRIBED_BY, *(name for name in ("units", *VARIED) if name in columns)]
    parts = directory.models().partition_by(names, as_dict=True, maintain_order=True)
    found = [Networks.of(dict(zip(names, values, strict=True)), part, kind) for values, part in parts.items()]
    return ExploredRun(path, {networks.id: networks for networks in sorted(found, key=_place_in_paper)}, kind)


def _place_in_paper(networks: Networks) -> tuple[object, ...]:
    """Return what sorts settings as the paper's table does: editions nearest to it first, without bias first."""
    described, editions = networks.described, list(EDITIONS)
    edition = str(described["edition"])
    place = editions.index(edition) if edition in editions else len(editions)
    return place, described["bias"], described["task"], described["train_length"]


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


def _numbers(values: pl.Series, column: Column) -> Values:
    numbers = values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if column.dtype == pl.Int64:
        return np.where(numbers >= float(UNLIMITED), np.inf, numbers)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _places(values: Values, low: float, high: float, bins: int) -> Places:
    """Return the bin of each value; the greatest of all belongs to the last."""
    return np.minimum(((values - low) * (bins / (high - low))).astype(np.int64), bins - 1)
