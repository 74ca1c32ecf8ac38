"""The application: the API, the page's files, and the guard before both."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from os import PathLike, stat_result
from pathlib import Path

from fastapi import FastAPI, Response
from starlette.routing import Match, Mount
from starlette.staticfiles import StaticFiles

from tallystick.explore import network_api, run_api
from tallystick.explore.guard import API, Address, Guard, Scope
from tallystick.explore.refusals import handle_refusals
from tallystick.explore.run import ExploredRun
from tallystick.explore.workers import SECONDS, Workers

PAGE = Path(__file__).parent / "page"

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
"""What a browser needs to hear; the system's own table may say something else."""


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


def application(
    run: Path | None = None, host: str = "127.0.0.1", port: int | None = None, *, seconds: float = SECONDS
) -> FastAPI:
    """Return the application over a run directory, or none.

    Args:
        run: the run directory to look at.
        host: the host it is to be called by, beside the loopback's own names.
        port: the port it is to be called at; any port where it is None.
        seconds: how long an answer may take.
    """
    workers = Workers(seconds=seconds)

    @asynccontextmanager
    async def working(_: FastAPI) -> AsyncIterator[None]:
        await workers.start()
        yield
        await workers.stop()

    app = FastAPI(
        title="tallystick explore", version=version("tallystick"), docs_url=None, redoc_url=None, lifespan=working
    )
    app.state.workers, app.state.run = workers, None if run is None else _opened(run)
    handle_refusals(app)
    app.include_router(network_api.router)
    app.include_router(run_api.router)
    app.router.routes.append(PageMount("/", PageFiles(directory=PAGE, html=True, check_dir=False)))
    app.add_middleware(Guard, address=Address(host, port))  # type: ignore[arg-type]
    return app


def _opened(path: Path) -> ExploredRun:
    from tallystick.explore.opening import open_run  # noqa: PLC0415 -- JAX takes a second to load

    return open_run(path)
