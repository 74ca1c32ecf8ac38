"""What a method scores of a training set: its strings, or every prefix of them.

A loss after every token is the mean over a string's prefixes, so a string of length N counts as N shorter strings with a share of
1/N each. Everything else about a loss on every token is then the same as after the last.
"""

from collections import Counter
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.training.setting import Setting


@dataclass(frozen=True)
class Scored:
    """The strings that a loss is a mean over.

    Attributes:
        strings: each once.
        weight: how much each counts, as whole numbers, so that what cancels cancels exactly.
    """

    strings: list[str]
    weight: NDArray[np.int64]

    @property
    def share(self) -> NDArray[np.float64]:
        """Which part of the mean each string is."""
        return self.weight / self.weight.sum()


def scored(setting: Setting, strings: list[str]) -> Scored:
    """Return what a setting scores of a training set, repeats taken together.

    >>> found = scored(Setting("count", False, 2, method="count-tokens"), ["()", "(("])
    >>> dict(zip(found.strings, found.share.tolist()))
    {'(': 0.5, '()': 0.25, '((': 0.25}
    """
    if not strings:
        raise BadInput("strings: an empty training set")
    lines = [_parts(string, every_token=setting.procedure.every_token) for string in strings]
    whole = lcm(*map(len, lines))
    weights: Counter[str] = Counter()
    for parts in lines:
        for part in parts:
            weights[part] += whole // len(parts)
    return Scored(list(weights), np.array(list(weights.values())))


def _parts(string: str, *, every_token: bool) -> list[str]:
    return [string[:end] for end in range(1, len(string) + 1)] if every_token else [string]
