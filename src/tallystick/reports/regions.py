"""The regions R_N of the plane (a/b, U), right on all strings up to length N: which networks lie in them, picture and section."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import re
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from tallystick.certificates.one_unit.regions import outline, reach
from tallystick.certificates.verdict import Lengths
from tallystick.reports import drawing
from tallystick.reports.paper import Group
from tallystick.reports.reading import Run
from tallystick.reports.table_formats import html_table

GROUP = Group("binary", bias=False)
"""The only networks that are points of the plane (a/b, U): any other has a bias somewhere, which is a third coordinate."""

LONG_TEST = 50
TITLE = "The result in one picture"
COUNTED = (2, 4, 8, 16, 32, LONG_TEST)
_MEANING = (
    "Whether a binary network without bias is right on a string depends on a/b and U alone, once the sign of v·a is right: it is "
    "a point of a plane. R_N holds the points that are right on all strings up to length N, exactly and not by sampling. "
    "The regions lie one in another and shrink to the exact counter, (−1, 1), which is a corner of each of them."
)
_WHY = (
    "Among the shortest strings that fail there is always a sorted one, all brackets of one kind before all of the other; a "
    "sample of long strings seldom holds it."
)

Points = np.ndarray[tuple[int, int], np.dtype[np.float64]]  # network, (a/b, U)

# One hue, from light to dark as the regions shrink; the networks' colours stand out on each.
SHADES = {2: "#ececf1", 4: "#d3d3de", 8: "#b3b3c6", 16: "#8b8ba8", 32: "#5c5c80"}
MARKERS = {2: "o", 4: "s", 8: "^"}
TITLES = {Lengths.ALL: "every length counts", Lengths.EVEN: "even lengths only, as in the paper's data"}
_LEAN = {32: -6}  # the tips of the smallest regions come so close that their names would touch
_STEPS = 100
_CROWD = 2000
_HALO = [withStroke(linewidth=1.6, foreground="white", alpha=0.7)]
_INWARDS = 1 - 1e-9  # the tip itself is empty


class Members(NamedTuple):
    """The networks of one training length: how many there are, their sampled accuracy, and how many are in each R_N."""

    train_length: int
    networks: int
    sampled_accuracy: float
    inside: dict[Lengths, dict[int, int]]


def networks(run: Run) -> dict[int, pl.DataFrame]:
    """Return the networks without bias of the main edition by training length, where their horizons were worked out."""
    found = {setting: models for setting, models in run.of_edition(run.main_edition).items() if setting.group == GROUP}
    decided = {setting.train_length: models.drop_nulls("horizon_all") for setting, models in found.items()}
    return {length: models for length, models in decided.items() if len(models)}


def in_plane(models: pl.DataFrame) -> pl.DataFrame:
    """Leave out the networks with v·a ≤ 0 among regions that they are not in: none of their lengths is right.

    With a/b < 0, v·a > 0 makes both strings of length 1 right. So the horizon tells the sign.
    """
    return models.filter(~((pl.col("ab_ratio") < 0) & (pl.col("recurrent_weight") > 0) & (pl.col("horizon_all") == 0)))


def members(run: Run, regions: tuple[int, ...]) -> list[Members]:
    """Count the networks in each R_N, by their exact horizons, for every training length."""
    return [
        Members(
            train_length=length,
            networks=len(models),
            sampled_accuracy=float(models[f"accuracy_{LONG_TEST}"].mean()),  # type: ignore[arg-type]  # never empty
            inside={
                lengths: {longest: int((models[f"horizon_{lengths}"] >= longest).sum()) for longest in regions}
                for lengths in Lengths
            },
        )
        for length, models in networks(run).items()
    ]


class View(NamedTuple):
    """A window of the plane, and the regions that are named in it: at their lower tip, or along the upper edge."""

    ratio: tuple[float, float]
    recurrent_weight: tuple[float, float]
    by_tip: tuple[int, ...]
    by_edge: tuple[int, ...]

    def shows(self, points: Points) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Say which points lie in the window; one without a ratio does not."""
        (left, right), (low, high) = self.ratio, self.recurrent_weight
        x, y = points.T
        return (left <= x) & (x <= right) & (low <= y) & (y <= high)


# Nearly all trained networks lie in the first; the second has those of lengths 4 and 8, near the exact counter.
WIDE = View((-1.12, 0.0), (0.52, 1.78), by_tip=(4,), by_edge=(2,))
NEAR = View((-1.03, -0.52), (0.905, 1.085), by_tip=(8, 16, 32), by_edge=(2, 4))


def draw_regions(run: Run) -> Figure:
    """Draw the plane twice, every length beside even lengths only, and below each the part around the exact counter."""
    points = {length: _points(in_plane(models)) for length, models in networks(run).items()}
    figure = Figure(figsize=(drawing.WIDTH, 6.4), layout="constrained")
    grid = figure.subplots(2, 2, sharex="row", sharey="row")
    for column, lengths in enumerate(Lengths):
        for row, view in enumerate((WIDE, NEAR)):
            _draw_panel(grid[row, column], view, lengths, points)
        grid[0, column].set_title(TITLES[lengths])
        _frame(grid[0, column], NEAR)
        grid[1, column].set_xlabel("a/b")
    for axes in grid[:, 0]:
        axes.set_ylabel("U")
    _legend(figure, points)
    drawing.footnote(figure, _note(run, points))
    return figure


def _points(models: pl.DataFrame) -> Points:
    return models.select("ab_ratio", "recurrent_weight").to_numpy()


def _draw_panel(axes: Axes, view: View, lengths: Lengths, points: Mapping[int, Points]) -> None:
    for longest, shade in SHADES.items():
        _fill_region(axes, longest, lengths, shade)
    axes.plot(-1, 1, "+", markersize=9, markeredgewidth=0.9, color=drawing.CONDITION_COLOUR, zorder=4)
    for length, found in points.items():
        _draw_networks(axes, length, found)
    for longest in view.by_tip:
        _name_by_tip(axes, longest, lengths)
    for longest in view.by_edge:
        _name_by_edge(axes, view, longest, lengths)
    axes.set_xlim(*view.ratio)
    axes.set_ylim(*view.recurrent_weight)
    _count(axes, view, points)


def _fill_region(axes: Axes, longest: int, lengths: Lengths, shade: str) -> None:
    tip = _tip(longest, lengths)
    # Evenly in log U, so that U = 1 is in the middle: the left side has its corner there.
    U = np.exp(np.linspace(-1, 1, 2 * _STEPS + 1) * np.log(tip) * _INWARDS)
    axes.fill_betweenx(U, *outline(U, longest, lengths), facecolor=shade, edgecolor="white", linewidth=0.5)


def _tip(longest: int, lengths: Lengths) -> float:
    """Return the greatest U of a region, or one above the window where there is none."""
    low, high = WIDE.recurrent_weight
    return min(reach(longest, lengths), 2 * max(high, 1 / low))


def _name_by_tip(axes: Axes, longest: int, lengths: Lengths) -> None:
    """Write R_N below the lower tip of the region, where few networks are."""
    low = _tip(longest, lengths) ** -_INWARDS
    axes.annotate(
        _name(longest),
        xy=(_left(low, longest, lengths), low),
        xytext=(_LEAN.get(longest, 0), -9),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=8,
        path_effects=_HALO,
        arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": drawing.FAINT, "shrinkA": 0, "shrinkB": 0},
        zorder=5,
    )


def _name_by_edge(axes: Axes, view: View, longest: int, lengths: Lengths) -> None:
    """Write R_N inside its left side at the upper edge of the window, which the region leaves there."""
    high = view.recurrent_weight[1]
    place = (_left(high, longest, lengths), high)
    axes.annotate(_name(longest), xy=place, xytext=(5, -3), textcoords="offset points", va="top", fontsize=8, zorder=5)


def _name(longest: int) -> str:
    return f"$R_{{{longest}}}$"


def _left(recurrent_weight: float, longest: int, lengths: Lengths) -> float:
    return float(outline(np.array([recurrent_weight]), longest, lengths).left[0])


def _draw_networks(axes: Axes, length: int, points: Points) -> None:
    crowd = len(points) / _CROWD  # the more there are, the smaller and fainter
    axes.plot(
        *points.T,
        MARKERS[length],
        markersize=np.clip(1.8 * crowd**-0.25, 1.2, 3),
        markeredgewidth=0,
        color=drawing.LENGTH_COLOURS[length],
        alpha=np.clip(0.35 * crowd**-0.3, 0.2, 0.9),
        rasterized=True,  # tens of thousands of dots would make a vector file of megabytes
        zorder=3,
    )


def _count(axes: Axes, view: View, points: Mapping[int, Points]) -> None:
    shown = sum(int(view.shows(found).sum()) for found in points.values())
    text = f"{shown:,} networks in view, {sum(map(len, points.values())) - shown:,} outside"
    box = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.8}
    axes.text(0.015, 0.018, text, transform=axes.transAxes, fontsize=5.8, color="#333333", zorder=5, bbox=box)


def _frame(axes: Axes, view: View) -> None:
    """Show in the wide window where the near one lies."""
    (left, right), (low, high) = view.ratio, view.recurrent_weight
    axes.add_patch(
        Rectangle((left, low), right - left, high - low, fill=False, linewidth=0.6, edgecolor=drawing.FAINT, zorder=4)
    )


def _legend(figure: Figure, points: Mapping[int, Points]) -> None:
    handles = [
        drawing.mark(MARKERS[length], 4, drawing.LENGTH_COLOURS[length], f"training length {length}")
        for length in points
    ]
    handles.append(drawing.mark("+", 8, drawing.CONDITION_COLOUR, "the exact counter, (−1, 1)"))
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False)


def _note(run: Run, points: Mapping[int, Points]) -> str:
    edition = run.main_edition
    sizes = ", ".join(f"{len(found):,} of length {length}" for length, found in points.items())
    left_out = sum(map(len, networks(run).values())) - sum(map(len, points.values()))
    return (
        f"Edition {edition}, {run.precision(edition)}, {GROUP}. Networks: {sizes}"
        + (f"; {left_out:,} more have v·a ≤ 0 and are in no region" if left_out else "")
        + ".\nShaded: $R_N$, right on all strings up to length $N$; its left side belongs to it, its right side does not."
        "\nLower row: the framed part, around the exact counter."
    )


def regions_section(run: Run, figure: str) -> str:
    """Return the page's section around the figure, with its heading."""
    found = members(run, COUNTED)
    return "\n".join(
        [
            f'<h2 id="regions">{escape(TITLE)}</h2>',
            f"<p>{_subscripts(_MEANING)}</p>",
            f"<p>{_subscripts(result(found[-1]))}</p>",
            figure,
            '<p class="soft">The networks that lie in each region:</p>',
            _members_table(found),
        ]
    )


def result(found: Members) -> str:
    """Say how the networks of a training length stand between sampled accuracy and the regions."""
    even, length = found.inside[Lengths.EVEN], found.train_length
    near, far, test = (f"{_number(even[n])} up to length {n}" for n in (length, 2 * length, LONG_TEST))
    return (
        f"Networks trained at length {length} score {found.sampled_accuracy:.1f} % in the mean on sampled strings of {LONG_TEST} "
        f"tokens. Right on all strings of even length are, of {found.networks:,} networks, {near}, {far} and {test}. {_WHY}"
    )


def _number(count: int) -> str:
    return f"{count:,}" if count else "none"


def _members_table(found: list[Members]) -> str:
    titles = ("Training length", "Networks", f"Sampled accuracy, {LONG_TEST} tokens", "Lengths that count")
    regions = (_subscripts(f"R_{longest}") for longest in COUNTED)
    return html_table([*map(escape, titles), *regions], [row for one in found for row in _members_rows(one)])


def _members_rows(found: Members) -> list[str]:
    first = (f"{found.train_length}", f"{found.networks:,}", f"{found.sampled_accuracy:.1f} %")
    rows: list[str] = []
    for place, (lengths, inside) in enumerate(found.inside.items()):
        cells = (*(first if place == 0 else ("", "", "")), str(lengths), *(f"{count:,}" for count in inside.values()))
        style = ' class="first"' if place == 0 else ""
        rows.append(f"<tr{style}>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    return rows


def _subscripts(text: str) -> str:
    """Write R_16 with its number set low."""
    return re.sub(r"R_(\w+)", r"<i>R</i><sub>\1</sub>", escape(text))
