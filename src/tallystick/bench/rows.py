"""Rows of figures as text: a table that reads well in a terminal and is one in Markdown, too."""

from collections.abc import Sequence

Row = dict[str, object]
"""What was measured, by column; None where it could not be."""

_NOTHING = "–"
_LARGE = 1000


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a table, numbers to the right.

    >>> print(table([{"what": "this", "runs_per_second": 12345.6}, {"what": "that", "runs_per_second": None}]))
    | what | runs per second |
    | :--- | --------------: |
    | this |          12,346 |
    | that |               – |
    """
    columns = list(rows[0])
    cells = [[_shown(row[column]) for column in columns] for row in rows]
    heads = [column.replace("_", " ") for column in columns]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    to_the_right = [not any(isinstance(row[column], str) for row in rows) for column in columns]
    rule = [
        f"{'-' * (width - 1)}:" if right else f":{'-' * (width - 1)}"
        for right, width in zip(to_the_right, widths, strict=True)
    ]
    return "\n".join(_line(line, widths, to_the_right) for line in (heads, rule, *cells))


def _line(cells: Sequence[str], widths: Sequence[int], to_the_right: Sequence[bool]) -> str:
    padded = [
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, to_the_right, strict=True)
    ]
    return f"| {' | '.join(padded)} |"


def _shown(value: object) -> str:
    if value is None:
        return _NOTHING
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= _LARGE:
        return f"{value:,.0f}"
    return f"{value:.3g}"
