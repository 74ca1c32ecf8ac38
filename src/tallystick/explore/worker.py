"""The program of a worker process: reads questions from one pipe and writes answers to another, until the first is closed."""

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, BinaryIO

from tallystick.errors import BadInput
from tallystick.explore import answers  # noqa: F401 -- loaded before the first question comes

TOO_LARGE = "the answer needs more memory than there is for it"
_MOST_MEMORY = 4 * 2**30

SIZE_BYTES = 8
"""The length of a reply, which goes before it."""

Task = Callable[..., Any]


class Outcome(Enum):
    """What became of a question: an answer, a complaint about the question, or a mistake of ours."""

    ANSWERED = 0
    REFUSED = 1
    FAILED = 2


def reply(task: Task, arguments: tuple[object, ...]) -> bytes:
    """Do a task, and return what became of it."""
    try:
        return pickle.dumps((Outcome.ANSWERED, task(*arguments)))
    except BadInput as error:
        return pickle.dumps((Outcome.REFUSED, str(error)))
    except MemoryError:
        return pickle.dumps((Outcome.REFUSED, TOO_LARGE))
    except Exception:
        return pickle.dumps((Outcome.FAILED, traceback.format_exc()))


def work(questions: BinaryIO, replies: BinaryIO) -> None:
    """Say that all is loaded, and answer questions until there are no more."""
    _say(pickle.dumps("ready"), replies)
    while True:
        _say(reply(*pickle.load(questions)), replies)


def _say(content: bytes, replies: BinaryIO) -> None:
    replies.write(len(content).to_bytes(SIZE_BYTES, "big") + content)
    replies.flush()


def _bound_memory() -> None:
    """Let a process that wants too much memory fail alone; where the system has no such limit there is none."""
    with suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 -- not on every system

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def main() -> None:
    """Work for the server that started this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's business
    _bound_memory()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not get between the answers
    with suppress(EOFError, BrokenPipeError):
        work(sys.stdin.buffer, replies)
