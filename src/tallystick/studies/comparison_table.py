"""The comparison of cells and methods as a table, for the terminal, as CSV and as Markdown, and as one picture."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import csv
import io
from collections.abc import Mapping
from dataclasses import astuple
from math import isinf
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.cells import GatedCell, VectorCell
from tallystick.files import write_bytes, write_text
from tallystick.reports import drawing
from tallystick.runs.resuming import at_work_in
from tallystick.studies.compare import LONG, Comparison
from tallystick.training.setting import OWN, Setting

COLUMNS = (
    "cell",
    "task",
    "method",
    "seeds",
    "exact",
    "proved",
    "horizon_10",
    "horizon_50",
    "horizon_90",
    "horizon_greatest",
    "even_horizon_50",
    "even_horizon_greatest",
    "certified",
    "horizons_exact",
    "accuracy_50",
    f"accuracy_{LONG}",
    "failed",
)
HEADINGS = {
    "cell": "cell",
    "task": "task",
    "method": "method",
    "seeds": "seeds",
    "exact": "exact, %",
    "proved": "proved, %",
    "horizon_10": "horizon: 10 %",
    "horizon_50": "median",
    "horizon_90": "90 %",
    "horizon_greatest": "greatest",
    "even_horizon_50": "even: median",
    "even_horizon_greatest": "greatest, even",
    "horizons_exact": "horizons exact, %",
    "accuracy_50": "at 50, %",
    f"accuracy_{LONG}": f"at {LONG:,}, %",
    "failed": "failed, %",
}
"""What the printed tables show, and how it is called there."""

NARROW = {
    **{name: name for name in ("cell", "task", "method", "seeds")},
    "exact": "% exact",
    "proved": "% proved",
    "horizon_50": "horizon median",
    "horizon_greatest": "horizon greatest",
    "accuracy_50": "% at 50",
    f"accuracy_{LONG}": f"% at {LONG:,}",
}
"""The same of a table for a terminal, which has less room."""

UNLIMITED = "unlimited"
_PROVED = "#0072B2"
_HORIZON = "#D55E00"
_ROW = 0.21  # inches
_BEYOND = 3.0  # decades that "unlimited" stands beyond the greatest number


def as_record(found: Comparison) -> dict[str, object]:
    """Return a row as plain values: shares from 0 to 1, accuracies in percent, horizons whole or "unlimited"."""
    every, even = found.horizons, found.even_horizons
    horizons = [every.low, every.median, every.high, every.greatest, even.median, even.greatest]
    values = (
        *setting_words(found.setting),
        found.seeds,
        found.exact,
        found.proved,
        *(UNLIMITED if isinf(value) else int(value) for value in horizons),
        found.certified,
        found.horizons_exact,
        found.accuracy_50,
        found.accuracy_long,
        found.failed,
    )
    return dict(zip(COLUMNS, values, strict=True))


def setting_words(setting: Setting) -> tuple[str, str, str]:
    """Return the cell, the task and the method, with all else that differs from a plain setting.

    >>> setting_words(Setting("binary", False, 8, method="count", snap=True))
    ('linear', 'binary', 'count, snapped')
    """
    parts = [setting.method]
    several, gated = issubclass(setting.kind, VectorCell), issubclass(setting.kind, GatedCell)
    # Gated cells always have a bias, as libraries have them.
    parts += ["bias"] if setting.bias and not gated else []
    parts += [setting.precision] if setting.precision != "float32" else []
    parts += [f"{setting.gradients} gradients"] if setting.gradients != OWN else []
    parts += ["from an exact counter"] if setting.start == "exact" else []
    parts += ["snapped"] if setting.snap else []
    cell = f"{setting.cell}, {setting.units} {'unit' if setting.units == 1 else 'units'}" if several else setting.cell
    return cell, setting.task, ", ".join(parts)


def as_cells(found: Comparison, headings: Mapping[str, str] = HEADINGS) -> list[str]:
    """Return a row as it is printed under some headings."""
    record = as_record(found)
    return [_cell(name, record[name]) for name in headings]


def as_csv(rows: list[Comparison]) -> str:
    """Write every column of every row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_record(row) for row in rows)
    return text.getvalue()


def as_markdown(rows: list[Comparison]) -> str:
    """Write the printed table in Markdown."""
    lines = [list(HEADINGS.values()), ["---"] * len(HEADINGS), *(as_cells(row) for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def write_comparison(rows: list[Comparison], out: Path) -> None:
    """Write the table and the picture into a folder."""
    with at_work_in(out):
        write_text(as_csv(rows), out / "compare.csv")
        write_text(as_markdown(rows), out / "compare.md")
        for name, content in drawing.files("compare", lambda: draw_comparison(rows)).items():
            write_bytes(content, out / name)


def _cell(name: str, value: object) -> str:
    if value is None:
        return "–"
    if name in ("exact", "proved", "horizons_exact", "failed"):
        assert isinstance(value, float)
        return f"{100 * value:.2f}"
    if name.startswith("accuracy"):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def draw_comparison(rows: list[Comparison]) -> Figure:
    """Draw one line per row: the share proved on the left, the horizon's quantiles on the right."""
    figure = Figure(figsize=(drawing.WIDTH, 1.1 + _ROW * len(rows)), layout="constrained")
    shares, horizons = figure.subplots(1, 2, sharey=True, width_ratios=(1, 1.25))
    places = np.arange(len(rows))[::-1]
    _draw_shares(shares, rows, places)
    _draw_horizons(horizons, rows, places)
    shares.set_yticks(places, [" · ".join(setting_words(row.setting)) for row in rows])
    shares.set_ylim(-0.7, len(rows) - 0.3)
    for axes in (shares, horizons):
        axes.tick_params(axis="y", length=0)
    drawing.footnote(
        figure,
        "Proved: right on all strings of every length, in real arithmetic. Horizon: dot the median, line from the 10 %\n"
        "to the 90 % quantile, tick the greatest; every length counts. GRUs and LSTMs: a sample of the seeds.",
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
