"""The command line: one thin function per command.

Exit status 0 is success, 1 a negative verdict, 2 bad input with one line on standard error, 3 a check that is too costly, 130 an
interruption by Ctrl-C.
"""

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from tallystick import __version__
from tallystick.cli.ending import end_on_ctrl_c, end_with_reader
from tallystick.cli.output import fail, show
from tallystick.errors import BadInput, missing_extra_named

COMMANDS = {
    "certify": ("certificates", "Certify", "Say up to which length a network is right on ALL strings."),
    "check": ("checking", "Certify", "Verify a certificate with a checker that shares no code with the certifier."),
    "accuracy": ("accuracy", "Certify", "Count, exactly, how many of all 2^N strings a model gets right."),
    "failures": ("certificates", "Certify", "List strings of a length that a model gets wrong."),
    "extract": ("theory", "Certify", "Find the counter machine that a network equals."),
    "published": ("published", "Certify", "Say of every network in a folder how far it is right on ALL strings."),
    "explain": ("studies", "Certify", "Say why training leaves the exact counter, or why a linear network fails."),
    "explore": ("explore", "Certify", "Look at networks, runs, the table and the proof in a browser."),
    "train": ("training", "Train", "Train networks of one setting and test them at 20 and 50 tokens."),
    "evaluate": ("accuracy", "Train", "Test a run's networks, or one model, on a file of strings."),
    "indicators": ("training", "Train", "Show a/b, U and their distance from the conditions."),
    "sweep": ("training", "Train", "Train every combination of some settings, and draw who counts."),
    "compare": ("studies", "Train", "Train every method and cell, and say how many seeds count exactly."),
    "reproduce": ("studies", "The paper", "Run the paper's whole experiment: table, figures, claims, page."),
    "report": ("studies", "The paper", "Write the table, the figures, the claims and the page once more."),
    "prove": ("theory", "Theory", "Go through each theorem step by step, each discharged by a solver."),
    "accepts": ("theory", "Theory", "Run a counter machine on a string."),
    "machines": ("theory", "Theory", "List the ready counter machines, or print one as a machine file."),
}
"""Every command: the module of this folder that has its function, the panel of the help that lists it, and what it does."""

_STYLE: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": "rich",
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


def command_function(name: str) -> Callable[..., None]:
    """Return the function of a command, whose module is imported now."""
    return getattr(import_module(f"{__name__}.{COMMANDS[name][0]}"), name)


def load_command(name: str) -> TyperCommand:
    """Return a command with all that its function declares."""
    alone = typer.Typer(**_STYLE)
    alone.command(name)(command_function(name))
    return cast("TyperCommand", get_command(alone))


class _Command(TyperCommand):
    """A command as --help lists it; its function, and the libraries that this needs, are imported when it is called."""

    def make_context(self, info_name: str | None, *arguments: Any, **options: Any) -> typer.Context:  # noqa: ANN401  # type: ignore[override]
        """Read the arguments as the function declares them."""
        assert info_name is not None
        return load_command(info_name).make_context(info_name, *arguments, **options)  # type: ignore[return-value]


class _Commands(TyperGroup):
    """The commands; one that loses a connection says so, where typer would take it for the reader of its output and end."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run a command."""
        try:
            with missing_extra_named():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise BadInput("a process that this one was connected to has gone") from None


def _loaded_later() -> None:
    """Stand for the function of a command until it is called."""


app = typer.Typer(cls=_Commands, help="Does this recurrent network really count?", no_args_is_help=True, **_STYLE)
for _name, (_, _panel, _help) in COMMANDS.items():
    app.command(_name, cls=_Command, rich_help_panel=_panel, help=_help)(_loaded_later)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error a user can cause ends in one line and status 2."""
    if arguments is None:
        end_with_reader()
        end_on_ctrl_c()
    if sys.stdout is None:  # closed by the caller; the exit status still answers  # pyright: ignore[reportUnnecessaryComparison]
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 -- open to the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without the paper's symbols shows "?" and goes on
            stream.reconfigure(errors="replace")  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
    try:
        status = app(arguments, prog_name="tallystick", standalone_mode=False)
        sys.stdout.flush()
    except BadInput as error:
        fail(str(error))
    except TyperException as error:
        fail(" ".join(error.format_message().split()) or "no command given; tallystick --help lists them")
    except MemoryError:
        fail("there is not enough memory for this; smaller files, fewer seeds or shorter strings take less")
    except OSError as error:
        full = error.errno in _FULL and not error.filename  # files are named, so it is not one of them
        if full:
            _forget_output()
        where = "standard output" if full else error.filename
        fail(f"{where}: {(error.strerror or str(error)).lower()}" if where else str(error))
    sys.exit(status if isinstance(status, int) else 0)


def _forget_output() -> None:
    """Give no more to an output that takes nothing, at the end of the program least of all."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.callback(invoke_without_command=True)
def _options(  # pyright: ignore[reportUnusedFunction] -- typer calls it
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        show(f"tallystick {__version__}")
        raise typer.Exit
