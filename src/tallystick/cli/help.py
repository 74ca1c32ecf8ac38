"""How help is shown: panels of two columns, an option with what it takes beside what it does, readable at 80 columns.

Typer's own layout has a column for each part of an option, which leaves the text a third of a narrow terminal.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from typer.core import TyperArgument, TyperGroup

_WIDEST = 100
_NAMES = 24
"""The most room for the names of options; longer ones take two lines."""

Row = tuple[str, str, str]
"""A name, what is said of it, and a note such as its default."""


def help_text(command: Any, ctx: Any) -> str:  # noqa: ANN401 -- typer's own classes have no public names
    """Return the help of a command, or of a group of them."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.width = min(console.width, _WIDEST)
    with console.capture() as captured:
        _print_help(command, ctx, console)
    return captured.get()


def usage_of(command: Any, ctx: Any) -> list[str]:  # noqa: ANN401 -- as above
    """Return what follows a command's name: an argument that may be left out stands in brackets."""
    arguments = [one for one in command.get_params(ctx) if isinstance(one, TyperArgument)]
    more = ["COMMAND"] if isinstance(command, TyperGroup) else []
    names = (_argument_name(one) for one in arguments)
    return [
        *(name if one.required else f"[{name}]" for name, one in zip(names, arguments, strict=True)),
        "[OPTIONS]",
        *more,
    ]


def help_row(parameter: Any, ctx: Any) -> Row | None:  # noqa: ANN401 -- as above
    """Return what help says of an argument or an option: its name and what it takes, its purpose, and a note."""
    record = parameter.get_help_record(ctx)
    if record is None:
        return None
    name = _argument_name(parameter) if isinstance(parameter, TyperArgument) else record[0]
    what, _, note = record[1].rpartition("  [") if record[1].endswith("]") else (record[1], "", "")
    return name, what, note.removesuffix("]")


def _argument_name(argument: TyperArgument) -> str:
    return (argument.metavar or str(argument.name).upper()).strip("[]")


def _print_help(command: Any, ctx: Any, console: Console) -> None:  # noqa: ANN401 -- as above
    usage = " ".join((ctx.command_path, *command.collect_usage_pieces(ctx)))
    console.print(Padding(Text.assemble(("Usage: ", "yellow"), (usage, "bold")), (0, 1, 1, 1)))
    for paragraph in (command.help or "").strip().split("\n\n"):
        console.print(Padding(Text(" ".join(paragraph.split())), (0, 1, 1, 1)))
    for panels in (list(_command_panels(command, ctx)), list(_option_panels(command, ctx))):
        width = min(_NAMES, max((len(name) for _, rows in panels for name, _, _ in rows), default=0))
        for title, rows in panels:
            shown = _table(rows, width)
            console.print(Panel(shown, title=title, title_align="left", box=box.ROUNDED, border_style="dim"))


def _command_panels(command: Any, ctx: Any) -> Iterator[tuple[str, list[Row]]]:  # noqa: ANN401 -- as above
    names = command.list_commands(ctx) if isinstance(command, TyperGroup) else []
    listed: list[Any] = [command.get_command(ctx, name) for name in names]
    for title in dict.fromkeys(one.rich_help_panel for one in listed):
        yield title, [(one.name, _first_paragraph(one.help), "") for one in listed if one.rich_help_panel == title]


def _option_panels(command: Any, ctx: Any) -> Iterator[tuple[str, list[Row]]]:  # noqa: ANN401 -- as above
    panels: dict[str, list[Row]] = {"Arguments": [], "Options": []}
    for parameter in command.get_params(ctx):
        usual = "Arguments" if isinstance(parameter, TyperArgument) else "Options"
        row = help_row(parameter, ctx)
        if row is not None:
            panels.setdefault(getattr(parameter, "rich_help_panel", None) or usual, []).append(row)
    return ((title, rows) for title, rows in panels.items() if rows)


def _first_paragraph(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def _table(rows: Iterable[Row], width: int) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(style="bold cyan", width=width, overflow="fold")
    table.add_column(ratio=1)
    for name, what, note in rows:
        table.add_row(name, Text.assemble(what, (f" [{note}]" if note else "", "dim")))
    return table
