"""Ctrl-C ends the process at once, with one line and status 130, whatever its threads are at.

What XLA and Dask have begun cannot be interrupted, and Python would wait for it. Nothing is lost by not waiting: a file is
whole or not there at every moment, and the system takes locks back.
"""

import os
import signal
import sys
from threading import Thread
from types import FrameType

from tallystick.errors import one_line
from tallystick.runs.lock import folders_at_work_in

STATUS = 128 + signal.SIGINT
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
