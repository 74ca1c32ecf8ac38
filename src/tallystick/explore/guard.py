"""What stands before every request: whom the server answers, how much it reads, and what a browser may do with the page.

A page of another site can make a browser send requests here, or give its own name this machine's address (DNS rebinding). The
first carry a foreign Origin, the second a foreign Host; both are refused.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]

API = "/api/"
LARGEST_BODY = 2**20 + 2**12
BODY_SECONDS = 10.0
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_EVERY_ADDRESS = ("0.0.0.0", "::")
_HTTP_PORT = 80
_LONGEST_ERROR = 400

_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def error_body(text: str) -> bytes:
    r"""Return an error as every answer has it: one line, not too long, whatever it was made from.

    >>> error_body("U: nan\nis not a number")
    b'{"error": "U: nan is not a number"}'
    """
    line = " ".join(text.split()).encode("utf-8", "replace").decode()
    return json.dumps({"error": line if len(line) <= _LONGEST_ERROR else line[: _LONGEST_ERROR - 1] + "…"}).encode()


@dataclass(frozen=True)
class Address:
    """Where the server listens, and so by which names it may be called.

    Attributes:
        host: the host it was told to listen on.
        port: its port; None admits every port, for a server whose port is not known yet.

    >>> Address("127.0.0.1", 8000).admits("localhost:8000"), Address("127.0.0.1", 8000).admits("evil.example:8000")
    (True, False)
    """

    host: str
    port: int | None

    def admits(self, name: str) -> bool:
        """Say whether a Host header names this server."""
        host, port = _split(name.lower())
        if port is None or (self.port is not None and port != self.port):
            return False
        own = f"[{self.host}]" if ":" in self.host else self.host.lower()
        # A server on every address is called by whichever it has; an address as a number cannot be rebound, a name can.
        return host in (*_LOOPBACK, own) or (self.host in _EVERY_ADDRESS and _is_number(host))

    def admits_origin(self, origin: str) -> bool:
        """Say whether an Origin header is a page of this server."""
        scheme, _, name = origin.lower().partition("://")
        return scheme == "http" and self.admits(name)


class Guard:
    """Lets a request through to the application if it may come from this server's own page, and is not too large."""

    def __init__(self, app: App, address: Address) -> None:
        """Stand before an application."""
        self.app, self.address = app, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _with_headers(send, scope["path"])
        admitted = self._refusal(scope) or await _body(receive)
        if isinstance(admitted, _Refusal):
            await _refuse(send, admitted)
        elif admitted is not None:
            answer = self.app(scope, _replay(admitted), send)
            # A file of the page is no work, and would be left open.
            await (_answer_while_there(answer, receive) if scope["path"].startswith(API) else answer)

    def _refusal(self, scope: Scope) -> "_Refusal | None":
        hosts, origins, lengths = (_header(scope, name) for name in (b"host", b"origin", b"content-length"))
        if len(hosts) != 1 or not self.address.admits(hosts[0]):
            return _Refusal(403, f"Host: {_text_of(hosts)} is not this server")
        if origins and (len(origins) != 1 or not self.address.admits_origin(origins[0])):
            return _Refusal(403, f"Origin: {_text_of(origins)} is not this server's page")
        if any(not length.isdecimal() or int(length[:20]) > LARGEST_BODY for length in lengths):
            return _TOO_LARGE
        return None


@dataclass(frozen=True)
class _Refusal:
    status: int
    text: str


_TOO_LARGE = _Refusal(413, f"a request has at most {LARGEST_BODY // 2**10} KiB")
_TOO_SLOW = _Refusal(408, f"the request did not arrive within {BODY_SECONDS:g} seconds")


async def _body(receive: Receive) -> "bytes | _Refusal | None":
    """Read a request's body, as long as it is small and comes in time; of a client that has gone there is none."""
    content = b""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                content += message.get("body", b"")
                if len(content) > LARGEST_BODY:
                    return _TOO_LARGE
                if not message.get("more_body", False):
                    return content
    except TimeoutError:
        return _TOO_SLOW


def _replay(body: bytes) -> Receive:
    """Hand on a body that was read; nothing comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return waiting.pop() if waiting else await asyncio.Future()

    return receive


async def _answer_while_there(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Work on an answer until its client goes: a slider that is drawn asks more than it waits for."""
    answer, gone = asyncio.ensure_future(work), asyncio.ensure_future(receive())
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            answer.result()  # or its error
    finally:
        gone.cancel()
        answer.cancel()
        await asyncio.wait({answer})


def _with_headers(send: Send, path: str) -> Send:
    """Add to every answer what a browser must know of it; what the API answers is never kept, the page is asked for anew."""
    kept = "no-store" if path.startswith(API) else "no-cache"
    extra = [(name.encode(), value.encode()) for name, value in {**_HEADERS, "cache-control": kept}.items()]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", []), *extra]}
        await send(message)

    return send_with_headers


async def _refuse(send: Send, refusal: _Refusal) -> None:
    body = error_body(refusal.text)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _header(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _text_of(values: list[str]) -> str:
    return repr(values[0][:60]) if len(values) == 1 else "missing" if not values else "given twice"


def _split(name: str) -> tuple[str, int | None]:
    """Split host and port; a port that is missing is that of HTTP, and one that is no number is none."""
    host, colon, port = name.rpartition(":")
    if not colon or port.endswith("]"):
        return name, _HTTP_PORT
    return host, int(port) if port.isdecimal() and len(port) <= len("65535") else None


def _is_number(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
