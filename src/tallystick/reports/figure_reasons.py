"""Why training ends beside the exact counter: loss contours, the regions R_N and paths; and rounding along the way."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.certificates.regions import outline
from tallystick.explanations.explanation import RATIOS, RECURRENT_WEIGHTS
from tallystick.explanations.picture import NOISE_SETTING, Landscape
from tallystick.explanations.rounding import Noise
from tallystick.reports import drawing

_PATH_COLOUR = "#D55E00"
_REGION_COLOUR = "#000000"
_LEAST_COLOUR = "#0072B2"
_LEVELS = 14
# Longer training strings have smaller regions; each panel shows its own.
_VIEWS = {4: ((-1.1, -0.25), (0.7, 1.45)), 8: ((-1.05, -0.55), (0.9, 1.16))}


def draw_reasons(landscapes: list[Landscape], noise: Noise) -> Figure:
    """Draw a panel for each training length, and one for rounding."""
    figure = Figure(figsize=(drawing.WIDTH, 5.8), layout="constrained")
    grid = figure.subplots(2, 2)
    for axes, found in zip(grid.flat, landscapes, strict=False):
        _draw_landscape(axes, found)
    _draw_noise(grid.flat[len(landscapes)], noise)
    for axes in grid.flat[len(landscapes) + 1 :]:
        axes.set_axis_off()
    drawing.footnote(
        figure,
        "Grey: lines of equal loss (log scale, darker is less) at the scale v·a that trained networks reach;\n"
        "blue cross: least loss, where there is one in view. "
        "Black: R_N for even lengths, N the training length: inside it every training string is right.\n"
        f"Orange: paths of {landscapes[0].ratio_paths.shape[1]} seeds, dots where they end. "
        "+: the exact counter, a corner of every region.",
    )
    return figure


def _draw_landscape(axes: Axes, found: Landscape) -> None:
    setting = found.explanation.setting
    height = np.log10(np.maximum(found.loss, 1e-300))
    levels = np.linspace(height.min(), height.max(), _LEVELS)
    axes.contourf(RATIOS, RECURRENT_WEIGHTS, height, levels=levels, cmap="Greys_r", alpha=0.55, antialiased=True)
    sides = outline(RECURRENT_WEIGHTS, setting.train_length, "even")
    for side in sides:
        axes.plot(side, RECURRENT_WEIGHTS, color=_REGION_COLOUR, linewidth=0.8)
    axes.plot(found.ratio_paths, found.recurrent_paths, color=_PATH_COLOUR, linewidth=0.4, alpha=0.7)
    axes.plot(found.ratio_paths[-1], found.recurrent_paths[-1], ".", color=_PATH_COLOUR, markersize=3)
    if found.explanation.least_is_inside:
        axes.plot(*found.explanation.least, "x", color=_LEAST_COLOUR, markersize=7, markeredgewidth=1.6)
    axes.plot(-1, 1, "+", color=drawing.CONDITION_COLOUR, markersize=9, markeredgewidth=1.4)
    across, down = _VIEWS.get(
        setting.train_length, ((RATIOS[0], RATIOS[-1]), (RECURRENT_WEIGHTS[0], RECURRENT_WEIGHTS[-1]))
    )
    axes.set_xlim(*across)
    axes.set_ylim(*down)
    axes.set_title(f"{setting.task}, {'with' if setting.bias else 'no'} bias, training length {setting.train_length}")
    axes.set_xlabel("a/b")
    axes.set_ylabel("U")


def _draw_noise(axes: Axes, noise: Noise) -> None:
    epochs = np.arange(len(noise.signal))
    for name, values, colour in (
        ("gradient", noise.signal, _LEAST_COLOUR),
        ("its rounding", noise.noise, _PATH_COLOUR),
    ):
        low, middle, high = np.quantile(values, (0.1, 0.5, 0.9), axis=1)
        axes.fill_between(epochs, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(epochs, middle, color=colour, linewidth=1.2, label=name)
    taken = noise.taken_over()
    share = np.mean(taken >= 0)
    if share:
        axes.axvline(float(np.median(taken[taken >= 0])), color=drawing.FAINT, linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_yscale("log")
    axes.set_xlabel("epoch")
    axes.set_ylabel("root mean square over strings")
    axes.set_title(f"{NOISE_SETTING.task}, no bias, training length {NOISE_SETTING.train_length}, float32")
    axes.legend(frameon=False, loc="lower left")
    axes.text(
        0.98,
        0.98,
        f"in {100 * share:.0f} % of {noise.signal.shape[1]} seeds rounding reaches\nhalf the gradient (dashed: median epoch)",
        transform=axes.transAxes,
        ha="right",
        va="top",
        fontsize=6.5,
        color=drawing.FAINT,
        bbox={"facecolor": "white", "linewidth": 0, "pad": 1.5},
    )
