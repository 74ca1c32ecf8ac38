"""What a method scores of a training set, its strings or every prefix of them, and what is scored as the exact counter sees it.

A loss after every token is the mean over a string's prefixes, so a string of length N counts as N shorter strings with a share of
1/N each. Everything else about a loss on every token is then the same as after the last.

With U = 1 and b = −a the state is h = a·d, so the outputs, the loss and its derivative by the outputs depend on the count d
alone. What the weights' own derivatives need beside that are three averages over the strings of a count:

    ∂h/∂a = n,    ∂h/∂b = m,    ∂h/∂U = Σᵢ U^(N−1−i)·h at U = 1, the sum of the states before each token = a·A

where A, the *area*, is the sum of the running counts before each token.
"""

from collections import Counter
from dataclasses import dataclass
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.languages.brackets import BB, CLOSE, OPEN
from tallystick.training.setting import Setting

Floats = NDArray[np.float64]


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


def scored_strings(setting: Setting, strings: list[str]) -> Scored:
    """Return what a setting scores of a training set, repeats taken together.

    >>> found = scored_strings(Setting("count", False, 2, method="count-tokens"), ["()", "(("])
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


@dataclass(frozen=True)
class Profile:
    """What is scored of a training set by count, one entry per count.

    Attributes:
        counts: the counts d that occur, in order.
        share: which part of the strings has each.
        openings: the mean number n of opening brackets among them.
        closings: the mean number m of closing brackets.
        area: the mean A.
        longest: the greatest length.
    """

    counts: NDArray[np.int64]
    share: Floats
    openings: Floats
    closings: Floats
    area: Floats
    longest: int

    @property
    def balanced_share(self) -> float:
        """The part of the strings that are balanced."""
        return float(self.share[self.counts == 0].sum())

    @property
    def uses_recurrence(self) -> bool:
        """Whether U has a part in the loss: the first token of a string meets the state 0."""
        return self.longest > 1


def profile(found: Scored) -> Profile:
    """Sum up what is scored.

    >>> found = profile(Scored(["()", ")(", "(("], np.array([1, 1, 2])))
    >>> found.counts.tolist(), found.share.tolist(), found.area.tolist()
    ([0, 2], [0.5, 0.5], [0.0, 1.0])
    """
    measures = np.array([_measures(string) for string in found.strings])
    counts, place = np.unique(measures[:, 0], return_inverse=True)
    weight = np.bincount(place, weights=found.weight)
    means = [np.bincount(place, weights=measures[:, column] * found.weight) / weight for column in (1, 2, 3)]
    return Profile(counts, weight / found.weight.sum(), *means, longest=max(map(len, found.strings)))


def _measures(string: str) -> tuple[int, int, int, int]:
    """Return d, n, m and A of a string."""
    running = BB.running_counts(string)
    return running[-1], string.count(OPEN), string.count(CLOSE), sum(running[:-1])
