"""Processes that work out answers within a time limit. One that takes longer is ended and replaced; the others go on.

A thread could not be ended, and exact arithmetic on hostile numbers can take hours. A question that is not answered at once is a
slow one: its process goes on aside, with less of the processor, and a spare one takes its place, so that quick questions need
not wait for slow ones, however many are asked.
"""

import asyncio
import os
import pickle
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from subprocess import PIPE, Popen, TimeoutExpired
from typing import Any

from tallystick.errors import BadInput
from tallystick.explore.worker import TOO_LARGE, Outcome, Task, main
from tallystick.training.cores import cores

SECONDS = 10.0
"""How long an answer may take, and how long a question waits for a worker."""

_QUICK_SECONDS = 0.25
"""How long a quick question is worked on at the most: most need a hundredth of it."""

_PATIENCE = 20
"""So many times as long may it take by the clock, on a machine that has other things to do."""

MOST_SLOW = 4
"""Slow questions that are worked on at the same time: more than a page asks at once."""

_SPARE = 2
"""Processes that are kept beside those that work: loading the library takes a second, for which no question should wait."""

_SLOW_NICENESS = 19
_SCHEDULED = 2
"""The clock of a process is known to Linux by its number and this one (clock_getcpuclockid)."""

_START_SECONDS = 60.0
_GOODBYE_SECONDS = 1.0
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

    def __init__(
        self,
        number: int | None = None,
        seconds: float = SECONDS,
        *,
        quick: float = _QUICK_SECONDS,
        spare: int = _SPARE,
    ) -> None:
        """Stand for the processes, one a core but for the largest and smallest machines; `start` starts them."""
        self.number, self.seconds = number or min(max(cores(), _FEWEST), _MOST), seconds
        self._quick, self._spare = quick, spare
        self._waiting = self._slow = 0

    async def start(self) -> None:
        """Start every process; they load the library while the server goes on."""
        self._places = asyncio.Semaphore(self.number)
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(self.number + MOST_SLOW + self._spare, "worker")
        self._workers: set[_Worker] = set()
        self._loading: set[asyncio.Future[None]] = set()
        for _ in range(self.number + self._spare):
            self._idle.put_nowait(self._new())

    async def stop(self) -> None:
        """End every process, whatever it is doing."""
        for process in list(self._workers):
            process.dismiss()
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
        """Wait for a place among the quick questions, and for a process that is idle."""
        if self._waiting >= _MOST_WAITING:
            raise Busy(f"{_MOST_WAITING} questions are waiting already; try again in a while")
        self._waiting += 1
        try:
            async with asyncio.timeout(self.seconds):
                return await self._idle_in_place()
        except TimeoutError:
            raise Busy("all workers are busy with longer questions; try again in a while") from None
        finally:
            self._waiting -= 1

    async def _idle_in_place(self) -> "_Worker":
        await self._places.acquire()
        try:
            return await self._idle.get()
        except BaseException:
            self._places.release()
            raise

    async def _asked(
        self, process: "_Worker", task: Task, arguments: tuple[object, ...], seconds: float, gone: Gone
    ) -> Any:  # noqa: ANN401
        """Return what the process answers. Its place is free after that, or as soon as the question turns out to be slow."""
        idle = process
        try:
            if await gone():
                raise Unwanted
            if not process.is_ready:
                await self._aside(process.get_ready)
            answer = self._aside(process.ask, task, arguments, seconds)
            answer.add_done_callback(_heard_of)
            if await self._is_quick(process, answer):
                return answer.result()
            another = self._another()
            if another is None:
                process.give_up()
                await asyncio.wait({answer})
                raise Busy(f"{MOST_SLOW} long questions are being worked on already; try again in a while")
            idle = another
        finally:
            self._places.release()
            self._give_back(idle)
        return await self._slow_answer(process, answer)

    async def _is_quick(self, process: "_Worker", answer: "asyncio.Future[Any]") -> bool:
        """Wait for an answer until its process has worked on it for too long; waiting for its turn is no work."""
        before = process.worked
        for _ in range(_PATIENCE):
            if (await asyncio.wait({answer}, timeout=self._quick))[0]:
                return True
            if process.worked - before > self._quick:
                return False
        return False

    async def _slow_answer(self, process: "_Worker", answer: "asyncio.Future[Any]") -> Any:  # noqa: ANN401
        """Wait for an answer that takes long, and end its process, which has given up its place."""
        self._slow += 1
        process.retire()
        try:
            return await answer
        finally:
            self._slow -= 1
            with suppress(RuntimeError):  # when the server ends, it closes what is left
                self._threads.submit(self._close, process)

    def _close(self, process: "_Worker") -> None:
        """End a process, which may have to wait for its turn even to do that."""
        process.close()
        self._workers.discard(process)

    def _new(self) -> "_Worker":
        process = _Worker()
        process.start()
        self._workers.add(process)
        return process

    def _another(self) -> "_Worker | None":
        """Start a process for one that goes on with a slow question, if there are not too many of those."""
        if self._slow < MOST_SLOW:
            with suppress(OSError):  # no memory for another one
                return self._new()
        return None

    def _give_back(self, process: "_Worker") -> None:
        """Let a process be asked again, once it has loaded the library: a question should not wait for that beside idle ones."""
        if process.is_ready:
            self._idle.put_nowait(process)
        else:
            loading = asyncio.ensure_future(self._load(process))
            self._loading.add(loading)
            loading.add_done_callback(self._loading.discard)

    async def _load(self, process: "_Worker") -> None:
        with suppress(BadInput, OSError):  # whoever asks next tries again, and is told
            await self._aside(process.get_ready)
        self._idle.put_nowait(process)

    def _aside(self, work: Callable[..., Any], *arguments: object) -> "asyncio.Future[Any]":
        return asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)


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
        self._ready = self._ended = self._working = False

    @property
    def is_ready(self) -> bool:
        """Whether the process has loaded the library, and nobody has ended it."""
        return self._ready and not self._ended

    @property
    def worked(self) -> float:
        """The seconds for which the process has had a processor; where the system does not tell, those on the clock."""
        try:
            return time.clock_gettime(~self._process.pid << 3 | _SCHEDULED)
        except (OSError, AttributeError, OverflowError):
            return time.monotonic()

    def retire(self) -> None:
        """Let the process end with its question, and leave the processor to quicker ones until then."""
        self._closed = True
        with suppress(OSError, AttributeError):  # not on every system
            niceness = os.getpriority(os.PRIO_PROCESS, self._process.pid) + _SLOW_NICENESS
            os.setpriority(os.PRIO_PROCESS, self._process.pid, niceness)

    def dismiss(self) -> None:
        """Let a process that is idle end by itself: there are no more questions."""
        if self._ready and not self._working:
            assert self._process.stdin is not None
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(TimeoutExpired):
                self._process.wait(_GOODBYE_SECONDS)

    def close(self) -> None:
        """End the process for good."""
        self._closed = True
        self._end()

    def give_up(self) -> None:
        """End what the process is doing; it is replaced by whoever waits for it, or by who asks next."""
        self._ended = True
        self._process.kill()

    def get_ready(self) -> None:
        """Wait until the process has loaded the library; one that was ended is replaced before."""
        if self._ended:
            self._replace()
        if not self._ready:
            self._heard(_START_SECONDS)
            self._ready = True

    def ask(self, task: Task, arguments: tuple[object, ...], seconds: float) -> Any:  # noqa: ANN401
        """Return what the process answers, once it is ready."""
        self._working = True
        outcome, value = self._heard(seconds, (task, arguments))
        self._working = False
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
