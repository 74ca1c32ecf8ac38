"""Processes that work out answers within a time limit. One that takes longer is ended and replaced; the others go on.

A question that is not answered at once is a slow one: its process goes on aside, with less of the processor, and a spare one
takes its place, so that quick questions need not wait for slow ones, however many are asked.

Ready-made pools offer less than this needs: anyio's does not tell how a process ended, and neither it nor those of the standard
library let a slow question go on aside. asyncio's own subprocesses are enough to build on: whatever cancels a question ends it.
"""

import asyncio
import os
from collections.abc import Coroutine
from logging import getLogger
from typing import Any

from tallystick.errors import BadInput
from tallystick.explore.worker import START_SECONDS, Task, TooLong, Worker, WorkerEnded

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

_RETRY_SECONDS = 1.0
_FEWEST, _MOST = 2, 4


class Busy(BadInput):
    """No worker became free within the time limit."""


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
        # As training counts cores, whose module loads JAX.
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or _FEWEST
        self.number, self.seconds = number or min(max(cores, _FEWEST), _MOST), seconds
        self._quick, self._spare = quick, spare

    async def start(self) -> None:
        """Start every process; they load the library while the server goes on."""
        self._places, self._slow = asyncio.Semaphore(self.number), asyncio.Semaphore(MOST_SLOW)
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._workers: set[Worker] = set()
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

    async def _worker_in_place(self) -> Worker:
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

    async def _idle_worker(self) -> Worker:
        """Return a process that is idle; there is one, or one is being started."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while not (worker := await self._idle.get()).is_alive:
                    self._begin(self._employ())
                return worker
        except TimeoutError:
            raise Busy(f"no worker could be started within {START_SECONDS:g} seconds; try again in a while") from None

    async def _leave_place(self, worker: Worker, answer: asyncio.Task[Any]) -> None:
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
                worker = await Worker.start()
                self._workers = {worker, *(other for other in self._workers if not other.is_gone)}
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
