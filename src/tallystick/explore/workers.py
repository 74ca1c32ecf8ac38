"""Processes that work out answers within a time limit. One that takes longer is ended and replaced; the others go on.

A thread could not be ended, and exact arithmetic on hostile numbers can take hours. A question that is not answered at once is a
slow one: its process goes on aside, with less of the processor, and a spare one takes its place, so that quick questions need
not wait for slow ones, however many are asked.

Ready-made pools offer less than this needs: anyio's does not tell how a process ended, and neither it nor those of the standard
library let a slow question go on aside. asyncio's own subprocesses are enough to build on: whatever cancels a question ends it.
"""

import asyncio
import os
import pickle
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Coroutine
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from typing import Any

from tallystick.errors import BadInput
from tallystick.explore.worker import SIZE_BYTES, Outcome, Task, main
from tallystick.training.devices import cores

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
_RETRY_SECONDS = 1.0
_GOODBYE_SECONDS = 1.0
_FEWEST, _MOST = 2, 4
_LARGEST_ANSWER = 2**28
"""Bytes that are read of an answer before the rest has to wait; what is left in a pipe would keep it open."""

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""The workers are many already; and each thread of a library would take a share of their memory."""

_HOME = str(Path(__file__).parents[2])
_PROGRAM = f"import sys; sys.path.append({_HOME!r}); from {main.__module__} import main; main()"
"""What a process runs. With -P nothing is imported from the current directory, unless this package itself lies there."""


class TooLong(BadInput):
    """An answer was not found within the time limit."""


class Busy(BadInput):
    """No worker became free within the time limit."""


class WorkerEnded(Exception):
    """A process ended before it had answered, and nobody here ended it.

    Attributes:
        status: the exit status, or minus the number of the signal that ended the process.
    """

    def __init__(self, status: int) -> None:
        """Name the cause."""
        super().__init__(f"the worker ended: {f'signal {-status}' if status < 0 else f'status {status}'}")
        self.status = status


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

    async def start(self) -> None:
        """Start every process; they load the library while the server goes on."""
        self._places, self._slow = asyncio.Semaphore(self.number), asyncio.Semaphore(MOST_SLOW)
        self._idle: asyncio.Queue[_Worker] = asyncio.Queue()
        self._workers: set[_Worker] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        for _ in range(self.number + self._spare):
            self._begin(self._employ())

    async def stop(self) -> None:
        """End every process, whatever it is doing."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(worker.dismiss() for worker in self._workers))

    async def run(self, task: Task, *arguments: object, seconds: float | None = None) -> Any:  # noqa: ANN401 -- the task's
        """Return what a task gives for the arguments; raise what it refuses, `TooLong`, `Busy` or `WorkerEnded`.

        Whoever cancels it ends the work, unless that ends soon by itself.
        """
        seconds = seconds or self.seconds
        try:
            return await self._ask(task, arguments, seconds)
        except WorkerEnded as ended:
            if ended.status >= 0:
                raise
        # A signal most likely meant the process and not the question, which is asked once more.
        return await self._ask(task, arguments, seconds)

    async def _ask(self, task: Task, arguments: tuple[object, ...], seconds: float) -> Any:  # noqa: ANN401
        """Return what a process answers. Its place is free after that, or as soon as the question turns out to be slow."""
        worker = await self._worker_in_place()
        answer = self._begin(worker.ask(task, arguments, seconds))
        quick = self._begin(self._leave_place(worker, answer))
        try:
            await asyncio.shield(quick)
        except asyncio.CancelledError:
            # A quick question is worked out all the same: that takes less than to start another process.
            quick.add_done_callback(lambda _: answer.cancel())
            raise
        if answer.done():
            return answer.result()
        if self._slow.locked():
            answer.cancel()
            raise Busy(f"{MOST_SLOW} long questions are being worked on already; try again in a while")
        async with self._slow:
            worker.step_aside()
            return await answer

    async def _worker_in_place(self) -> "_Worker":
        """Wait for a place among the quick questions, and for a process that is idle."""
        try:
            async with asyncio.timeout(self.seconds):
                await self._places.acquire()
        except TimeoutError:
            raise Busy(f"no worker was free within {self.seconds:g} seconds; try again in a while") from None
        try:
            return await self._idle_worker()
        except BaseException:
            self._places.release()
            raise

    async def _idle_worker(self) -> "_Worker":
        """Return a process that is idle; there is one, or one is being started."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                while not (worker := await self._idle.get()).is_alive:
                    self._begin(self._employ())
                return worker
        except TimeoutError:
            raise Busy(f"no worker could be started within {_START_SECONDS:g} seconds; try again in a while") from None

    async def _leave_place(self, worker: "_Worker", answer: asyncio.Task[Any]) -> None:
        """Wait for an answer until its process has worked on it for too long; waiting for its turn is no work."""
        try:
            before = worker.worked
            for _ in range(_PATIENCE):
                if (await asyncio.wait({answer}, timeout=self._quick))[0] or worker.worked - before > self._quick:
                    return
        finally:
            self._places.release()
            if worker.is_idle:
                self._idle.put_nowait(worker)
            else:  # it was ended, or goes on with a slow question, its last
                answer.add_done_callback(lambda _: worker.end())
                self._begin(self._employ())

    async def _employ(self) -> None:
        """Start a process, however often that has to be tried, and let it be asked."""
        while True:
            try:
                worker = await _Worker.start()
                self._workers = {worker, *(other for other in self._workers if other.is_alive)}
                await worker.get_ready()
            except (OSError, TooLong, WorkerEnded) as error:
                getLogger(__name__).warning("no worker could be started: %s", error)
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                self._idle.put_nowait(worker)
                return

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # which nobody may wait for any more


class _Worker:
    """One process, and the pipes to and from it."""

    def __init__(self, process: Process) -> None:
        self._process, self.is_idle, self._is_ended = process, False, False
        assert process.stdin is not None
        assert process.stdout is not None
        self._questions, self._replies = process.stdin, process.stdout

    @classmethod
    async def start(cls) -> "_Worker":
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
    def worked(self) -> float:
        """The seconds for which the process has had a processor; where the system does not tell, those on the clock."""
        try:
            return time.clock_gettime(~self._process.pid << 3 | _SCHEDULED)
        except (OSError, AttributeError, OverflowError):
            return time.monotonic()

    async def get_ready(self) -> None:
        """Wait until the process has loaded the library."""
        await self._reply(_START_SECONDS)

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
                size = int.from_bytes(await self._replies.readexactly(SIZE_BYTES), "big")
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
