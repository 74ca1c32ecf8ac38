"""Reading and writing files: complaints name the file, and nothing is left half-written."""

import io
import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from errno import ETIMEDOUT
from pathlib import Path
from select import select
from time import monotonic

from tallystick.errors import BadInput, NotWritten

LARGEST_FILE = 64 * 2**20
PATIENCE = 60.0
"""Seconds in which a pipe must have said all."""

PARTIAL = ".partial"
"""How the name of a file ends that is being written."""

_PIECE = 2**20


def _permissions() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Asked for once: the only way to read the mask is to change it, which threads must not do at the same time.
_PERMISSIONS = _permissions()


def read_bytes(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Read a file of bounded size; a pipe is waited for, but not for ever."""
    try:
        with open(path, "rb", buffering=0, opener=_without_waiting) as file:
            content = _all_of(file, largest + 1, pipe=not path.is_file())
    except (OSError, ValueError) as error:  # a path with a zero byte is no path
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: cannot be read: {reason.lower()}") from None
    if len(content) > largest:
        raise BadInput(f"{path}: larger than {largest // 2**20} MiB, the most that is read")
    return content


def _without_waiting(path: str, flags: int) -> int:
    """Open a named pipe even where nobody writes into it yet."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _all_of(file: io.FileIO, most: int, *, pipe: bool) -> bytes:
    """Read to the end, up to so many bytes."""
    content, last = bytearray(), monotonic() + PATIENCE
    while len(content) < most:
        if pipe:
            _wait_for(file, last)
        part = file.read(min(most - len(content), _PIECE))
        if part == b"":
            break
        content += part or b""
    return bytes(content)


def _wait_for(pipe: io.FileIO, last: float) -> None:
    ready, _, _ = select([pipe], [], [], max(0.0, last - monotonic()))
    if not ready or monotonic() > last:
        raise TimeoutError(ETIMEDOUT, f"its end did not come within {PATIENCE:.0f} s")


def read_text(path: Path, largest: int = LARGEST_FILE) -> str:
    """Read a text file of bounded size."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 text (byte {error.start})") from None


def write_text(text: str, path: Path) -> None:
    """Write a text file whole or not at all."""
    # A path that is not UTF-8 may be part of the text; what cannot be encoded is written as JSON would have it.
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8", errors="backslashreplace"))


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: a reader sees the old file or the whole new one.

    The content is on the disk before its name is. A machine that loses power leaves no file that is there but empty, and a
    server that has no room, which may say so only when it is asked to keep the content, says so while the old file still stands.
    """
    with naming(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PARTIAL)
        temporary = Path(name)
        try:
            try:
                write(temporary)
                os.fsync(handle)
            finally:
                os.close(handle)
            temporary.chmod(_PERMISSIONS)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def remove_partial(folder: Path, *names: str) -> None:
    """Remove what writers of these files, or of all that fit a pattern, were killed over. Nobody may be writing them."""
    for name in names:
        for entry in folder.glob(f".{name}.*{PARTIAL}"):
            with naming(entry):
                entry.unlink()


@contextmanager
def naming(path: Path) -> Generator[None]:
    """Say in one line which file could not be written, and why: what the system says of a full disk names none."""
    try:
        yield
    except OSError as error:
        raise NotWritten(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def keep_names(folder: Path) -> None:
    """Have the names in a folder on the disk, so that what they replace may be removed; not all systems can be asked to."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def refuse_read_only(folder: Path) -> None:
    """Refuse a folder in which no file can be made, before the work is done whose results are to lie there."""
    with naming(folder), tempfile.TemporaryFile(dir=folder):
        pass


def refuse_unwritable(path: Path | None, *, force: bool) -> None:
    """Refuse a file that could not be written, before the work is done: there unasked, a folder, or in none."""
    if path is not None and path.is_dir():
        raise BadInput(f"{path}: is a folder, not a file to write")
    if path is not None and path.exists() and not path.is_file():
        raise BadInput(f"{path}: is a device or a pipe, not a file that can be replaced")
    if path is not None and not path.parent.is_dir():
        raise BadInput(f"{path}: there is no folder {path.parent}")
    refuse_existing(path, force=force)
    if path is not None:
        refuse_read_only(path.parent)


def refuse_no_folder(path: Path, needed_by: str) -> None:
    """Refuse what is there and is not a folder, be it a file or a link that leads nowhere."""
    if os.path.lexists(path) and not path.is_dir():
        raise BadInput(f"{path}: is not a folder; {needed_by} one")


def refuse_existing(path: Path | None, *, force: bool) -> None:
    """Refuse to overwrite a file, or a link that leads nowhere, unasked."""
    if path is not None and os.path.lexists(path) and not force:
        raise BadInput(f"{path}: exists already; --force overwrites it")
