"""The comparison in one picture: how many seeds count, and how far those that do not can be trusted."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from dataclasses import astuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.experiments.comparison import Comparison
from tallystick.reports import drawing
from tallystick.reports.comparison import described

_PROVED = "#0072B2"
_HORIZON = "#D55E00"
_ROW = 0.21  # inches
_BEYOND = 3.0  # decades that "unlimited" stands beyond the greatest number


def draw_comparison(rows: list[Comparison]) -> Figure:
    """Draw a line a row: the share proved on the left, the horizon's quantiles on the right."""
    figure = Figure(figsize=(drawing.WIDTH, 1.1 + _ROW * len(rows)), layout="constrained")
    shares, horizons = figure.subplots(1, 2, sharey=True, width_ratios=(1, 1.25))
    places = np.arange(len(rows))[::-1]
    _draw_shares(shares, rows, places)
    _draw_horizons(horizons, rows, places)
    shares.set_yticks(places, [" · ".join(described(row.setting)) for row in rows])
    shares.set_ylim(-0.7, len(rows) - 0.3)
    for axes in (shares, horizons):
        axes.tick_params(axis="y", length=0)
    drawing.footnote(
        figure,
        "Proved: right on all strings of every length, in real arithmetic. Horizon: dot the median, line from the 10 %\n"
        "to the 90 % quantile, tick the greatest; every length counts. Other cells than the linear one: a sample of the seeds.",
    )
    return figure


def _draw_shares(axes: Axes, rows: list[Comparison], places: np.ndarray) -> None:
    values = [100 * row.proved for row in rows]
    axes.barh(places, values, height=0.62, color=_PROVED)
    for place, value in zip(places, values, strict=True):
        axes.text(value + 1.5, place, f"{value:.1f}", va="center", fontsize=6)
    axes.set_xlim(0, 116)
    axes.set_xticks([0, 50, 100])
    axes.set_xlabel("seeds proved for all lengths, %")


def _draw_horizons(axes: Axes, rows: list[Comparison], places: np.ndarray) -> None:
    spreads = [astuple(row.horizons) for row in rows]
    finite = [value for spread in spreads for value in spread if np.isfinite(value)]
    greatest = max([10.0, *finite])
    edge = greatest * 10**_BEYOND if greatest < 1e4 else greatest * 30  # noqa: PLR2004 -- a wide axis needs less room
    for spread, place in zip(spreads, places, strict=True):
        low, middle, high, top = (min(max(value, 0.7), edge) for value in spread)
        axes.plot([low, high], [place, place], color=_HORIZON, linewidth=1.4, solid_capstyle="butt")
        axes.plot(middle, place, "o", color=_HORIZON, markersize=3.4)
        axes.plot(top, place, "|", color=_HORIZON, markersize=6)
    axes.set_xscale("log")
    axes.set_xlim(0.6, edge * 2)
    powers = range(0, int(np.log10(greatest)) + 1, 1 + int(np.log10(greatest)) // 4)
    axes.set_xticks([*(10.0**power for power in powers), edge], [*(f"$10^{{{power}}}$" for power in powers), "∞"])
    axes.minorticks_off()
    axes.set_xlabel("horizon (0 is drawn at the left edge)")
