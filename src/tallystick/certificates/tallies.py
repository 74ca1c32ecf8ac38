"""The numbers of right strings of one length, class by class."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction


@dataclass(frozen=True)
class ExactAccuracy:
    """The numbers of strings of one length and of right ones among them, class by class.

    Attributes:
        length: N.
        strings: how many strings should get each class.
        correct: how many of them do.
    """

    length: int
    strings: dict[StrEnum, int]
    correct: dict[StrEnum, int]

    @property
    def total_correct(self) -> int:
        """How many of all 2^N strings are right."""
        return sum(self.correct.values())

    @property
    def accuracy(self) -> Fraction:
        """The share of right strings among all, each as likely as any other."""
        return Fraction(self.total_correct, 2**self.length)

    @property
    def balanced_accuracy(self) -> Fraction:
        """The mean of the classes' accuracies, over the classes that have strings of this length."""
        shares = [Fraction(self.correct[name], size) for name, size in self.strings.items() if size]
        return sum(shares, Fraction(0)) / len(shares)
