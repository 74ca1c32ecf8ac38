"""The explorer as a server on this machine."""

import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import uvicorn

from tallystick.errors import BadInput, check_whole
from tallystick.explore.app import application

_LAST_PORT = 65535
_SHUTDOWN_SECONDS = 2
_KEEP_SECONDS = 75
"""How long an idle connection is kept: longer than a browser keeps it, so that none is closed while it is used again."""


def serve(run: Path | None, host: str, port: int, announce: Callable[[str], object], *, show: bool = False) -> None:
    """Answer until Ctrl-C; `announce` is told the address, and a browser is shown it where that is asked for."""
    check_whole(port, "port", least=0, most=_LAST_PORT)
    with listening(host, port) as listener:
        port = listener.getsockname()[1]
        app = application(run, host, port)
        config = uvicorn.Config(
            app,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_SECONDS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        )
        address = f"http://{_called(host)}:{port}/"
        announce(address)
        if show:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except KeyboardInterrupt:  # which uvicorn hands on once it has ended
            return


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
        listener.listen(2048)
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
