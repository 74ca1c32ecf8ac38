"""Parquet files, the one room in which polars is handed a path: it would take `*`, `[` and `~` in one for a pattern.

Files from outside are read or refused in one line, where polars says what is wrong with them in many.
"""

import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
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
        with _quiet_stderr():
            return read(path)
    except UNREADABLE as error:
        raise BadInput(f"{path}: damaged ({reason(error)}); {remedy}") from None


def reason(error: BaseException) -> str:
    """What polars says first of what went wrong."""
    return (str(error).splitlines() or ["not Parquet"])[0][:100]


@contextmanager
def _quiet_stderr() -> Iterator[None]:
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
    """Refuse a small file whose rows are as large as memory once they are unpacked.

    Only the footer tells before they are, and polars does not say what it holds of sizes. So as much of it is read here as that
    takes: it is written in Thrift's compact protocol.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _FOOTER))
        length = int.from_bytes(file.read(4), "little")
        if not 0 < length <= min(size - _FOOTER, _LARGEST_FOOTER):
            return  # polars says what is wrong with it
        file.seek(size - _FOOTER - length)
        footer = iter(file.read(length))
    try:
        fields = _struct(footer)
        rows, unpacked = int(fields[_ROWS]), sum(int(group[_UNPACKED]) for group in fields[_GROUPS])
    except (LookupError, TypeError, ValueError, RecursionError, StopIteration):
        return
    if unpacked > MOST + MOST_OF_A_ROW * rows:
        raise OSError(f"its {rows:,} rows unpack to {unpacked:,} bytes")


def _struct(content: Iterator[int]) -> dict[int, Any]:
    """Read the values of a structure by the numbers of their fields; a 0 ends it."""
    fields, number = {}, 0
    while head := next(content):
        step, kind = divmod(head, 16)
        number = number + step if step else _whole(content)
        fields[number] = kind == 1 if kind in (1, 2) else _value(content, kind)
    return fields


def _value(content: Iterator[int], kind: int) -> Any:  # noqa: ANN401 -- whatever the file holds
    match kind:
        case 1 | 2 | 3:  # in a list, a yes or no takes a byte
            return next(content)
        case 4 | 5 | 6:
            return _whole(content)
        case 7 | 8:
            return bytes(islice(content, 8 if kind == 7 else _varint(content)))  # noqa: PLR2004 -- 7 is a double
        case 9 | 10:
            size, kind = divmod(next(content), 16)
            return [_value(content, kind) for _ in range(_varint(content) if size == 15 else size)]  # noqa: PLR2004
        case 12:
            return _struct(content)
        case _:
            raise ValueError


def _whole(content: Iterator[int]) -> int:
    """Read a whole number whose sign is in its last bit."""
    value = _varint(content)
    return value >> 1 ^ -(value & 1)


def _varint(content: Iterator[int]) -> int:
    """Read a number of seven bits a byte, the lowest first; the eighth bit says that more follow."""
    value = shift = 0
    while (byte := next(content)) >> 7 and shift < 64:  # noqa: PLR2004 -- no number of a footer has more bits
        value |= (byte & 127) << shift
        shift += 7
    return value | (byte & 127) << shift
