"""Tokens, counts and classes, and the three bracket languages: BB, Dyck-1 and semi-Dyck-1.

A language here is a counter read from left to right: a start, a step per token, and the condition that
the string ends at zero. Its members of a length are then counted in closed form, listed in order by
walking the prefixes that can still be completed, and drawn exactly uniformly by a bijection.

    >>> BB.contains(")("), DYCK1.contains(")("), SEMI_DYCK1.contains(")(")
    (True, False, False)
    >>> [language.size(8) for language in LANGUAGES.values()]
    [70, 14, 70]
    >>> list(DYCK1.members(4))
    ['(())', '()()']
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import accumulate
from math import comb
from typing import ClassVar

from tallystick.errors import BadInput, check_tokens, check_whole

OPEN = "("
CLOSE = ")"
ALPHABET = (OPEN, CLOSE)
DIFFERENCE = {OPEN: 1, CLOSE: -1}


class BinaryClass(StrEnum):
    """The classes of the binary task, in the order of their index."""

    NOT_POSITIVE = "ZeroNeg"
    POSITIVE = "Pos"


class TernaryClass(StrEnum):
    """The classes of the ternary task, in the order of their index."""

    NEGATIVE = "Neg"
    ZERO = "Zero"
    POSITIVE = "Pos"


def bracket_difference(string: str) -> int:
    """Return n − m, the number of opening brackets less the number of closing ones.

    >>> bracket_difference("(()")
    1
    """
    if not isinstance(string, str) or string.strip("()"):  # pyright: ignore[reportUnnecessaryIsInstance]
        check_tokens(string, ALPHABET)
    return 2 * string.count(OPEN) - len(string)


def binary_class(count: int) -> BinaryClass:
    """Positive, or not positive, by the sign of a count."""
    return BinaryClass.POSITIVE if count > 0 else BinaryClass.NOT_POSITIVE


def ternary_class(count: int) -> TernaryClass:
    """Negative, zero or positive, by the sign of a count."""
    if count == 0:
        return TernaryClass.ZERO
    return TernaryClass.POSITIVE if count > 0 else TernaryClass.NEGATIVE


class BracketLanguage(ABC):
    """The strings over `(` and `)` whose running count, kept from left to right, ends at zero.

    A subclass says how the running count moves, from which counts zero can still be reached, in how many ways, and
    how to draw a member.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def step(self, count: int, token: str) -> int:
        """Return the running count after one more token."""

    @abstractmethod
    def reachable(self, count: int, remaining: int) -> bool:
        """Say whether some string of `remaining` tokens leads from `count` to a member."""

    @abstractmethod
    def completions(self, count: int, remaining: int) -> int:
        """Return how many strings of `remaining` tokens lead from `count` to a member, exactly."""

    @abstractmethod
    def _draw(self, length: int, generator: random.Random) -> str:
        """Return a uniformly random member of a length that has members."""

    def running_counts(self, string: str) -> list[int]:
        """Return the running count after each token, the start included.

        >>> DYCK1.running_counts("())(")
        [0, 1, 0, -1, -1]
        """
        check_tokens(string, ALPHABET)
        return list(accumulate(string, self.step, initial=0))

    def contains(self, string: str) -> bool:
        """Say whether `string` is a member."""
        return self.running_counts(string)[-1] == 0

    def count(self, string: str) -> int:
        """Return the count of the whole string: n − m, whatever the order."""
        return bracket_difference(string)

    def binary_class(self, string: str) -> BinaryClass:
        """Return the string's class in the binary task: count > 0 or not."""
        return binary_class(self.count(string))

    def ternary_class(self, string: str) -> TernaryClass:
        """Return the string's class in the ternary task: the sign of the count."""
        return ternary_class(self.count(string))

    def size(self, length: int) -> int:
        """Return the exact number of members of `length`, however large."""
        check_whole(length, "length", least=0)
        return self.completions(0, length)

    def members(self, length: int) -> Iterator[str]:
        """List all members of `length` in lexicographic order, `(` before `)`, no other string looked at."""
        check_whole(length, "length", least=0)
        return self._walk(length, self.reachable)

    def non_members(self, length: int) -> Iterator[str]:
        """List all strings of `length` that are not members, in the same order."""
        check_whole(length, "length", least=0)
        # Before its last token no prefix forces membership: with one more bracket some string always fails.
        return self._walk(length, lambda count, remaining: remaining > 0 or count != 0)

    def sample(self, length: int, generator: random.Random) -> str:
        """Return one of the members of `length`, each with exactly the same probability.

        >>> SEMI_DYCK1.contains(SEMI_DYCK1.sample(1001, random.Random(0)))
        True
        """
        check_whole(length, "length", least=0)
        if not self.reachable(0, length):
            raise BadInput(f"length {length}: {self.title} has no member of odd length; choose an even one")
        return self._draw(length, generator)

    def _walk(self, length: int, wanted: Callable[[int, int], bool]) -> Iterator[str]:
        """List the strings of `length` in order, entering a prefix only while a wanted string lies beyond it."""
        # A stack, not recursion: a length of ten thousand is welcome. `(` is pushed last, so that it is read first.
        stack = [("", 0)] if wanted(0, length) else []
        while stack:
            prefix, count = stack.pop()
            if len(prefix) == length:
                yield prefix
                continue
            for token in reversed(ALPHABET):
                after = self.step(count, token)
                if wanted(after, length - len(prefix) - 1):
                    stack.append((prefix + token, after))


class BalancedBrackets(BracketLanguage):
    """BB: as many `(` as `)`, in any order (the paper's Definition 1)."""

    name = "bb"
    title = "BB"

    def step(self, count: int, token: str) -> int:
        """Count up or down."""
        return count + DIFFERENCE[token]

    def reachable(self, count: int, remaining: int) -> bool:
        """Say whether enough tokens of the right parity remain."""
        return abs(count) <= remaining and (remaining - count) % 2 == 0

    def completions(self, count: int, remaining: int) -> int:
        """C(r, (r − c)/2): the r remaining tokens hold c more `)` than `(`."""
        return comb(remaining, (remaining - count) // 2) if self.reachable(count, remaining) else 0

    def _draw(self, length: int, generator: random.Random) -> str:
        return "".join(_shuffle(length // 2, length // 2, generator))


class Dyck1(BracketLanguage):
    """Dyck-1: balanced, and no prefix closes more than it opened."""

    name = "dyck1"
    title = "Dyck-1"

    def step(self, count: int, token: str) -> int:
        """Count up or down; a count below zero stays there, for no continuation mends it."""
        return count if count < 0 else count + DIFFERENCE[token]

    def reachable(self, count: int, remaining: int) -> bool:
        """Say whether the count is intact and enough tokens of the right parity remain."""
        return 0 <= count <= remaining and (remaining - count) % 2 == 0

    def completions(self, count: int, remaining: int) -> int:
        """C(r, k) − C(r, k − 1) with k = (r − c)/2: the ballot numbers."""
        if not self.reachable(count, remaining):
            return 0
        openings = (remaining - count) // 2
        return comb(remaining, openings) * (count + 1) // (remaining - openings + 1)

    def _draw(self, length: int, generator: random.Random) -> str:
        # The cycle lemma: of the 2n+1 rotations of n `(` and n+1 `)`, exactly one is a Dyck-1 string followed by a
        # `)`. It starts after the place where the running count is least for the first time.
        tokens = _shuffle(length // 2, length // 2 + 1, generator)
        counts = list(accumulate(tokens, BB.step, initial=0))
        start = counts.index(min(counts))
        return "".join(tokens[start:] + tokens[:start])[:-1]


class SemiDyck1(BracketLanguage):
    """Semi-Dyck-1, a ReLU cell's language: κ ← max(0, κ ± 1) ends at zero; a `)` at zero changes nothing."""

    name = "semidyck1"
    title = "semi-Dyck-1"

    def step(self, count: int, token: str) -> int:
        """Count up or down, but never below zero."""
        return max(0, count + DIFFERENCE[token])

    def reachable(self, count: int, remaining: int) -> bool:
        """Say whether enough tokens remain; parity does not matter, since a `)` at zero changes nothing."""
        return count <= remaining

    def completions(self, count: int, remaining: int) -> int:
        """C(r, ⌊(r − κ)/2⌋).

        Read backwards with the brackets exchanged, a completion is a walk of r steps that stays at or above zero and
        ends at κ or higher; the ballot numbers of those ends telescope to one binomial.
        """
        return comb(remaining, (remaining - count) // 2) if self.reachable(count, remaining) else 0

    def count(self, string: str) -> int:
        """Return κ, the count that never falls below zero."""
        return self.running_counts(string)[-1]

    def _draw(self, length: int, generator: random.Random) -> str:
        # Among walks with ⌊N/2⌋ steps down, turning every step to a new least value into a step up is a bijection onto
        # the walks that stay at or above zero; read backwards with the brackets exchanged, those are the members.
        walk = _shuffle(length - length // 2, length // 2, generator)
        lows = list(accumulate(accumulate(walk, BB.step, initial=0), min))
        raised = (OPEN if after < before else token for token, before, after in zip(walk, lows, lows[1:], strict=False))
        return "".join(CLOSE if token == OPEN else OPEN for token in raised)[::-1]


def _shuffle(openings: int, closings: int, generator: random.Random) -> list[str]:
    """Return the given numbers of brackets in a uniformly random order."""
    tokens = [OPEN] * openings + [CLOSE] * closings
    generator.shuffle(tokens)
    return tokens


BB = BalancedBrackets()
DYCK1 = Dyck1()
SEMI_DYCK1 = SemiDyck1()
LANGUAGES: dict[str, BracketLanguage] = {language.name: language for language in (BB, DYCK1, SEMI_DYCK1)}
