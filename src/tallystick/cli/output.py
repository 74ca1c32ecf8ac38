"""What the commands share: options, printing, failing in one line."""

import json
import sys
from collections.abc import Iterable
from math import isfinite
from pathlib import Path
from typing import Annotated, NoReturn, cast

import typer
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from tallystick.errors import one_line, printable
from tallystick.files import (
    naming,
    refuse_existing,  # noqa: F401 -- every command takes them from here
    refuse_no_folder,
    refuse_read_only,
    refuse_unwritable,  # noqa: F401
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output.")]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="local:N|tcp://HOST:PORT|FILE",
        help="Train on a Dask cluster: N processes here, a scheduler's address, or the file it wrote.",
    ),
]
Device = Annotated[
    str, typer.Option(metavar="auto|cpu|gpu", help="What trains: a GPU where there is one, the processors, or a GPU.")
]
Keep = Annotated[
    str,
    typer.Option(
        metavar="all|summary|sample[:N]",
        help="Keep all rows, quantiles and histograms alone, or a sample of N rows beside them.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]

_NARROWEST, _WIDEST = 110, 400
_PLAIN = {"cell": "linear", "method": "published", "precision": "float32"}
"""What need not be shown of a run whose networks are all as the paper's."""


def show(content: RenderableType) -> None:
    """Print text line by line, and anything else through rich, never narrower than its tables need.

    Whatever a file has put into either of them is text: nothing is markup, and nothing reaches a terminal that it would obey.
    """
    if isinstance(content, str):
        sys.stdout.write(_lines(content) + "\n")
        return
    console = Console(highlight=False, markup=False, emoji=False)
    needed = Measurement.get(console, console.options.update(max_width=_WIDEST), content).maximum
    console.width = max(console.width, _NARROWEST, needed if isinstance(content, Table) else 0)
    console.print(_Printable(content))


class _Printable:
    """What rich shows of something, its characters escaped that cannot be printed."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, style, control in console.render(self._content, options):
            yield Segment(_lines(text), style, control)


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


def show_json(value: object) -> None:
    """Print one JSON object."""
    show(json.dumps(_plain(value), ensure_ascii=False, indent=1, allow_nan=False))


def _plain(value: object) -> object:
    """Put null where a number is not finite: JSON has no word for it."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_plain(part) for part in cast("list[object]", value)]
    return None if isinstance(value, float) and not isfinite(value) else value


def one_of(names: Iterable[str]) -> str:
    """List names to choose from.

    >>> one_of(["gru", "lstm"])
    'gru or lstm'
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def fail(message: str) -> NoReturn:
    """End with status 2 and one line on standard error."""
    sys.stderr.write(f"tallystick: {one_line(message)}\n")
    sys.exit(2)


def show_settings(found: list[dict[str, object]], name: str, *, as_json: bool) -> None:
    """Show what was found of each setting of a run."""
    if as_json:
        show_json({name: found})
    else:
        hidden = [key for key, plain in _PLAIN.items() if all(row.get(key) == plain for row in found)]
        show(rows_table([{key: value for key, value in row.items() if key not in hidden} for row in found]))


def rows_table(rows: list[dict[str, object]]) -> Table:
    """Show rows that share their columns."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in rows[0]:
        table.add_column(name.replace("_", " "), justify="right", no_wrap=name != "note")
    for row in rows:
        table.add_row(*map(cell_text, row.values()))
    return table


def cell_text(value: object) -> str:
    """Return a value as a table shows it, on one line."""
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def show_facts(found: list[dict[str, object]], name: str, *, as_json: bool) -> None:
    """Show what was found of each setting of a run, one line per fact: there is too much of it for one row."""
    if as_json:
        show_json({name: found})
        return
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for key, value in ((key, value) for facts in found for key, value in facts.items() if key != "edition"):
        table.add_row(key.replace("_", " "), cell_text(value))
    show(table)


def make_folder(path: Path) -> None:
    """Make the folder that results go to, before the work is done."""
    refuse_no_folder(path, "results need")
    with naming(path):
        path.mkdir(parents=True, exist_ok=True)
    refuse_read_only(path)
