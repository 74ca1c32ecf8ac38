"""Errors as answers: a status, and one line that says what was wrong."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from tallystick.errors import BadInput
from tallystick.explore.workers import Busy, WorkerEnded

_LONGEST = 400
_BAD_INPUT, _BUSY, _ENDED = 422, 429, 503
_LIBRARY = "value_error"
"""The kind of error that a library's own complaint becomes on its way through pydantic."""


class NotFound(BadInput):
    """There is no such thing in what is being explored."""


def error_body(text: str) -> bytes:
    r"""Return an error as every answer has it: one line, not too long, whatever it was made from.

    >>> error_body("U: nan\nis not a number")
    b'{"error": "U: nan is not a number"}'
    """
    line = " ".join(text.split()).encode("utf-8", "replace").decode()
    return json.dumps({"error": line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"}).encode()


def refusal(status: int, text: str) -> Response:
    """Return an error as an answer."""
    return Response(error_body(text), status, media_type="application/json")


def handle_refusals(app: FastAPI) -> None:
    """Let an application answer every error in one line."""

    @app.exception_handler(BadInput)
    async def _bad_input(_: Request, error: BadInput) -> Response:
        status = _BUSY if isinstance(error, Busy) else 404 if isinstance(error, NotFound) else _BAD_INPUT
        return refusal(status, str(error))

    @app.exception_handler(WorkerEnded)
    async def _ended(_: Request, error: WorkerEnded) -> Response:
        return refusal(_ENDED, f"{error}; ask again, or ask the tallystick commands, which work without one")

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> Response:
        return refusal(_BAD_INPUT, _first(error.errors()[0]))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        plain = error.detail == HTTPStatus(error.status_code).phrase
        answer = refusal(
            error.status_code, f"{request.url.path}: {error.detail.lower()}" if plain else str(error.detail)
        )
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def _mistake(_: Request, error: Exception) -> Response:
        return refusal(500, f"a mistake in tallystick itself: {type(error).__name__}")


def _first(error: Mapping[str, Any]) -> str:
    """Write the first of pydantic's complaints with the field's name; the library's own ones have it already."""
    message = str(error["msg"])
    if error["type"] == _LIBRARY:
        return message.removeprefix("Value error, ")
    *_, name = ["request", *(str(part) for part in error["loc"][1:])]
    found = "" if error["type"] == "missing" else f" (found {_shown(error.get('input'))})"
    return f"{name}: {message[0].lower()}{message[1:]}{found}"


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"  # noqa: PLR2004 -- a readable line
