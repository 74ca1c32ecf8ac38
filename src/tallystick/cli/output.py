"""What the commands share: options, printing, progress, failing in one line."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, NoReturn, cast

import typer

from tallystick.errors import one_line, printable
from tallystick.files import naming, refuse_no_folder, refuse_read_only

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from tallystick.runs.jobs import Job
    from tallystick.runs.runner import Report

# rich takes a while to load, and most answers are a few lines of text.
# ruff: noqa: PLC0415

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
Precision = Annotated[str, typer.Option(help="float32, as in the paper, or float64.")]
RunOrModel = Annotated[
    Path, typer.Argument(metavar="RUN|MODEL", help="A run directory, or a model's JSON or safetensors file.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]

_NARROWEST, _WIDEST = 110, 400
_PLAIN = {"cell": "linear", "method": "published", "precision": "float32"}
"""What need not be shown of a run whose networks are all as the paper's."""


def show(content: "RenderableType") -> None:
    """Print text line by line, and anything else through rich, never narrower than its tables need.

    Whatever a file has put into either of them is text: nothing is markup, and nothing reaches a terminal that it would obey.
    """
    if isinstance(content, str):
        sys.stdout.write(_lines(content) + "\n")
        return
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)
    needed = Measurement.get(console, console.options.update(max_width=_WIDEST), content).maximum
    console.width = max(console.width, _NARROWEST, needed if isinstance(content, Table) else 0)
    console.print(_Printable(content))


class _Printable:
    """What rich shows of something, its characters escaped that cannot be printed."""

    def __init__(self, content: "RenderableType") -> None:
        self._content = content

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.segment import Segment

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


def rows_table(rows: list[dict[str, object]]) -> "Table":
    """Show rows that share their columns."""
    from rich.table import Table

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
    from rich.table import Table

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


def tell_slower_engine(jobs: "list[Job]") -> None:
    """Say which jobs a GPU trains by the compiled scan instead of the kernel, and why; each reason once."""
    from tallystick.training.engines import engine_text

    ways = dict.fromkeys(engine_text(job.setting, job.strings, job.device) for job in jobs)
    sys.stderr.writelines(f"{way}\n" for way in ways if way.startswith("gpu, compiled scan"))


class _SeedsDone:
    """Counts the seeds of each setting as the blocks come in, from whichever thread."""

    def __init__(self, bar: "Progress", task: "TaskID", sizes: dict[str, int]) -> None:
        self._bar, self._task, self._left, self._lock = bar, task, dict(sizes), Lock()

    def __call__(self, setting: str, seeds: int) -> None:
        with self._lock:
            self._left[setting] -= seeds
            done = sum(left <= 0 for left in self._left.values())
            self._bar.update(self._task, advance=seeds, settings=f"{done}/{len(self._left)}")
            rate = self._bar.tasks[0].finished_speed or self._bar.tasks[0].speed or 0
            self._bar.update(self._task, rate=f"{rate:,.0f}")


@contextmanager
def progress_bar(sizes: dict[str, int]) -> "Iterator[Report]":
    """Show on standard error how far the settings, each with its number of seeds, have come; quiet where nobody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("settings {task.fields[settings]}  seeds"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.fields[rate]} seeds/s, left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=sum(sizes.values()), settings=f"0/{len(sizes)}", rate="-")
        yield _SeedsDone(bar, task, sizes)
