"""Reading and writing files: complaints name the file, and nothing is left half-written."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from tallystick.errors import BadInput

LARGEST_FILE = 64 * 2**20


def _permissions() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Asked for once: the only way to read the mask is to change it, which threads must not do at the same time.
_PERMISSIONS = _permissions()


def read_bytes(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Read a file of bounded size."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > largest:
        raise BadInput(f"{path}: larger than {largest // 2**20} MiB, the most that is read")
    return content


def read_text(path: Path, largest: int = LARGEST_FILE) -> str:
    """Read a text file of bounded size."""
    try:
        return read_bytes(path, largest).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 text (byte {error.start})") from None


def write_text(text: str, path: Path) -> None:
    """Write a text file whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: a reader sees the old file or the whole new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(_PERMISSIONS)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def refuse_unwritable(path: Path | None, *, force: bool) -> None:
    """Refuse a file that could not be written, before the work is done: there unasked, a folder, or in none."""
    if path is not None and path.is_dir():
        raise BadInput(f"{path}: is a folder, not a file to write")
    if path is not None and not path.parent.is_dir():
        raise BadInput(f"{path}: there is no folder {path.parent}")
    refuse_existing(path, force=force)


def refuse_existing(path: Path | None, *, force: bool) -> None:
    """Refuse to overwrite a file unasked."""
    if path is not None and path.exists() and not force:
        raise BadInput(f"{path}: exists already; --force overwrites it")
