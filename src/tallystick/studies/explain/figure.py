"""Why training ends where it does: loss contours, regions and paths, and the gradient against its rounding along the way."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure

from tallystick.files import write_bytes
from tallystick.reports import drawing
from tallystick.studies.explain.explanation import Explanation, Landscape, landscape
from tallystick.studies.explain.rounding import NEVER, Rounding
from tallystick.studies.explain.words import setting_name

_PATH_COLOUR = "#D55E00"
_REGION_COLOUR = "#000000"
_LEAST_COLOUR = "#0072B2"
_LEVELS = 14
_FAR = 4  # from 0: well outside what is drawn
_SHADES = "Greys_r"
_ACROSS = 4  # panels
_PANEL, _FOOT = 1.75, 0.6  # inches
_SMALL = {"fontsize": 5.8, "color": drawing.FAINT}
_BAND = (0.1, 0.5, 0.9)
_HEADROOM = 300  # for the words above the curves

FILES = ("reasons.png", "reasons.pdf", "reasons.svg")

Picture = tuple[Landscape, Rounding | None]


def write_reasons(out: Path, found: list[tuple[Explanation, Rounding | None]], seed: int) -> None:
    """Draw explanations into the files of a folder."""
    pictures = [(landscape(one, seed), rounding) for one, rounding in found]
    for name, content in drawing.files("reasons", lambda: draw_reasons(pictures)).items():
        write_bytes(content, out / name)


def draw_reasons(pictures: list[Picture]) -> Figure:
    """Draw for each task and method the plane for every training length, and rounding for the longest."""
    groups = _groups(pictures)
    panels = max(map(len, groups)) + 1
    beside = min(len(groups), max(1, _ACROSS // panels))
    lines = -(-len(groups) // beside)
    height = _PANEL * max(1, _ACROSS / (beside * panels)) ** 0.5
    figure = Figure(figsize=(drawing.WIDTH, height * lines + _FOOT), layout="constrained")
    places = figure.subplots(lines, beside * panels, squeeze=False).reshape(-1, panels)
    for group, place in zip(groups, places, strict=False):
        _draw_group(group, list(place))
    for axes in places[len(groups) :].flat:
        axes.set_axis_off()
    drawing.footnote(figure, _note(pictures))
    return figure


def _groups(pictures: list[Picture]) -> list[list[Picture]]:
    """Return the pictures that differ in their training length alone."""
    found: dict[str, list[Picture]] = {}
    for picture in pictures:
        found.setdefault(setting_name(picture[0].explanation.setting), []).append(picture)
    return list(found.values())


def _draw_group(group: list[Picture], place: list[Axes]) -> None:
    *planes, last = place
    for (drawn, _), axes in zip(group, planes, strict=True):
        _draw_landscape(axes, drawn)
    longest, rounding = group[-1]
    planes[0].set_ylabel(f"{setting_name(longest.explanation.setting)}\nU")
    _draw_rounding(last, rounding)


def _note(pictures: list[Picture]) -> str:
    seeds = pictures[0][0].ratio_paths.shape[1]
    return (
        "Grey: loss at the scale v·a that trained networks reach, bands of equal area, darker is less; blue cross: least loss.\n"
        "Black: around the cells that are right, with that readout, on all strings up to the training length: R_N for the\n"
        "binary task without bias; even lengths, where no training string is odd. +: the exact counter.\n"
        f"Orange: paths of {seeds} seeds, dots where they end. Rounding: the gradient (blue) and its error (orange, dashed),\n"
        "root mean squares over as many steps as there are strings, median and 80 % of the seeds;\n"
        "dotted: the median step at which the error is half the gradient."
    )


def _draw_landscape(axes: Axes, found: Landscape) -> None:
    ratios, recurrent_weights = found.plane
    levels = _levels(found.loss)
    shades = BoundaryNorm(levels, mpl.colormaps[_SHADES].N)
    axes.contourf(ratios, recurrent_weights, found.loss, levels=levels, cmap=_SHADES, norm=shades, alpha=0.55)
    if (found.margin > 0).any() and (found.margin < 0).any():
        axes.contour(ratios, recurrent_weights, found.margin, levels=[0], colors=_REGION_COLOUR, linewidths=0.8)
    # Where b changes its sign a/b goes from one end to the other: a jump of the ratio, not of the weights.
    ratio_paths = np.where(np.abs(found.ratio_paths) < _FAR, found.ratio_paths, np.nan)
    axes.plot(ratio_paths, found.recurrent_paths, color=_PATH_COLOUR, linewidth=0.4, alpha=0.7)
    axes.plot(found.ratio_paths[-1], found.recurrent_paths[-1], ".", color=_PATH_COLOUR, markersize=3)
    if found.explanation.least is not None:
        _, *point = found.explanation.least
        axes.plot(*point, "x", color=_LEAST_COLOUR, markersize=6, markeredgewidth=1.4)
    axes.plot(-1, 1, "+", color=drawing.CONDITION_COLOUR, markersize=8, markeredgewidth=1.2)
    axes.set_xlim(ratios[0], ratios[-1])
    axes.set_ylim(recurrent_weights[0], recurrent_weights[-1])
    axes.locator_params(nbins=4)
    axes.set_xlabel("a/b", labelpad=1)
    axes.set_title(f"training length {found.explanation.setting.train_length}")


def _levels(loss: np.ndarray) -> np.ndarray:
    """Return heights with as much of the plane between each two: losses of any size and shape show."""
    levels = np.unique(np.quantile(loss, np.linspace(0, 1, _LEVELS)))
    return levels if len(levels) > 1 else np.array([levels[0], levels[0] + 1])


def _draw_rounding(axes: Axes, found: Rounding | None) -> None:
    if found is None:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "float64:\nno finer arithmetic", transform=axes.transAxes, ha="center", **_SMALL)
        return
    for values, colour, style in ((found.signal, _LEAST_COLOUR, "-"), (found.noise, _PATH_COLOUR, (0, (4, 1)))):
        low, middle, high = np.quantile(values, _BAND, axis=1)
        axes.fill_between(found.ends, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(found.ends, middle, color=colour, linewidth=1, linestyle=style)
    first = found.first[0][found.first[0] != NEVER]
    if len(first):
        axes.axvline(float(np.median(first)), color=drawing.FAINT, linewidth=0.8, linestyle=(0, (1, 1.5)))
    axes.set_yscale("log")
    axes.set_ylim(top=_HEADROOM * float(found.signal.max()))
    axes.set_title(f"rounding, length {found.setting.train_length}")
    axes.locator_params(axis="x", nbins=3)
    axes.set_xlabel("step")
    box = {"facecolor": "white", "linewidth": 0, "pad": 0.8}
    axes.text(0.97, 0.97, _taken_over(found), transform=axes.transAxes, ha="right", va="top", bbox=box, **_SMALL)


def _taken_over(found: Rounding) -> str:
    first = found.first[0]
    share = np.mean(first != NEVER)
    return f"half the gradient\nin {100 * share:.0f} % of {len(first)} seeds"
