"""Requests read as strictly as files: every number as it is written, nothing repeated, no NaN.

FastAPI would read 0.1 as the float that is nearest to it; a network's weight of 0.1 is one tenth.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

from tallystick.errors import BadInput
from tallystick.files import parse_document

_BAD_INPUT = 422

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ExactRequest(Request):
    """A request whose JSON is read with its numbers exact."""

    async def json(self) -> Any:  # noqa: ANN401 -- whatever was sent
        """Return the body's value."""
        if not hasattr(self, "_exact"):
            try:
                self._exact = parse_document((await self.body()).decode("utf-8"), "request").value
            except UnicodeDecodeError as error:
                raise HTTPException(_BAD_INPUT, f"request: not UTF-8 text (byte {error.start})") from None
            except BadInput as error:  # FastAPI takes anything else for a mistake of its own
                raise HTTPException(_BAD_INPUT, str(error)) from None
        return self._exact


class ExactRoute(APIRoute):
    """A route whose requests are read so."""

    def get_route_handler(self) -> Handler:
        """Return the handler."""
        handle = super().get_route_handler()

        async def exactly(request: Request) -> Response:
            return await handle(ExactRequest(request.scope, request.receive))

        return exactly
