"""The workers of a Dask cluster, which do the work of a run as the cores of this machine do (`resuming`).

A cluster is `local:N`, N processes on this machine; `tcp://HOST:PORT`, where a scheduler answers; or the file that a scheduler
wrote its address into. Parts are tasks, and those of a worker that dies are done again elsewhere. Workers need no common file
system: what they return is written here, whole or not at all. Only a few tasks for each core are under way at a time, so that a
run of any size asks little of the scheduler.
"""

import logging
import os
import pickle
import platform
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import version
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from tallystick.errors import BadInput, check_whole, is_count, missing_extra_named
from tallystick.files import read_document
from tallystick.runs.resuming import Items, Own, Result, Shared, Take, Work, Workers
from tallystick.training.engines import DEVICES, cores, devices_named

Client = Any
"""Dask's, whose types do not tell what it answers from what it promises to answer."""

MOST_WORKERS = 1024
TASKS_A_CORE = 2
"""One that is being done and one that waits, so that no core is idle while a result travels."""

ALLOWED_FAILURES = 100
"""Workers that may die over one task before it is taken for the cause."""

_ANSWER, _JOIN = 10, 60  # seconds for a scheduler to answer, and for a first worker to join it
_SAME = ("tallystick", "jax", "jaxlib", "llvmlite", "numpy", "distributed")

# Dask takes half a second to load, and is an extra.
# ruff: noqa: PLC0415


@contextmanager
def workers_of(cluster: str) -> Iterator[Workers]:
    """Return the workers of the cluster named, until the end of the block."""
    with ExitStack() as open_until_the_end:
        client = _client(cluster, open_until_the_end)
        with _one_line():
            found = _check_workers(client, cluster)
        yield Cluster(client, found)


class Cluster:
    """The workers of a Dask cluster."""

    def __init__(self, client: Client, made_with: dict[str, str]) -> None:
        """Use the workers that a client reaches, all of which compute with the same versions on the same kind of device."""
        self._client, self._made_with = client, made_with

    def each(self, work: Work[Shared, Own, Result], items: Items[Shared, Own], take: Take[Result]) -> None:
        """Do the work on every item, a few for each core at a time; `take` is called here, one result after another."""
        from distributed import as_completed

        tasks = self._tasks(work, items)
        waiting = as_completed(loop=self._client.loop)
        running: dict[str, int] = {}

        def fill() -> None:
            for place, task in islice(tasks, max(0, self._room() - len(running))):
                running[task.key] = place
                waiting.add(task)

        with _one_line():
            fill()
            for task in waiting:
                take(running.pop(task.key), task.result())
                task.release()
                fill()

    def device(self, name: str) -> str:
        """Return the kind of device that a name comes to where the workers are."""
        kind = self._made_with["device"]
        if name not in DEVICES:
            raise BadInput(f"device: {name!r} is not one of {', '.join(DEVICES)}")
        if name == "gpu" and kind != "gpu":
            raise BadInput("device: 'gpu', but the workers of the cluster have none")
        return kind if name == "auto" else name

    def processes(self) -> list[int]:
        """Return the ids of the workers' processes."""
        return list(self._client.run(os.getpid).values())

    def _tasks(self, work: Callable[..., Any], items: Sequence[tuple[Any, Any]]) -> Iterator[tuple[int, Any]]:
        """Submit the items as they are asked for; what they share is a task of its own, sent once, and made again if lost."""
        left = Counter(id(shared) for shared, _ in items)
        sent: dict[int, Any] = {}
        for place, (shared, own) in enumerate(items):
            if id(shared) not in sent:
                sent[id(shared)] = self._client.submit(pickle.loads, pickle.dumps(shared), pure=False)
            task = self._client.submit(_do, self._made_with, work, sent[id(shared)], own, pure=False)
            left[id(shared)] -= 1
            if not left[id(shared)]:  # nobody else will ask for it, so it need not be kept
                del sent[id(shared)]
            yield place, task

    def _room(self) -> int:
        """Workers may come and go while a run lasts."""
        return TASKS_A_CORE * max(1, sum(self._client.nthreads().values()))


@cache
def environment() -> dict[str, str]:
    """Return what the bits of a result depend on: versions, and the kind of device."""
    devices = devices_named()
    kinds = {"device": devices.kind, "model": devices.units[0].device_kind, "machine": platform.machine()}
    return {**{name: version(name) for name in _SAME}, **kinds}


def _do(expected: dict[str, str], work: Work[Shared, Own, Result], shared: Shared, own: Own) -> Result:
    """Do one item on a worker, which may have joined long after the others were checked."""
    _refuse_difference(platform.node(), expected, environment())
    return work(shared, own)


def _client(cluster: str, open_until_the_end: ExitStack) -> Client:
    with missing_extra_named():
        import distributed
    _silence()
    kind, _, number = cluster.partition(":")
    if kind == "local":
        local = open_until_the_end.enter_context(_local_cluster(number))
        return open_until_the_end.enter_context(distributed.Client(local))
    address = cluster if "://" in cluster else _address_in(Path(cluster))
    try:
        return open_until_the_end.enter_context(distributed.Client(address, timeout=_ANSWER))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(f"cluster: no scheduler answers at {address} ({reason})") from None


@contextmanager
def _local_cluster(number: str) -> Iterator[Any]:
    import dask.config
    from distributed import LocalCluster

    if not is_count(number):
        raise BadInput(f"cluster: 'local:{number}' is not local:N, with N the number of workers")
    workers = int(number)
    check_whole(workers, "cluster: the number of workers", least=1, most=MOST_WORKERS)
    threads = max(1, cores() // workers)
    with dask.config.set({"distributed.scheduler.allowed-failures": ALLOWED_FAILURES}):
        with _quiet_on_ctrl_c():
            local = LocalCluster(
                n_workers=workers,
                threads_per_worker=threads,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # any free port, seen from here alone
                memory_limit=None,  # a part is small, and a worker must not be ended over what a neighbour holds
                silence_logs=logging.CRITICAL,
                env={"POLARS_MAX_THREADS": str(threads)},
            )
        with local:
            yield local


@contextmanager
def _quiet_on_ctrl_c() -> Iterator[None]:
    """Start processes that say nothing when Ctrl-C ends this one, and end with it.

    A terminal sends the signal to all of them at once, and each would say so at length; they inherit that it is blocked. The
    process that Python has tidy up after them would warn that it has to.
    """
    if os.name != "posix":
        yield
        return
    warned = os.environ.get("PYTHONWARNINGS", "")
    os.environ["PYTHONWARNINGS"] = f"{warned},ignore:resource_tracker:UserWarning".lstrip(",")
    resource_tracker.ensure_running()  # which would unblock the signal again
    os.environ["PYTHONWARNINGS"] = warned
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _address_in(path: Path) -> str:
    if not path.is_file():
        raise BadInput(f"cluster: {str(path)!r} is neither local:N, tcp://HOST:PORT nor a scheduler's file")
    value = read_document(path).value
    address = value.get("address") if isinstance(value, dict) else None
    if not isinstance(address, str):
        raise BadInput(f"{path}: has no field 'address', as a scheduler's file has")
    return address


def _check_workers(client: Client, cluster: str) -> dict[str, str]:
    """Wait for a worker, and refuse workers whose results would differ from this machine's or from each other's."""
    try:
        client.wait_for_workers(1, timeout=_JOIN)
    except TimeoutError:
        raise BadInput(f"cluster: no worker has joined {cluster} within {_JOIN} s") from None
    found = client.run(environment, on_error="return")
    first = next(iter(found.values()))
    for name, answer in found.items():
        if isinstance(answer, BaseException):
            raise BadInput(f"cluster: worker {name} cannot do the work: {answer}") from None
        own = environment()
        _refuse_difference(name, {part: own[part] for part in _SAME}, answer)
        _refuse_difference(name, first, answer)
    return first


def _refuse_difference(worker: str, expected: dict[str, str], found: dict[str, str]) -> None:
    for name, value in expected.items():
        if found[name] != value:
            raise BadInput(f"cluster: worker {worker} has {name} {found[name]}, where the others have {value}")


@contextmanager
def _one_line() -> Iterator[None]:
    """Say in one line what a lost cluster means for a run."""
    from distributed import CancelledError, KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise BadInput(f"cluster: {error.allowed_failures + 1} workers died over one task; --resume goes on") from None
    except (CancelledError, OSError) as error:
        if getattr(error, "filename", None):  # a file of this machine's
            raise
        raise BadInput("cluster: the scheduler was lost; --resume goes on with another") from None
    except ModuleNotFoundError as error:
        raise BadInput(f"cluster: a worker lacks {error.name}") from None


def _silence() -> None:
    """Keep Dask from reporting workers that die: their work is done again."""
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "dask"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
