"""A sweep: every combination of some learning rates, initial scales, training lengths, epochs and optimisers, as one run.

Its heat maps show over two of the axes how many seeds count, and how far the median seed holds. Where further axes have several
values, there is a pair of maps for each of their combinations.
"""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.cells import ScalarCell
from tallystick.errors import BadInput
from tallystick.files import write_bytes, write_text
from tallystick.reports import drawing
from tallystick.reports.findings import percent
from tallystick.runs.directory import HISTOGRAMS, MODELS, SUMMARY, RunDirectory
from tallystick.runs.evaluation import horizons_of_run, indicators_of_run
from tallystick.runs.jobs import ALL, VARIED, Generated, Job, Keep, check_run, fresh_job
from tallystick.runs.resuming import at_work_in
from tallystick.training.setting import OWN, Setting

MOST_POINTS = 10_000

Point = Mapping[str, object]

_IN_A_ROW = 4
_PANEL = 1.8  # inches
_DARK = 0.6  # of a colour's range, from where on white letters are easier to read
_LEAST_SCALE = 8.0  # where all horizons are smaller, none looks great
_BELOW_INFINITY = 0.85  # of a colour's range, for the greatest horizon that is a number
_NOTE = "Horizon: up to which length a network is right on all strings; every length counts, ∞ is all of them."


@dataclass(frozen=True)
class Grid:
    """The values of each axis; a field of `Setting` each."""

    learning_rate: tuple[float, ...] = (0.005,)
    initial_scale: tuple[float, ...] = (1.0,)
    train_length: tuple[int, ...] = (8,)
    epochs: tuple[int, ...] = (100,)
    optimiser: tuple[str, ...] = (OWN,)

    def __post_init__(self) -> None:
        """Refuse axes that are empty or repeat a value, and more points than can be looked at."""
        points = 1
        for name, values in self.axes.items():
            if not values:
                raise BadInput(f"{name}: no value; a sweep needs one at least")
            if len(set(values)) < len(values):
                raise BadInput(f"{name}: a value stands twice in {', '.join(map(str, values))}")
            points *= len(values)
        if points > MOST_POINTS:
            raise BadInput(f"sweep: {points:,} points are more than {MOST_POINTS:,}")

    @property
    def axes(self) -> dict[str, tuple[float | str, ...]]:
        """The values by the axis's name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def settings(self, base: Setting) -> list[Setting]:
        """Return the settings of all points, which are like `base` otherwise."""
        points = (dict(zip(self.axes, point, strict=True)) for point in product(*self.axes.values()))
        return [replace(base, **{name: _of_kind(name, value) for name, value in point.items()}) for point in points]


AXES = tuple(field.name for field in fields(Grid))


def _of_kind(axis: str, value: object) -> object:
    """Make a whole number a float where the axis has floats: a column has one kind."""
    return float(value) if isinstance(value, int) and axis in ("learning_rate", "initial_scale") else value


def sweep_jobs(base: Setting, grid: Grid, seeds: int, seed: int, keep: Keep = ALL) -> list[Job]:
    """Return a job for every point: the same seeds everywhere, and the same strings for the same training length."""
    if not issubclass(base.kind, ScalarCell):
        raise BadInput(f"cell: {base.cell!r} may have several units; a sweep is over cells with one")
    settings = grid.settings(base)
    for length in grid.train_length:
        check_run(replace(base, train_length=length, epochs=max(grid.epochs)), seeds, seed, keep)
    keep.check_seeds(seeds * len(settings))
    of_length = {
        n: fresh_job("fresh", replace(base, train_length=n), seeds, Generated(seed)) for n in grid.train_length
    }
    return [replace(of_length[setting.train_length], setting=setting, also=VARIED) for setting in settings]


def sweep_config(base: Setting, grid: Grid, seeds: int, seed: int, keep: Keep = ALL) -> dict[str, object]:
    """Return what a sweep was asked for."""
    axes = {name: list(values) for name, values in grid.axes.items()}
    return {"command": "sweep", **asdict(base), **axes, "seeds": seeds, "seed": seed, "keep": str(keep)}


def write_sweep(out: Path, points: Sequence[Point], x: str | None = None, y: str | None = None) -> list[str]:
    """Write the table and the heat maps of a sweep into its folder; return the names of all files that hold its results."""
    table = io.StringIO()
    writer = csv.DictWriter(table, points[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(points)
    with at_work_in(out):
        figures = drawing.files("sweep", lambda: draw_sweep(points, x, y))
        write_text(table.getvalue(), out / "sweep.csv")
        for name, content in figures.items():
            write_bytes(content, out / name)
    kept = [name for name in (MODELS, HISTOGRAMS, SUMMARY) if (out / name).exists()]
    return [*kept, "sweep.csv", *figures]


def points_of(directory: RunDirectory) -> list[dict[str, object]]:
    """Return what became of every point of a finished sweep: who counts, how far the others hold, and where they lie."""
    pairs = zip(indicators_of_run(directory), horizons_of_run(directory), strict=True)
    return [_point(places, horizons) for places, horizons in pairs]


def _point(places: dict[str, object], horizons: dict[str, object]) -> dict[str, object]:
    axes, proved, models = {name: horizons[name] for name in AXES}, horizons["proved"], horizons["models"]
    assert axes == {name: places[name] for name in AXES}
    assert isinstance(proved, int)
    assert isinstance(models, int)
    return {
        **axes,
        "models": models,
        "share_proved": proved / models,
        "share_meeting_conditions": places.get("share_meeting_conditions"),
        **{name: horizons[name] for name in ("horizon_all_median", "horizon_even_median")},
        **{name: places[name] for name in ("ab_ratio_median", "recurrent_weight_median") if name in places},
    }


class _Map(NamedTuple):
    """What is drawn in a panel: a title, colours, and from a number to its place among the colours and to a word."""

    title: str
    colours: str
    number: Callable[[Point], float]
    depth: Callable[[np.ndarray], np.ndarray]
    word: Callable[[float], str]


def axes_of(points: Sequence[Point], x: str | None = None, y: str | None = None) -> tuple[str, str]:
    """Return the two axes that are drawn: those asked for, or else the first that have several values."""
    for name, asked in (("x", x), ("y", y)):
        if asked is not None and asked not in AXES:
            raise BadInput(f"{name}: {asked!r} is not one of {', '.join(AXES)}")
    if x is not None and x == y:
        raise BadInput(f"y: {y!r} is drawn as x already")
    several_first = sorted(AXES, key=lambda name: len(_values(points, name)) == 1)
    x = x or next(name for name in several_first if name != y)
    return x, y or next(name for name in several_first if name != x)


def draw_sweep(points: Sequence[Point], x: str | None = None, y: str | None = None) -> Figure:
    """Draw the share of seeds that are right at every length, and below it the median horizon."""
    x, y = axes_of(points, x, y)
    others = [name for name in AXES if name not in (x, y) and len(_values(points, name)) > 1]
    combinations = list(product(*(_values(points, name) for name in others)))
    # A row for each value of the axis before the last, where that leaves room.
    columns = min(len(_values(points, others[-1])) if others else 1, _IN_A_ROW)
    rows = -(-len(combinations) // columns)
    figure = Figure(
        figsize=(drawing.WIDTH * max(columns, 2) / _IN_A_ROW, 2 * _PANEL * rows + 0.4), layout="constrained"
    )
    panels = figure.subplots(2 * rows, columns, squeeze=False)
    for panel in panels.flat:
        panel.set_visible(False)
    for place, combination in enumerate(combinations):
        at = dict(zip(others, combination, strict=True))
        row, column = divmod(place, columns)
        upper, lower = panels[2 * row : 2 * row + 2, column]
        for kind, panel in zip(_maps(points), (upper, lower), strict=True):
            _draw_map(panel, kind, _table(points, at, (x, y)))
            _label(panel, points, x, y)
        upper.set_title("\n".join([*(f"{_words(name)} {at[name]}" for name in at), _maps(points)[0].title]))
    drawing.footnote(figure, _NOTE if columns > 1 else _NOTE.replace("; ", ";\n"))
    return figure


def _maps(points: Sequence[Point]) -> tuple[_Map, _Map]:
    greatest = max([_LEAST_SCALE, *(h for h in map(_horizon, points) if np.isfinite(h))])

    def depth(horizons: np.ndarray) -> np.ndarray:
        scaled = _BELOW_INFINITY * np.log1p(horizons) / np.log1p(greatest)
        return np.where(np.isinf(horizons), 1.0, scaled)

    return (
        _Map("right at every length, %", "Blues", _share, lambda shares: shares, percent),
        _Map("horizon, median", "Oranges", _horizon, depth, _horizon_word),
    )


def _share(point: Point) -> float:
    share = point["share_proved"]
    assert isinstance(share, float)
    return share


def _horizon(point: Point) -> float:
    """The median horizon as a number; not one where none is worked out."""
    median = point["horizon_all_median"]
    if isinstance(median, int):
        return float(median)
    return np.inf if median == "unlimited" else np.nan


def _horizon_word(horizon: float) -> str:
    return "∞" if np.isinf(horizon) else "–" if np.isnan(horizon) else f"{horizon:,.0f}"


def _values(points: Sequence[Point], axis: str) -> list[object]:
    """Return an axis's values: numbers in their order, names as they come."""
    found = list(dict.fromkeys(point[axis] for point in points))
    return found if axis == "optimiser" else sorted(found, key=lambda value: float(str(value)))


def _table(points: Sequence[Point], at: Mapping[str, object], axes: tuple[str, str]) -> list[list[Point]]:
    """Return the points of one combination, row by row from the least y on."""
    x, y = axes
    chosen = {(p[y], p[x]): p for p in points if all(p[name] == value for name, value in at.items())}
    return [[chosen[down, across] for across in _values(points, x)] for down in _values(points, y)]


def _draw_map(panel: Axes, kind: _Map, table: list[list[Point]]) -> None:
    panel.set_visible(True)
    numbers = np.array([[kind.number(point) for point in row] for row in table])
    depths = kind.depth(numbers)
    panel.set_title(kind.title)
    panel.imshow(depths, cmap=kind.colours, vmin=0, vmax=1, origin="lower", aspect="auto")
    for (down, across), number in np.ndenumerate(numbers):
        colour = "white" if depths[down, across] > _DARK else "black"
        panel.text(across, down, kind.word(float(number)), ha="center", va="center", fontsize=6.5, color=colour)


def _label(panel: Axes, points: Sequence[Point], x: str, y: str) -> None:
    for name, values, ticks, label in (
        (x, _values(points, x), panel.set_xticks, panel.set_xlabel),
        (y, _values(points, y), panel.set_yticks, panel.set_ylabel),
    ):
        ticks(range(len(values)), [str(value) for value in values])
        label(_words(name))
    panel.tick_params(length=0)
    for side in panel.spines.values():
        side.set_visible(False)


def _words(axis: str) -> str:
    return axis.replace("_", " ")
