"""The same networks in float32 and in float64: ternary, training length 8, where single precision decides the result."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.reports import drawing
from tallystick.reports.paper import printed_table
from tallystick.reports.reading import Run, Values, values
from tallystick.reports.settings import Setting

SETTINGS = tuple(Setting("ternary", bias, 8) for bias in (False, True))
_TOKENS = ("20", "50")
_COLOURS = {"float32": "#D55E00", "float64": "#0072B2"}
_LOWEST = 60.0
_BIN = 2.0
_ON_WHITE: dict[str, Any] = {"bbox": {"facecolor": "white", "linewidth": 0, "pad": 1.0}, "zorder": 3, "fontsize": 6.8}


def has_both_precisions(run: Run) -> bool:
    """Say whether the run holds what the figure compares."""
    return all(
        run.precision(edition) == precision and set(SETTINGS) <= set(run.of_edition(edition))
        for precision, edition in _editions(run).items()
    )


def _editions(run: Run) -> dict[str, str]:
    """Return the edition for each precision: the same strings and seeds in both."""
    return {"float32": "float32" if "float32" in run.editions else "fresh", "float64": "float64"}


def draw_precision(run: Run) -> Figure:
    """Draw accuracy over seeds, bias settings down and test lengths across, with the paper's average marked."""
    networks = {precision: run.of_edition(edition) for precision, edition in _editions(run).items()}
    figure = Figure(figsize=(drawing.WIDTH, 3.6), layout="constrained")
    grid = figure.subplots(2, 2, sharex=True)
    for row, setting in enumerate(SETTINGS):
        for column, tokens in enumerate(_TOKENS):
            found = {precision: values(rows[setting], f"accuracy_{tokens}") for precision, rows in networks.items()}
            _draw_panel(grid[row, column], found, float(printed_table()[setting, tokens].avg))
            grid[row, column].set_title(f"{setting.group}, {tokens} tokens")
    for axes in grid[-1]:
        axes.set_xlabel("accuracy of one network, %")
    drawing.footnote(
        figure,
        f"Ternary, training length 8, the published loss, {_strings(run)}; both strips on one scale.\n"
        "Dashed: the paper's ten-run average.",
    )
    return figure


def _strings(run: Run) -> str:
    return "the authors' strings" if "float32" in run.editions else "generated strings"


def _draw_panel(axes: Axes, found: dict[str, Values], paper: float) -> None:
    lowest = min(_LOWEST, *(float(accuracies.min()) for accuracies in found.values()))
    bins = np.arange(101.0, lowest - _BIN, -_BIN)[::-1]  # centred on 100, which is what most networks reach
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
    axes.stairs(base + 0.9 * shares, bins, baseline=base, fill=True, color=_COLOURS[precision], linewidth=0)
    axes.axhline(base, color=drawing.FAINT, linewidth=0.4)
    text = f"{precision}: mean {accuracies.mean():.1f} %,\n{perfect:,} of {len(accuracies):,} seeds at 100 %"
    axes.text(
        0.01, base + 0.8, text, color=_COLOURS[precision], va="top", **_ON_WHITE, transform=axes.get_yaxis_transform()
    )
