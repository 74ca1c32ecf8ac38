"""One linear network as a picture: eigenvalues in the unit circle, what brackets add, and the margins length by length."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator

from tallystick.certificates.linear.path_picture import PathOutput
from tallystick.certificates.linear.picture import OutputPicture
from tallystick.certificates.verdict import Outcome
from tallystick.files import write_bytes
from tallystick.reports import drawing
from tallystick.studies.explain.linear import LinearExplanation
from tallystick.studies.explain.linear_words import number, string_text

FILES = tuple(f"linear.{form}" for form in drawing.FORMATS)

_ABOVE, _BELOW = "#0072B2", "#D55E00"
_PANEL, _FOOT = 2.0, 0.55  # inches
_MOST_STEMS = 48
_LARGEST_DOT = 90
_REAL = 1e-9


def write_picture(out: Path, one: LinearExplanation) -> None:
    """Draw a linear network into the files of a folder."""
    for name, content in drawing.files("linear", lambda: draw_linear(one)).items():
        write_bytes(content, out / name)


def draw_linear(one: LinearExplanation) -> Figure:
    """Draw for each output its eigenvalues, its terms and its margins."""
    outputs = one.outputs
    figure = Figure(figsize=(drawing.WIDTH, _PANEL * len(outputs) + _FOOT), layout="constrained")
    grid = figure.subplots(len(outputs), 3, squeeze=False, width_ratios=(1, 1.35, 1.6))
    for output, (plane, terms, margins) in zip(outputs, grid, strict=True):
        if isinstance(output, PathOutput):
            _draw_factors(plane, output)
            _draw_path(terms, output)
        else:
            _draw_eigenvalues(plane, output)
            _draw_terms(terms, output, one)
        _draw_margins(margins, output, one)
    drawing.footnote(figure, _note(one))
    return figure


def _note(one: LinearExplanation) -> str:
    verdict = one.verdict
    if verdict.failure is not None:
        said = f"Right to length {verdict.horizon}, fails on {string_text(verdict.failure.runs)}."
    elif verdict.outcome is Outcome.PROVED:
        said = "Proved right on all strings of every length."
    else:
        said = f"Right to length {verdict.horizon}, open beyond it."
    if isinstance(one.outputs[0], PathOutput):
        left = (
            "Left: the factors on the state at ( and ), each pair as large as its weight; curve: P·Q = 1.\n"
            "Middle: what each token of the failing or worst string adds to the output, blue for ( and orange for ).\n"
        )
    else:
        left = (
            "Left: the eigenvalues of U, each as large as its weight in the output, hollow where it has none.\n"
            "Middle: what a bracket adds to the output if it opens instead of closing; shaded: its distance from the limit L.\n"
        )
    return (
        f"{said} {left}"
        "Right: over all strings of a length, the least output that should be above 0 and the greatest that should not;\n"
        "filled dots are even lengths. A string fails where a blue dot is not above 0, or an orange one is above it."
    )


def _draw_eigenvalues(axes: Axes, output: OutputPicture) -> None:
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=drawing.FAINT, linewidth=0.7))
    axes.axhline(0, color=drawing.FAINT, linewidth=0.3)
    axes.axvline(0, color=drawing.FAINT, linewidth=0.3)
    axes.plot(1, 0, "+", color=drawing.CONDITION_COLOUR, markersize=9, markeredgewidth=0.8, zorder=4)
    largest = max((abs(mode.weight) for mode in output.seen), default=1.0)
    for mode in output.modes:
        point = mode.value.real, mode.value.imag
        if output.has_weights and mode in output.seen:
            size = max(_LARGEST_DOT * abs(mode.weight) / largest, 4)
            axes.scatter(*point, s=size, color=_ABOVE, alpha=0.6, linewidth=0, zorder=3)
        else:
            axes.scatter(*point, s=16, facecolor="none", edgecolor=_ABOVE, linewidth=0.8, zorder=3)
    reach = max(1.15, *(1.1 * abs(mode.value) for mode in output.modes))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.locator_params(nbins=3)
    axes.set_title("eigenvalues of U")


def _draw_factors(axes: Axes, output: PathOutput) -> None:
    """Draw the pairs (P, Q); of complex ones the sizes, which are what grows or shrinks."""
    points = [(_real_or_size(one.opening), _real_or_size(one.closing)) for one in output.factors]
    reach = 1.15 * max(1.15, *(abs(entry) for point in points for entry in point))
    for low, high in ((1 / reach, reach), (-reach, -1 / reach)):
        curve = np.linspace(low, high, 200)
        axes.plot(curve, 1 / curve, color=drawing.FAINT, linewidth=0.7)
    axes.axhline(0, color=drawing.FAINT, linewidth=0.3)
    axes.axvline(0, color=drawing.FAINT, linewidth=0.3)
    axes.plot(1, 1, "+", color=drawing.CONDITION_COLOUR, markersize=9, markeredgewidth=0.8, zorder=4)
    for point, one in zip(points, output.factors, strict=True):
        size = max(_LARGEST_DOT * one.weight / output.factors[0].weight, 4)
        axes.scatter(*point, s=size, color=_ABOVE, alpha=0.6, linewidth=0, zorder=3)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.locator_params(nbins=3)
    axes.set_title("factors on the state")
    axes.set_xlabel("P, at (", labelpad=1)
    axes.set_ylabel("Q, at )", labelpad=1)


def _real_or_size(value: complex) -> float:
    return value.real if abs(value.imag) < _REAL * abs(value) else abs(value)


def _draw_path(axes: Axes, output: PathOutput) -> None:
    places = np.arange(1, len(output.string) + 1)
    axes.axhline(0, color=drawing.FAINT, linewidth=0.5)
    for token, colour in (("(", _ABOVE), (")", _BELOW)):
        those = np.array([each == token for each in output.string])
        axes.vlines(places[those], 0, output.added[those], color=colour, linewidth=0.9)
        axes.plot(places[those], output.added[those], ".", color=colour, markersize=3.5)
    axes.set_title(f"what each token adds: y = {number(output.end)}")
    axes.set_xlabel("token", labelpad=1)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _draw_terms(axes: Axes, output: OutputPicture, one: LinearExplanation) -> None:
    length, lengths = one.length, one.verdict.lengths
    places, terms = np.arange(length), output.openings[:length]
    axes.axhline(0, color=drawing.FAINT, linewidth=0.5)
    if output.limit is not None:
        level = float(output.limit)
        axes.axhline(level, color=drawing.CONDITION_COLOUR, linewidth=0.8, linestyle=(0, (5, 2)))
        axes.fill_between(places, terms, level, step="mid", color=_BELOW, alpha=0.3, linewidth=0)
        text = f"limit L = {number(level)}"
        if level > 0:
            text += (
                f", Σ|δ$_k$ − L| = {number(output.deviation or 0)}, at most {number(output.room(lengths) or 0)} allowed"
            )
        axes.text(0.99, 0.98, text, transform=axes.transAxes, ha="right", va="top", fontsize=5.6, color=drawing.FAINT)
    if length <= _MOST_STEMS:
        axes.vlines(places, 0, terms, color=_ABOVE, linewidth=0.7)
        axes.plot(places, terms, ".", color=_ABOVE, markersize=3.5)
    else:
        axes.plot(places, terms, color=_ABOVE, linewidth=0.8)
    low, high = min(0.0, *terms), max(0.0, *terms)
    axes.set_ylim(low - 0.05 * (high - low), high + 0.22 * (high - low) or 1)
    axes.set_title("δ$_k$, what a bracket adds")
    axes.set_xlabel("k tokens after it", labelpad=1)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _draw_margins(axes: Axes, output: OutputPicture | PathOutput, one: LinearExplanation) -> None:
    stride, failure = one.verdict.lengths.stride, one.verdict.failure
    counted = np.arange(stride, one.length + 1, stride)
    axes.axhline(0, color=drawing.CONDITION_COLOUR, linewidth=0.8)
    for values, colour in ((output.least, _ABOVE), (output.greatest, _BELOW)):
        for parity, face in ((0, colour), (1, "white")):
            those = counted[(counted % 2 == parity) & np.isfinite(values[counted - 1])]
            axes.plot(those, values[those - 1], color=colour, linewidth=0.5, alpha=0.6)
            if one.length <= _MOST_STEMS:
                look = {"markersize": 3, "markerfacecolor": face, "markeredgecolor": colour, "markeredgewidth": 0.7}
                axes.plot(those, values[those - 1], "o", linestyle="none", **look)
    axes.set_title("margins")
    if failure is not None and failure.length <= one.length:
        axes.axvline(failure.length, color=drawing.CONDITION_COLOUR, linewidth=0.8, linestyle=(0, (1, 1.5)))
        axes.set_title(f"margins; fails at length {failure.length}")
    axes.set_xlabel("length", labelpad=1)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylabel(f"y, {output.name}", labelpad=1)
