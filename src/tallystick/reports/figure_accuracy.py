"""Accuracy against the length of the strings: exactly, over all strings, or on drawn strings where there are too many."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.certificates.one_unit.exact_accuracy import ExactAccuracy
from tallystick.errors import BadInput
from tallystick.reports import drawing
from tallystick.runs.measures import Curve

_COLOURS = {"all strings": "#000000", "mean over classes": "#CC79A7"}
_CLASS_COLOURS = ("#D55E00", "#009E73", "#0072B2")
_STYLES: tuple[Any, Any] = ("solid", (0, (1, 1)))
_NETWORK_COLOUR = "#0072B2"
_FAINTEST, _DARKEST = 0.05, 0.5


def write_accuracy_figure(curve: list[ExactAccuracy], path: Path) -> None:
    """Draw a curve into a file, whose ending says in which form."""
    if len(curve) == 1:
        raise BadInput("length: 1 alone is no curve; ask for 2 or more")
    drawing.write_figure(lambda: draw_accuracy(curve), path)


def draw_accuracy(curve: list[ExactAccuracy]) -> Figure:
    """Draw the share of right strings among all, and class by class.

    Strings of count 0 have an even length, so even and odd lengths differ and have lines of their own.
    """
    figure = Figure(figsize=(drawing.WIDTH, 3.0), layout="constrained")
    everything, classes = figure.subplots(1, 2, sharey=True)
    for parity, style in enumerate(_STYLES):
        lengths = [found for found in curve if found.length % 2 == parity]
        shares = zip(*((found.accuracy, found.balanced_accuracy) for found in lengths), strict=True)
        for (name, colour), values in zip(_COLOURS.items(), shares, strict=False):
            _line(everything, lengths, [float(value) for value in values], _label(name, parity), colour, style)
        for name, colour in zip(curve[0].strings, _CLASS_COLOURS, strict=False):
            having = [found for found in lengths if found.strings[name]]
            values = [found.correct[name] / found.strings[name] for found in having]
            _line(classes, having, values, _label(str(name), parity), colour, style)
    for axes, title in ((everything, "all strings"), (classes, "class by class")):
        axes.set_title(title)
        axes.set_xlabel("length of the strings, N")
        axes.set_ylim(0, 102)
        axes.legend(frameon=False, loc="lower left")
    everything.set_ylabel("right strings, %")
    drawing.footnote(figure, f"Exact, over all strings of each length to {curve[-1].length}. Dotted: odd lengths.")
    return figure


def _label(name: str, parity: int) -> str:
    """Name each line once; one that begins with an underscore stays out of the legend."""
    return f"_{name}" if parity else name


def _line(
    axes: Axes, lengths: list[ExactAccuracy], shares: list[float], label: str, colour: str, style: object
) -> None:
    axes.plot(
        [found.length for found in lengths],
        [100 * share for share in shares],
        color=colour,
        linestyle=style,  # pyright: ignore[reportArgumentType]
        linewidth=1.2,
        label=label,
    )


def write_long_accuracy_figure(curve: Curve, name: str, path: Path) -> None:
    """Draw a curve into a file, whose ending says in which form; `name` says whose it is."""
    if len(curve.lengths) == 1:
        raise BadInput(f"length: {curve.lengths[0]} alone is no curve; ask for more")
    drawing.write_figure(lambda: draw_long_accuracy(curve, name), path)


def draw_long_accuracy(curve: Curve, name: str) -> Figure:
    """Draw every network faintly, and their mean."""
    figure = Figure(figsize=(drawing.WIDTH / 2, 3.0), layout="constrained")
    axes = figure.subplots()
    networks = curve.accuracy.shape[1]
    if networks > 1:
        alpha = min(_DARKEST, max(5 / networks, _FAINTEST))
        axes.plot(curve.lengths, curve.accuracy, color=_NETWORK_COLOUR, linewidth=0.6, alpha=alpha)
    label = f"mean of {networks} networks" if networks > 1 else "one network"
    axes.plot(curve.lengths, curve.accuracy.mean(axis=1), color="#000000", linewidth=1.2, marker=".", label=label)
    axes.set_xscale("log")
    axes.set_ylim(0, 102)
    axes.set_xlabel("length of the strings")
    axes.set_ylabel("right strings, %")
    axes.set_title(name)
    axes.legend(frameon=False, loc="lower left")
    drawing.footnote(figure, f"{curve.strings} strings of each length, their counts −2 to 2.")
    return figure
