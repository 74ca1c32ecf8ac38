"""What the commands share: printing, JSON, failing in one line."""

import json
import sys
from math import isfinite
from pathlib import Path
from typing import NoReturn, cast

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from tallystick.errors import one_line, printable
from tallystick.files import naming, refuse_no_folder, refuse_read_only

NARROWEST, _WIDEST = 80, 400
"""What a terminal is taken to show at least, in columns, and the widest table there is."""


def show(content: RenderableType, *, wide: bool = False) -> None:
    """Print text line by line, and anything else through rich, never narrower than its tables need; wide, without a line break.

    Whatever a file has put into either of them is text: nothing is markup, and nothing reaches a terminal that it would obey.
    """
    if isinstance(content, str):
        sys.stdout.write(_lines(content) + "\n")
        return
    console = Console(highlight=False, markup=False, emoji=False)
    needed = Measurement.get(console, console.options.update(max_width=_WIDEST), content)
    least = needed.maximum if wide else needed.minimum
    console.width = max(console.width, NARROWEST, least if isinstance(content, Table) else 0)
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


def fail(message: str) -> NoReturn:
    """End with status 2 and one line on standard error."""
    sys.stderr.write(f"tallystick: {one_line(message)}\n")
    sys.exit(2)


def make_folder(path: Path) -> None:
    """Make the folder that results go to, before the work is done."""
    refuse_no_folder(path, "results need")
    with naming(path):
        path.mkdir(parents=True, exist_ok=True)
    refuse_read_only(path)
