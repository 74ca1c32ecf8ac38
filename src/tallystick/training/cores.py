"""Work spread over the cores by threads: XLA computes outside Python's lock, so threads are enough."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_every_core(work: Callable[[Item], Result], items: Iterable[Item], workers: int | None = None) -> list[Result]:
    """Do the work on all items, as many at a time as there are cores; the first failure stops what has not begun."""
    with ThreadPoolExecutor(workers or cores()) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
