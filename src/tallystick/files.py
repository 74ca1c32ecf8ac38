"""Files: read with a bound on their size and complaints that name the file, and written whole or not at all.

JSON and TOML are read so that every complaint names the file, the field and the value. Numbers are kept exactly as they are
written (`Decimal`), because a certificate speaks of the numbers in the file and not of their nearest floats.
"""

import io
import json
import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from errno import ETIMEDOUT
from pathlib import Path
from select import select
from time import monotonic
from typing import NoReturn, TypeVar, cast

from tallystick.errors import BadInput, NotWritten

LARGEST_FILE = 64 * 2**20
PATIENCE = 60.0
"""Seconds in which a pipe must have said all."""

PARTIAL = ".partial"
"""How the name of a file ends that is being written."""

_PIECE = 2**20

Built = TypeVar("Built")

LARGEST_DOCUMENT = 16 * 2**20
LARGEST_SETTINGS = 2**20
LONGEST_NUMBER = 4300
"""Python itself reads no whole number of more digits, since it would take long."""
DEEPEST = 64
"""Lists and objects inside each other: more than anything read here has, and few enough for whoever goes through them."""

_BETWEEN_KEYS = re.compile(r"[\n=,{]")


def _permissions() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Asked for once: the only way to read the mask is to change it, which threads must not do at the same time.
_PERMISSIONS = _permissions()


def read_bytes(path: Path, largest: int = LARGEST_FILE) -> bytes:
    """Read a file of bounded size; a pipe is waited for, but not for ever."""
    try:
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            content = _read_all(file, largest + 1, pipe=not path.is_file())
    except (OSError, ValueError) as error:  # a path with a zero byte is no path
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: cannot be read: {reason.lower()}") from None
    if len(content) > largest:
        raise BadInput(f"{path}: larger than {largest // 2**20} MiB, the most that is read")
    return content


def _open_at_once(path: str, flags: int) -> int:
    """Open a named pipe even where nobody writes into it yet."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read_all(file: io.FileIO, most: int, *, pipe: bool) -> bytes:
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


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_bytes(content))


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


def refuse_clashes(read: Path, *written: Path | None) -> None:
    """Refuse to write two results into one file, or a result over the file that it is made from, also with --force."""
    seen = {read.resolve(): "the file that is read"}
    for path in filter(None, written):
        if path.resolve() in seen:
            raise BadInput(f"{path}: is {seen[path.resolve()]}, too; give every result a file of its own")
        seen[path.resolve()] = "the file of another result"


def refuse_no_folder(path: Path, needed_by: str) -> None:
    """Refuse what is there and is not a folder, be it a file or a link that leads nowhere."""
    if os.path.lexists(path) and not path.is_dir():
        raise BadInput(f"{path}: is not a folder; {needed_by} one")


def make_folder(path: Path) -> None:
    """Make the folder that results go to, before the work is done."""
    refuse_no_folder(path, "results need")
    with naming(path):
        path.mkdir(parents=True, exist_ok=True)
    refuse_read_only(path)


def refuse_existing(path: Path | None, *, force: bool) -> None:
    """Refuse to overwrite a file, or a link that leads nowhere, unasked."""
    if path is not None and os.path.lexists(path) and not force:
        raise BadInput(f"{path}: exists already; --force overwrites it")


class Document:
    """A value inside a JSON file that knows where it stands."""

    def __init__(self, value: object, where: str) -> None:
        """Hold `value`; `where` is the file and the path of fields to it."""
        self.value = value
        self.where = where

    @property
    def content(self) -> dict[str, object]:
        """The fields of an object as they are, none of them checked; empty where the value is not an object."""
        found = self.value
        return cast("dict[str, object]", found) if isinstance(found, dict) else {}

    def refuse(self, expected: str) -> NoReturn:
        """Raise `BadInput`: this value is not what is expected."""
        shown = json.dumps(self.value, ensure_ascii=False, default=str)
        shown = shown if len(shown) <= 80 else shown[:77] + "..."  # noqa: PLR2004 -- one line, readable
        raise BadInput(f"{self.where}: {shown} is not {expected}")

    def fields(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, "Document"]:
        """Return the fields of an object that has all the required ones and no unknown ones."""
        value = self.value
        if not isinstance(value, dict):
            self.refuse("a JSON object")
        found = cast("dict[str, object]", value)
        for name in required:
            if name not in found:
                raise BadInput(f"{self.where}: field {name!r} is missing")
        for name in found:
            if name not in required + optional:
                allowed = ", ".join(required + optional)
                raise BadInput(f"{self.where}: unknown field {name!r}; the fields are {allowed}")
        return {name: Document(value, f"{self.where}: {name}") for name, value in found.items()}

    def items(self) -> Iterator["Document"]:
        """Go through the entries of a list."""
        entries = self.value
        if not isinstance(entries, list):
            self.refuse("a JSON list")
        for position, value in enumerate(cast("list[object]", entries)):
            yield Document(value, f"{self.where}[{position}]")

    def replace_objects(self, field: str, read: Callable[["Document"], object]) -> "Document":
        """Return this value with every object in it that has a field replaced by what it stands for."""
        value = self.value
        if isinstance(value, dict):
            if field in value:
                return Document(read(self), self.where)
            parts = {name: Document(part, f"{self.where}: {name}") for name, part in self.content.items()}
            return Document({name: part.replace_objects(field, read).value for name, part in parts.items()}, self.where)
        # A list of plain numbers, as most are, holds no objects.
        if isinstance(value, list) and any(isinstance(entry, list | dict) for entry in cast("list[object]", value)):
            return Document([entry.replace_objects(field, read).value for entry in self.items()], self.where)
        return self

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            self.refuse("a string")
        return self.value

    def whole(self) -> int:
        """Return a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse("a whole number")
        return self.value


def read_document(path: Path) -> Document:
    """Read a JSON file, refusing what the format leaves undefined: repeated fields, NaN and infinities."""
    return parse_document(read_text(path, LARGEST_DOCUMENT), str(path))


def parse_document(text: str, where: str) -> Document:
    """Read JSON text as strictly as a file; `where` opens every complaint."""
    return Document(_parse(text, where), where)


def read_settings(path: Path) -> dict[str, object]:
    """Read a TOML file."""
    return parse_settings(read_text(path, LARGEST_SETTINGS), str(path))


def parse_settings(text: str, where: str) -> dict[str, object]:
    """Read TOML text; `where` opens every complaint."""
    import tomllib  # noqa: PLC0415 -- only runs have TOML files

    # A key of many parts, a.b.c, would take Python's reader hours.
    if any(part.count(".") > DEEPEST for part in _BETWEEN_KEYS.split(text)):
        raise BadInput(f"{where}: nested too deeply: a name has more than {DEEPEST} parts with dots between")
    try:
        found = tomllib.loads(text)
        _refuse_deep(found)
    except RecursionError:
        raise BadInput(f"{where}: nested too deeply") from None
    except ValueError as error:  # no TOML, or a number of too many digits
        raise BadInput(f"{where}: not TOML: {error}") from None
    return found


def read_as(path: Path, build: Callable[[Document], Built]) -> Built:
    """Read a JSON file and build something of it; what the building complains of is named with the file."""
    document = read_document(path)
    try:
        return build(document)
    except BadInput as error:
        message = str(error)
        raise BadInput(message if message.startswith(document.where) else f"{path}: {message}") from None


def write_document(value: object, path: Path) -> None:
    """Write a JSON file whole or not at all."""
    write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", path)


def _parse(text: str, where: str) -> object:
    try:
        found: object = json.loads(
            text,
            parse_float=lambda digits: Decimal(_refuse_long(digits)),
            parse_int=lambda digits: int(_refuse_long(digits)),
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_repeats,
        )
        _refuse_deep(found)
    except json.JSONDecodeError as error:
        raise BadInput(f"{where}: line {error.lineno}: not JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise BadInput(f"{where}: nested too deeply") from None
    except ValueError as error:  # a repeated field, NaN, or a number of too many digits
        raise BadInput(f"{where}: {error}") from None
    except ArithmeticError:
        raise BadInput(f"{where}: a number has an exponent that is far too large") from None
    return found


def _refuse_deep(value: object) -> None:
    """Refuse what nobody could go through afterwards, not even to say what is wrong with it."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _parts(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise ValueError(f"nested too deeply: at most {DEEPEST} lists and objects inside each other are read")


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


def _refuse_long(digits: str) -> str:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"number {digits[:20]}... has {len(digits)} characters; at most {LONGEST_NUMBER} are read")
    return digits


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _refuse_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"field {name!r} stands twice in one object")
        found[name] = value
    return found
