"""Strings to try a network on, by name."""

import random
from collections.abc import Callable

from tallystick.languages.brackets import ALPHABET, BB, CLOSE, DYCK1, OPEN

KINDS: dict[str, Callable[[int, random.Random], str]] = {
    "uniform": lambda length, generator: "".join(generator.choices(ALPHABET, k=length)),
    "balanced": BB.sample,
    "dyck1": DYCK1.sample,
    "nested": lambda length, _: OPEN * (length - length // 2) + CLOSE * (length // 2),
    "zigzag": lambda length, _: ((OPEN + CLOSE) * length)[:length],
}
"""Each kind: any string, as many `(` as `)`, correctly nested, all `(` before all `)`, one after the other."""


def string_of(kind: str, length: int, seed: int = 0) -> str:
    """Return a string of a kind; the same seed gives the same one.

    >>> string_of("nested", 5), string_of("zigzag", 5)
    ('((())', '()()(')
    """
    return KINDS[kind](length, random.Random(seed))
