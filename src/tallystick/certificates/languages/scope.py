"""What is asked of a network that is asked about a language."""

from typing import NamedTuple

from tallystick.certificates.verdict import Lengths


class Scope(NamedTuple):
    """What is asked of a network.

    Attributes:
        lengths: which lengths count.
        first: the least length that counts.
        arithmetic: `real`, or the floating point that it is executed in.
        limit: how far to search where nothing else decides; None is the decider's own.
    """

    lengths: Lengths
    first: int
    arithmetic: str
    limit: int | None

    @property
    def start(self) -> int:
        """The horizon of a network of which nothing is proved yet: just before the first length that counts."""
        return self.lengths.before(self.lengths.upto(self.first + 1, self.first)[0])

    def counts(self, length: int) -> bool:
        """Say whether a length counts."""
        return length in self.lengths.upto(length, self.first)
