"""What a notebook shows: an object describes itself as a `View`, and this file makes HTML, a small chart and `.plot()` of it.

The HTML stands alone: its styles are inline, its chart is SVG, and it takes the colour of the text from the page, so that it can
be read on white and on black. Everything in a view is text, whatever a file has put into it, and is escaped here.
"""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

from tallystick.errors import BadInput, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 6
COLOURS = ("#2b8cbe", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#999999")
RIGHT, WRONG = "#009e73", "#d55e00"
"""Told apart with every kind of colour vision and on white and black; what is wrong is also underlined, or a cross."""

_WIDTH, _HEIGHT = 420, 150
_LONGEST_NAME = 16
_LEFT, _BOTTOM, _EDGE = 46, 30, 8  # what the axes leave free
_BACKGROUNDS = {True: "rgba(0,158,115,.25)", False: "rgba(213,94,0,.4)", None: "rgba(128,128,128,.15)"}


@dataclass(frozen=True)
class Token:
    """A token of a string: whether what is said after it is right, None where nothing is asked, and a note."""

    text: str
    right: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Chart:
    """Lines over one axis, or points, or bars.

    Attributes:
        x: where the values lie.
        lines: the values, one per x, by the name of each line; points and bars have one line alone.
        x_label: what the x axis shows.
        y_label: what the y axis shows.
        kind: line, points or bars.
        right: for each x whether the network is right there.
        guide: a value of y that matters, such as 0 for an output.
    """

    x: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    x_label: str
    y_label: str
    kind: str = "line"
    right: Sequence[bool | None] = ()
    guide: float | None = None

    @property
    def is_drawable(self) -> bool:
        """Whether there is more than one value to draw, and every number is finite."""
        values = [value for line in self.lines.values() for value in line]
        return len(self.x) > 1 and bool(values) and all(map(isfinite, (*self.x, *values)))

    @property
    def bar_width(self) -> float:
        """The least distance between two bars; 1 where there is one bar alone."""
        return min((after - before for before, after in pairwise(sorted(self.x))), default=1.0)


@dataclass(frozen=True)
class View:
    """What is shown of an object.

    Attributes:
        title: what it is.
        sentences: what there is to say of it; `code` stands between backticks.
        facts: further properties, by name.
        string: a string that it was tried on, token by token.
        string_title: which string that is.
        chart: a picture of it.
    """

    title: str
    sentences: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    string: Sequence[Token] = ()
    string_title: str = ""
    chart: Chart | None = None


class Shown(ABC):
    """Something that shows itself in a notebook; it says what by `view`."""

    @abstractmethod
    def view(self) -> View:
        """Return what is shown."""

    def _repr_html_(self) -> str:
        """Return the view as HTML, which notebooks ask for."""
        return html_of(self.view())

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Draw the chart with matplotlib, into axes or into a new figure, and return the axes."""
        chart = self.view().chart
        if chart is None or not chart.is_drawable:
            raise BadInput(f"plot: there is nothing to draw of this {type(self).__name__}")
        return draw(chart, axes)


def html_of(view: View) -> str:
    """Return a view as a piece of a page."""
    title = f'<div style="font-weight:600;margin-bottom:.3em">{_text(view.title)}</div>'
    sentences = "".join(f"<div>{_with_code(sentence)}</div>" for sentence in view.sentences)
    cell = '<td style="text-align:left;padding:.1em 1em .1em 0'
    rows = "".join(
        f'<tr style="background:none">{cell};opacity:.7">{_text(name)}</td>{cell}">{_with_code(fact)}</td></tr>'
        for name, fact in view.facts.items()
    )
    facts = f'<table style="border:none;margin:.4em 0;font-size:inherit">{rows}</table>' if rows else ""
    chart = svg_of(view.chart) if view.chart is not None and view.chart.is_drawable else ""
    return (
        '<div style="max-width:46em;line-height:1.5;margin:.3em 0">'
        f"{title}{sentences}{_string(view)}{facts}{chart}</div>"
    )


def _string(view: View) -> str:
    if not view.string:
        return ""
    tokens = "".join(
        f'<span title="{_text(token.note)}" style="background:{_BACKGROUNDS[token.right]};padding:.1em .25em;margin:0 1px'
        f'{";text-decoration:underline;font-weight:700" if token.right is False else ""}">{_text(token.text)}</span>'
        for token in view.string
    )
    title = f'<span style="opacity:.7">{_with_code(view.string_title)}</span> ' if view.string_title else ""
    return f'<div style="margin:.4em 0">{title}<code style="background:none;color:inherit">{tokens}</code></div>'


def _text(text: str) -> str:
    return escape(printable(text))


def _with_code(text: str) -> str:
    """Escape a text, and set what stands between backticks as code."""
    return re.sub(r"`([^`]*)`", r'<code style="background:none;color:inherit">\1</code>', _text(text))


def svg_of(chart: Chart) -> str:
    """Return a chart as SVG."""
    values = [value for line in chart.lines.values() for value in line]
    floor = [0.0] if chart.kind == "bars" else [] if chart.guide is None else [chart.guide]
    low, high = _span([*values, *floor])
    half = chart.bar_width / 2 if chart.kind == "bars" else 0.0
    first, last = _span([min(chart.x) - half, max(chart.x) + half])

    def across(x: float) -> float:
        return _LEFT + (x - first) / (last - first) * (_WIDTH - _LEFT - _EDGE)

    def up(y: float) -> float:
        return _HEIGHT - _BOTTOM - (y - low) / (high - low) * (_HEIGHT - _BOTTOM - 3 * _EDGE)

    parts = [*_axes(chart, (first + half, last - half), (low, high), up)]
    for (name, line), colour in zip(list(chart.lines.items())[:MOST_LINES], COLOURS, strict=False):
        places = [(across(x), up(y)) for x, y in zip(chart.x, line, strict=True)]
        parts.append(f"<g><title>{_text(name)}</title>{_drawn(places, chart, colour, up(max(low, 0)))}</g>")
    if len(chart.lines) > 1:
        parts.append(_legend(chart))
    label = _text(f"{chart.y_label} by {chart.x_label}")
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        f'style="max-width:100%;height:auto;color:inherit;background:none" font-size="10">{"".join(parts)}</svg>'
    )


def _legend(chart: Chart) -> str:
    names = zip(list(chart.lines)[:MOST_LINES], COLOURS, strict=False)
    spans = "".join(f'<tspan fill="{colour}" dx="8">{_text(name[:_LONGEST_NAME])}</tspan>' for name, colour in names)
    return f'<text x="{_WIDTH - _EDGE}" y="10" text-anchor="end" font-weight="600">{spans}</text>'


def _drawn(places: list[tuple[float, float]], chart: Chart, colour: str, ground: float) -> str:
    if chart.kind == "bars":
        span = max(chart.x) - min(chart.x) + chart.bar_width
        width = max(1.0, 0.8 * (_WIDTH - _LEFT - _EDGE) * chart.bar_width / span)
        return "".join(
            f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{ground - y:.1f}" fill="{colour}"/>'
            for x, y in places
        )
    if chart.kind == "points":
        return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}" opacity=".6"/>' for x, y in places)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    marks = (
        _mark(x, y, colour, right) for (x, y), right in zip(places, chart.right or [None] * len(places), strict=True)
    )
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>{"".join(marks)}'


def _mark(x: float, y: float, colour: str, right: bool | None) -> str:
    if right is False:
        cross = f"M{x - 4:.1f},{y - 4:.1f}l8,8m0,-8l-8,8"
        return f'<path d="{cross}" stroke="{WRONG}" stroke-width="2.5" fill="none"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour if right is None else RIGHT}"/>'


def _axes(chart: Chart, ends: tuple[float, float], span: tuple[float, float], up: Any) -> Iterable[str]:  # noqa: ANN401
    line = '<line x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}" stroke="currentColor" stroke-width=".7" opacity="{}"{}/>'
    ground, right = _HEIGHT - _BOTTOM, _WIDTH - _EDGE
    yield line.format(_LEFT, ground, right, ground, 0.5, "")
    if chart.guide is not None:
        yield line.format(_LEFT, up(chart.guide), right, up(chart.guide), 0.7, ' stroke-dasharray="4 3"')
    text = '<text x="{}" y="{:.1f}" text-anchor="{}" fill="currentColor" opacity=".8">{}</text>'
    for value in dict.fromkeys([*span, *([] if chart.guide is None else [chart.guide])]):
        if value == chart.guide or chart.guide is None or abs(up(value) - up(chart.guide)) > 10:  # noqa: PLR2004 -- pixels
            yield text.format(_LEFT - 4, up(value) + 3, "end", f"{value:.3g}")
    yield text.format(_LEFT, ground + 12, "start", f"{ends[0]:.3g}")
    yield text.format(right, ground + 12, "end", f"{ends[1]:.3g}")
    yield text.format((_LEFT + right) / 2, ground + 24, "middle", _text(chart.x_label))
    yield (
        f'<text transform="translate(10,{ground / 2:.0f}) rotate(-90)" text-anchor="middle" fill="currentColor" '
        f'opacity=".8">{_text(chart.y_label)}</text>'
    )


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the least and the greatest value, apart from each other."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def draw(chart: Chart, axes: "Axes | None" = None) -> "Axes":
    """Draw a chart with matplotlib, which takes a second to load and is needed for nothing else here."""
    from matplotlib import pyplot  # noqa: PLC0415

    drawn: Axes = pyplot.subplots(figsize=(5.6, 2.6), layout="constrained")[1] if axes is None else axes
    for (name, line), colour in zip(list(chart.lines.items())[:MOST_LINES], COLOURS, strict=False):
        if chart.kind == "bars":
            drawn.bar(chart.x, line, 0.8 * chart.bar_width, color=colour)
        elif chart.kind == "points":
            drawn.plot(chart.x, line, ".", color=colour, markersize=4, alpha=0.6)
        else:
            drawn.plot(chart.x, line, "o-", color=colour, markersize=3, label=printable(name))
            wrong = [place for place, right in enumerate(chart.right) if right is False]
            drawn.plot([chart.x[i] for i in wrong], [line[i] for i in wrong], "x", color=WRONG, markersize=8)
    if chart.guide is not None:
        drawn.axhline(chart.guide, color="0.5", linestyle="--", linewidth=0.8)
    if len(chart.lines) > 1:
        drawn.legend(frameon=False, fontsize=8)
    drawn.set(xlabel=printable(chart.x_label), ylabel=printable(chart.y_label))
    drawn.spines[["top", "right"]].set_visible(False)
    return drawn
