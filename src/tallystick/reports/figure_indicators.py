"""Figure 1: how a/b and U are distributed after training, in the paper's eight panels."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tallystick.reports import drawing
from tallystick.reports.intervals import middle_range
from tallystick.reports.reading import Run, Values, values
from tallystick.reports.settings import TASKS, TRAIN_LENGTHS, Group, Setting

_FEWEST_BINS, _MOST_BINS = 30, 120
_HEIGHT = 0.72  # of a strip; the rest is for the cut shares


class Indicator(NamedTuple):
    """An indicator of the paper: its column, its letters, and the value the theorem asks for."""

    column: str
    letters: str
    condition: float


INDICATORS = (Indicator("ab_ratio", "a/b", -1.0), Indicator("recurrent_weight", "U", 1.0))


def draw_indicators(run: Run) -> Figure:
    """Draw the eight panels: without bias above, with bias below; a/b and U of binary, then of ternary.

    Each panel stacks one histogram a training length, each scaled to its own peak, because their widths differ by
    orders of magnitude and overlaid ones would hide each other.
    """
    edition = run.main_edition
    models = run.of_edition(edition)
    figure = Figure(figsize=(drawing.WIDTH, 4.3), layout="constrained")
    grid = figure.subplots(2, 4)
    for row, bias in enumerate((False, True)):
        for column, (task, indicator) in enumerate((task, indicator) for task in TASKS for indicator in INDICATORS):
            found = {
                length: values(models[setting], indicator.column)
                for length in TRAIN_LENGTHS
                if (setting := Setting(task, bias, length)) in models
            }
            _draw_panel(grid[row, column], Group(task, bias), indicator, found)
    _legend(figure)
    drawing.footnote(figure, _described(run, edition))
    return figure


def _draw_panel(axes: Axes, group: Group, indicator: Indicator, found: Mapping[int, Values]) -> None:
    low, high = middle_range(found.values(), indicator.condition)
    for place, (length, numbers) in enumerate(found.items()):
        _draw_ridge(axes, len(found) - 1 - place, length, numbers, (low, high))
    axes.axvline(indicator.condition, color=drawing.CONDITION_COLOUR, linewidth=0.8, linestyle=(0, (5, 2)), zorder=3)
    axes.set_xlim(low, high)
    axes.set_ylim(0, max(len(found), 1) + 0.02)
    axes.set_title(f"{indicator.letters}, {group}")
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


def _legend(figure: Figure) -> None:
    handles = [
        Line2D([], [], color=colour, linestyle=drawing.LENGTH_STYLES[length], label=f"training length {length}")
        for length, colour in drawing.LENGTH_COLOURS.items()
    ]
    handles += [
        Line2D([], [], color=drawing.CONDITION_COLOUR, linestyle=(0, (5, 2)), linewidth=0.8, label="condition"),
        Line2D([], [], color=drawing.FAINT, marker="^", markersize=4, linestyle="none", label="median"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False, handlelength=2.6)


def _described(run: Run, edition: str) -> str:
    sizes = sorted({len(table) for table in run.of_edition(edition).values()})
    seeds = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    gradient = run.record.get("gradient")
    return (
        f"Edition {edition}, {run.precision(edition)}, {seeds} seeds a setting"
        + (f", gradient {gradient}" if gradient else "")
        + ".\nEach histogram is scaled to its own peak; ◂ and ▸ tell the share of seeds cut off on that side."
    )
