"""JSON and TOML files from outside, read so that every complaint names the file, the field and the value.

Numbers are kept exactly as they are written (`Decimal`), because a certificate speaks of the numbers in the file and
not of their nearest floats.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NoReturn, TypeVar, cast

from tallystick.errors import BadInput
from tallystick.files import read_text, write_text

Built = TypeVar("Built")

LARGEST_DOCUMENT = 16 * 2**20
LARGEST_SETTINGS = 2**20
LONGEST_NUMBER = 4300
"""Python itself reads no whole number of more digits, since it would take long."""
_MOST_BITS = int((LONGEST_NUMBER - 1) / 0.30103)
DEEPEST = 64
"""Lists and objects inside each other: more than anything read here has, and few enough for whoever goes through them."""

_BETWEEN_KEYS = re.compile(r"[\n=,{]")


class Document:
    """A value inside a JSON file that knows where it stands."""

    def __init__(self, value: object, where: str) -> None:
        """Hold `value`; `where` is the file and the path of fields to it."""
        self.value = value
        self.where = where

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
    return Document(_parsed(text, where), where)


def read_settings(path: Path) -> dict[str, object]:
    """Read a TOML file."""
    return parse_settings(read_text(path, LARGEST_SETTINGS), str(path))


def parse_settings(text: str, where: str) -> dict[str, object]:
    """Read TOML text; `where` opens every complaint."""
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


def is_writable(value: Fraction) -> bool:
    """Say whether a number can be written out: Python writes no whole number of more digits than it reads.

    >>> is_writable(Fraction(1, 3)), is_writable(Fraction(10**5000))
    (True, False)
    """
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MOST_BITS


def exact_number(value: Fraction, field: str = "number") -> object:
    """Return a number as a file holds it exactly: a whole number as it is, anything else as "p/q"; refuse what is too long."""
    if not is_writable(value):
        raise BadInput(f"{field}: a number of more than {LONGEST_NUMBER:,} digits is too long to write")
    return value.numerator if value.denominator == 1 else str(value)


def _parsed(text: str, where: str) -> object:
    try:
        found: object = json.loads(
            text,
            parse_float=lambda digits: Decimal(_short(digits)),
            parse_int=lambda digits: int(_short(digits)),
            parse_constant=_no_constant,
            object_pairs_hook=_no_repeats,
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


def _short(digits: str) -> str:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError(f"number {digits[:20]}... has {len(digits)} characters; at most {LONGEST_NUMBER} are read")
    return digits


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"field {name!r} stands twice in one object")
        found[name] = value
    return found
