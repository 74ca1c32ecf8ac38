"""Output whose reader goes away, as `head` does: the command ends as other programs do, and not with the status of a verdict.

Other programs leave this to the signal SIGPIPE. It would also end a server whose client closes a connection, and a run that loses
one of its cluster, without a word. So it stays ignored, and standard output alone ends a command.
"""

import io
import os
import sys
from typing import Any

_ENDED_BY_SIGPIPE = 128 + 13
"""The status of a program that SIGPIPE ended, as a shell shows it."""


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
