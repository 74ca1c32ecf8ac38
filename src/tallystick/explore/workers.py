"""Processes that work out answers within a time limit. One that takes longer is ended and replaced; the others go on.

A thread could not be ended, and exact arithmetic on hostile numbers can take hours.
"""

import asyncio
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen
from typing import Any

from tallystick.errors import BadInput
from tallystick.explore.worker import TOO_LARGE, Outcome, Task, main

SECONDS = 10.0
"""How long an answer may take, and how long a question waits for a worker."""

_START_SECONDS = 60.0
_MOST_WAITING = 1000


class TooLong(BadInput):
    """An answer was not found within the time limit."""


class Busy(BadInput):
    """No worker became free within the time limit."""


class Workers:
    """A few processes, each with one question at a time."""

    def __init__(self, number: int = 2, seconds: float = SECONDS) -> None:
        """Stand for the processes; `start` starts them."""
        self.number, self.seconds = number, seconds
        self._waiting = 0

    async def start(self) -> None:
        """Start every process; they load the library while the server goes on."""
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(self.number, "worker")
        self._workers = [_Worker() for _ in range(self.number)]
        for process in self._workers:
            process.start()
            self._idle.put_nowait(process)

    async def stop(self) -> None:
        """End every process, whatever it is doing."""
        for process in self._workers:
            process.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, task: Task, *arguments: object, seconds: float | None = None) -> Any:  # noqa: ANN401 -- the task's
        """Return what a task gives for the arguments; raise what it refuses, `TooLong` or `Busy`."""
        if self._waiting >= _MOST_WAITING:
            raise Busy(f"{_MOST_WAITING} questions are waiting already; try again in a while")
        self._waiting += 1
        try:
            process = await asyncio.wait_for(self._idle.get(), self.seconds)
        except TimeoutError:
            raise Busy("all workers are busy with longer questions; try again in a while") from None
        finally:
            self._waiting -= 1
        # Once asked, a worker is waited for even if whoever asked has gone: it must be idle before it is asked again.
        return await asyncio.shield(self._asked(process, task, arguments, seconds or self.seconds))

    async def _asked(self, process: "_Worker", task: Task, arguments: tuple[object, ...], seconds: float) -> Any:  # noqa: ANN401
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, process.ask, task, arguments, seconds)
        finally:
            self._idle.put_nowait(process)


class _Worker:
    """One process, and the pipes to and from it."""

    def __init__(self) -> None:
        self._closed = False

    def start(self) -> None:
        """Start a process of its own program: a fork would copy the server's threads and sockets."""
        program = f"from {main.__module__} import main; main()"
        self._process = Popen([sys.executable, "-c", program], stdin=PIPE, stdout=PIPE)
        self._ready = False

    def close(self) -> None:
        self._closed = True
        self._end()

    def ask(self, task: Task, arguments: tuple[object, ...], seconds: float) -> Any:  # noqa: ANN401
        if not self._ready:
            self._heard(_START_SECONDS)
            self._ready = True
        outcome, value = self._heard(seconds, (task, arguments))
        if outcome is Outcome.REFUSED:
            raise BadInput(value)
        if outcome is Outcome.FAILED:
            raise RuntimeError(value)
        return value

    def _heard(self, seconds: float, question: object = None) -> Any:  # noqa: ANN401
        """Say something to the process, if there is something to say, and return what it says next."""
        process, late = self._process, threading.Event()
        assert process.stdin is not None
        assert process.stdout is not None

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            if question is not None:
                pickle.dump(question, process.stdin)
                process.stdin.flush()
            return pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):  # it was ended, by the timer or by the system
            self._replace()
            if late.is_set():
                raise TooLong(
                    f"no answer within {seconds:g} seconds; the tallystick commands have no such limit"
                ) from None
            raise BadInput(TOO_LARGE) from None
        finally:
            timer.cancel()

    def _replace(self) -> None:
        if not self._closed:
            self._end()
            self.start()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
