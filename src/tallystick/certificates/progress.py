"""How far a long verdict has come, told to whoever listens; where nobody does, nothing is shown."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tallystick.checker import ProgressLine

Listener = Callable[[int, int, str], object]
"""Is told what is done, what is to be done in all (0 where nobody knows), and the same in words."""

_QUIET, _PAUSE = 2.0, 0.2
"""After how many seconds a verdict shows how far it has come, and how many pass until it does so again."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listen(listener: Listener) -> Generator[None, None, None]:
    """Let a function be told how far the verdicts that are asked for in here have come.

    >>> with listen(lambda done, total, text: print(f"{text}: {done} of {total}")):
    ...     report(3, 10, "strings")
    strings: 3 of 10
    """
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def report(done: int, total: int, text: str) -> None:
    """Say how far the work has come; call it as often as is convenient, a listener shows what it has time for."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, total, text)


@contextmanager
def progress_line() -> Generator[None, None, None]:
    """Show on a terminal's standard error how far a verdict has come, once it takes more than two seconds.

    Whoever listens already goes on to be told instead.
    """
    if _LISTENER.get() is not None or not (sys.stderr and sys.stderr.isatty()):
        yield
        return
    shown: list[ProgressLine] = []
    start = monotonic()
    next_time = start + _QUIET

    def tell(done: int, total: int, text: str) -> None:
        nonlocal next_time
        now = monotonic()
        if now >= next_time:
            next_time = now + _PAUSE
            if not shown:
                from tallystick.checker import ProgressLine  # noqa: PLC0415 -- most verdicts are there before it is needed

                shown.append(ProgressLine())
            share = f"{100 * done // total} %, " if total else ""
            shown[0](f"{text}: {share}{now - start:.0f} s; Ctrl-C gives what is known so far")

    try:
        with listen(tell):
            yield
    finally:
        for line in shown:
            line.clear()
