"""The paths of (a/b, U) during training, from the initial weights towards the point (−1, 1)."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from tallystick.reports import drawing
from tallystick.reports.paper import GROUPS, TRAIN_LENGTHS, PaperSetting
from tallystick.reports.reading import Run, by_setting

Points = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]  # seed, epoch, (a/b, U)

# Initial a/b has no mean and no variance, so no window holds every start; this one holds where training goes.
X_RANGE = (-2.6, 1.4)
Y_RANGE = (-0.9, 2.0)


def draw_paths(run: Run) -> Figure:
    """Draw one panel per setting, training lengths down and groups across, with one line per seed."""
    paths = by_setting(run.paths)
    figure = Figure(figsize=(drawing.WIDTH, 5.6), layout="constrained")
    grid = figure.subplots(len(TRAIN_LENGTHS), len(GROUPS), sharex=True, sharey=True)
    for row, length in enumerate(TRAIN_LENGTHS):
        for column, group in enumerate(GROUPS):
            setting = PaperSetting(*group, length)
            if setting in paths:
                _draw_panel(grid[row, column], length, _points(paths[setting]))
            if row == 0:
                grid[row, column].set_title(str(group))
        grid[row, 0].set_ylabel(f"training length {length}\nU")
    for axes in grid[-1]:
        axes.set_xlabel("a/b")
    _legend(figure)
    drawing.footnote(figure, _note(run))
    return figure


def _points(table: pl.DataFrame) -> Points:
    """Return the paths as an array; a path that misses epochs ends where its last epoch left it."""
    found = [
        part.sort("epoch").select("ab_ratio", "recurrent_weight").to_numpy()
        for part in table.sort("seed").partition_by("seed", maintain_order=True)
    ]
    longest = max(len(path) for path in found)
    return np.stack([np.concatenate([path, np.repeat(path[-1:], longest - len(path), axis=0)]) for path in found])


def _draw_panel(axes: Axes, length: int, points: Points) -> None:
    colour = drawing.LENGTH_COLOURS[length]
    # A step across a/b = ±∞ (b changes its sign) is a jump of the ratio, not of the weights; the line breaks there.
    axes.add_collection(LineCollection(_unbroken(points), colors=colour, linewidths=0.5, alpha=0.6))
    axes.plot(
        *points[:, 0].T,
        "o",
        markersize=2.4,
        markerfacecolor="white",
        markeredgecolor=drawing.FAINT,
        markeredgewidth=0.5,
    )
    axes.plot(*points[:, -1].T, "o", markersize=2.6, color=colour, zorder=4)
    axes.axvline(-1, color=drawing.CONDITION_COLOUR, linewidth=0.4, linestyle=(0, (4, 3)), zorder=0)
    axes.axhline(1, color=drawing.CONDITION_COLOUR, linewidth=0.4, linestyle=(0, (4, 3)), zorder=0)
    axes.plot(-1, 1, "+", markersize=12, markeredgewidth=0.9, color=drawing.CONDITION_COLOUR, zorder=3)
    axes.set_xlim(*X_RANGE)
    axes.set_ylim(*Y_RANGE)
    ends = int((~_seen(points[:, -1])).sum())
    starts = int((~_seen(points[:, 0])).sum())
    if starts or ends:
        text = f"outside: {starts} starts, {ends} ends of {len(points)}"
        box = {"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.5}
        axes.text(0.98, 0.02, text, transform=axes.transAxes, ha="right", fontsize=5.8, zorder=5, bbox=box)


def _unbroken(points: Points) -> list[np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    jump = 2 * (X_RANGE[1] - X_RANGE[0])
    pieces: list[np.ndarray[tuple[int, int], np.dtype[np.float64]]] = []
    for path in points:
        breaks = np.flatnonzero(~(np.abs(np.diff(path[:, 0])) < jump)) + 1
        pieces += [piece for piece in np.split(path, breaks) if len(piece) > 1]
    return pieces


def _seen(points: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    x, y = points.T
    return (X_RANGE[0] <= x) & (x <= X_RANGE[1]) & (Y_RANGE[0] <= y) & (y <= Y_RANGE[1])


def _legend(figure: Figure) -> None:
    handles = [
        drawing.mark("o", 3, drawing.FAINT, "start", face="white"),
        drawing.mark("o", 3, "#333333", "end"),
        drawing.mark("+", 8, drawing.CONDITION_COLOUR, "the conditions, (−1, 1)"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)


def _note(run: Run) -> str:
    epochs, seeds = run.paths["epoch"].max(), run.paths["seed"].n_unique()
    return f"(a/b, U) after each of {epochs} epochs, {seeds} seeds a setting, {run.precision(run.main_edition)}."
