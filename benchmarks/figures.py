"""Measurements as pictures: how many networks each contender trains per second, and how that depends on the size of the work."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Literal, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from benchmarks.machine import Row
from tallystick.reports import drawing

_COLOURS = {"cpu": "#0072B2", "gpu": "#D55E00"}
_PRECISION_COLOURS = {"float32": "#0072B2", "float64": "#E69F00"}
_AXES = {
    "seeds": "seeds trained at once",
    "training length": "longest training string",
    "epochs": "epochs",
    "cores": "cores",
}
_BAR = 0.21  # inches
_CHARACTERS = 125  # in a line of a footnote
_CHARACTER = 0.011  # of the axis, beside a bar
_ROOM = 0.06  # of an axis, for a label
_WHAT = "Full runs per second, and the share of the counted limit of the device."
_WHAT_BY_KERNEL = "Full runs per second; the line is the kernel alone, with its share of the counted limit."


def draw_training(rows: list[Row], machine: str) -> Figure:
    """Draw a bar for each contender, runs per second on a log axis, the share of the counted limit beside it."""
    measured = [row for row in rows if row["runs_per_second"] is not None]
    figure, axes = _bars(len(measured))
    places = range(len(measured))[::-1]
    rates = _numbers(measured, "runs_per_second")
    axes.barh(places, rates, height=0.66, color=[_COLOURS[str(row["device"])] for row in measured])
    _write_beside(axes, places, [_bar_text(row) for row in measured], rates)
    axes.set_yticks(places, [f"{row['what']}, {row['precision']}" for row in measured])
    devices = {str(row["device"]) for row in measured}
    _legend(axes, {name.upper(): colour for name, colour in _COLOURS.items() if name in devices}, "upper right")
    drawing.footnote(figure, _footnote(_WHAT, machine))
    return figure


def draw_settings(rows: list[Row], machine: str) -> Figure:
    """Draw two bars for each setting, one per precision, and a line where the kernel alone would be."""
    names, by_kernel = list(dict.fromkeys(_setting(row) for row in rows)), any(row["kernel_alone"] for row in rows)
    figure, axes = _bars(2 * len(names))
    height = 0.4
    for precision, shift in (("float32", height / 2), ("float64", -height / 2)):
        some = [row for row in rows if row["precision"] == precision]
        places = [len(names) - 1 - names.index(_setting(row)) + shift for row in some]
        rates = _numbers(some, "runs_per_second")
        axes.barh(places, rates, height=height, color=_PRECISION_COLOURS[precision])
        alone = [float(cast("float", row["kernel_alone"] or rate)) for row, rate in zip(some, rates, strict=True)]
        if by_kernel:
            axes.plot(alone, places, "|", color="black", markersize=5, markeredgewidth=1)
        _write_beside(axes, places, [_bar_text(row) for row in some], alone)
    axes.set_yticks(range(len(names))[::-1], names)
    _legend(axes, _PRECISION_COLOURS, "lower right")
    drawing.footnote(figure, _footnote(_WHAT_BY_KERNEL if by_kernel else _WHAT, machine))
    return figure


def draw_scaling(rows: list[Row], machine: str) -> Figure:
    """Draw one panel per axis: the steps of training per second along it."""
    figure = Figure(figsize=(drawing.WIDTH, 4.6), layout="constrained")
    panels = figure.subplots(2, 2)
    for axes, (along, label) in zip(panels.flat, _AXES.items(), strict=True):
        some = [row for row in rows if row["along"] == along]
        if some:
            _draw_along(axes, some, label)
        else:
            axes.set_axis_off()
    drawing.footnote(figure, _footnote("Steps of training per second, all seeds together.", machine))
    return figure


def _draw_along(axes: Axes, rows: list[Row], label: str) -> None:
    device = str(rows[0]["device"])
    places = _numbers(rows, "at")
    axes.plot(places, _numbers(rows, "steps_per_second"), "o-", color=_COLOURS[device], markersize=3.4, linewidth=1.1)
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, high / 10) / 1.3, high * 1.3)  # at least a decade, so that level looks level
    axes.set_xticks(places, _labels(places))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(label)
    axes.set_ylabel("steps/s")
    axes.set_title(f"on the {device.upper()}", color=_COLOURS[device])


def _labels(places: list[float]) -> list[str]:
    """Return a label for each place, empty where it would touch the one before it on a log axis."""
    room = (places[-1] / places[0]) ** _ROOM
    labels, last = list[str](), 0.0
    for place in places:
        fits = place >= last * room
        labels.append(_short(place) if fits else "")
        last = place if fits else last
    return labels


def _bars(number: int) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(drawing.WIDTH, 1.1 + _BAR * number), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_xlabel("full runs per second")
    axes.tick_params(axis="y", length=0)
    axes.margins(y=0.3 / number)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    return figure, axes


def _write_beside(axes: Axes, places: Sequence[float], texts: list[str], rates: list[float]) -> None:
    """Write each bar's numbers at its end, and leave room for them at the right edge."""
    for place, text, rate in zip(places, texts, rates, strict=True):
        axes.text(rate * 1.1, place, text, va="center", fontsize=6)
    low = min(axes.get_xlim()[0], min(rates) / 2)
    room = _CHARACTER * max(map(len, texts))
    axes.set_xlim(low, max(axes.get_xlim()[1], max(rates) * (max(rates) / low) ** room))


def _bar_text(row: Row) -> str:
    rate, share = cast("float", row["runs_per_second"]), row["percent_of_limit"]
    shown = f"{rate:,.0f}" if rate >= 100 else f"{rate:.2g}"  # noqa: PLR2004 -- three digits are enough
    alone = f", {row['kernel_alone']:,.0f} alone" if row.get("kernel_alone") else ""
    return f"{shown}{alone} ({share:.2g} %)" if isinstance(share, float) else shown + alone


def _legend(axes: Axes, colours: dict[str, str], place: Literal["upper right", "lower right"]) -> None:
    """Say what the colours stand for, in the corner where bars are short."""
    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    axes.legend(handles=handles, frameon=False, loc=place)


def _footnote(what: str, machine: str) -> str:
    return f"{what}\n{fill(machine, _CHARACTERS)}"


def _setting(row: Row) -> str:
    return f"{row['task']}, {row['bias']} bias, length {row['train_length']}"


def _numbers(rows: list[Row], column: str) -> list[float]:
    return [float(cast("float", row[column])) for row in rows]


def _short(value: float) -> str:
    """Write a round number in a few characters.

    >>> _short(0.01), _short(12), _short(10_000), _short(4_000_000)
    ('0.01', '12', '10k', '4M')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


DRAWINGS: dict[str, Callable[[list[Row], str], Figure]] = {
    "training": draw_training,
    "settings": draw_settings,
    "scaling": draw_scaling,
}
"""The function that draws each suite, from its rows and a line that names the machine."""
