"""How every figure looks, and its three files: the same data give the same bytes."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tallystick.errors import BadInput
from tallystick.files import write_whole

FORMATS = ("png", "pdf", "svg")
WIDTH = 17 / 2.54  # inches: the width of a printed page's text
# Okabe and Ito's colours, told apart with every kind of colour vision; the line style says the same again.
LENGTH_COLOURS = {2: "#D55E00", 4: "#009E73", 8: "#0072B2"}
LENGTH_STYLES = {2: (0, (1, 1)), 4: (0, (4, 1.5)), 8: "solid"}
CONDITION_COLOUR = "#000000"
FAINT = "#666666"

STYLE: dict[str, object] = {
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "tallystick",
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
}
_METADATA: Mapping[str, dict[str, object]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}


def files(name: str, draw: Callable[[], Figure]) -> dict[str, bytes]:
    """Draw a figure and return its files by name."""
    return {f"{name}.{form}": content for form, content in render(draw, FORMATS).items()}


def write_figure(draw: Callable[[], Figure], path: Path) -> None:
    """Draw a figure into one file, whose ending says in which form."""
    form = require_form(path)
    content = render(draw, [form])[form]
    write_whole(path, lambda temporary: temporary.write_bytes(content))


def require_form(path: Path) -> str:
    """Return the form that the ending of a figure's name says; refuse a name with another ending."""
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise BadInput(f"{path}: a figure's name ends in {', '.join(f'.{name}' for name in FORMATS)}")
    return form


def render(draw: Callable[[], Figure], forms: Iterable[str]) -> dict[str, bytes]:
    """Draw a figure and return it in each form."""
    with mpl.rc_context(STYLE):  # pyright: ignore[reportArgumentType]
        figure = draw()
        return {form: _image(figure, form) for form in forms}


def _image(figure: Figure, form: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, metadata=_METADATA[form])
    figure.set_layout_engine("none")  # the next form keeps the places: working them out takes as long as drawing
    return buffer.getvalue()


def footnote(figure: Figure, text: str) -> None:
    """Write under the panels what the figure shows."""
    figure.supxlabel(text, fontsize=6.5, color=FAINT)


def mark(marker: str, size: float, colour: str, label: str, face: str | None = None) -> Line2D:
    """Return a mark for a legend; `face` fills it in another colour."""
    look = {"marker": marker, "markersize": size, "markeredgecolor": colour, "markerfacecolor": face or colour}
    return Line2D([], [], linestyle="none", label=label, **look)  # pyright: ignore[reportArgumentType]


def bare_side(axes: Axes) -> None:
    """Take the y axis away where heights are only compared by eye."""
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
