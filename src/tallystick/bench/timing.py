"""How long a thing takes, and how much memory the process needed for it."""

import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from math import log2
from pathlib import Path

_STATUS, _FORGET_PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def best_of(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least time of several, in seconds: what the machine can do when nothing else disturbs it."""
    times: list[float] = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def sized(
    prepared: Callable[[int], Callable[[], object]], first: int, most: int, seconds: float, repeats: int = 2
) -> tuple[int, float]:
    """Enlarge the work until it takes about so long; return its size and the least time of some repeats.

    `prepared` makes the work of a size ready, which is not timed. The very first call compiles and is not timed either.
    """
    size, work = first, prepared(first)
    work()
    taken = best_of(work, 1)
    while taken < seconds / 2 and size < most:
        # What is small shows little of its rate: no more than sixteen times as much at once.
        size = min(most, size * 2 ** max(1, min(4, round(log2(seconds / taken)))))
        work = prepared(size)
        taken = best_of(work, 1)
    # What is long enough needs no second look.
    return size, taken if taken > 2 * seconds else min(taken, best_of(work, repeats))


def forget_peak() -> None:
    """Begin anew to look for the most memory held, where the system lets a process do so."""
    with suppress(OSError):
        _FORGET_PEAK.write_text("5")


def peak_gigabytes() -> float:
    """Return the most memory this process has held since `forget_peak`, or since it began."""
    try:
        lines = _STATUS.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e9
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
