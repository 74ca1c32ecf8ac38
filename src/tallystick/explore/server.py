"""The explorer as a server on this machine."""

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from tallystick.errors import BadInput, check_whole
from tallystick.explore.app import application
from tallystick.explore.connections import ACCEPTED_AT_ONCE, Connection
from tallystick.explore.log import LOGGING

_LAST_PORT = 65535
_MOST_PENDING = 2048
_SHUTDOWN_SECONDS = 2
_KEEP_SECONDS = 75
"""How long an idle connection is kept: longer than a browser keeps it, so that none is closed while it is used again."""


def serve(run: Path | None, host: str, port: int, announce: Callable[[str], object], *, show: bool = False) -> None:
    """Answer until Ctrl-C; `announce` is told the address, and a browser is shown it where that is asked for."""
    check_whole(port, "port", least=0, most=_LAST_PORT)
    with listening(host, port) as listener:
        port = listener.getsockname()[1]
        app = application(run, host, port)
        address = f"http://{_called(host)}:{port}/"
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
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=_KEEP_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
    )


def listening(host: str, port: int) -> socket.socket:
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


def _called(host: str) -> str:
    """Return the host as an address has it; one that stands for every address is called by the loopback's."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
