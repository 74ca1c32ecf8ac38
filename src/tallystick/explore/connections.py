"""Connections, each of which must use its turn: send a request and read the answer in time, or be closed.

uvicorn bounds how long a connection may be idle between two requests, and nothing else. A client that sends half a header, or
reads half an answer, would hold its connection for ever, and many such clients all the descriptors of the process.
"""

from asyncio import TimerHandle, Transport

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 20.0
"""How long a header may take: longer than a browser keeps a connection that it has opened before it needs one."""

READING_SECONDS = 30.0
"""How long a client may take to read what has been written."""

_MOST_AHEAD = 2**17
"""Bytes of further requests that a client may send before it is answered, which are kept until then."""

ACCEPTED_AT_ONCE = 8
"""Connections that are accepted before another is looked at; asyncio may do so some four times before it closes the first."""

_OWN_FILES = 96
"""Descriptors for all else: those connections, the event loop, the pipes of the workers, files that are being read."""

_MOST, _FEWEST = 512, 8


def most_connections() -> int:
    """Return how many connections are kept at once."""
    try:
        import resource  # noqa: PLC0415 -- not on every system
    except ImportError:
        return _MOST
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if files == resource.RLIM_INFINITY else max(_FEWEST, min(files - _OWN_FILES, _MOST))


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
