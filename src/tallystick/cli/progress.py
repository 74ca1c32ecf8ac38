"""How far long work has come, on a terminal's standard error: a bar, seeds per second, and the time left."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, ProgressColumn, Task
from rich.progress_bar import ProgressBar
from rich.text import Text

if TYPE_CHECKING:
    from tallystick.runs.jobs import Job
    from tallystick.runs.runner import Report

_BAR = 24  # columns


class Pace:
    """How much is done, and how quickly.

    Work comes in blocks, one for each core at a time, so that reports come in bursts with long pauses between. Between two of
    them it is taken to go on at the pace so far, for no longer than the longest pause yet.
    """

    def __init__(self, total: int, clock: Callable[[], float] = monotonic) -> None:
        self.total, self.done = total, 0
        self._clock, self._start = clock, clock()
        self._first: tuple[float, int] | None = None
        self._last, self._pause = self._start, 0.0

    def add(self, amount: int) -> None:
        """Count what is done."""
        now = self._clock()
        self.done += amount
        self._pause, self._last = max(self._pause, now - self._last), now
        if self._first is None:
            self._first = now, self.done

    @property
    def rate(self) -> float:
        """What is done in a second: without the first block, which was compiled, as soon as enough others are done."""
        if self._first is None or self._last <= self._start:
            return 0.0
        first, done = self._first
        if self._last - first > first - self._start:
            return (self.done - done) / (self._last - first)
        return self.done / (self._last - self._start)

    @property
    def expected(self) -> float:
        """What is done by now, as far as the pace tells."""
        pause = min(self._clock() - self._last, self._pause)
        return min(self.done + self.rate * pause, self.total)

    @property
    def elapsed(self) -> int:
        """The seconds since the beginning."""
        return int(self._clock() - self._start)

    @property
    def left(self) -> int | None:
        """The seconds to the end; None while nobody can know."""
        return round((self.total - self.expected) / self.rate) if self.rate else None


class _Line(ProgressColumn):
    """The words on both sides of the bar, written anew ten times a second."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: Task) -> Text:  # noqa: ARG002 -- rich's own
        return Text(self._text())


class _Bar(ProgressColumn):
    """A bar that moves between two reports, and to and fro until the first."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> ProgressBar:
        pace = self._pace
        return ProgressBar(pace.total, pace.expected, width=_BAR, pulse=not pace.rate, animation_time=task.get_time())


@contextmanager
def bar(pace: Pace, before: Callable[[], str], after: Callable[[], str]) -> Iterator[None]:
    """Show a bar between two texts until the end of the block; quiet where nobody watches."""
    console = Console(stderr=True)
    columns = (_Line(before), _Bar(pace), _Line(after))
    # What is printed on standard output in the meantime must not go where the bar is, hence no redirection.
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, disable=not _is_watched()
    ) as progress:
        progress.add_task("", total=None)
        yield


def _is_watched() -> bool:
    """Say whether standard error is a terminal, and not a log with colours."""
    return bool(sys.stderr and sys.stderr.isatty())


@contextmanager
def progress_bar(sizes: dict[str, int], unit: str = "seeds") -> "Iterator[Report]":
    """Show how far the settings, each with its number of seeds, have come."""
    pace, left, lock = Pace(sum(sizes.values())), dict(sizes), Lock()

    def add(setting: str, seeds: int) -> None:
        with lock:  # blocks come from every thread
            left[setting] -= seeds
            pace.add(seeds)

    def before() -> str:
        settings = f"settings {sum(size <= 0 for size in left.values())}/{len(left)}  " if len(left) > 1 else ""
        return f"{settings}{unit} {pace.done:,}/{pace.total:,}"

    with bar(pace, before, lambda: time_text(pace, unit)):
        yield add


@contextmanager
def steps_bar(total: int, what: str) -> Iterator[Callable[[str], None]]:
    """Show how many steps are done of several; yields what is called as each step begins, with its name.

    Where there is no terminal each name is a line, for a log.
    """
    pace, names, lock = Pace(total), list[str](), Lock()

    def begin(name: str) -> None:
        with lock:
            if names:
                pace.add(1)
            names.append(name)
        if sys.stderr and not _is_watched():
            sys.stderr.write(f"{name}\n")

    def before() -> str:
        return f"{what} {len(names)}/{total}"

    def after() -> str:
        return f"{time_text(pace)}  {names[-1] if names else ''}"

    with bar(pace, before, after):
        yield begin


@contextmanager
def waiting_bar(what: str) -> Iterator[None]:
    """Show that something is being done of which nobody knows how long it takes."""
    pace = Pace(1)
    with bar(pace, lambda: what, lambda: time_text(pace)):
        yield


def time_text(pace: Pace, unit: str = "") -> str:
    """Say how quickly the work goes and how long it will take; before the first report, how long it has taken."""
    if pace.left is None or pace.done >= pace.total:
        return f"{'finishing, ' if pace.done else ''}{_clock_text(pace.elapsed)} so far"
    rate = f"{pace.rate:,.0f} {unit}/s, " if unit and pace.rate >= 1 else ""
    return f"{rate}{_clock_text(pace.left)} left"


def _clock_text(seconds: int) -> str:
    """Write seconds as a clock does.

    >>> _clock_text(3725)
    '1:02:05'
    """
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def tell_slower_engine(jobs: "list[Job]") -> None:
    """Say which jobs a GPU trains by the compiled scan because its kernel cannot, and why; each reason once."""
    from tallystick.training.engines import engine_text  # noqa: PLC0415 -- JAX takes a second to load

    ways = dict.fromkeys(engine_text(job.setting, job.strings, job.device, job.engine) for job in jobs)
    sys.stderr.writelines(f"{way}\n" for way in ways if way.startswith("gpu, compiled scan: "))
