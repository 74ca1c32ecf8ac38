"""The command that opens the explorer."""

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from tallystick.cli import show

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def explore(
    run: Annotated[
        Path | None,
        typer.Argument(metavar="RUN|NETWORK", help="A run's folder, to look at its networks, or a network's file."),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 takes any that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen; 127.0.0.1 answers this machine alone.")
    ] = "127.0.0.1",
) -> None:
    """Look at networks, runs, the table and the proof in a browser.

    This machine serves the page until Ctrl-C.

    Example: tallystick explore out/reproduction --open
    """
    from tallystick.explore.server import serve  # noqa: PLC0415 -- fastapi and uvicorn are an extra

    def announce(address: str) -> None:
        if host not in _LOOPBACK:
            show(f"listening on {host}: others on the network can ask, too")
        show(f"{address}  (Ctrl-C ends it)")
        sys.stdout.flush()

    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server ends in good order
    serve(run, host, port, announce, show=open_browser)
