"""What the explorer says of a run: where its networks lie, how their numbers are distributed, their paths, and Table 2.

The columns are those that are declared as explored (`runs/columns.py`), by their names.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import TypedDict

from tallystick.cells import VectorCell
from tallystick.explore.answers import as_float
from tallystick.explore.run import PLANE, ExploredRun, Networks, NotFound, Places, Values, Window, sample
from tallystick.networks import network_to_json
from tallystick.reports import paper, table
from tallystick.reports.findings import Interval, middle_range
from tallystick.reports.reading import Run, by_setting, read_run
from tallystick.runs.columns import COLUMNS, explored_columns

_FILES = ("replicates.parquet", "paths.parquet", "record.json")
_FOLLOWED = "fresh"
"""The edition whose first seeds are followed along training."""

UNLIMITED = "unlimited"


class ShownColumn(TypedDict):
    """A column of a run; `condition` is the value that the theorem asks for, if it asks for one."""

    name: str
    title: str
    condition: float | None


class RunSummary(TypedDict):
    """A run: its name and its settings, what tells these apart, its columns, and what else there is of it.

    A setting has an `id`, a `title`, its number of `models`, the fields that tell it from others, and `in_plane`, whether the
    regions speak of its networks: linear, binary, no bias. `plane` has the columns across and upwards, `window` where most
    networks lie in it, and `counter` where the exact counters do, null where they are no single point. `has_units` says whether
    the networks have several units.
    """

    name: str
    models: int
    settings: list[dict[str, Any]]
    fields: list[dict[str, str]]
    columns: list[ShownColumn]
    plane: list[ShownColumn]
    counter: list[float] | None
    has_units: bool
    window: dict[str, float]
    has_paths: bool
    has_table: bool


class Bins(TypedDict):
    """How many networks lie in each cell of a grid, ny rows of nx, the lowest first."""

    counts: list[list[int]]
    total: int
    inside: int


class Point(TypedDict):
    """One trained network and its values by column: a number, `unlimited`, or null where there is none."""

    setting: str
    seed: int
    values: dict[str, float | int | str | None]


class Points(TypedDict):
    """Networks in a window; a sample of them where there are more than asked for, the same for the same window."""

    points: list[Point]
    inside: int


class Series(TypedDict):
    """The histogram of one setting; unlimited horizons are counted above."""

    setting: str
    counts: list[int]
    below: int
    above: int
    missing: int
    median: float | None
    total: int


class Histogram(TypedDict):
    """How a column is distributed, setting by setting, over common bins."""

    column: str
    condition: float | None
    edges: list[float]
    series: list[Series]


class TrainingPath(TypedDict):
    """A seed's coordinates in the plane after each epoch, the start included; null where there is no number."""

    setting: str | None
    seed: int
    values: dict[str, list[float | None]]


class Paths(TypedDict):
    """Training paths."""

    paths: list[TrainingPath]


class RunModel(TypedDict):
    """A trained network, exactly, and the arithmetic that it was trained in."""

    network: dict[str, Any]
    arithmetic: str


class Table(TypedDict):
    """Table 2, edition by edition: its columns with the run's column of each, and rows with one entry per column, in percent."""

    columns: list[dict[str, str]]
    editions: list[dict[str, Any]]


def summary_of(run: ExploredRun) -> RunSummary:
    """Return what there is of a run."""
    titles = {column.name: column.title for column in COLUMNS}
    fields = dict.fromkeys(name for networks in run.settings.values() for name in networks.described)
    has_report, has_units = _has_report(run.path), issubclass(run.kind, VectorCell)
    columns: dict[str, ShownColumn] = {
        column.name: {"name": column.name, "title": column.title or column.name, "condition": column.centre}
        for column in explored_columns(run.kind)
    }
    return {
        "name": run.path.resolve().name,
        "models": sum(map(len, run.settings.values())),
        "settings": [_setting(networks) for networks in run.settings.values()],
        "fields": [{"name": name, "title": titles.get(name) or name.replace("_", " ")} for name in fields],
        "columns": list(columns.values()),
        "plane": [columns[name] for name in run.plane],
        "counter": None if has_units else [columns[name]["condition"] or 0.0 for name in run.plane],
        "has_units": has_units,
        "window": run.window._asdict(),
        "has_paths": has_report,
        "has_table": has_report,
    }


def _setting(networks: Networks) -> dict[str, Any]:
    own = {"id": networks.id, "title": networks.title, "models": len(networks), "in_plane": networks.in_plane}
    return {**networks.described, **own}


def bins_of(settings: list[Networks], window: Window, nx: int, ny: int) -> Bins:
    """Count the networks in a grid over a window."""
    counts = np.zeros((ny, nx), np.int64)
    for networks in settings:
        counts += networks.counts(window, nx, ny)
    return {"counts": counts.tolist(), "total": sum(map(len, settings)), "inside": int(counts.sum())}


def points_of(settings: list[Networks], window: Window, limit: int) -> Points:
    """List networks in a window, each with its values."""
    found = sample(settings, window, limit)
    points = [point for networks, places in found.places for point in _points(networks, places)]
    return {"points": points, "inside": found.inside}


def _points(networks: Networks, places: Places) -> list[Point]:
    whole = {column.name for column in explored_columns() if column.dtype.is_integer()}
    columns = {
        name: [_value(number, whole=name in whole) for number in values[places].tolist()]
        for name, values in networks.columns.items()
    }
    return [
        {"setting": networks.id, "seed": seed, "values": dict(zip(columns, values, strict=True))}
        for seed, *values in zip(networks.seeds[places].tolist(), *columns.values(), strict=True)
    ]


def _value(number: float, *, whole: bool) -> float | int | str | None:
    if number == np.inf:
        return UNLIMITED
    return int(number) if whole and np.isfinite(number) else as_float(number)


def histogram(settings: list[Networks], name: str, bins: int, ends: Interval | None = None) -> Histogram:
    """Return the counts in bins between two ends, and how many lie below, above and nowhere."""
    (condition,) = (column.centre for column in explored_columns() if column.name == name)
    if any(name not in networks.columns for networks in settings):
        raise NotFound(f"column: {name} is not in this run")
    numbers = {networks.id: networks.columns[name] for networks in settings}
    low, high = middle_range(numbers.values(), *([] if condition is None else [condition])) if ends is None else ends
    edges = np.linspace(low, high, bins + 1)
    series = [_series(setting, values, edges) for setting, values in numbers.items()]
    return {"column": name, "condition": condition, "edges": edges.tolist(), "series": series}


def _series(setting: str, values: Values, edges: Values) -> Series:
    low, high = edges[0], edges[-1]
    known = values[~np.isnan(values)]
    return {
        "setting": setting,
        "counts": np.histogram(known, len(edges) - 1, (low, high))[0].tolist(),
        "below": int((values < low).sum()),
        "above": int((values > high).sum()),
        "missing": len(values) - len(known),
        "median": as_float(np.median(known)) if len(known) else None,
        "total": len(values),
    }


def paths_of(run: ExploredRun, names: str, limit: int) -> Paths:
    """Return the paths of the first seeds of some settings, so many in all that they can be drawn."""
    wanted = [networks.id for networks in run.choose(names)]
    found: list[TrainingPath] = []
    for setting, rows in by_setting(_read(run.path).paths).items():
        name = run.setting_of(_FOLLOWED, setting)
        if name in wanted:
            for (seed,), path in rows.sort("seed", "epoch").group_by("seed", maintain_order=True):
                values = {column: [as_float(value) for value in path[column]] for column in PLANE}
                found.append({"setting": name, "seed": int(str(seed)), "values": values})
    found.sort(key=lambda path: path["seed"])  # so that a limit takes from every setting
    return {"paths": found[:limit]}


def network_of(run: ExploredRun, setting: str, seed: int) -> RunModel:
    """Return one network, its weights exact."""
    networks = run.choose(setting)[0]
    return {"network": network_to_json(networks.network(seed)), "arithmetic": str(networks.described["precision"])}


def table_of(run: ExploredRun) -> Table:
    """Return Table 2 beside the paper's numbers."""
    found, rows = _read(run.path), _rows(run.path)
    columns = [
        {"id": name, "title": title, "column": f"accuracy_{name}"} for name, title in paper.COLUMN_TITLES.items()
    ]
    editions = [
        {
            "id": edition,
            "title": table.heading(found, edition),
            "legend": table.legend(found, rows, edition),
            "rows": [
                {
                    "setting": run.setting_of(edition, setting),
                    "group": str(setting.group),
                    "train_length": setting.train_length,
                    "entries": {row.column: _entry(row) for row in entries},
                }
                for setting, entries in table.lines(rows, edition).items()
            ],
        }
        for edition in found.editions
    ]
    return {"columns": columns, "editions": editions}


def _entry(row: table.Row) -> dict[str, object]:
    return {
        "avg": row.avg,
        "min": row.min,
        "max": row.max,
        "mean": row.ensemble_mean,
        "band": row.band,
        "inside": row.inside,
        "paper": row.printed._asdict(),
        "note": row.note,
    }


def _has_report(path: Path) -> bool:
    """Say whether a run has what a report needs; one that was only trained does not."""
    return all((path / name).is_file() for name in _FILES)


@lru_cache(maxsize=1)
def _read(path: Path) -> Run:
    if not _has_report(path):
        raise NotFound("this run has no table: tallystick reproduce makes one that has")
    return read_run(path)


@lru_cache(maxsize=1)
def _rows(path: Path) -> list[table.Row]:
    return table.table_rows(_read(path))
