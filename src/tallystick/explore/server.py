"""The explorer as a server on this machine: its socket, its connections, and what it writes to standard error.

A connection must use its turn: send a request and read the answer in time, or be closed. uvicorn bounds how long a connection
may be idle between two requests, and nothing else. A client that sends half a header, or reads half an answer, would hold its
connection for ever, and many such clients would hold all file descriptors of the process.
"""

import socket
import threading
import webbrowser
from asyncio import CancelledError, TimerHandle, Transport
from collections.abc import Callable
from logging import Filter, LogRecord
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from tallystick.errors import BadInput, check_whole
from tallystick.explore.app import application

_LAST_PORT = 65535
_MOST_PENDING = 2048
_SHUTDOWN_SECONDS = 2
_KEEP_SECONDS = 75
"""How long an idle connection is kept: longer than a browser keeps it, so that none is closed while it is used again."""

HEADER_SECONDS = 20.0
"""How long a header may take: longer than a browser keeps a connection that it has opened before it needs one."""

READING_SECONDS = 30.0
"""How long a client may take to read what has been written."""

_MOST_AHEAD = 2**17
"""Bytes of further requests that a client may send before it is answered, which are kept until then."""

_ACCEPTED_AT_ONCE = 8
"""Connections that are accepted before another is looked at; asyncio may do so some four times before it closes the first."""

_OWN_FILES = 96
"""Descriptors for all else: those connections, the event loop, the pipes of the workers, files that are being read."""

_MOST_CONNECTIONS, _FEWEST_CONNECTIONS = 512, 8

_REPEAT_SECONDS = 60.0


def serve(run: Path | None, host: str, port: int, announce: Callable[[str], object], *, show: bool = False) -> None:
    """Answer until Ctrl-C; `announce` is told the address, and a browser is shown it where that is asked for."""
    check_whole(port, "port", least=0, most=_LAST_PORT)
    with listening_socket(host, port) as listener:
        port = listener.getsockname()[1]
        app = application(run, host, port)
        view = "" if app.state.network is None else "#view=network"
        address = f"http://{_name_of(host)}:{port}/{view}"
        announce(address)
        if show:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            server(app).run(sockets=[listener])
        except KeyboardInterrupt:  # which uvicorn hands on once it has ended
            return


class Server(uvicorn.Server):
    """A server whose clients may come all at once, though it accepts a few at a time."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; asyncio has one number for both, which would let the system turn clients away."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_MOST_PENDING)


def server(app: FastAPI) -> Server:
    """Return a server of an application: patient with its own answers, and not with clients."""
    return Server(
        uvicorn.Config(
            app,
            loop="asyncio",
            http=Connection,
            ws="none",
            log_config=LOGGING,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_ACCEPTED_AT_ONCE,
            timeout_keep_alive=_KEEP_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say in one line why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError):
        raise BadInput(f"host: {host!r} is no address of this machine; 127.0.0.1 is") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_MOST_PENDING)
    except OSError as error:
        listener.close()
        raise BadInput(
            f"port: {port} on {host} cannot be used ({(error.strerror or str(error)).lower()}); choose another"
        ) from None
    return listener


def _name_of(host: str) -> str:
    """Return the host as an address has it; one that stands for every address is called by the loopback's."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def most_connections() -> int:
    """Return how many connections are kept at once."""
    try:
        import resource  # noqa: PLC0415 -- not on every system
    except ImportError:
        return _MOST_CONNECTIONS
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(_FEWEST_CONNECTIONS, min(files - _OWN_FILES, _MOST_CONNECTIONS))


class Connection(H11Protocol):
    """One connection. Where there are too many, the one goes whose client has kept the server waiting for longest."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Begin, unless every other connection is waiting for the server."""
        super().connection_made(transport)
        # A write is over when the system has taken all of it: a client that does not read is noticed at once.
        transport.set_write_buffer_limits(0)
        self._header = self.loop.call_later(HEADER_SECONDS, transport.abort)
        self._reading: TimerHandle | None = None
        self._waiting_since = self.loop.time()
        most = most_connections()
        if len(self.connections) > most:
            self.logger.warning("%d connections at once: the one that has waited for longest is closed", most)
            others = (other for other in self.connections if isinstance(other, Connection))
            waiting = [other for other in others if not (other.is_answered or other.transport.is_closing())]
            min(waiting, key=lambda other: other._waiting_since).transport.abort()

    @property
    def is_answered(self) -> bool:
        """Whether it is the server's turn: a whole request has come, and all that was answered has been read."""
        cycle = self.cycle
        asked = cycle is not None and not cycle.more_body and not cycle.response_complete
        return asked and not self.flow.write_paused

    def data_received(self, data: bytes) -> None:
        """Read on; a header that has begun must end in time, however slowly it comes."""
        before = self.cycle
        super().data_received(data)
        if len(self.conn.trailing_data[0]) > _MOST_AHEAD:
            self.transport.abort()
        if self.cycle is not before:
            self._header.cancel()
        elif self._header.cancelled() and before.response_complete:
            self._header = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._waiting_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait until the client has read what was written."""
        super().pause_writing()
        self._reading = self.loop.call_later(READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on."""
        if self._reading is not None:
            self._reading.cancel()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and leave no timer that would keep what is over; uvicorn leaves its own where the connection broke."""
        self._unset_keepalive_if_required()
        for timer in (self._header, self._reading):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)


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
