"""What a claim is decided by: numbers with their intervals, some of them statements that hold, fail or stay open."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tallystick.reports.intervals import Interval

RULE = (
    "A statement holds or fails when its whole 95 % interval says so and is open otherwise; a claim is supported when "
    "every statement holds, refuted when more fail than hold, untested without statements, and mixed otherwise. The intervals "
    "are over seeds, and for accuracy over test strings, with one order of the training strings, which matters too."
)
_NAMED = 3


class Verdict(StrEnum):
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


def judge(findings: Iterable[Finding]) -> Verdict:
    """Weigh the statements by `RULE`."""
    standings = [finding.standing for finding in findings if finding.standing]
    holds, fails = standings.count(Standing.HOLDS), standings.count(Standing.FAILS)
    if not standings:
        return Verdict.UNTESTED
    if holds == len(standings):
        return Verdict.SUPPORTED
    return Verdict.REFUTED if fails > holds else Verdict.MIXED


def reason(findings: Iterable[Finding]) -> str:
    """Return one sentence that counts the statements and names those that fail or stay open, or else the closest call."""
    statements = [finding for finding in findings if finding.standing]
    holding = [finding for finding in statements if finding.standing is Standing.HOLDS]
    parts = [f"{len(holding)} of {len(statements)} statements hold"]
    if statements and len(holding) == len(statements):
        parts[0] += f", the closest being {_described(min(holding, key=lambda finding: finding.clearance))}"
    for standing, verb in ((Standing.FAILS, "fail"), (Standing.OPEN, "stay open")):
        found = [finding for finding in statements if finding.standing is standing]
        if found:
            named = ", ".join(_described(finding) for finding in found[:_NAMED])
            more = f", and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
            parts.append(f"{len(found)} {verb if len(found) > 1 else _singular(verb)} ({named}{more})")
    return "; ".join(parts) + "."


def number_text(value: float) -> str:
    """Write a number to four digits, with a minus sign that is not a hyphen.

    >>> number_text(-0.98963)
    '−0.9896'
    """
    return f"{value:.4g}".replace("-", "−")


def _described(finding: Finding) -> str:
    low, high = finding.interval or (finding.value, finding.value)
    return f"{finding.name} = {number_text(finding.value)} [{number_text(low)}, {number_text(high)}]"


def _singular(verb: str) -> str:
    first, *rest = verb.split()
    return " ".join([first + "s", *rest])
