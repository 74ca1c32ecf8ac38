"""A training set as the exact counter sees it: how many strings have each count, and what they are like on average.

With U = 1 and b = −a the state is h = a·d, so the outputs, the loss and its derivative by the outputs depend on the count d
alone. What the weights' own derivatives need beside that are three averages over the strings of a count:

    ∂h/∂a = n,    ∂h/∂b = m,    ∂h/∂U = Σᵢ U^(N−1−i)·h at U = 1, the sum of the states before each token = a·A

where A, the *area*, is the sum of the running counts before each token.
"""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import BadInput
from tallystick.languages.brackets import CLOSE, OPEN, bracket_difference

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Profile:
    """The strings of a training set by count, one entry a count.

    Attributes:
        counts: the counts d that occur, in order.
        share: which part of the strings has each.
        openings: the mean number n of opening brackets among them.
        closings: the mean number m of closing brackets.
        area: the mean A.
    """

    counts: NDArray[np.int64]
    share: Floats
    openings: Floats
    closings: Floats
    area: Floats

    @property
    def balanced_share(self) -> float:
        """The part of the strings that are balanced."""
        return float(self.share[self.counts == 0].sum())


def profile(strings: list[str]) -> Profile:
    """Sum a training set up, repeats included.

    >>> found = profile(["()", ")(", "((", "(("])
    >>> found.counts.tolist(), found.share.tolist(), found.area.tolist()
    ([0, 2], [0.5, 0.5], [0.0, 1.0])
    """
    if not strings:
        raise BadInput("strings: an empty training set")
    found = np.array([_measured(string) for string in strings])
    counts, place = np.unique(found[:, 0], return_inverse=True)
    sizes = np.bincount(place)
    means = [np.bincount(place, weights=found[:, column]) / sizes for column in (1, 2, 3)]
    return Profile(counts, sizes / len(strings), *means)


def _measured(string: str) -> tuple[int, int, int, int]:
    steps = [1 if token == OPEN else -1 for token in string]
    before = list(accumulate(steps, initial=0))[:-1]
    return bracket_difference(string), string.count(OPEN), string.count(CLOSE), sum(before)
