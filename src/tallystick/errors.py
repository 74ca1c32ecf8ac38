"""What went wrong, in one line that names the field and its value.

Every error a user can cause is a `BadInput`: the command line prints its message and ends with status 2,
and from Python it is an ordinary `ValueError`.
"""


class BadInput(ValueError):
    """Input that cannot be used; the message names the field, its value and what would be right."""


class UnknownToken(BadInput):
    """A string holds a character outside the alphabet."""

    def __init__(self, character: str, position: int, alphabet: tuple[str, ...]) -> None:
        """Name the character and its position, counted from 1 as an editor does."""
        allowed = " ".join(alphabet)
        super().__init__(f"unknown token {character!r} at position {position}; the alphabet is {allowed}")
        self.character = character
        self.position = position


class MissingExtra(BadInput):
    """A part of the tool needs a library that the core install leaves out."""

    def __init__(self, library: str, extra: str) -> None:
        """Name the library and the extra that brings it."""
        super().__init__(f"{library} is not installed; pip install 'tallystick[{extra}]' brings it")


def check_tokens(string: str, alphabet: tuple[str, ...]) -> None:
    """Raise `UnknownToken` at the first character of `string` that is not in `alphabet`."""
    if not isinstance(string, str):  # pyright: ignore[reportUnnecessaryIsInstance]
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
