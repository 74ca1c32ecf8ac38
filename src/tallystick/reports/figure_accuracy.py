"""The exact accuracy of one model against the length of the strings."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tallystick.certificates.tallies import ExactAccuracy
from tallystick.errors import BadInput
from tallystick.files import write_whole
from tallystick.reports import drawing

_CLASS_COLOURS = ("#D55E00", "#009E73", "#0072B2")
_CLASS_MARKERS = ("v", "o", "^")


def write_accuracy_figure(curve: list[ExactAccuracy], path: Path) -> None:
    """Draw a curve into a file, whose ending says in which form."""
    form = path.suffix.removeprefix(".")
    if form not in drawing.FORMATS:
        raise BadInput(f"{path}: a figure's name ends in {', '.join(f'.{name}' for name in drawing.FORMATS)}")
    content = drawing.drawn(lambda: draw_accuracy(curve), [form])[form]
    write_whole(path, lambda temporary: temporary.write_bytes(content))


def draw_accuracy(curve: list[ExactAccuracy]) -> Figure:
    """Draw the share of right strings among all, and class by class; even and odd lengths differ, so each has its line."""
    figure = Figure(figsize=(drawing.WIDTH, 3.0), layout="constrained")
    everything, classes = figure.subplots(1, 2, sharey=True)
    for parity, style in ((0, "solid"), (1, (0, (1, 1)))):
        lengths = [found for found in curve if found.length % 2 == parity]
        name = "odd" if parity else "even"
        _line(everything, lengths, [float(f.accuracy) for f in lengths], f"all strings, {name}", "#000000", style, "")
        _line(
            everything,
            lengths,
            [float(f.balanced_accuracy) for f in lengths],
            f"balanced, {name}",
            "#CC79A7",
            style,
            "",
        )
    for name, colour, marker in zip(curve[0].strings, _CLASS_COLOURS, _CLASS_MARKERS, strict=False):
        lengths = [found for found in curve if found.strings[name]]
        shares = [found.correct[name] / found.strings[name] for found in lengths]
        _line(classes, lengths, shares, str(name), colour, "solid", marker)
    for axes, title in ((everything, "all strings, and the mean over classes"), (classes, "class by class")):
        axes.set_title(title)
        axes.set_xlabel("length of the strings, N")
        axes.set_ylim(0, 102)
        axes.legend(frameon=False, loc="lower left")
    everything.set_ylabel("right strings, %")
    drawing.footnote(figure, f"Exact, over all 2^N strings of each length to {curve[-1].length}.")
    return figure


def _line(
    axes: Axes, lengths: list[ExactAccuracy], shares: list[float], label: str, colour: str, style: object, marker: str
) -> None:
    axes.plot(
        [found.length for found in lengths],
        [100 * share for share in shares],
        color=colour,
        linestyle=style,  # pyright: ignore[reportArgumentType]
        marker=marker,
        markersize=2.5,
        linewidth=1,
        label=label,
    )
