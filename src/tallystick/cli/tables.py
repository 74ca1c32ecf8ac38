"""Tables that fit a terminal of 80 columns: what all rows share is said once, and what is left is cut into narrower tables.

With --wide a table has all its columns side by side, however wide it gets.
"""

from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from tallystick.cli import show, show_json
from tallystick.errors import printable

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
