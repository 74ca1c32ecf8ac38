"""Progress of long work on standard error: settings, seeds, rate and time left; quiet where nobody watches."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from tallystick.runs.jobs import Job
from tallystick.runs.runner import Report
from tallystick.training.engines import engine_text


def tell_slower_engine(jobs: list[Job]) -> None:
    """Say which jobs a GPU trains by the compiled scan instead of the kernel, and why; each reason once."""
    ways = dict.fromkeys(engine_text(job.setting, job.strings, job.device) for job in jobs)
    sys.stderr.writelines(f"{way}\n" for way in ways if way.startswith("gpu, compiled scan"))


class _Watched:
    """Counts the seeds of each setting as the blocks come in, from whichever thread."""

    def __init__(self, bar: Progress, task: TaskID, sizes: dict[str, int]) -> None:
        self._bar, self._task, self._left, self._lock = bar, task, dict(sizes), Lock()

    def __call__(self, setting: str, seeds: int) -> None:
        with self._lock:
            self._left[setting] -= seeds
            done = sum(left <= 0 for left in self._left.values())
            self._bar.update(self._task, advance=seeds, settings=f"{done}/{len(self._left)}")
            rate = self._bar.tasks[0].finished_speed or self._bar.tasks[0].speed or 0
            self._bar.update(self._task, rate=f"{rate:,.0f}")


@contextmanager
def watched(sizes: dict[str, int]) -> Iterator[Report]:
    """Show how far the settings, each with its number of seeds, have come."""
    columns = (
        TextColumn("settings {task.fields[settings]}  seeds"),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.fields[rate]} seeds/s, left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=sum(sizes.values()), settings=f"0/{len(sizes)}", rate="-")
        yield _Watched(bar, task, sizes)
