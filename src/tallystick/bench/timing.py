"""How long a thing takes, and how much memory the process has needed."""

import resource
import sys
import time
from collections.abc import Callable


def best_of(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least time of several, in seconds: what the machine can do when nothing else disturbs it."""
    times: list[float] = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def peak_gigabytes() -> float:
    """Return the most memory this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9
