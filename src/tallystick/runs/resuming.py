"""Work that may be killed: who does it, what is done of it, what is missing, and how others meet it before it has ended.

Workers are the cores of this machine or those of a cluster, which offer the same.

One process at a time works in a folder, by a lock that the system takes back when its process ends, however it ends. Every result
is written whole or not at all as soon as it is there, so that a kill loses what is under way and nothing else.
"""

import json
import os
import platform
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from tallystick.errors import BadInput, NotWritten
from tallystick.files import naming, read_text, remove_partial, write_text

Shared = TypeVar("Shared")
Own = TypeVar("Own")
Result = TypeVar("Result")
Work = Callable[[Shared, Own], Result]
Items = Sequence[tuple[Shared, Own]]
Take = Callable[[int, Result], object]

LOCK = "run.lock"
CONFIG = "config.toml"
_LONGEST_NAME = 300
_AT_WORK_IN: list[Path] = []

# JAX takes a second to load, and is an extra: a command that is interrupted looks here for what to say.
# ruff: noqa: PLC0415


class Workers(Protocol):
    """Those that do the work."""

    def each(self, work: Work[Shared, Own, Result], items: Items[Shared, Own], take: Take[Result]) -> None:
        """Do work(shared, own) on every item, and hand each result over, with the item's place, as soon as it is there.

        What items share may be large: it is the same object in each of them, and travels once.
        """
        ...

    def device(self, name: str) -> str:
        """Return the kind of device that auto, cpu or gpu comes to where they are."""
        ...


class ThisMachine:
    """The cores of this machine."""

    def each(self, work: Work[Shared, Own, Result], items: Items[Shared, Own], take: Take[Result]) -> None:
        """Do the work on as many items at a time as there are cores."""
        from tallystick.training.engines import on_every_core

        on_every_core(lambda place: take(place, work(*items[place])), range(len(items)))

    def device(self, name: str) -> str:
        """Return the kind of device that a name comes to here."""
        from tallystick.training.engines import devices_named

        return devices_named(name).kind


class OneByOne(ThisMachine):
    """This machine, for work of which each item keeps all cores busy."""

    def each(self, work: Work[Shared, Own, Result], items: Items[Shared, Own], take: Take[Result]) -> None:
        """Do the work on one item after another."""
        for place, item in enumerate(items):
            take(place, work(*item))


THIS_MACHINE = ThisMachine()


@contextmanager
def workers_named(cluster: str | None) -> Iterator[Workers]:
    """Return those that do the work: this machine, or the workers of the cluster named, until the end of the block."""
    if cluster is None:
        yield THIS_MACHINE
        return
    from tallystick.runs.cluster import workers_of

    with workers_of(cluster) as workers:
        yield workers


def do_missing(
    items: Items[Shared, Own],
    done: Container[int],
    work: Work[Shared, Own, Result],
    store: Take[Result],
    workers: Workers,
) -> None:
    """Have the workers do every item whose place is not among those done; `store` is given each place and its result."""
    missing = [place for place in range(len(items)) if place not in done]
    workers.each(work, [items[place] for place in missing], lambda number, result: store(missing[number], result))


class KeptResults(Generic[Result]):
    """Results by the place of their item, kept in one JSON file as they come, beside what was asked for.

    Without a path they are kept in memory alone.
    """

    def __init__(
        self,
        path: Path | None,
        asked: dict[str, object],
        to_json: Callable[[Result], object],
        of_json: Callable[[int, Any], Result],
    ) -> None:
        """Stand for the file; nothing is read or written yet."""
        self._path, self._asked, self._to_json, self._of_json = path, asked, to_json, of_json
        self.found: dict[int, Result] = {}

    def begin(self, *, resume: bool, force: bool) -> bool:
        """Read the results to go on with, and say whether there are any; others are replaced by force alone."""
        if self._path is None:
            return False
        remove_partial(self._path.parent, self._path.name)
        if resume and self._path.exists():
            self._read(self._path)
            return True
        if os.path.lexists(self._path) and not force:
            raise BadInput(f"{self._path}: exists already; --resume goes on with it, --force starts anew")
        return False

    def add(self, place: int, result: Result) -> None:
        """Keep one more result."""
        self.found[place] = result
        rows = {str(place): self._to_json(result) for place, result in sorted(self.found.items())}
        if self._path is not None:
            write_text(json.dumps({"asked": self._asked, "rows": rows}, indent=1) + "\n", self._path)

    def _read(self, path: Path) -> None:
        text = read_text(path)
        try:
            content = json.loads(text)  # its own file, in which an unlimited horizon is Infinity
            asked, results = content["asked"], {int(place): value for place, value in content["rows"].items()}
            if asked == self._asked:
                self.found = {place: self._of_json(place, value) for place, value in results.items()}
                return
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
            raise BadInput(f"{path}: not the rows of a comparison; --force starts it anew") from None
        raise BadInput(
            f"{path}: of other settings, seeds, versions or another device; "
            "resume with the same options, or choose another folder"
        )


@contextmanager
def at_work_in(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder until the end of the block; where a file cannot be written, say how to go on.

    The lock is flock's, on a file that names its holder. A process that is killed loses it, so that none has to be broken by
    hand; on NFS it holds between machines. Where there are no locks, on Windows and on some file systems of clusters, work
    goes on without one.
    """
    path = folder / LOCK
    try:
        with naming(path):
            file = _lock(path)
        with file:
            _AT_WORK_IN.append(folder)
            try:
                yield
            finally:
                _AT_WORK_IN.remove(folder)
                with suppress(OSError):  # while it is held, so that a process which has opened it sees that it is gone
                    path.unlink()
    except NotWritten as error:
        raise NotWritten(f"{error}; once it can be, --resume goes on with what is done") from None


def folders_at_work_in() -> list[Path]:
    """Return the folders that this process keeps others out of."""
    return list(_AT_WORK_IN)


def holder_of(folder: Path) -> str | None:
    """Return who is at work in a folder, if anybody is. Nothing is written, and nobody is kept out for longer than this."""
    try:
        file = (folder / LOCK).open("rb", buffering=0)
    except OSError:
        return None
    with file:
        return None if _takes(file, shared=True) else _holder(file)


def _lock(path: Path) -> FileIO:
    while True:
        with ExitStack() as closed_unless_kept:
            file = closed_unless_kept.enter_context(path.open("ab+", buffering=0))  # NFS locks what is open for writing
            if not _takes(file):
                raise BadInput(
                    f"{path.parent}: {_holder(file)} is at work there; wait until it has ended, or choose another folder"
                )
            if _is_at(path, file):  # else its last holder has removed it since it was opened
                file.truncate(0)
                file.write(f"process {os.getpid()} on {platform.node()}\n".encode())
                closed_unless_kept.pop_all()
                return file


def _holder(file: FileIO) -> str:
    file.seek(0)
    return file.read(_LONGEST_NAME).decode(errors="replace").strip() or "another process"


def _takes(file: FileIO, *, shared: bool = False) -> bool:
    """Lock a file, unless another process has; those who share a lock keep each other in, and others out."""
    try:
        import fcntl  # not on Windows
    except ModuleNotFoundError:
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the latter from NFS
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_at(path: Path, file: FileIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def refuse_unfinished(folder: Path, name: str) -> None:
    """Refuse a folder that lacks a file which every finished run has; what is done of the run is never to be deleted over it."""
    if (folder / name).is_file():
        return
    if not (folder / CONFIG).is_file():
        raise BadInput(
            f"{folder}: not a run directory, since it has no {CONFIG}; tallystick train and reproduce make one"
        )
    holder = holder_of(folder)
    way_out = (
        f"wait for {holder}, which is at work on it" if holder else "the command that began it goes on with --resume"
    )
    raise BadInput(f"{folder / name}: is missing: the run has not ended; {way_out}")
