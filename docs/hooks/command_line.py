"""Writes the commands and their options into the page of the command line, from typer, whenever the site is built."""

from typing import Any

from typer import Context
from typer.core import TyperGroup
from typer.main import get_command

from tallystick.cli import COMMANDS, app, load_command
from tallystick.cli.help import help_row

PLACE = "<!-- every command -->"
PROGRAM = "tallystick"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the commands where a page asks for them; mkdocs calls this for every page."""
    return markdown.replace(PLACE, commands_as_markdown())


def commands_as_markdown() -> str:
    """Return a section a command: what it does, its usage, an example, its arguments and options."""
    group = get_command(app)
    assert isinstance(group, TyperGroup), "a program with several commands"
    context = Context(group, info_name=PROGRAM)
    return "\n".join(_section(name, load_command(name), context) for name in COMMANDS)


def _section(name: str, command: Any, context: Context) -> str:  # noqa: ANN401 -- typer's own class has no public name
    what, _, example = command.help.partition("Example: ")
    usage = " ".join((PROGRAM, name, *command.collect_usage_pieces(context)))
    rows = [help_row(parameter, context) for parameter in command.get_params(context)]
    parameters = "\n".join(_line(*row) for row in rows if row)
    return (
        f"## {name}\n\n{what.strip()}\n\n{_fenced(usage)}\n{parameters}\n\nFor example:\n\n{_fenced(example.strip())}"
    )


def _line(name: str, what: str, note: str) -> str:
    """Return the line of one parameter; what it is if not given stands at its end."""
    return f"- `{name}`: {what}" + (f" *{note[0].upper()}{note[1:]}.*" if note else "")


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```\n"
