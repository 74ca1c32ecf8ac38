"""The API of a run: where its networks lie, how their numbers are distributed, and the networks themselves."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Request

from tallystick.errors import BadInput
from tallystick.explore import reports, schemas
from tallystick.explore.answers import as_float
from tallystick.explore.histograms import histogram
from tallystick.explore.refusals import NotFound
from tallystick.explore.run import ExploredRun, Networks, Places, Window, sample
from tallystick.networks import network_to_json

MOST_BINS = 512
MOST_POINTS = 5000
MOST_PATHS = 1000
_AT_ONCE = 2
"""Questions that go through a run's arrays at the same time: each takes memory in the size of a column."""

Finite = Annotated[float, Query(allow_inf_nan=False, ge=-1e12, le=1e12)]
SettingIds = Annotated[str, Query(description="ids with commas between; all settings where empty", max_length=8192)]


async def _window(x0: Finite = -2.0, x1: Finite = 0.0, y0: Finite = 0.0, y1: Finite = 2.0) -> Window:
    if not (x0 < x1 and y0 < y1):
        raise BadInput("x0, x1, y0, y1: a window has x0 < x1 and y0 < y1")
    return Window(x0, x1, y0, y1)


InWindow = Annotated[Window, Depends(_window)]


async def _opened(request: Request) -> ExploredRun:
    if request.app.state.run is None:
        raise NotFound("no run is open; tallystick explore RUN opens one")
    return request.app.state.run


Opened = Annotated[ExploredRun, Depends(_opened)]
router = APIRouter(prefix="/api/run", responses={"4XX": {"model": schemas.Error}})
_limiter = CapacityLimiter(_AT_ONCE)


async def _aside(work: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 -- the work's
    """Go through arrays in a thread, so that the server goes on."""
    return await to_thread.run_sync(partial(work, *arguments), limiter=_limiter)


@router.get("", response_model=schemas.RunSummary | None)
async def summary(request: Request) -> Any:  # noqa: ANN401
    """The run that is open, if one is."""
    run = request.app.state.run
    return None if run is None else await _aside(_summary, run)


@router.get("/bins", response_model=schemas.Bins)
async def bins(
    run: Opened,
    window: InWindow,
    setting: SettingIds = "",
    nx: Annotated[int, Query(ge=1, le=MOST_BINS)] = 100,
    ny: Annotated[int, Query(ge=1, le=MOST_BINS)] = 100,
) -> Any:  # noqa: ANN401
    """Count the networks in a grid over a window."""
    return await _aside(_bins, run.chosen(setting), window, nx, ny)


@router.get("/points", response_model=schemas.Points)
async def points(
    run: Opened,
    window: InWindow,
    setting: SettingIds = "",
    limit: Annotated[int, Query(ge=1, le=MOST_POINTS)] = 1000,
) -> Any:  # noqa: ANN401
    """List networks in a window."""
    return await _aside(_points, run.chosen(setting), window, limit)


@router.get("/histogram", response_model=schemas.Histogram)
async def distribution(
    run: Opened,
    column: schemas.Column,
    setting: SettingIds = "",
    bins: Annotated[int, Query(ge=1, le=MOST_BINS)] = 60,
    low: Finite | None = None,
    high: Finite | None = None,
) -> Any:  # noqa: ANN401
    """Count a column's values, setting by setting."""
    if (low is None) != (high is None) or (low is not None and high is not None and low >= high):
        raise BadInput("low, high: both or neither, and low < high")
    ends = None if low is None or high is None else (low, high)
    return await _aside(histogram, run.chosen(setting), column, bins, ends)


@router.get("/paths", response_model=schemas.Paths)
async def paths(run: Opened, setting: SettingIds = "", limit: Annotated[int, Query(ge=1, le=MOST_PATHS)] = 48) -> Any:  # noqa: ANN401
    """Follow networks along their training."""
    return await _aside(reports.paths_of, run, setting, limit)


@router.get("/model", response_model=schemas.RunModel)
async def model(run: Opened, setting: str, seed: Annotated[int, Query(ge=0, le=schemas.GREATEST_SEED)]) -> Any:  # noqa: ANN401
    """Return one network, its weights exact."""
    return await _aside(_model, run, setting, seed)


@router.get("/table", response_model=schemas.Table)
async def table(run: Opened) -> Any:  # noqa: ANN401
    """Return Table 2 beside the paper's numbers."""
    return await _aside(reports.table_of, run)


def _summary(run: ExploredRun) -> dict[str, object]:
    has_report = reports.has_report(run.path)
    return {
        "name": run.path.resolve().name,
        "models": sum(map(len, run.settings.values())),
        "settings": [_setting(networks) for networks in run.settings.values()],
        "window": run.window._asdict(),
        "has_paths": has_report,
        "has_table": has_report,
    }


def _setting(networks: Networks) -> dict[str, object]:
    own = {"id": networks.id, "title": networks.title, "models": len(networks), "in_plane": networks.in_plane}
    return {**networks.described, **own}


def _bins(settings: list[Networks], window: Window, nx: int, ny: int) -> dict[str, object]:
    counts = np.zeros((ny, nx), np.int64)
    for networks in settings:
        counts += networks.counted(window, nx, ny)
    return {"counts": counts.tolist(), "total": sum(map(len, settings)), "inside": int(counts.sum())}


def _points(settings: list[Networks], window: Window, limit: int) -> dict[str, object]:
    found = sample(settings, window, limit)
    points = [point for networks, places in found.places for point in _listed(networks, places)]
    return {"points": points, "inside": found.inside}


def _listed(networks: Networks, places: Places) -> list[dict[str, object]]:
    columns = {name: values[places].tolist() for name, values in networks.columns.items()}
    seeds = networks.seeds[places].tolist()
    return [
        {
            "setting": networks.id,
            "seed": seed,
            "ratio": ratio,
            "recurrent_weight": weight,
            "horizon_all": None if as_float(horizon_all) is None else int(horizon_all),
            "horizon_even": None if as_float(horizon_even) is None else int(horizon_even),
            "unlimited": horizon_all == np.inf,
            "accuracy_50": as_float(accuracy),
        }
        for seed, ratio, weight, horizon_all, horizon_even, accuracy in zip(
            seeds,
            columns["ab_ratio"],
            columns["recurrent_weight"],
            columns["horizon_all"],
            columns["horizon_even"],
            columns["accuracy_50"],
            strict=True,
        )
    ]


def _model(run: ExploredRun, setting: str, seed: int) -> dict[str, object]:
    from tallystick.explore.opening import model_of  # noqa: PLC0415 -- JAX is loaded once a run is opened

    networks = run.chosen(setting)[0]
    return {"network": network_to_json(model_of(networks, seed)), "arithmetic": networks.described["precision"]}
