"""From a file to JSON, and from JSON to its parts: strictly, in bounded memory and time, and refused at once if not in form."""

import io
import json
import os
import re
from collections.abc import Iterable
from errno import ETIMEDOUT
from fractions import Fraction
from pathlib import Path
from select import select
from time import monotonic_ns
from typing import Any, NoReturn, cast

from .answers import require

_LARGEST, _PIECE = 16 * 2**20, 2**20
_PATIENCE = 60
"""Seconds in which a pipe must have said all."""
_DEEPEST = 64
"""Lists and objects inside each other."""
# More digits than Python reads by itself would take quadratic time.
_WHOLE = re.compile(r"-?[0-9]{1,4300}")
_RATIO = re.compile(r"-?[0-9]{1,4300}/[0-9]{1,4300}")


class Unreadable(Exception):
    """Bad input, which cannot be a certificate: it is not JSON, has other fields, or holds numbers that no certificate holds."""


# --- The file ---------------------------------------------------------------------------------------------------------------


def read_text(path: Path | str) -> str:
    """Read a file of bounded size; a pipe is waited for, but not for ever."""
    try:
        with open(path, "rb", buffering=0, opener=_without_waiting) as file:
            content = _all_of(file, pipe=not Path(path).is_file())
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"cannot be read: {reason.lower()}") from None
    _require_readable(len(content) <= _LARGEST, f"larger than {_LARGEST // 2**20} MiB, the most that is read")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 text (byte {error.start})") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open a named pipe even where nobody writes into it yet."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _all_of(file: io.FileIO, *, pipe: bool) -> bytes:
    """Read to the end, but not much more than the most that is read."""
    content, last = bytearray(), monotonic_ns() + _PATIENCE * 10**9
    while len(content) <= _LARGEST:
        if pipe:
            left = max(0, last - monotonic_ns()) // 10**9
            if not select([file], [], [], left)[0] or monotonic_ns() > last:
                raise TimeoutError(ETIMEDOUT, f"its end did not come within {_PATIENCE} s")
        part = file.read(_PIECE)
        if part == b"":
            break
        content += part or b""
    return bytes(content)


def _require_readable(fine: object, otherwise: str) -> None:
    """Refuse to read something unless it is fine."""
    if not fine:
        raise Unreadable(otherwise)


# --- Its JSON ---------------------------------------------------------------------------------------------------------------


def parse(text: str) -> object:
    """Read JSON strictly, or raise `Unreadable`: no field twice, no NaN, no number that is too long, nothing nested deeply."""
    _require_readable(len(text) <= _LARGEST, f"larger than {_LARGEST // 2**20} MiB, the most that is read")
    try:
        found: object = json.loads(
            text, object_pairs_hook=_no_repeats, parse_int=_whole, parse_float=_no_float, parse_constant=_no_constant
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"line {error.lineno}: not JSON: {error.msg.lower()}") from None
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    _require_shallow(found)
    return found


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _require_readable(len(dict(pairs)) == len(pairs), "a field stands twice in one object")
    return dict(pairs)


def _whole(digits: str) -> int:
    _require_readable(_WHOLE.fullmatch(digits), "a number has too many digits")
    return int(digits)


def _no_constant(name: str) -> NoReturn:
    raise Unreadable(f"{name} is not a number")


def _no_float(_: str) -> NoReturn:
    """Refuse a number with a point or an exponent: it is JSON, but no certificate holds one."""
    raise Unreadable("a number is not exact")


def _require_shallow(value: object) -> None:
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [inner for outer in level for inner in _parts(outer) if isinstance(inner, dict | list)]
        if not level:
            return
    raise Unreadable(f"nested too deeply: at most {_DEEPEST} lists and objects inside each other are read")


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return cast("dict[str, object]", value).values()
    return cast("list[object]", value) if isinstance(value, list) else ()


# --- Its parts --------------------------------------------------------------------------------------------------------------


def fields_of(value: object, names: str) -> dict[str, Any]:
    """Return an object that has these fields and no others."""
    require(isinstance(value, dict), "an object is missing")
    found = cast("dict[str, Any]", value)
    require(set(found) == set(names.split()), f"the fields are not {names}")
    return found


def list_of(value: object, size: int | None = None, most: int | None = None) -> list[Any]:
    """Return a list, of a given size or of at most so many entries."""
    require(isinstance(value, list), "a list is missing")
    found = cast("list[Any]", value)
    require(size is None or len(found) == size, f"a list has not {size} entries")
    require(most is None or len(found) <= most, f"a list has more than {most} entries")
    return found


def one_of(value: object, names: tuple[str, ...]) -> str:
    """Return one of some names."""
    require(isinstance(value, str) and value in names, f"not one of {', '.join(names)}")
    return cast("str", value)


def number_of(value: object) -> Fraction:
    """Return a whole number or "p/q"; nothing else, since Fraction itself would read 1e999999999 and fill the memory."""
    exact = type(value) is int or (isinstance(value, str) and _RATIO.fullmatch(value))
    require(exact, "a number is neither whole nor p/q")
    return Fraction(cast("int | str", value))


def vector_of(value: object, size: int) -> tuple[Fraction, ...]:
    """Return a list of numbers."""
    return tuple(map(number_of, list_of(value, size)))


def matrix_of(value: object, rows: int, columns: int) -> tuple[tuple[Fraction, ...], ...]:
    """Return a list of rows."""
    return tuple(vector_of(row, columns) for row in list_of(value, rows))
