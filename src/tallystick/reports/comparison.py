"""The comparison of cells and methods as a table: on the terminal, as CSV and as Markdown."""

import csv
import io
from math import isinf

from tallystick.cells import VectorCell
from tallystick.experiments.comparison import LONG, Comparison
from tallystick.training.setting import OWN, Setting

COLUMNS = (
    "cell",
    "task",
    "method",
    "seeds",
    "exact",
    "proved",
    "horizon_10",
    "horizon_50",
    "horizon_90",
    "horizon_greatest",
    "even_horizon_50",
    "even_horizon_greatest",
    "certified",
    "horizons_exact",
    "accuracy_50",
    f"accuracy_{LONG}",
    "failed",
)
HEADINGS = {
    "cell": "cell",
    "task": "task",
    "method": "method",
    "seeds": "seeds",
    "exact": "exact, %",
    "proved": "proved, %",
    "horizon_10": "horizon: 10 %",
    "horizon_50": "median",
    "horizon_90": "90 %",
    "horizon_greatest": "greatest",
    "even_horizon_50": "even: median",
    "even_horizon_greatest": "greatest, even",
    "horizons_exact": "horizons exact, %",
    "accuracy_50": "at 50, %",
    f"accuracy_{LONG}": f"at {LONG:,}, %",
    "failed": "failed, %",
}
"""What the printed tables show, and how it is called there."""

UNLIMITED = "unlimited"


def as_record(found: Comparison) -> dict[str, object]:
    """Return a row as plain values: shares from 0 to 1, accuracies in percent, horizons whole or "unlimited"."""
    every, even = found.horizons, found.even_horizons
    horizons = [every.low, every.median, every.high, every.greatest, even.median, even.greatest]
    values = (
        *described(found.setting),
        found.seeds,
        found.exact,
        found.proved,
        *(UNLIMITED if isinf(value) else int(value) for value in horizons),
        found.certified,
        found.horizons_exact,
        found.accuracy_50,
        found.accuracy_long,
        found.failed,
    )
    return dict(zip(COLUMNS, values, strict=True))


def described(setting: Setting) -> tuple[str, str, str]:
    """Return the cell, the task and the method, with whatever else differs from a plain setting.

    >>> described(Setting("binary", False, 8, method="count", snap=True))
    ('linear', 'binary', 'count, snapped')
    """
    if issubclass(setting.kind, VectorCell):
        return (
            f"{setting.cell}, {setting.units} {'unit' if setting.units == 1 else 'units'}",
            setting.task,
            setting.method,
        )
    parts = [setting.method]
    parts += ["bias"] if setting.bias else []
    parts += [setting.precision] if setting.precision != "float32" else []
    parts += [f"{setting.gradients} gradients"] if setting.gradients != OWN else []
    parts += ["from an exact counter"] if setting.start == "exact" else []
    parts += ["snapped"] if setting.snap else []
    return setting.cell, setting.task, ", ".join(parts)


def as_cells(found: Comparison) -> list[str]:
    """Return a row as it is printed."""
    record = as_record(found)
    return [_shown(name, record[name]) for name in HEADINGS]


def as_csv(rows: list[Comparison]) -> str:
    """Write every column of every row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_record(row) for row in rows)
    return text.getvalue()


def as_markdown(rows: list[Comparison]) -> str:
    """Write the printed table in Markdown."""
    lines = [list(HEADINGS.values()), ["---"] * len(HEADINGS), *(as_cells(row) for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _shown(name: str, value: object) -> str:
    if value is None:
        return "–"
    if name in ("exact", "proved", "horizons_exact", "failed"):
        assert isinstance(value, float)
        return f"{100 * value:.2f}"
    if name.startswith("accuracy"):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
