"""How far a long verdict has come, told to whoever listens; where nobody does, nothing is shown."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[int, int, str], object]
"""Is told what is done, what is to be done in all (0 where nobody knows), and the same in words."""

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
