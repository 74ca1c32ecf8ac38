"""A training set as the exact counter sees it: how many strings have each count, and what they are like on average.

With U = 1 and b = −a the state is h = a·d, so the outputs, the loss and its derivative by the outputs depend on the count d
alone. What the weights' own derivatives need beside that are three averages over the strings of a count:

    ∂h/∂a = n,    ∂h/∂b = m,    ∂h/∂U = Σᵢ U^(N−1−i)·h at U = 1, the sum of the states before each token = a·A

where A, the *area*, is the sum of the running counts before each token.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.explanations.scored import Scored
from tallystick.languages.brackets import BB, CLOSE, OPEN

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Profile:
    """What is scored of a training set by count, one entry a count.

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
    measured = np.array([_measured(string) for string in found.strings])
    counts, place = np.unique(measured[:, 0], return_inverse=True)
    weight = np.bincount(place, weights=found.weight)
    means = [np.bincount(place, weights=measured[:, column] * found.weight) / weight for column in (1, 2, 3)]
    return Profile(counts, weight / found.weight.sum(), *means, longest=max(map(len, found.strings)))


def _measured(string: str) -> tuple[int, int, int, int]:
    """D, n, m and A."""
    running = BB.running_counts(string)
    return running[-1], string.count(OPEN), string.count(CLOSE), sum(running[:-1])
