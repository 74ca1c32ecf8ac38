"""The three answers, and what raises them."""

from typing import NamedTuple


class Answer(NamedTuple):
    """Whether a certificate holds, and why.

    Attributes:
        valid: True if it holds, False if it does not, None if that is too costly to decide here.
        reason: what holds, what is wrong, or what would take too long.
    """

    valid: bool | None
    reason: str

    @property
    def word(self) -> str:
        """The answer in words."""
        return "too costly" if self.valid is None else "holds" if self.valid else "does not hold"

    @property
    def status(self) -> int:
        """The exit status of a command that gives this answer."""
        return 3 if self.valid is None else 0 if self.valid else 1

    def __str__(self) -> str:
        """Return the answer as a command prints it."""
        return f"{self.word}{' to decide here' if self.valid is None else ''}: {self.reason}"


class Refused(Exception):
    """The certificate does not hold."""


class TooCostly(Exception):
    """Whether the certificate holds is not decided here: that would take too much time, memory or precision."""


class Undecided(Exception):
    """The bounds of some states are too wide to tell.

    Attributes:
        narrow: whether more digits would help, and not only smaller groups of strings.
    """

    def __init__(self, *, narrow: bool = True) -> None:
        super().__init__()
        self.narrow = narrow


def require(holds: object, otherwise: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise Refused(otherwise)


def number_text(number: int) -> str:
    """Write a number, or how large it is where its digits would fill a page.

    >>> number_text(2**24), number_text(10**50)
    ('16777216', 'about 2^166')
    """
    return str(number) if abs(number) < 10**40 else f"about {'-' if number < 0 else ''}2^{number.bit_length() - 1}"
