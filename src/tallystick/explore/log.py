"""What the server writes to standard error: one line where something is wrong, and not again for every client that meets it."""

from asyncio import CancelledError
from logging import Filter, LogRecord
from math import inf
from time import monotonic
from typing import Any

_REPEAT_SECONDS = 60.0


class OnceAMinute(Filter):
    """Lets each message through once a minute, so that no client can fill standard error; an error of the system is one line."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[object, float] = {}

    def filter(self, record: LogRecord) -> bool:
        """Say whether a message is to be written."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, CancelledError):  # a question that was under way when the server ended
            return False
        line = record.getMessage().partition("\n")[0]
        if isinstance(error, OSError):
            record.msg, record.args, record.exc_info = f"{line}: {error}", (), None
        now, what = monotonic(), (line, type(error))
        if now - self._said.get(what, -inf) < _REPEAT_SECONDS:
            return False
        self._said[what] = now
        return True


LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"once": {"()": OnceAMinute}},
    "formatters": {"line": {"format": "tallystick: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "filters": ["once"], "formatter": "line"}},
    "loggers": {name: {"handlers": ["stderr"], "level": "WARNING"} for name in ("tallystick", "uvicorn", "asyncio")},
}
