"""The application: the API, the page's files, the guard before both, and errors as answers in one line."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from os import PathLike, stat_result
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles

from tallystick.errors import BadInput
from tallystick.explore import network_api, run_api
from tallystick.explore.guard import API, Address, Guard, Scope, error_body
from tallystick.explore.opening import opened_network
from tallystick.explore.run import NotFound, open_run
from tallystick.explore.workers import SECONDS, Busy, WorkerEnded, Workers

PAGE = Path(__file__).parent / "page"

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""What a browser needs to hear; the system's own table may say something else."""

_BAD_INPUT, _BUSY, _ENDED = 422, 429, 503
_LIBRARY = "value_error"
"""The kind of error that a library's own complaint becomes on its way through pydantic."""

_LONGEST_VALUE = 60


def application(
    run: Path | None = None, host: str = "127.0.0.1", port: int | None = None, *, seconds: float = SECONDS
) -> FastAPI:
    """Return the application over a run directory, a network's file, or neither.

    Args:
        run: the run directory, or the network's file, to look at.
        host: the host it is to be called by, beside the loopback's own names.
        port: the port it is to be called at; any port where it is None.
        seconds: how long an answer may take.
    """
    workers = Workers(seconds=seconds)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await workers.start()
        yield
        await workers.stop()

    app = FastAPI(
        title="tallystick explore", version=version("tallystick"), docs_url=None, redoc_url=None, lifespan=lifespan
    )
    is_network = run is not None and run.is_file()
    app.state.workers, app.state.run = workers, None if run is None or is_network else open_run(run)
    app.state.network = opened_network(run) if run is not None and is_network else None
    handle_refusals(app)
    app.include_router(network_api.router)
    app.include_router(run_api.router)
    app.router.routes.append(PageMount("/", PageFiles(directory=PAGE, html=True, check_dir=False)))
    app.add_middleware(Guard, address=Address(host, port))  # type: ignore[arg-type]
    return app


class PageFiles(StaticFiles):
    """The files of the page, and nothing outside its folder."""

    def lookup_path(self, path: str) -> tuple[str, stat_result | None]:
        """Find a file; an address with a null byte, which older versions of starlette give to the system, has none."""
        return ("", None) if "\0" in path else super().lookup_path(path)

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """Return a file, its kind named."""
        response = super().file_response(full_path, stat_result, scope, status_code)
        kind = _TYPES.get(Path(full_path).suffix)
        if kind:
            response.headers["content-type"] = f"{kind}; charset=utf-8"
        return response


class PageMount(Mount):
    """All addresses but those of the API, which would otherwise answer a wrong method as a missing file."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Say whether an address is the page's."""
        return (Match.NONE, {}) if scope["path"].startswith(API) else super().matches(scope)


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
    found = "" if error["type"] == "missing" else f" (found {_text_of(error.get('input'))})"
    return f"{name}: {message[0].lower()}{message[1:]}{found}"


def _text_of(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
