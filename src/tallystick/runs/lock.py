"""One process at a time in a folder, by a lock that the system takes back when its process ends, however it ends."""

import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path

from tallystick.errors import BadInput, NotWritten
from tallystick.files import naming

LOCK = "run.lock"
_LONGEST_NAME = 300
_AT_WORK_IN: list[Path] = []


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
            file = _locked(path)
        with file:
            _AT_WORK_IN.append(folder)
            try:
                yield
            finally:
                _AT_WORK_IN.remove(folder)
                with suppress(OSError):  # while it is held: whoever has opened it by now will see that it is gone
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


def _locked(path: Path) -> FileIO:
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
        import fcntl  # noqa: PLC0415 -- not on Windows
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
