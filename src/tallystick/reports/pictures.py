"""The figures as the page shows them, each with its words, held in the page itself."""

import base64
from html import escape
from typing import NamedTuple

_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


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
REGIONS = Picture(
    "The regions and the trained networks",
    "regions.svg",
    "The plane (a/b, U). Shaded, from light to dark: right on all strings up to length 2, 4, 8, 16 and 32. Dots: trained "
    "networks, by training length; the cross is the exact counter, (−1, 1). The lower row enlarges the framed part.",
)
"""Has a section of its own."""


def embedded(picture: Picture, content: bytes) -> str:
    """Return a figure as HTML that loads nothing."""
    kind = _TYPES[picture.file.rpartition(".")[2]]
    source = f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
    return (
        f'<figure><h3>{escape(picture.title)}</h3><img src="{source}" alt="{escape(picture.caption)}">'
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )
