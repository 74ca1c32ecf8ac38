"""The accuracy of GRUs and LSTMs against the length of the strings, on strings drawn near the border between the classes."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from pathlib import Path

from matplotlib.figure import Figure

from tallystick.errors import BadInput
from tallystick.experiments.measures import Curve
from tallystick.reports import drawing

_COLOUR = "#0072B2"
_FAINTEST, _DARKEST = 0.05, 0.5


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
        axes.plot(curve.lengths, curve.accuracy, color=_COLOUR, linewidth=0.6, alpha=alpha)
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
