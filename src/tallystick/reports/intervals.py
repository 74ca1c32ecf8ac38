"""95 % intervals: Wilson's for a share, the bootstrap's for medians and means. Seeded, so the same data give the same."""

from collections.abc import Iterable
from math import sqrt

import numpy as np

from tallystick.reports.reading import Values

Interval = tuple[float, float]

TRIM = 0.05
_Z = 1.959963984540054  # the normal distribution's 97.5 % point
_DRAWS = 1000
_AT_ONCE = 100  # resamples held in memory together
_PERCENTILES = (2.5, 97.5)
_KEPT = (10.0, 90.0)
_MARGIN = 0.35


def wilson(hits: int, cells: int) -> Interval:
    """Return Wilson's interval for a share, which stays sensible at 0 and at all.

    >>> tuple(round(end, 4) for end in wilson(0, 10))
    (0.0, 0.2775)
    """
    share, z2 = hits / cells, _Z * _Z
    centre = (share + z2 / (2 * cells)) / (1 + z2 / cells)
    half = _Z * sqrt(share * (1 - share) / cells + z2 / (4 * cells * cells)) / (1 + z2 / cells)
    return max(0.0, centre - half) if hits else 0.0, min(1.0, centre + half) if hits < cells else 1.0


def interval(resampled: Values) -> Interval:
    """Return the middle 95 % of a resampled statistic."""
    low, high = np.percentile(resampled, _PERCENTILES)
    return float(low), float(high)


def middle_range(columns: Iterable[Values], *shown: float) -> Interval:
    """Return a range for histograms that keeps at least the middle 80 % of every column, and numbers that must be in it.

    >>> middle_range([np.linspace(0, 100, 101)], 50.0)
    (-18.0, 118.0)
    """
    ends = list(shown)
    for numbers in columns:
        found = numbers[np.isfinite(numbers)]
        ends += np.percentile(found, _KEPT).tolist() if len(found) else []
    if not ends:
        return 0.0, 1.0
    margin = _MARGIN * max(max(ends) - min(ends), 0.01)
    return min(ends) - margin, max(ends) + margin


def trimmed_mean(numbers: Values) -> float:
    """Return the mean without the lowest and the highest 5 %.

    >>> trimmed_mean(np.array([*range(-9, 10), 1e9]))
    0.5
    """
    cut = int(TRIM * len(numbers))
    return float(np.sort(numbers)[cut : len(numbers) - cut].mean())


def resampled_medians(numbers: Values, generator: np.random.Generator) -> Values:
    """Return the medians of bootstrap resamples, without drawing the resamples.

    The median of n uniform draws is Beta((n+1)/2, (n+1)/2), and the empirical quantile function carries it over to
    the resample's median: exactly for odd n, between the two middle ones for even n.
    """
    ordered, half = np.sort(numbers), (len(numbers) + 1) / 2
    ranks = generator.beta(half, half, _DRAWS) * len(numbers)
    return ordered[np.minimum(ranks.astype(np.int64), len(numbers) - 1)]


def resampled_trimmed_means(numbers: Values, generator: np.random.Generator) -> Values:
    """Return the trimmed means of bootstrap resamples; sorting the ranks sorts the resample."""
    ordered, size, cut = np.sort(numbers), len(numbers), int(TRIM * len(numbers))
    found = np.empty(_DRAWS)
    for start in range(0, _DRAWS, _AT_ONCE):
        ranks = generator.integers(size, size=(_AT_ONCE, size), dtype=np.int32)
        ranks.sort(axis=1)
        found[start : start + _AT_ONCE] = ordered[ranks[:, cut : size - cut]].mean(axis=1)
    return found


def resampled_means(numbers: Values, generator: np.random.Generator) -> Values:
    """Return the means of bootstrap resamples of numbers that take few values, as accuracies do."""
    distinct, counts = np.unique(numbers, return_counts=True)
    drawn = generator.multinomial(len(numbers), counts / len(numbers), size=_DRAWS)
    return drawn @ distinct / len(numbers)
