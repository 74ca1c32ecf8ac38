"""The command line: the program and its commands, one thin function each, how it speaks and how it ends.

Exit status 0 is success, 1 a negative verdict, 2 bad input with one line on standard error, 3 a check that is too costly, 130 an
interruption by Ctrl-C.

A command's module is imported when the command is called. Whatever a file has put into what is shown is text: nothing reaches a
terminal that it would obey.

Ctrl-C ends the process at once, with one line and status 130, whatever its threads are at. What XLA and Dask have begun cannot be
interrupted, and Python would wait for it. Nothing is lost by not waiting: a file is whole or not there at every moment, and the
system takes locks back.

When the reader of its output goes away, as `head` does, a command ends as other programs do, not with the status of a verdict.
Other programs leave this to the signal SIGPIPE. It would also end a server whose client closes a connection, and a run that loses
one of its cluster, without a word. So it stays ignored, and standard output alone ends a command.
"""

import errno
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from math import isfinite
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from tallystick import __version__
from tallystick.errors import BadInput, missing_extra_named, one_line, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

# ruff: noqa: PLC0415 -- rich takes a while to load, and most answers are a few lines of text

COMMANDS = {
    "certify": ("certificates", "Certify", "Prove up to which length a network is right on ALL strings."),
    "check": ("checking", "Certify", "Verify a certificate with an independent checker."),
    "accuracy": ("accuracy", "Certify", "Count exactly how many of all strings of a length are right."),
    "failures": ("certificates", "Certify", "List strings of a length that a network gets wrong."),
    "extract": ("theory", "Certify", "Find the counter machine that a network equals."),
    "published": ("published", "Certify", "Certify every network file of a folder, beside its authors' claim."),
    "explain": ("studies", "Certify", "Say why training ends where it does, or why a linear network fails."),
    "explore": ("explore", "Certify", "Look at networks, runs, the table and the proof in a browser."),
    "train": ("training", "Train", "Train networks, and test how far they are right."),
    "evaluate": ("accuracy", "Train", "Test networks on the strings of a file."),
    "indicators": (
        "training",
        "Train",
        "Show how close networks are to an exact counter: a/b, U and the theorems' conditions.",
    ),
    "sweep": ("training", "Train", "Train every combination of some options, and draw which networks count."),
    "compare": ("studies", "Train", "Train with every method and cell, and compare how far they count."),
    "reproduce": ("studies", "The paper", "Run the paper's whole experiment, and write its report."),
    "report": ("studies", "The paper", "Write the report of a reproduction once more."),
    "prove": ("theory", "Theory", "Prove the theorems step by step with a solver."),
    "accepts": ("theory", "Theory", "Run a counter machine on a string."),
    "machines": ("theory", "Theory", "List the ready counter machines, or print one as a file."),
}
"""Every command: the module of this folder that has its function, the panel of the help that lists it, and what it does."""

_STYLE: dict[str, Any] = {"rich_markup_mode": "rich", "context_settings": {"help_option_names": ["-h", "--help"]}}
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_COMPLETION = ("--install-completion", "--show-completion")


def command_function(name: str) -> Callable[..., None]:
    """Return the function of a command, whose module is imported now."""
    return getattr(import_module(f"{__name__}.{COMMANDS[name][0]}"), name)


def load_command(name: str) -> TyperCommand:
    """Return a command with all that its function declares."""
    alone = typer.Typer(add_completion=False, **_STYLE)
    alone.command(name, cls=Command)(command_function(name))
    return cast("TyperCommand", get_command(alone))


class HelpInPanels:
    """A command, or a group of them, whose help `help` lays out."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 -- typer's own classes have no public names
        """Write the help."""
        from tallystick.cli.help import help_text

        formatter.write(help_text(self, ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 -- as above
        """Return what follows the command's name."""
        from tallystick.cli.help import usage_of

        return usage_of(self, ctx)


class Command(HelpInPanels, TyperCommand):
    """One command with all that its function declares."""


class _ListedCommand(HelpInPanels, TyperCommand):
    """A command as --help lists it; its function, and the libraries that this needs, are imported when it is called."""

    def make_context(self, info_name: str | None, *arguments: Any, **options: Any) -> typer.Context:  # noqa: ANN401  # type: ignore[override]
        """Read the arguments as the function declares them."""
        assert info_name is not None
        return load_command(info_name).make_context(info_name, *arguments, **options)  # type: ignore[return-value]


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
        except ModuleNotFoundError as error:
            with missing_extra_named():
                raise error from None


def _loaded_later() -> None:
    """Stand for the function of a command until it is called."""


app = typer.Typer(
    cls=_Commands,
    help="Does this recurrent network really count, and how far?\n\nStart with: tallystick certify network.json",
    **_STYLE,
)
for _name, (_, _panel, _help) in COMMANDS.items():
    app.command(_name, cls=_ListedCommand, rich_help_panel=_panel, help=_help)(_loaded_later)

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
        fail(_complaint(error))
    except MemoryError:
        fail("there is not enough memory for this; smaller files, fewer seeds or shorter strings take less")
    except OSError as error:
        full = error.errno in _FULL and not error.filename  # files are named, so it is not one of them
        if full:
            _forget_output()
        where = "standard output" if full else error.filename
        fail(f"{where}: {(error.strerror or str(error)).lower()}" if where else str(error))
    sys.exit(status if isinstance(status, int) else 0)


def _complaint(error: TyperException) -> str:
    """Return what typer complains of in one line, with the value, which it leaves out where a number was expected."""
    words = " ".join(error.format_message().split())
    errors = getattr(error.__cause__, "errors", None)
    return f"{words}; it is {errors()[0]['input']!r}" if errors else words


def _refuse_other_shells(option: str) -> None:
    from shellingham import ShellDetectionFailure, detect_shell

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


# --- How it speaks --------------------------------------------------------------------------------------------------------------


def show(content: "str | list[str] | RenderableType", *, wide: bool = False) -> None:
    """Print text line by line, a list of lines, or anything else through rich, never narrower than its tables need.

    A line of a list stays one line, whatever it holds. What is wide has no line breaks.
    """
    if isinstance(content, str | list):
        lines = content.split("\n") if isinstance(content, str) else content
        sys.stdout.write("".join(f"{line if line.isprintable() else printable(line)}\n" for line in lines))
        return
    from tallystick.cli.output import print_rich

    print_rich(content, wide=wide)


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


# --- How it ends ----------------------------------------------------------------------------------------------------------------

STATUS = 128 + signal.SIGINT
_ENDED_BY_SIGPIPE = 128 + 13
"""The status of a program that SIGPIPE ended, as a shell shows it."""

_WHOLE_LINE = "\r\x1b[2K\x1b[?25h"
"""Removes a bar of progress from a terminal, and brings the cursor back that it has hidden."""


def end_on_ctrl_c() -> None:
    """From now on end the process on Ctrl-C, unless somebody, as a server does, has asked for the signal since."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGINT, _leave_to_thread)
    # A handler in Python waits for the main thread, which may be compiling; what is written here reaches a thread at once.
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    Thread(target=_wait, args=(reader,), daemon=True).start()


@contextmanager
def long_verdict() -> Iterator[None]:
    """Show on a terminal how far a verdict has come, and let Ctrl-C interrupt it, so that it tells what is known so far."""
    if not (sys.stderr and sys.stderr.isatty()):
        with _interrupts():
            yield
        return
    from tallystick.certificates.progress import progress_line

    with _interrupts(), progress_line():
        yield


@contextmanager
def _interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt here; what does not catch it ends as everywhere."""
    before = signal.getsignal(signal.SIGINT)
    if before is not _leave_to_thread:  # not this program's own, or not its main thread
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        _end()
    finally:
        signal.signal(signal.SIGINT, before)


def _leave_to_thread(_signal: int, _frame: FrameType | None) -> None:
    """Do nothing: the thread ends the process."""


def _wait(reader: int) -> None:
    while number := os.read(reader, 1):
        if number[0] == signal.SIGINT and signal.getsignal(signal.SIGINT) is _leave_to_thread:
            _end()


def _end() -> None:
    from tallystick.runs.resuming import folders_at_work_in

    folders = folders_at_work_in()
    said = f"{folders[0]}: interrupted; --resume goes on with what is done" if folders else "interrupted"
    line = f"tallystick: {one_line(said)}\n"
    if sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison] -- closed by the caller
        line = _WHOLE_LINE + line
    try:
        os.write(2, line.encode(errors="replace"))
    finally:
        os._exit(STATUS)


def end_with_reader() -> None:
    """Let this program end when the reader of standard output has gone; that of standard error is not missed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _rebuilt(stream, _Pipe(stream.fileno(), "w", closefd=False)))


class _Pipe(io.FileIO):
    """A file that takes everything and keeps nothing once its reader has gone."""

    def write(self, content: Any, /) -> int:  # noqa: ANN401 -- whatever has bytes
        """Write; end the program where nobody reads its standard output any more."""
        try:
            return super().write(content)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if self.fileno() == 1:
                raise SystemExit(_ENDED_BY_SIGPIPE) from None
            return super().write(content)


def _rebuilt(stream: io.TextIOWrapper, file: io.FileIO) -> io.TextIOWrapper:
    """Return a stream that writes to a file just as another one does."""
    return io.TextIOWrapper(
        file if isinstance(stream.buffer, io.FileIO) else io.BufferedWriter(file),  # the first with python -u
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def look_for_gpus(device: str, cluster: str | None) -> Thread | None:
    """Begin to look for GPUs, which takes JAX a second or more, while a command imports what else it needs.

    There is no need for one on processors, nor where a cluster trains.
    """
    if device == "cpu" or cluster:
        return None
    thread = Thread(target=_look_for_gpus)  # not a daemon: a process that ends in the middle of it may crash
    thread.start()
    return thread


def _look_for_gpus() -> None:
    with suppress(ImportError, RuntimeError):  # no JAX or no GPU: the command says so where it needs one
        import jax

        import tallystick.training  # noqa: F401 -- says how much of a GPU's memory JAX takes

        jax.local_devices(backend="gpu")
