"""The command line: one thin function per command.

Exit status 0 is success, 1 a negative verdict, 2 bad input with one line on standard error, 3 a check that is too costly, 130 an
interruption by Ctrl-C.
"""

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from tallystick import __version__
from tallystick.cli.accuracy import accuracy, evaluate
from tallystick.cli.certificates import certify, check, failures
from tallystick.cli.ending import end_on_ctrl_c, end_with_reader
from tallystick.cli.explore import explore
from tallystick.cli.help import Command, HelpInPanels
from tallystick.cli.output import fail, show
from tallystick.cli.published import published
from tallystick.cli.studies import compare, explain, report, reproduce
from tallystick.cli.theory import accepts, extract, machines, prove
from tallystick.cli.training import indicators, sweep, train
from tallystick.errors import BadInput

SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_COMPLETION = ("--install-completion", "--show-completion")


class _Commands(HelpInPanels, TyperGroup):
    """The commands; one that loses a connection says so, where typer would take it for the reader of its output and end."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Read the options before a command; a shell that typer has no completion for is refused in one line."""
        if args and args[0] in _COMPLETION:
            _refuse_other_shells(args[0])
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise BadInput("a process that this one was connected to has gone") from None


app = typer.Typer(
    cls=_Commands,
    help="Does this recurrent network really count, and how far?\n\nStart with: tallystick certify network.json",
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    ("certify", certify, "Certify"),
    ("check", check, "Certify"),
    ("accuracy", accuracy, "Certify"),
    ("failures", failures, "Certify"),
    ("extract", extract, "Certify"),
    ("published", published, "Certify"),
    ("explain", explain, "Certify"),
    ("explore", explore, "Certify"),
    ("train", train, "Train"),
    ("evaluate", evaluate, "Train"),
    ("indicators", indicators, "Train"),
    ("sweep", sweep, "Train"),
    ("compare", compare, "Train"),
    ("reproduce", reproduce, "The paper"),
    ("report", report, "The paper"),
    ("prove", prove, "Theory"),
    ("accepts", accepts, "Theory"),
    ("machines", machines, "Theory"),
)
"""Every command: its name, what runs it, and the panel of the help that lists it."""

for name, command, panel in COMMANDS:
    app.command(name, cls=Command, rich_help_panel=panel)(command)

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
        fail(" ".join(error.format_message().split()))
    except MemoryError:
        fail("there is not enough memory for this; smaller files, fewer seeds or shorter strings take less")
    except OSError as error:
        full = error.errno in _FULL and not error.filename  # files are named, so it is not one of them
        if full:
            _forget_output()
        where = "standard output" if full else error.filename
        fail(f"{where}: {(error.strerror or str(error)).lower()}" if where else str(error))
    sys.exit(status if isinstance(status, int) else 0)


def _refuse_other_shells(option: str) -> None:
    from shellingham import ShellDetectionFailure, detect_shell  # noqa: PLC0415 -- typer's own, for this alone

    try:
        shell = detect_shell()[0]
    except ShellDetectionFailure:
        raise BadInput(f"{option}: the shell that runs this is not known; run it from {', '.join(SHELLS)}") from None
    if shell not in SHELLS:
        raise BadInput(f"{option}: {shell!r} is not one of {', '.join(SHELLS)}; run it from one of these")


def _forget_output() -> None:
    """Give no more to an output that takes nothing, at the end of the program least of all."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@app.callback(invoke_without_command=True)
def _options(  # pyright: ignore[reportUnusedFunction] -- typer calls it
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        show(f"tallystick {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise BadInput("no command given; tallystick --help lists them")
