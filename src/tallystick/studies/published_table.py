"""Published networks as a table, for the terminal, as CSV and as Markdown, and as one picture."""

# matplotlib's own types leave keyword arguments open.
# pyright: reportUnknownMemberType=false

import csv
import io
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tallystick.certificates.verdict import REAL
from tallystick.certificates.words import WIDTH, wrap
from tallystick.files import write_bytes, write_text
from tallystick.reports import drawing
from tallystick.studies.published import (
    EXECUTED,
    QUESTIONS,
    Finding,
    Published,
    cell_text,
    failing_string,
    first_wrong_member,
)

FILES = ("published.md", "published.csv", *(f"published.{form}" for form in drawing.FORMATS))
"""What is written beside the certificates."""

_HEADINGS = (
    "network",
    "cell",
    "task, answer",
    "the authors say",
    "horizon, real",
    "horizon, float32",
    "shortest failing string, real",
    "in float32",
    "first wrong member",
    "seconds",
    "certificate",
)
_ANSWERED = _HEADINGS[4:8]
"""What the answers in words say."""

_REAL_COLOUR, _EXECUTED_COLOUR, _TESTED_COLOUR = "#0072B2", "#D55E00", "#dddddd"
_NOTHING = "–"
_ROW = 0.3  # inches
_BEYOND = 30  # times the greatest number: where "unlimited" is drawn


def as_record(row: Published) -> dict[str, object]:
    """Return a row as plain values; one group of columns per question."""
    network = row.network
    record: dict[str, object] = {
        "network": row.name,
        "source": row.about.get("source"),
        "claim": row.about.get("claim"),
        "tested": row.tested,
        "cell": cell_text(network) if network else None,
        "task": network.task.name if network else None,
        "answer": network.readout.decision if network else None,
        "problem": row.problem,
    }
    record |= {f"{name}_first_wrong_member": first_wrong_member(row, name) for name in (REAL, EXECUTED)}
    for question in QUESTIONS:
        found = row.findings.get(question.name)
        verdict = found.verdict if found else None
        failure = verdict.failure if verdict else None
        values = {
            "verdict": str(verdict.outcome) if verdict else None,
            "horizon": found.horizon if found else None,
            "fails": failing_string(found),
            "says": failure.found if failure else None,
            "right": failure.right if failure else None,
            "seconds": round(found.seconds, 3) if found else None,
            "certificate": found.certificate if found else None,
            "check": found.check if found else None,
            "check_seconds": round(found.check_seconds, 3) if found and found.check_seconds is not None else None,
            "problem": found.problem if found else None,
        }
        record |= {f"{question.name}_{name}": value for name, value in values.items()}
    return record


def as_cells(row: Published) -> list[str]:
    """Return a row as it is printed."""
    network = row.network
    if network is None:
        return [row.name, "not read", *[_NOTHING] * (len(_HEADINGS) - 2)]
    real, executed, even = (row.findings.get(question.name) for question in QUESTIONS)
    horizons = [_horizon_text(row, name) for name in ("real", "float32")]
    if even and even.horizon is not None:
        horizons[0] += f" (even lengths: {_number(even.horizon)})"
    return [
        row.name,
        cell_text(network),
        f"{network.task.name}, {network.readout.decision}",
        row.about.get("claim", _NOTHING),
        *horizons,
        failing_string(real) or _NOTHING,
        failing_string(executed) or _NOTHING,
        _members_text(row),
        " + ".join(f"{found.seconds:.1f}" for found in (real, executed) if found and found.verdict),
        real.check if real and real.check else _NOTHING,
    ]


def _members_text(row: Published) -> str:
    """Say which member is wrong first in each arithmetic; where none is, up to which n they were run."""
    told = [
        f"none to {found.upto:,} ({arithmetic})"
        if found.first_wrong is None
        else f"n = {found.first_wrong:,} ({arithmetic})"
        for arithmetic, found in row.members.items()
    ]
    return ", ".join(told) or _NOTHING


def _horizon_text(row: Published, name: str) -> str:
    found = row.findings[name]
    if found.verdict is None:
        return "not decided"
    return f"{found.verdict.outcome}, {_number(found.horizon)}"


def _number(value: int | str | None) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def as_csv(rows: list[Published]) -> str:
    """Write every column of every row."""
    text = io.StringIO()
    records = [as_record(row) for row in rows]
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def as_markdown(rows: list[Published]) -> str:
    """Write the printed table in Markdown, and under it why something is missing from it."""
    lines = [list(_HEADINGS), ["---"] * len(_HEADINGS), *(as_cells(row) for row in rows)]
    table = "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
    missing = "".join(f"- {row.name}: {line}\n" for row in rows for line in problems(row))
    return f"{table}\n{missing}" if missing else table


def problems(row: Published) -> list[str]:
    """Return why something is missing from a row."""
    if row.problem is not None:
        return [f"not read: {row.problem}"]
    return [f"{name} is not decided: {found.problem}" for name, found in row.findings.items() if found.problem]


def as_lines(row: Published) -> list[str]:
    """Return a row as the terminal shows it: the network's name, the answers in words, and one line per further fact."""
    name, *facts = as_cells(row)
    verdicts = [found.verdict for found in row.findings.values() if found.verdict]
    answers = [f"  {line}" for verdict in verdicts for line in wrap(verdict.answer, WIDTH - 2)]
    told = [pair for pair in zip(_HEADINGS[1:], facts, strict=True) if pair[0] not in _ANSWERED and pair[1] != _NOTHING]
    width = max(len(heading) for heading in _HEADINGS if heading not in _ANSWERED)
    lines = [f"  {heading:<{width}}  {fact}" for heading, fact in told]
    return [name, *answers, *lines, *(f"  {line}" for line in problems(row))]


def write_published(rows: list[Published], out: Path) -> None:
    """Write the table and the picture into a folder."""
    write_text(as_csv(rows), out / "published.csv")
    write_text(as_markdown(rows), out / "published.md")
    for name, content in drawing.files("published", lambda: draw_published(rows)).items():
        write_bytes(content, out / name)


def draw_published(rows: list[Published]) -> Figure:
    """Draw one line per network: its horizon in real numbers and in float32 against the greatest length that was tested."""
    figure = Figure(figsize=(drawing.WIDTH, 1.2 + _ROW * len(rows)), layout="constrained")
    axes = figure.subplots()
    lengths = [_lengths(row) for row in rows]
    finite = [length for line in lengths for length in line if length is not None and np.isfinite(length)]
    greatest = max([10.0, *finite])
    edge = greatest * _BEYOND
    for place, (real, executed, even, tested) in enumerate(reversed(lengths)):
        if tested is not None:
            axes.plot([0.7, tested], [place, place], color=_TESTED_COLOUR, linewidth=5, solid_capstyle="butt", zorder=1)
        hollow = {"markerfacecolor": "white", "markeredgecolor": _REAL_COLOUR}
        for value, marker, shift, look in (
            (even, "o", 0.1, hollow),
            (real, "o", 0.1, {"color": _REAL_COLOUR}),
            (executed, "s", -0.1, {"color": _EXECUTED_COLOUR}),
        ):
            if value is not None:
                axes.plot(min(max(value, 0.7), edge), place + shift, marker, markersize=4.5, zorder=2, **look)  # pyright: ignore[reportArgumentType]
    axes.set_xscale("log")
    axes.set_xlim(0.6, edge * 2)
    step = 1 + int(np.log10(greatest)) // 6
    powers = range(0, int(np.log10(greatest)) + 1, step)
    axes.set_xticks([*(10.0**power for power in powers), edge], [*(f"$10^{{{power}}}$" for power in powers), "∞"])
    axes.minorticks_off()
    axes.set_yticks(range(len(rows)), [row.name for row in reversed(rows)])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel("right on all strings up to this length (0 is drawn at the left edge)")
    axes.legend(
        handles=[
            drawing.mark("o", 4.5, _REAL_COLOUR, "in real numbers"),
            drawing.mark("o", 4.5, _REAL_COLOUR, "even lengths alone", "white"),
            drawing.mark("s", 4.5, _EXECUTED_COLOUR, "as executed in float32"),
            drawing.mark("s", 6, _TESTED_COLOUR, "tried by the authors, on some strings"),
        ],
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=4,
        frameon=False,
    )
    return figure


def _lengths(row: Published) -> tuple[float | None, float | None, float | None, float | None]:
    """Return the horizon in real numbers, in float32 and for even lengths, and the greatest length that was tried."""
    real, executed, even = (_length(row.findings.get(question.name)) for question in QUESTIONS)
    return real, executed, even, row.tested


def _length(found: Finding | None) -> float | None:
    horizon = found.horizon if found else None
    return float("inf") if isinstance(horizon, str) else horizon
