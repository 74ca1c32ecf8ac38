"""How a command ends before its work does: by Ctrl-C, or because the reader of its output has gone.

Ctrl-C ends the process at once, with one line and status 130, whatever its threads are at. What XLA and Dask have begun cannot be
interrupted, and Python would wait for it. Nothing is lost by not waiting: a file is whole or not there at every moment, and the
system takes locks back.

When the reader of its output goes away, as `head` does, a command ends as other programs do, not with the status of a verdict.
Other programs leave this to the signal SIGPIPE. It would also end a server whose client closes a connection, and a run that loses
one of its cluster, without a word. So it stays ignored, and standard output alone ends a command.
"""

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType
from typing import Any

from tallystick.errors import one_line
from tallystick.runs.resuming import folders_at_work_in

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
def let_ctrl_c_interrupt() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt here, for work that then tells what is known so far; else end as everywhere."""
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
