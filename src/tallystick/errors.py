"""What went wrong, in one line that names the field and its value.

Every error a user can cause is a `BadInput`: the command line prints its message and ends with status 2,
and from Python it is an ordinary `ValueError`.
"""

from collections.abc import Generator
from contextlib import contextmanager

LONGEST_MESSAGE = 1000
_MOST_DIGITS = 18
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def printable(text: str) -> str:
    r"""Escape, as JSON does, what cannot be printed: it could end a line, or tell a terminal to do something.

    >>> printable("a\nb\x1b[2J")
    'a\\nb\\u001b[2J'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return _SHORT.get(character) or "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def one_line(text: str) -> str:
    r"""Return text on one line of readable length, whatever its writer put into it: the beginning and the end are kept.

    >>> one_line("a\nb"), len(one_line("x" * 10**6))
    ('a\\nb', 1000)
    """
    if len(text) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        text = f"{text[: half - 2]} ... {text[-half + 3 :]}"
    text = printable(text)
    return text if len(text) <= LONGEST_MESSAGE else one_line(text)


class BadInput(ValueError):
    """Input that cannot be used; the message names the field, its value and what would be right."""

    def __init__(self, message: str) -> None:
        """Say what is wrong, in one line."""
        super().__init__(one_line(message))


class UnknownToken(BadInput):
    """A string holds a character outside the alphabet."""

    def __init__(self, character: str, position: int, alphabet: tuple[str, ...]) -> None:
        """Name the character and its position, counted from 1 as an editor does."""
        allowed = " ".join(alphabet)
        super().__init__(f"unknown token {character!r} at position {position}; the alphabet is {allowed}")
        self.character = character
        self.position = position


class NotWritten(BadInput):
    """A file that cannot be written, be it that the disk is full, read-only or gone; what stood there before still stands."""


EXTRAS = {
    "anyio": ("anyio", "explore"),
    "dask": ("Dask", "cluster"),
    "distributed": ("Dask", "cluster"),
    "fastapi": ("fastapi", "explore"),
    "jax": ("JAX", "train"),
    "jaxtyping": ("jaxtyping", "train"),
    "llvmlite": ("llvmlite", "train"),
    "matplotlib": ("matplotlib", "train"),
    "optax": ("optax", "train"),
    "polars": ("polars", "train"),
    "pydantic": ("pydantic", "explore"),
    "starlette": ("starlette", "explore"),
    "tomli_w": ("tomli_w", "train"),
    "uvicorn": ("uvicorn", "explore"),
    "z3": ("z3", "prove"),
}
"""What the core install leaves out: the name of each module's library, and the extra that brings it."""


class MissingExtra(BadInput):
    """A part of the tool needs a library that the core install leaves out."""

    def __init__(self, module: str) -> None:
        """Name the library of a module in `EXTRAS`, and the extra that brings it."""
        library, extra = EXTRAS[module]
        super().__init__(f"{library} is not installed; pip install 'tallystick[{extra}]' brings it")


@contextmanager
def missing_extra_named() -> Generator[None, None, None]:
    """Raise `MissingExtra` where a module of `EXTRAS` is imported and is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in EXTRAS:
            raise
        raise MissingExtra(module) from None


def check_tokens(string: str | tuple[str, ...], alphabet: tuple[str, ...]) -> None:
    """Raise `UnknownToken` at the first token of `string` that is not in `alphabet`."""
    if not isinstance(string, str | tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadInput(f"string: {string!r} is not a string of tokens")
    for position, character in enumerate(string, start=1):
        if character not in alphabet:
            raise UnknownToken(character, position, alphabet)


def check_whole(value: object, field: str, least: int | None = None, most: int | None = None) -> None:
    """Raise `BadInput` unless `value` is a whole number, within the bounds that are given."""
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        bound = "" if least is None else f" from {least} on"
        raise BadInput(f"{field}: {value!r} is not a whole number{bound}")
    if most is not None and value > most:
        raise BadInput(f"{field}: {value} is more than {most:,}")


def is_count(text: str) -> bool:
    """Say whether text is a number that something can be counted to; Python reads no thousands of digits.

    >>> is_count("12"), is_count("-1"), is_count("9" * 5000)
    (True, False, False)
    """
    return text.isdecimal() and len(text) <= _MOST_DIGITS
