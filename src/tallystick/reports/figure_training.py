"""What training leads to: Figure 1, a/b and U over seeds; their paths during training; accuracy in float32 beside float64."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tallystick.reports import drawing
from tallystick.reports.findings import middle_range
from tallystick.reports.paper import GROUPS, TASKS, TRAIN_LENGTHS, Group, PaperSetting, printed_table
from tallystick.reports.reading import Run, Values, by_setting, values
from tallystick.runs.columns import COLUMNS, Column

_FEWEST_BINS, _MOST_BINS = 30, 120
_HEIGHT = 0.72  # of a strip; the rest is for the cut shares
# Single precision decides the result of these.
PRECISION_SETTINGS = tuple(PaperSetting("ternary", bias, 8) for bias in (False, True))
_TOKENS = ("20", "50")
_PRECISION_COLOURS = {"float32": "#D55E00", "float64": "#0072B2"}
_LOWEST_ACCURACY = 60.0
_ACCURACY_BIN = 2.0
_ON_WHITE: dict[str, Any] = {"bbox": {"facecolor": "white", "linewidth": 0, "pad": 1.0}, "zorder": 3, "fontsize": 6.8}
INDICATORS = ("ab_ratio", "recurrent_weight")
"""The columns of Figure 1; their titles and the values that the theorem asks for are declared with them."""

Points = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]  # seed, epoch, (a/b, U)

# Initial a/b has no mean and no variance, so no window holds every start; this one holds where training goes.
X_RANGE = (-2.6, 1.4)
Y_RANGE = (-0.9, 2.0)
Path = np.ndarray[tuple[int, int], np.dtype[np.float64]]  # epoch, (a/b, U)


def draw_indicators(run: Run) -> Figure:
    """Draw the eight panels: without bias above, with bias below; a/b and U of binary, then of ternary.

    Each panel stacks one histogram per training length, each scaled to its own peak, because their widths differ by
    orders of magnitude and overlaid ones would hide each other.
    """
    edition = run.main_edition
    models = run.of_edition(edition)
    figure = Figure(figsize=(drawing.WIDTH, 4.3), layout="constrained")
    grid = figure.subplots(2, 4)
    indicators = [column for column in COLUMNS if column.name in INDICATORS]
    for row, bias in enumerate((False, True)):
        for column, (task, indicator) in enumerate((task, indicator) for task in TASKS for indicator in indicators):
            found = {
                length: values(models[setting], indicator.name)
                for length in TRAIN_LENGTHS
                if (setting := PaperSetting(task, bias, length)) in models
            }
            _draw_ridges(grid[row, column], Group(task, bias), indicator, found)
    _indicators_legend(figure)
    drawing.footnote(figure, _indicators_note(run, edition))
    return figure


def _draw_ridges(axes: Axes, group: Group, indicator: Column, found: Mapping[int, Values]) -> None:
    condition = indicator.centre or 0.0
    low, high = middle_range(found.values(), condition)
    for place, (length, numbers) in enumerate(found.items()):
        _draw_ridge(axes, len(found) - 1 - place, length, numbers, (low, high))
    axes.axvline(condition, color=drawing.CONDITION_COLOUR, linewidth=0.8, linestyle=(0, (5, 2)), zorder=3)
    axes.set_xlim(low, high)
    axes.set_ylim(0, max(len(found), 1) + 0.02)
    axes.set_title(f"{indicator.title}, {group}")
    axes.locator_params(axis="x", nbins=5)
    drawing.bare_side(axes)


def _draw_ridge(axes: Axes, base: int, length: int, numbers: Values, ends: tuple[float, float]) -> None:
    """Draw one histogram on its own line, and say what share of the models lies outside on either side."""
    low, high = ends
    colour, style = drawing.LENGTH_COLOURS[length], drawing.LENGTH_STYLES[length]
    bins = int(np.clip(2 * np.sqrt(len(numbers)), _FEWEST_BINS, _MOST_BINS))  # few seeds need wide bars
    counts, edges = np.histogram(numbers[np.isfinite(numbers)], bins=bins, range=ends)
    heights = base + _HEIGHT * counts / max(counts.max(), 1)
    axes.stairs(heights, edges, baseline=base, fill=True, color=colour, alpha=0.35, linewidth=0)
    axes.stairs(heights, edges, baseline=base, color=colour, linewidth=0.8, linestyle=style)
    axes.axhline(base, color=drawing.FAINT, linewidth=0.4)
    axes.plot(np.nanmedian(numbers), base, marker="^", color=colour, markersize=4, clip_on=False, zorder=4)
    left, right, none = (float(np.mean(part)) for part in (numbers < low, numbers > high, ~np.isfinite(numbers)))
    _write_cut(axes, base, f"◂ {_percent(left)}" if left else "", "left", 0.0)
    _write_cut(axes, base, f"{_percent(right)} ▸" if right else "", "right", 1.0)
    if none:
        _write_cut(axes, base, f"undefined {_percent(none)}", "center", 0.5)


def _write_cut(axes: Axes, base: int, text: str, side: str, place: float) -> None:
    axes.annotate(
        text,
        xy=(place, base + 0.96),
        xycoords=("axes fraction", "data"),
        ha=side,
        va="top",
        fontsize=5.8,
        color="#333333",
        zorder=5,
        bbox={"facecolor": "white", "alpha": 0.9, "linewidth": 0, "pad": 0.5},
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _indicators_legend(figure: Figure) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle=drawing.LENGTH_STYLES[length], label=f"training length {length}")
        for length, colour in drawing.LENGTH_COLOURS.items()
    ]
    handles += [
        Line2D([], [], color=drawing.CONDITION_COLOUR, linestyle=(0, (5, 2)), linewidth=0.8, label="condition"),
        drawing.mark("^", 4, drawing.FAINT, "median"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False, handlelength=2.6)


def _indicators_note(run: Run, edition: str) -> str:
    sizes = sorted({len(table) for table in run.of_edition(edition).values()})
    seeds = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    gradient = run.record.get("gradient")
    return (
        f"Edition {edition}, {run.precision(edition)}, {seeds} seeds a setting"
        + (f", gradient {gradient}" if gradient else "")
        + ".\nEach histogram is scaled to its own peak; ◂ and ▸ tell the share of seeds cut off on that side."
    )


def draw_paths(run: Run) -> Figure:
    """Draw one panel per setting, training lengths down and groups across, with one line per seed."""
    paths = by_setting(run.paths)
    figure = Figure(figsize=(drawing.WIDTH, 5.6), layout="constrained")
    grid = figure.subplots(len(TRAIN_LENGTHS), len(GROUPS), sharex=True, sharey=True)
    for row, length in enumerate(TRAIN_LENGTHS):
        for column, group in enumerate(GROUPS):
            setting = PaperSetting(*group, length)
            if setting in paths:
                _draw_paths_panel(grid[row, column], length, _points(paths[setting]))
            if row == 0:
                grid[row, column].set_title(str(group))
        grid[row, 0].set_ylabel(f"training length {length}\nU")
    for axes in grid[-1]:
        axes.set_xlabel("a/b")
    _paths_legend(figure)
    drawing.footnote(figure, _paths_note(run))
    return figure


def _points(table: pl.DataFrame) -> Points:
    """Return the paths as an array; a path that misses epochs ends where its last epoch left it."""
    found = [
        part.sort("epoch").select("ab_ratio", "recurrent_weight").to_numpy()
        for part in table.sort("seed").partition_by("seed", maintain_order=True)
    ]
    longest = max(len(path) for path in found)
    return np.stack([np.concatenate([path, np.repeat(path[-1:], longest - len(path), axis=0)]) for path in found])


def _draw_paths_panel(axes: Axes, length: int, points: Points) -> None:
    colour = drawing.LENGTH_COLOURS[length]
    # A step across a/b = ±∞ (b changes its sign) is a jump of the ratio, not of the weights; the line breaks there.
    axes.add_collection(LineCollection(_pieces(points), colors=colour, linewidths=0.5, alpha=0.6))
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
    ends = int((~_in_view(points[:, -1])).sum())
    starts = int((~_in_view(points[:, 0])).sum())
    if starts or ends:
        text = f"outside: {starts} starts, {ends} ends of {len(points)}"
        box = {"facecolor": "white", "alpha": 0.85, "linewidth": 0, "pad": 0.5}
        axes.text(0.98, 0.02, text, transform=axes.transAxes, ha="right", fontsize=5.8, zorder=5, bbox=box)


def _pieces(points: Points) -> list[Path]:
    jump = 2 * (X_RANGE[1] - X_RANGE[0])
    pieces: list[Path] = []
    for path in points:
        breaks = np.flatnonzero(~(np.abs(np.diff(path[:, 0])) < jump)) + 1
        pieces += [piece for piece in np.split(path, breaks) if len(piece) > 1]
    return pieces


def _in_view(points: Path) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    x, y = points.T
    return (X_RANGE[0] <= x) & (x <= X_RANGE[1]) & (Y_RANGE[0] <= y) & (y <= Y_RANGE[1])


def _paths_legend(figure: Figure) -> None:
    handles = [
        drawing.mark("o", 3, drawing.FAINT, "start", face="white"),
        drawing.mark("o", 3, "#333333", "end"),
        drawing.mark("+", 8, drawing.CONDITION_COLOUR, "the conditions, (−1, 1)"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)


def _paths_note(run: Run) -> str:
    epochs, seeds = run.paths["epoch"].max(), run.paths["seed"].n_unique()
    return f"(a/b, U) after each of {epochs} epochs, {seeds} seeds a setting, {run.precision(run.main_edition)}."


def has_both_precisions(run: Run) -> bool:
    """Say whether the run holds what the figure compares."""
    return all(
        run.precision(edition) == precision and set(PRECISION_SETTINGS) <= set(run.of_edition(edition))
        for precision, edition in _precision_editions(run).items()
    )


def _precision_editions(run: Run) -> dict[str, str]:
    """Return the edition for each precision: the same strings and seeds in both."""
    return {"float32": "float32" if "float32" in run.editions else "fresh", "float64": "float64"}


def draw_precision(run: Run) -> Figure:
    """Draw accuracy over seeds, bias settings down and test lengths across, with the paper's average marked."""
    networks = {precision: run.of_edition(edition) for precision, edition in _precision_editions(run).items()}
    figure = Figure(figsize=(drawing.WIDTH, 3.6), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True)
    for row, setting in enumerate(PRECISION_SETTINGS):
        for column, tokens in enumerate(_TOKENS):
            found = {precision: values(rows[setting], f"accuracy_{tokens}") for precision, rows in networks.items()}
            _draw_strips(grid[row, column], found, float(printed_table()[setting, tokens].avg))
            grid[row, column].set_title(f"{setting.group}, {tokens} tokens")
    for axes in grid[-1]:
        axes.set_xlabel("accuracy of one network, %")
    strings = "the authors' strings" if "float32" in run.editions else "generated strings"
    drawing.footnote(
        figure,
        f"Ternary, training length 8, the published loss, {strings}; both strips on one scale.\n"
        "Dashed: the paper's ten-run average.",
    )
    return figure


def _draw_strips(axes: Axes, found: dict[str, Values], paper: float) -> None:
    lowest = min(_LOWEST_ACCURACY, *(float(accuracies.min()) for accuracies in found.values()))
    bins = np.arange(101.0, lowest - _ACCURACY_BIN, -_ACCURACY_BIN)[
        ::-1
    ]  # centred on 100, which is what most networks reach
    for base, (precision, accuracies) in enumerate(reversed(found.items())):
        _draw_strip(axes, base, precision, accuracies, bins)
    axes.axvline(paper, color=drawing.CONDITION_COLOUR, linewidth=0.9, linestyle=(0, (5, 2)))
    axes.annotate(
        f"paper {paper:.1f}",
        (paper, 2.0),
        xytext=(-3, -1),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=6.5,
    )
    axes.set_ylim(0, 2.05)
    axes.set_xlim(bins[0], 101.5)
    drawing.bare_side(axes)


def _draw_strip(axes: Axes, base: int, precision: str, accuracies: Values, bins: Values) -> None:
    shares = np.histogram(accuracies, bins)[0] / len(accuracies)
    perfect = int((accuracies >= 100 - 1e-6).sum())
    axes.stairs(base + 0.9 * shares, bins, baseline=base, fill=True, color=_PRECISION_COLOURS[precision], linewidth=0)
    axes.axhline(base, color=drawing.FAINT, linewidth=0.4)
    text = f"{precision}: mean {accuracies.mean():.1f} %,\n{perfect:,} of {len(accuracies):,} seeds at 100 %"
    axes.text(
        0.01,
        base + 0.8,
        text,
        color=_PRECISION_COLOURS[precision],
        va="top",
        **_ON_WHITE,
        transform=axes.get_yaxis_transform(),
    )
