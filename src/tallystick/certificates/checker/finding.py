"""What the checker says, and how it says no."""

from typing import NamedTuple


class Finding(NamedTuple):
    """Whether a certificate holds, and why."""

    valid: bool
    reason: str


class Refused(Exception):
    """The certificate does not hold, or not within what can be repeated here."""


class Undecided(Refused):
    """Bounds of states are too wide to tell; more digits may."""


def require(holds: object, otherwise: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise Refused(otherwise)
