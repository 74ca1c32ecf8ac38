"""One worker process, both ends of it: what the server says to it, and what it does.

A process of its own can be ended, which a thread cannot, and exact arithmetic on hostile numbers can take hours. Each question
goes through the process's standard input as a pickled task with its arguments, and each reply comes back through its standard
output with its length before it. A process ends when its standard input is closed.
"""

import asyncio
import os
import pickle
import signal
import sys
import time
import traceback
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO

from tallystick.errors import BadInput
from tallystick.explore import answers  # noqa: F401 -- loaded before the first question comes

START_SECONDS = 60.0
"""How long a process may take to load the library."""

TOO_LARGE = "the answer needs more memory than there is for it"
_MOST_MEMORY = 4 * 2**30
_SIZE_BYTES = 8
_GOODBYE_SECONDS = 1.0
_SLOW_NICENESS = 19
_LARGEST_ANSWER = 2**28
"""Bytes that are read of an answer before the rest has to wait; what is left in a pipe would keep it open."""

_SCHEDULED = 2
"""The clock of a process is known to Linux by its number and this one (clock_getcpuclockid)."""

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""The workers are many already; and each thread of a library would take a share of their memory."""

_HOME = str(Path(__file__).parents[2])
_PROGRAM = f"import sys; sys.path.append({_HOME!r}); from {__name__} import main; main()"
"""What a process runs. With -P nothing is imported from the current directory, unless this package itself lies there."""

Task = Callable[..., Any]


class Outcome(Enum):
    """What became of a question: an answer, a complaint about the question, or a mistake of ours."""

    ANSWERED = 0
    REFUSED = 1
    FAILED = 2


class TooLong(BadInput):
    """An answer was not found within the time limit."""


class WorkerEnded(Exception):
    """A process ended before it had answered, and nobody here ended it.

    Attributes:
        status: the exit status, or minus the number of the signal that ended the process.
    """

    def __init__(self, status: int) -> None:
        """Name the cause."""
        super().__init__(f"the worker ended: {f'signal {-status}' if status < 0 else f'status {status}'}")
        self.status = status


class Worker:
    """One process, and the pipes to and from it."""

    def __init__(self, process: Process) -> None:
        self._process, self.is_idle, self._is_ended = process, False, False
        assert process.stdin is not None
        assert process.stdout is not None
        self._questions, self._replies = process.stdin, process.stdout

    @classmethod
    async def start(cls) -> "Worker":
        """Start a process of its own program: a fork would copy the server's threads and sockets."""
        program, environment = (sys.executable, "-P", "-c", _PROGRAM), {**os.environ, **_ONE_THREAD}
        return cls(
            await asyncio.create_subprocess_exec(
                *program, stdin=PIPE, stdout=PIPE, env=environment, limit=_LARGEST_ANSWER
            )
        )

    @property
    def is_alive(self) -> bool:
        """Whether the process has not ended, as far as is known."""
        return self._process.returncode is None and not (self._is_ended or self._replies.at_eof())

    @property
    def is_gone(self) -> bool:
        """Whether the system has taken the process back, and its pipes with it; one that was ended takes a while."""
        return self._process.returncode is not None

    @property
    def worked(self) -> float:
        """The seconds for which the process has had a processor; where the system does not tell, those on the clock."""
        try:
            return time.clock_gettime(~self._process.pid << 3 | _SCHEDULED)
        except (OSError, AttributeError, OverflowError):
            return time.monotonic()

    async def get_ready(self) -> None:
        """Wait until the process has loaded the library."""
        await self._reply(START_SECONDS)

    async def ask(self, task: Task, arguments: tuple[object, ...], seconds: float) -> Any:  # noqa: ANN401
        """Return what the process answers."""
        outcome, value = await self._reply(seconds, pickle.dumps((task, arguments)))
        if outcome is Outcome.REFUSED:
            raise BadInput(value)
        if outcome is Outcome.FAILED:
            raise RuntimeError(value)
        return value

    def step_aside(self) -> None:
        """Leave the processor to quicker questions."""
        with suppress(OSError, AttributeError):  # not on every system
            niceness = os.getpriority(os.PRIO_PROCESS, self._process.pid) + _SLOW_NICENESS
            os.setpriority(os.PRIO_PROCESS, self._process.pid, niceness)

    def end(self) -> None:
        """End the process, whatever it is doing; once, since a second signal could take its status from asyncio."""
        if not self._is_ended:
            self._is_ended = True
            with suppress(ProcessLookupError):
                self._process.kill()

    async def dismiss(self) -> None:
        """Let the process end by itself, since there are no more questions, or else end it."""
        self._questions.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _GOODBYE_SECONDS)
        self.end()
        await self._process.wait()

    async def _reply(self, seconds: float, question: bytes = b"") -> Any:  # noqa: ANN401
        """Say something to the process, if there is something to say, and return what it says next; without that, end it."""
        self.is_idle = False
        try:
            async with asyncio.timeout(seconds):
                self._questions.write(question)
                await self._questions.drain()
                size = int.from_bytes(await self._replies.readexactly(_SIZE_BYTES), "big")
                reply = await self._replies.readexactly(size)
            self.is_idle = True
            return pickle.loads(reply)
        except TimeoutError:
            limit = f"no answer within {seconds:g} seconds; the tallystick commands have no such limit"
            raise TooLong(limit) from None
        except (EOFError, OSError):
            raise WorkerEnded(await self._process.wait()) from None
        finally:
            if not self.is_idle:
                self.end()


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
    """Report that the library is loaded, and answer questions until there are no more."""
    _send(pickle.dumps("ready"), replies)
    while True:
        _send(reply(*pickle.load(questions)), replies)


def _send(content: bytes, replies: BinaryIO) -> None:
    replies.write(len(content).to_bytes(_SIZE_BYTES, "big") + content)
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
