"""Processes that work out answers within a time limit. One that takes longer is ended and replaced; the others go on.

A thread could not be ended, and exact arithmetic on hostile numbers can take hours.
"""

import asyncio
import os
import pickle
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen
from typing import Any

from tallystick.errors import BadInput
from tallystick.explore.worker import TOO_LARGE, Outcome, Task, main
from tallystick.training.cores import cores

SECONDS = 10.0
"""How long an answer may take, and how long a question waits for a worker."""

_START_SECONDS = 60.0
_LOOK_SECONDS = 0.5
"""How often it is asked, while an answer is worked out, whether anybody still waits for it."""

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""The workers are many already; and each thread of a library would take a share of their memory."""

_MOST_WAITING = 1000
_FEWEST, _MOST = 2, 4


class TooLong(BadInput):
    """An answer was not found within the time limit."""


class Busy(BadInput):
    """No worker became free within the time limit."""


class Unwanted(BadInput):
    """Whoever asked has gone."""

    def __init__(self) -> None:
        """Nobody reads it."""
        super().__init__("nobody waits for this answer any more")


Gone = Callable[[], Awaitable[bool]]


async def _never() -> bool:
    return False


class Workers:
    """A few processes, each with one question at a time."""

    def __init__(self, number: int | None = None, seconds: float = SECONDS) -> None:
        """Stand for the processes, one a core but for the largest and smallest machines; `start` starts them."""
        self.number, self.seconds = number or min(max(cores(), _FEWEST), _MOST), seconds
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

    async def run(self, task: Task, *arguments: object, seconds: float | None = None, gone: Gone = _never) -> Any:  # noqa: ANN401
        """Return what a task gives for the arguments; raise what it refuses, `TooLong` or `Busy`.

        `gone` says whether whoever asked has gone: a slider that is drawn asks more than it waits for.
        """
        process = await self._free()
        # Once asked, a process is waited for in any case: it must be idle before it is asked again.
        asked = asyncio.ensure_future(self._asked(process, task, arguments, seconds or self.seconds, gone))
        asked.add_done_callback(_heard_of)
        while not (await asyncio.wait({asked}, timeout=_LOOK_SECONDS))[0]:
            if await gone() and not asked.done():
                process.give_up()
                raise Unwanted
        return asked.result()

    async def _free(self) -> "_Worker":
        """Wait for a process that is idle."""
        if self._waiting >= _MOST_WAITING:
            raise Busy(f"{_MOST_WAITING} questions are waiting already; try again in a while")
        self._waiting += 1
        try:
            return await asyncio.wait_for(self._idle.get(), self.seconds)
        except TimeoutError:
            raise Busy("all workers are busy with longer questions; try again in a while") from None
        finally:
            self._waiting -= 1

    async def _asked(
        self, process: "_Worker", task: Task, arguments: tuple[object, ...], seconds: float, gone: Gone
    ) -> Any:  # noqa: ANN401
        try:
            if await gone():
                raise Unwanted
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, process.ask, task, arguments, seconds)
        finally:
            self._idle.put_nowait(process)


def _heard_of(asked: "asyncio.Future[Any]") -> None:
    """Take note of an error that nobody waits for any more."""
    if not asked.cancelled():
        asked.exception()


class _Worker:
    """One process, and the pipes to and from it."""

    def __init__(self) -> None:
        self._closed = False

    def start(self) -> None:
        """Start a process of its own program: a fork would copy the server's threads and sockets."""
        program = f"from {main.__module__} import main; main()"
        self._process = Popen(
            [sys.executable, "-c", program], stdin=PIPE, stdout=PIPE, env={**os.environ, **_ONE_THREAD}
        )
        self._ready = self._ended = False

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._end()

    def give_up(self) -> None:
        """End what the process is doing; it is replaced by whoever waits for it, or by who asks next."""
        self._ended = True
        self._process.kill()

    def ask(self, task: Task, arguments: tuple[object, ...], seconds: float) -> Any:  # noqa: ANN401
        """Return what the process answers."""
        if self._ended:
            self._replace()
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
        process, deadline = self._process, _Deadline(seconds, self.give_up)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if question is not None:
                pickle.dump(question, process.stdin)
                process.stdin.flush()
            return pickle.load(process.stdout)
        except (
            EOFError,
            OSError,
            ValueError,
            pickle.UnpicklingError,
        ):  # it was ended, by the deadline or by the system
            deadline.call_off()  # or it might end the process that comes next
            self._replace()
            if deadline.passed:
                limit = f"no answer within {seconds:g} seconds; the tallystick commands have no such limit"
                raise TooLong(limit) from None
            raise BadInput(TOO_LARGE) from None
        finally:
            deadline.call_off()

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


class _Deadline:
    """Does something after a while, unless it is called off before; never after that."""

    def __init__(self, seconds: float, act: Callable[[], None]) -> None:
        self.passed = self._off = False
        self._act, self._lock = act, threading.Lock()
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.start()

    def _ring(self) -> None:
        with self._lock:
            if not self._off:
                self.passed = True
                self._act()

    def call_off(self) -> None:
        with self._lock:
            self._off = True
        self._timer.cancel()
