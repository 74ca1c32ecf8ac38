"""What a claim is decided by: numbers with their 95 % intervals, some of them statements that hold, fail or stay open.

An interval is Wilson's for a share and the bootstrap's for medians and means. It is seeded: the same data give the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

import numpy as np

from tallystick.reports.reading import Values

Interval = tuple[float, float]

RULE = (
    "A statement holds or fails when its whole 95 % interval says so and is open otherwise; a claim is supported when "
    "every statement holds, refuted when more fail than hold, untested without statements, and mixed otherwise. The intervals "
    "are over seeds, and for accuracy over test strings, with one order of the training strings, which matters too."
)
_NAMED = 3
_MOST_DIGITS = 9
TRIM = 0.05
_Z = 1.959963984540054  # the normal distribution's 97.5 % point
_DRAWS = 1000
_AT_ONCE = 100  # resamples held in memory together
_PERCENTILES = (2.5, 97.5)
_KEPT = (10.0, 90.0)
_MARGIN = 0.35


class Conclusion(StrEnum):
    """How a claim ended."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    MIXED = "mixed"
    UNTESTED = "untested"


class Standing(StrEnum):
    """How one statement ended."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Finding:
    """A named number with its interval; as a statement of the claim it has a standing, as a mere number none."""

    name: str
    value: float
    interval: Interval | None = None
    standing: Standing | None = None
    bound: float = 0.0

    @property
    def clearance(self) -> float:
        """How far the interval stays from the bound, in widths of the interval: the least is the closest call."""
        low, high = self.interval or (self.value, self.value)
        return max(low - self.bound, self.bound - high) / max(high - low, 1e-12)


def above(name: str, value: float, found: Interval, bound: float) -> Finding:
    """State that a number lies above a bound."""
    low, high = found
    standing = Standing.HOLDS if low > bound else Standing.FAILS if high <= bound else Standing.OPEN
    return Finding(name, value, found, standing, bound)


def below(name: str, value: float, found: Interval, bound: float) -> Finding:
    """State that a number lies below a bound."""
    low, high = found
    standing = Standing.HOLDS if high < bound else Standing.FAILS if low >= bound else Standing.OPEN
    return Finding(name, value, found, standing, bound)


def not_above(name: str, value: float, found: Interval, bound: float) -> Finding:
    """State that a number is not above a bound."""
    low, high = found
    standing = Standing.HOLDS if high <= bound else Standing.FAILS if low > bound else Standing.OPEN
    return Finding(name, value, found, standing, bound)


def judge(findings: Iterable[Finding]) -> Conclusion:
    """Weigh the statements by `RULE`."""
    standings = [finding.standing for finding in findings if finding.standing]
    holds, fails = standings.count(Standing.HOLDS), standings.count(Standing.FAILS)
    if not standings:
        return Conclusion.UNTESTED
    if holds == len(standings):
        return Conclusion.SUPPORTED
    return Conclusion.REFUTED if fails > holds else Conclusion.MIXED


def reason(findings: Iterable[Finding]) -> str:
    """Return one sentence that counts the statements and names those that fail or stay open, or else the closest call."""
    statements = [finding for finding in findings if finding.standing]
    holding = [finding for finding in statements if finding.standing is Standing.HOLDS]
    parts = [f"{len(holding)} of {len(statements)} statements hold"]
    if statements and len(holding) == len(statements):
        parts[0] += f", the closest being {_with_interval(min(holding, key=lambda finding: finding.clearance))}"
    for standing, verb in ((Standing.FAILS, "fail"), (Standing.OPEN, "stay open")):
        found = [finding for finding in statements if finding.standing is standing]
        if found:
            named = ", ".join(_with_interval(finding) for finding in found[:_NAMED])
            more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            parts.append(f"{len(found)} {verb if len(found) > 1 else _singular(verb)} ({named}{more})")
    return "; ".join(parts) + "."


def number_text(value: float) -> str:
    """Write a number to four digits, with a minus sign that is not a hyphen.

    >>> number_text(-0.98963)
    '−0.9896'
    """
    return f"{value:.4g}".replace("-", "−")


def percent(share: float) -> str:
    """Write a share in percent with one decimal, and with more where it would look like nothing or like all.

    >>> percent(0.5), percent(0.9999), percent(1.0)
    ('50.0', '99.99', '100.0')
    """
    digits = 1
    while digits < _MOST_DIGITS and round(100 * share, digits) in (0, 100) and share not in (0, 1):
        digits += 1
    return f"{100 * share:.{digits}f}"


def _with_interval(finding: Finding) -> str:
    low, high = finding.interval or (finding.value, finding.value)
    return f"{finding.name} = {number_text(finding.value)} [{number_text(low)}, {number_text(high)}]"


def _singular(verb: str) -> str:
    first, *rest = verb.split()
    return " ".join([first + "s", *rest])


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
