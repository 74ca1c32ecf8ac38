"""Parts of the page: its figures, the small pictures under the table's entries, and the section on the regions."""

import base64
import re
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import numpy as np

from tallystick.certificates.verdict import Lengths
from tallystick.reports.figure_regions import LONG_TEST, Members, members
from tallystick.reports.reading import Run, Values

_TYPES = {"svg": "image/svg+xml", "png": "image/png"}
_WIDTH, _HEIGHT, _BINS = 120, 22, 40
_EDGES = np.linspace(0, 100, _BINS + 1)

REGIONS_LINK = '<a href="#regions">The regions</a>'
REGIONS_TITLE = "The result in one picture"
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


class Picture(NamedTuple):
    """A figure as the page shows it: its file, what it shows, and the words for those who cannot see it."""

    title: str
    file: str
    caption: str


PICTURES = (
    Picture(
        "Figure 1: the indicators after training",
        "figure1.svg",
        "a/b and U after training, by task, bias and training length. The dashed line is the theorem's condition, the "
        "triangle the median. Each histogram is scaled to its own peak; shares cut off are written at the edge.",
    ),
    # Thousands of line segments: smaller, and quicker to show, as pixels.
    Picture(
        "The paths of (a/b, U) during training",
        "paths.png",
        "Each line is one seed, from its initial weights (hollow) to its trained ones (filled); the cross is (−1, 1).",
    ),
    Picture(
        "Single against double precision",
        "precision.svg",
        "Ternary, training length 8: accuracy over seeds in float32 and in float64, the paper's ten-run average dashed.",
    ),
)
# It has a section of its own.
REGIONS = Picture(
    "The regions and the trained networks",
    "regions.svg",
    "The plane (a/b, U). Shaded, from light to dark: right on all strings up to length 2, 4, 8, 16 and 32. Dots: trained "
    "networks, by training length; the cross is the exact counter, (−1, 1). The lower row enlarges the framed part.",
)


def html_table(titles: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table that scrolls where it is too wide; titles and rows are HTML already."""
    head, body = "".join(f"<th>{title}</th>" for title in titles), "\n".join(rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'


def figure_html(picture: Picture, content: bytes) -> str:
    """Return a figure as HTML that loads nothing."""
    kind = _TYPES[picture.file.rpartition(".")[2]]
    source = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return (
        f'<figure><h3>{escape(picture.title)}</h3><img src="{source}" alt="{escape(picture.caption)}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def sparkline(percentages: Values, average: float, printed: float, label: str) -> str:
    """Draw how many models have which accuracy, from 0 to 100 %, with a line at our average and one at the paper's."""
    counts, _ = np.histogram(np.clip(percentages, 0, 100), _EDGES)
    low, high = (_short(percentage) for percentage in (percentages.min(), percentages.max()))
    text = escape(f"{label}: {len(percentages):,} models, from {low} to {high} %")
    return (
        f'<svg class="spark" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{text}"><title>{text}</title>'
        f'<path class="bars" d="{_bars(counts)}"/>{_line("ours", average)}{_line("printed", printed)}</svg>'
    )


def _bars(counts: np.ndarray) -> str:
    """One path for all bars; the least of them can still be seen."""
    wide, heights = _WIDTH / _BINS, np.ceil(counts / counts.max() * (_HEIGHT - 2))
    return "".join(
        f"M{_short(place * wide)} {_HEIGHT}v-{int(height)}h{_short(wide)}v{int(height)}z"
        for place, height in enumerate(heights)
        if height
    )


def _line(style: str, percentage: float) -> str:
    x = _short(percentage / 100 * _WIDTH)
    return f'<path class="{style}" d="M{x} 0V{_HEIGHT}"/>'


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def regions_section(run: Run, drawn: bytes) -> str:
    """Return the section, with its heading."""
    found = members(run, COUNTED)
    return "\n".join(
        [
            f'<h2 id="regions">{escape(REGIONS_TITLE)}</h2>',
            f"<p>{_subscripts(_MEANING)}</p>",
            f"<p>{_subscripts(result(found[-1]))}</p>",
            figure_html(REGIONS, drawn),
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
