"""Parquet files, the one room in which polars is handed a path: it would take `*`, `[` and `~` in one for a pattern.

Files from outside are read or refused in one line, where polars says what is wrong with them in many.
"""

import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import polars as pl

from tallystick.errors import BadInput

Result = TypeVar("Result")

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
MOST, MOST_OF_A_ROW = 2**24, 2**18
"""Bytes of a table, and of each row beside them, once unpacked: the weights of the largest LSTM take half as many."""

_FOOTER = 8  # the footer's length and the letters that end the file
_LARGEST_FOOTER = 2**24
_ROWS, _GROUPS, _UNPACKED = 3, 4, 2  # fields of the footer, and of a group of rows
_ONE_LINE = RLock()


def literal(path: Path) -> str:
    """Return a path as polars must have it: absolute, so that no `~` opens it, and UTF-8."""
    text = str(path.absolute())
    if not text.isascii() and text != text.encode(errors="replace").decode():
        raise BadInput(f"{text}: the path is not UTF-8, which that of a run must be; choose another")
    return text


def scan(*paths: Path) -> pl.LazyFrame:
    """Return the rows of files, one after the other, to be read as they are asked for."""
    return pl.scan_parquet([literal(path) for path in paths], glob=False, hive_partitioning=False)


def read_table(path: Path) -> pl.DataFrame:
    """Read a whole file."""
    return scan(path).collect()


def read_schema(path: Path) -> pl.Schema:
    """Read the columns of a file and what they hold."""
    return scan(path).collect_schema()


def sink(rows: pl.LazyFrame, path: Path, rows_at_a_time: int) -> None:
    """Write rows into a file as they come."""
    rows.sink_parquet(literal(path), statistics=False, row_group_size=rows_at_a_time)


def as_parquet(table: pl.DataFrame) -> bytes:
    """Return a table as the content of a file."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, statistics=False)
    return buffer.getvalue()


def read_or_refuse(path: Path, remedy: str, read: Callable[[Path], Result], *, again: bool = False) -> Result:
    """Read something of a Parquet file; one that is missing or damaged is named, with what to do about it.

    Args:
        path: the file.
        remedy: what to do.
        read: reads it.
        again: whether the same has been looked into before, and need not be.
    """
    if not path.is_file():
        raise BadInput(f"{path}: is missing; {remedy}")
    try:
        if not again:
            _refuse_swelling(path)
        with _unheard():
            return read(path)
    except UNREADABLE as error:
        raise BadInput(f"{path}: damaged ({reason(error)}); {remedy}") from None


def reason(error: BaseException) -> str:
    """What polars says first of what went wrong."""
    return (str(error).splitlines() or ["not Parquet"])[0][:100]


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep off standard error what threads of polars say of a file that they give up, and nothing else."""
    with _ONE_LINE, ExitStack() as open_files:
        try:
            heard = open_files.enter_context(tempfile.TemporaryFile())
            stderr = os.dup(2)
        except OSError:  # nothing to be kept off, or nowhere to keep it
            yield
            return
        try:
            os.dup2(heard.fileno(), 2)
            yield
        except BaseException:
            heard.truncate(0)
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            heard.seek(0)
            sys.stderr.write(heard.read().decode(errors="replace"))


def _refuse_swelling(path: Path) -> None:
    """Refuse a small file whose rows are as large as memory once they are unpacked: the footer tells, before they are."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _FOOTER))
        length = int.from_bytes(file.read(4), "little")
        if not 0 < length <= min(size - _FOOTER, _LARGEST_FOOTER):
            return  # polars says what is wrong with it
        file.seek(size - _FOOTER - length)
        footer = _Thrift(file.read(length))
    try:
        found = footer.struct()
        rows, groups = int(found[_ROWS]), found[_GROUPS]
        unpacked = sum(int(group[_UNPACKED]) for group in groups)
    except (LookupError, TypeError, ValueError, RecursionError):
        return
    if unpacked > MOST + MOST_OF_A_ROW * rows:
        raise OSError(f"its {rows:,} rows unpack to {unpacked:,} bytes")


class _Thrift:
    """As much of Thrift's compact protocol as a footer is written in."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self) -> dict[int, Any]:
        """Read fields up to the stop."""
        fields, number = {}, 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> Any:  # noqa: ANN401 -- whatever the file holds
        readers = {3: self._byte, 7: lambda: self._bytes(8), 8: lambda: self._bytes(self._varint()), 12: self.struct}
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self._whole()
        return self._list() if kind in (9, 10) else readers[kind]()

    def _list(self) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._varint()  # noqa: PLR2004 -- the protocol's mark for more
        if size > len(self.content):
            raise ValueError
        return [self._byte() if head & 15 in (1, 2) else self._value(head & 15) for _ in range(size)]

    def _whole(self) -> int:
        value = self._varint()
        return value >> 1 if value % 2 == 0 else -(value >> 1) - 1

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 70:  # noqa: PLR2004 -- the protocol's mark for more, and an end to it
                return value

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        found = self.content[self.place : self.place + size]
        if len(found) < size:
            raise ValueError
        self.place += size
        return found
