"""What commands print: tables and facts on standard output, and how far long work has come on a terminal's standard error.

Tables fit a terminal of 80 columns: what all rows share is said once, and what is left is cut into narrower tables. With --wide a
table has all its columns side by side, however wide it gets.

Progress is a bar, seeds per second, and the time left.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.progress import Progress, ProgressColumn, Task
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tallystick.cli import show, show_json
from tallystick.errors import printable

if TYPE_CHECKING:
    from tallystick.runs.runner import Report

NARROWEST, _WIDEST = 80, 400
"""What a terminal is taken to show at least, in columns, and the widest table there is."""

Row = dict[str, object]

_PLAIN = {"cell": "linear", "method": "published", "precision": "float32"}
"""What need not be shown of a run whose networks are all as the paper's."""

_COUNTED = ("models", "seeds")
"""The columns before one of these tell rows apart; those from it on say what was found."""

_SHORT = {"ab_ratio": "a/b", "recurrent_weight": "U", "share_meeting_conditions": "share_exact", "models": "networks"}
_WRAPPED, _NARROW_TEXT = ("method", "note", "setting"), 20


def show_settings(found: list[Row], name: str, left_out: Sequence[str] = (), *, wide: bool, as_json: bool) -> None:
    """Show what was found of each setting of a run."""
    if as_json:
        show_json({name: found})
        return
    hidden = [key for key, plain in _PLAIN.items() if all(row.get(key) == plain for row in found)]
    show_rows([_without(row, hidden) for row in found], left_out, wide=wide)


def show_facts(found: list[Row], name: str, *, as_json: bool) -> None:
    """Show what was found of each setting of a run, one line per fact: there is too much of it for one row."""
    if as_json:
        show_json({name: found})
        return
    show(facts_table((key, value) for row in found for key, value in row.items() if key != "edition"))


def show_rows(rows: list[Row], left_out: Sequence[str] = (), *, wide: bool = False) -> None:
    """Show rows that share their columns; some columns are left out where the table must be narrow."""
    if wide:
        show(rows_table(rows), wide=True)
        return
    rows = [_without(row, left_out) for row in rows]
    if len(rows) == 1:
        show(facts_table(rows[0].items()))
        return
    telling = _telling(rows[0])
    shared = {name: rows[0][name] for name in _shared(rows, telling)}
    if shared:
        show(Text(f"all rows: {_words(shared)}"))
    implied = _implied(rows, [name for name in telling if name not in shared])
    hidden = {*shared, *implied}
    _show_narrow([_without(row, hidden) for row in rows], [name for name in telling if name not in hidden])


def _show_narrow(rows: list[Row], telling: Sequence[str]) -> None:
    """Show one table if it fits; else one for each value of the first columns that tell rows apart, as few as are needed."""
    for number in range(len(telling) + 1):
        apart = telling[:number]
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in rows:
            groups.setdefault(tuple(row[name] for name in apart), []).append(_without(row, apart))
        tables = {values: rows_table(some) for values, some in groups.items()}
        if all(map(_fits, tables.values())):
            break
    else:
        tables = {tuple(row[name] for name in telling): facts_table(_without(row, telling).items()) for row in rows}
    for values, table in tables.items():
        if values:
            show(Text(_words(dict(zip(telling, values, strict=False))), style="bold"))
        show(table)


def rows_table(rows: Sequence[Row]) -> Table:
    """Return a table of rows that share their columns."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in rows[0]:
        is_text = name in _WRAPPED
        table.add_column(
            Text(_title(name).replace(" ", "\n")) if not is_text else Text(_title(name)),
            justify="left" if is_text else "right",
            vertical="top",
            no_wrap=not is_text,
            min_width=_NARROW_TEXT if is_text else None,
        )
    for row in rows:
        table.add_row(*map(cell_text, row.values()))
    return table


def facts_table(facts: Iterable[tuple[str, object]]) -> Table:
    """Return one line per fact."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, value in facts:
        table.add_row(_title(name), cell_text(value))
    return table


def cell_text(value: object) -> str:
    """Return a value as a table shows it, on one line."""
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def _title(name: str) -> str:
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    return name.replace("_", " ")


def _words(facts: Row) -> str:
    return ", ".join(f"{_title(name)} {cell_text(value)}" for name, value in facts.items())


def _telling(row: Row) -> list[str]:
    """Return the columns that tell rows apart."""
    names = list(row)
    ends = [names.index(name) for name in _COUNTED if name in names]
    return names[: min(ends)] if ends else []


def _shared(rows: list[Row], telling: Sequence[str]) -> list[str]:
    """Return the columns that are the same in all rows, of those that say what the rows are about."""
    named = [name for name in (*telling, *_COUNTED) if name in rows[0]]
    return [name for name in named if all(row[name] == rows[0][name] for row in rows)]


def _implied(rows: list[Row], names: Sequence[str]) -> list[str]:
    """Return the columns that follow from one before, as the precision follows from the edition."""
    return [name for place, name in enumerate(names) if any(_follows(rows, other, name) for other in names[:place])]


def _follows(rows: list[Row], other: str, name: str) -> bool:
    return len({row[other] for row in rows}) == len({(row[other], row[name]) for row in rows}) < len(rows)


def _without(row: Row, names: Iterable[str]) -> Row:
    return {key: value for key, value in row.items() if key not in names}


def _fits(table: Table) -> bool:
    console = Console()
    width = max(console.width, NARROWEST)
    return Measurement.get(console, console.options.update(max_width=10**4), table).minimum <= width


def print_rich(content: RenderableType, *, wide: bool = False) -> None:
    """Print what rich lays out, never narrower than a table needs; wide, without a line break."""
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
            yield Segment("\n".join(map(printable, text.split("\n"))), style, control)


# --- Progress -----------------------------------------------------------------------------------------------------------------

_BAR = 24  # columns


class Pace:
    """How much is done, and how quickly.

    Work comes in blocks, one for each core at a time, so that reports come in bursts with long pauses between. Between two of
    them it is taken to go on at the pace so far, for no longer than the longest pause yet.
    """

    def __init__(self, total: int, clock: Callable[[], float] = monotonic) -> None:
        self.total, self.done = total, 0
        self._clock, self._start = clock, clock()
        self._first: tuple[float, int] | None = None
        self._last, self._pause = self._start, 0.0

    def add(self, amount: int) -> None:
        """Count what is done."""
        now = self._clock()
        self.done += amount
        self._pause, self._last = max(self._pause, now - self._last), now
        if self._first is None:
            self._first = now, self.done

    @property
    def rate(self) -> float:
        """What is done in a second: without the first block, which was compiled, as soon as enough others are done."""
        if self._first is None or self._last <= self._start:
            return 0.0
        first, done = self._first
        if self._last - first > first - self._start:
            return (self.done - done) / (self._last - first)
        return self.done / (self._last - self._start)

    @property
    def expected(self) -> float:
        """What is done by now, as far as the pace tells."""
        pause = min(self._clock() - self._last, self._pause)
        return min(self.done + self.rate * pause, self.total)

    @property
    def elapsed(self) -> int:
        """The seconds since the beginning."""
        return int(self._clock() - self._start)

    @property
    def left(self) -> int | None:
        """The seconds to the end; None while nobody can know."""
        return round((self.total - self.expected) / self.rate) if self.rate else None


class _Line(ProgressColumn):
    """The words on both sides of the bar, written anew ten times a second."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: Task) -> Text:  # noqa: ARG002 -- rich's own
        return Text(self._text())


class _Bar(ProgressColumn):
    """A bar that moves between two reports, and to and fro until the first."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> ProgressBar:
        pace = self._pace
        return ProgressBar(pace.total, pace.expected, width=_BAR, pulse=not pace.rate, animation_time=task.get_time())


@contextmanager
def bar(pace: Pace, before: Callable[[], str], after: Callable[[], str]) -> Iterator[None]:
    """Show a bar between two texts until the end of the block; quiet where nobody watches."""
    console = Console(stderr=True)
    columns = (_Line(before), _Bar(pace), _Line(after))
    # What is printed on standard output in the meantime must not go where the bar is, hence no redirection.
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, disable=not _is_watched()
    ) as progress:
        progress.add_task("", total=None)
        yield


def _is_watched() -> bool:
    """Say whether standard error is a terminal, and not a log with colours."""
    return bool(sys.stderr and sys.stderr.isatty())


@contextmanager
def progress_bar(sizes: dict[str, int], unit: str = "seeds") -> "Iterator[Report]":
    """Show how far the settings, each with its number of seeds, have come."""
    pace, left, lock = Pace(sum(sizes.values())), dict(sizes), Lock()

    def add(setting: str, seeds: int) -> None:
        with lock:  # blocks come from every thread
            left[setting] -= seeds
            pace.add(seeds)

    def before() -> str:
        settings = f"settings {sum(size <= 0 for size in left.values())}/{len(left)}  " if len(left) > 1 else ""
        return f"{settings}{unit} {pace.done:,}/{pace.total:,}"

    with bar(pace, before, lambda: time_text(pace, unit)):
        yield add


@contextmanager
def steps_bar(total: int, what: str) -> Iterator[Callable[[str], None]]:
    """Show how many steps are done of several; yields what is called as each step begins, with its name.

    Where there is no terminal each name is a line, for a log.
    """
    pace, names, lock = Pace(total), list[str](), Lock()

    def begin(name: str) -> None:
        with lock:
            if names:
                pace.add(1)
            names.append(name)
        if sys.stderr and not _is_watched():
            sys.stderr.write(f"{name}\n")

    def before() -> str:
        return f"{what} {len(names)}/{total}"

    def after() -> str:
        return f"{time_text(pace)}  {names[-1] if names else ''}"

    with bar(pace, before, after):
        yield begin


@contextmanager
def waiting_bar(what: str) -> Iterator[None]:
    """Show that something is being done of which nobody knows how long it takes."""
    pace = Pace(1)
    with bar(pace, lambda: what, lambda: time_text(pace)):
        yield


def time_text(pace: Pace, unit: str = "") -> str:
    """Say how quickly the work goes and how long it will take; before the first report, how long it has taken."""
    if pace.left is None or pace.done >= pace.total:
        return f"{'finishing, ' if pace.done else ''}{_clock_text(pace.elapsed)} so far"
    rate = f"{pace.rate:,.0f} {unit}/s, " if unit and pace.rate >= 1 else ""
    return f"{rate}{_clock_text(pace.left)} left"


def _clock_text(seconds: int) -> str:
    """Write seconds as a clock does.

    >>> _clock_text(3725)
    '1:02:05'
    """
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
