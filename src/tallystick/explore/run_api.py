"""The API of a run: its settings and columns, where its networks lie, how their numbers are distributed, single networks."""

from collections.abc import Callable
from functools import partial
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Query, Request

from tallystick.errors import BadInput
from tallystick.explore import run_answers
from tallystick.explore.questions import GREATEST_SEED, Answer, Error, OneOf, answer_of
from tallystick.explore.run import ExploredRun, NotFound, Window
from tallystick.runs.columns import explored_columns

MOST_BINS = 512
MOST_POINTS = 5000
MOST_PATHS = 1000
_AT_ONCE = 2
"""Questions that go through a run's arrays at the same time: each takes memory in the size of a column."""

Finite = Annotated[float, Query(allow_inf_nan=False, ge=-1e12, le=1e12)]
SettingIds = Annotated[str, Query(description="ids with commas between; all settings where empty", max_length=8192)]
ColumnName = Annotated[str, OneOf(lambda: [column.name for column in explored_columns()])]


async def _window(x0: Finite = -2.0, x1: Finite = 0.0, y0: Finite = 0.0, y1: Finite = 2.0) -> Window:
    if not (x0 < x1 and y0 < y1):
        raise BadInput("x0, x1, y0, y1: a window has x0 < x1 and y0 < y1")
    return Window(x0, x1, y0, y1)


InWindow = Annotated[Window, Depends(_window)]


async def _run(request: Request) -> ExploredRun:
    if request.app.state.run is None:
        raise NotFound("no run is open; tallystick explore RUN opens one")
    return request.app.state.run


Opened = Annotated[ExploredRun, Depends(_run)]
router = APIRouter(prefix="/api/run", responses={"4XX": {"model": Error}})
_limiter = CapacityLimiter(_AT_ONCE)


async def _answer(work: Callable[..., object], *arguments: object) -> Answer:
    """Go through arrays, and write what is found, in a thread, so that the server goes on."""
    return await to_thread.run_sync(lambda: Answer(partial(work, *arguments)()), limiter=_limiter)


@router.get("", responses=answer_of(run_answers.RunSummary | None))
async def summary(request: Request) -> Answer:
    """The run that is open, if one is."""
    run = request.app.state.run
    return Answer(None) if run is None else await _answer(run_answers.summary_of, run)


@router.get("/bins", responses=answer_of(run_answers.Bins))
async def bins(
    run: Opened,
    window: InWindow,
    setting: SettingIds = "",
    nx: Annotated[int, Query(ge=1, le=MOST_BINS)] = 100,
    ny: Annotated[int, Query(ge=1, le=MOST_BINS)] = 100,
) -> Answer:
    """Count the networks in a grid over a window."""
    return await _answer(run_answers.bins_of, run.choose(setting), window, nx, ny)


@router.get("/points", responses=answer_of(run_answers.Points))
async def points(
    run: Opened,
    window: InWindow,
    setting: SettingIds = "",
    limit: Annotated[int, Query(ge=1, le=MOST_POINTS)] = 1000,
) -> Answer:
    """List networks in a window."""
    return await _answer(run_answers.points_of, run.choose(setting), window, limit)


@router.get("/histogram", responses=answer_of(run_answers.Histogram))
async def histogram(
    run: Opened,
    column: ColumnName,
    setting: SettingIds = "",
    bins: Annotated[int, Query(ge=1, le=MOST_BINS)] = 60,
    low: Finite | None = None,
    high: Finite | None = None,
) -> Answer:
    """Count a column's values, setting by setting."""
    if (low is None) != (high is None) or (low is not None and high is not None and low >= high):
        raise BadInput("low, high: both or neither, and low < high")
    ends = None if low is None or high is None else (low, high)
    return await _answer(run_answers.histogram, run.choose(setting), column, bins, ends)


@router.get("/paths", responses=answer_of(run_answers.Paths))
async def paths(
    run: Opened, setting: SettingIds = "", limit: Annotated[int, Query(ge=1, le=MOST_PATHS)] = 48
) -> Answer:
    """Follow networks along their training."""
    return await _answer(run_answers.paths_of, run, setting, limit)


@router.get("/model", responses=answer_of(run_answers.RunModel))
async def model(run: Opened, setting: str, seed: Annotated[int, Query(ge=0, le=GREATEST_SEED)]) -> Answer:
    """Return one network, its weights exact."""
    return await _answer(run_answers.network_of, run, setting, seed)


@router.get("/table", responses=answer_of(run_answers.Table))
async def table(run: Opened) -> Answer:
    """Return Table 2 beside the paper's numbers."""
    return await _answer(run_answers.table_of, run)
