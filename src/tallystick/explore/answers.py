"""What the explorer says of one network: plain data, from the library's own functions, worked out in a worker process.

The types here describe the answers, to the type checker and in the API's description; nothing checks an answer again.
"""

import time
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

from typing_extensions import TypedDict  # pydantic cannot read those of typing before Python 3.12

from tallystick.certificates.certificate import LONGEST_TRACE, certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.ensemble import has_theorem
from tallystick.certificates.one_unit.exact_accuracy import accuracies
from tallystick.certificates.one_unit.sorted_strings import sides
from tallystick.certificates.verdict import REAL, Failure, Lengths, Verdict, arithmetic_of
from tallystick.certificates.words import answer, reason_beyond
from tallystick.counting_conditions import Condition, conditions
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout
from tallystick.numbers import Number, exact, standard_floats

LONGEST_STRING = 2000
"""Tokens of a string that is traced, and of a failing string that is written out."""

_SAFE = 2**53
"""Whole numbers beyond it are not numbers to a browser."""

_LONGEST_EXACT = 60
_GROWTH = 3.0
"""The next length takes at most so many times as long as the last one; where states are listed, twice as long."""

# A name that Python keeps for itself can only be a key in this way of writing.
Band = TypedDict("Band", {"class": str, "low": float | None, "high": float | None})
"""The h that get a class; null is no end."""


class Trace(TypedDict):
    """A string read token by token; every list begins before the first token.

    `arithmetic` is `real`, or what is shown in its place where states are not rational. A state is null where it is not a finite
    float, and `exact` has it as p/q where that is short.
    """

    string: str
    arithmetic: str
    states: list[float | None]
    exact: list[str | None] | None
    counts: list[int]
    classes: list[str]
    expected: list[str]
    right: list[bool]
    bands: list[Band]


class Indicator(TypedDict):
    """A condition of the cell's theorem; `distance` is the left side of an equation less the right one."""

    formula: str
    value: float | None
    exact: str | None
    distance: float | None
    holds: bool
    finding: str


class Judgement(TypedDict):
    """A verdict on all strings of the lengths that count.

    `answer` says it in sentences, the last of them about a failing string if one is known, and `reason` says why, where that adds
    something.
    `horizon` is null where it is unlimited or beyond 2^53; `horizon_text` is always whole. `failing_string` is null where it is
    too long to be written out, and so is `failing_tokens`, its tokens one by one; `failing_runs` has it as runs of equal tokens.
    `shortest` says whether no shorter string fails.
    """

    outcome: Literal["PROVED", "REFUTED", "BOUNDED"]
    horizon: int | None
    horizon_text: str
    answer: list[str]
    reason: str
    method: str
    shortest: bool
    failing_string: str | None
    failing_tokens: list[str] | None
    failing_runs: list[tuple[str, str]] | None
    failing_length: int | None
    failing_class: str | None
    right_class: str | None


class Judgements(TypedDict):
    """The indicators of a cell, none where no theorem is known for it, and the verdicts for all and for even lengths."""

    arithmetic: str
    indicators: list[Indicator]
    all: Judgement
    even: Judgement


class Curve(TypedDict):
    """The exact share of right strings, length by length: in percent, and as right/all.

    `note` says why the curve ends before the length asked for.
    """

    lengths: list[int]
    all: list[float]
    total: list[str]
    note: str | None


class Theorems(TypedDict):
    """The theorems, as `tallystick prove --json` gives them."""

    theorems: list[dict[str, Any]]
    coq_only: list[dict[str, Any]]


def trace(network: Network, arithmetic: str, string: str) -> Trace:
    """Return h, the count and the class before the first token and after each, and whether the class is right.

    A tanh has no rational values: in real numbers its states are shown in float64, and the answer says so.
    """
    shown = "float64" if not network.cell.shows_rationals and arithmetic == REAL else arithmetic
    executed = network.in_arithmetic(arithmetic_of(shown))
    with standard_floats():
        states = executed.cell.trace(string)
        classes = [network.task.in_words(executed.class_of_state(state)) for state in states]
    counts = network.task.language.running_counts(string)
    expected = [network.task.in_words(network.task.classes[network.task.index_of_count(count)]) for count in counts]
    return {
        "string": string,
        "arithmetic": shown,
        "states": [as_float(state) for state in states],
        "exact": [_exact_text(state) for state in states] if len(string) <= LONGEST_TRACE else None,
        "counts": counts,
        "classes": classes,
        "expected": expected,
        "right": [found == wanted for found, wanted in zip(classes, expected, strict=True)],
        "bands": bands(network.map_weights(exact)),
    }


def verdict(network: Network, arithmetic: str) -> Judgements:
    """Return the conditions of the cell's theorem with their distances, and the verdicts for all and for even lengths."""
    cell = network.in_arithmetic(arithmetic_of(arithmetic)).cell.map_weights(exact)
    found = conditions(cell) if has_theorem(type(cell)) else []
    return {
        "arithmetic": arithmetic,
        "indicators": [_indicator(condition) for condition in found],
        "all": judgement(certify(network, Lengths.ALL, arithmetic)),
        "even": judgement(certify(network, Lengths.EVEN, arithmetic)),
    }


def accuracy(network: Network, arithmetic: str, longest: int, seconds: float) -> Curve:
    """Return the exact share of right strings of every length, as far as they can be counted in so many seconds."""
    percent: list[float] = []
    total: list[str] = []
    note: str | None = None
    before = time.monotonic()
    until = before + seconds
    try:
        for found in accuracies(network, longest, arithmetic):
            percent.append(100 * float(found.accuracy))
            total.append(f"{found.total_correct}/{found.total}")
            now = time.monotonic()
            if now + _GROWTH * (now - before) > until and found.length < longest:
                note = (
                    f"lengths above {found.length} take too long to count here; tallystick accuracy has no such limit"
                )
                break
            before = now
    except BadInput as error:
        if not percent:
            raise
        note = str(error)
    return {"lengths": list(range(1, len(percent) + 1)), "all": percent, "total": total, "note": note}


def certificate_of(network: Network, arithmetic: str, lengths: str) -> dict[str, object]:
    """Return the certificate, as `tallystick certify --out` writes it."""
    return certificate(certify(network, lengths, arithmetic))


def theorems() -> Theorems:
    """Put every step of every theorem to the solver, which takes a second or two."""
    from tallystick.theorems import account  # noqa: PLC0415 -- z3 is an extra and slow to load
    from tallystick.theorems.proof import prove  # noqa: PLC0415

    proved = [account.as_json(theorem, prove(theorem)) for theorem in account.THEOREMS.values()]
    return {"theorems": proved, "coq_only": account.coq_only_as_json()}


def bands(network: Network) -> list[Band]:
    """Return the interval of h that gets each class; no end is None, a class that no h gets is left out.

    The zero check's `rejected` is all but a point, so it is left out, too.
    """
    needed = enumerate(network.readout.comparisons)
    found = ((network.task.classes[index], _interval(network.readout, index)) for index, made in needed if made)
    return [
        {"class": network.task.in_words(name), "low": ends[0], "high": ends[1]}
        for name, ends in found
        if ends is not None
    ]


def _interval(readout: Readout, index: int) -> tuple[float | None, float | None] | None:
    """Return where every comparison of a class holds: each asks for h on one side of −c/v."""
    lower: list[Fraction] = []
    upper: list[Fraction] = []
    for side in sides(readout, index):
        if side.weight == 0:
            if side.bias < 0 or (side.strict and side.bias == 0):
                return None
        else:
            (lower if side.weight > 0 else upper).append(Fraction(-side.bias) / side.weight)
    low, high = max(lower, default=None), min(upper, default=None)
    closed = not any(side.strict for side in sides(readout, index))
    if low is not None and high is not None and (low > high or (low == high and not closed)):
        return None
    return as_float(low), as_float(high)


def _indicator(condition: Condition) -> Indicator:
    return {
        "formula": condition.formula,
        "value": as_float(condition.value),
        "exact": _exact_text(condition.value),
        "distance": as_float(condition.distance),
        "holds": condition.holds,
        "finding": condition.finding,
    }


def judgement(found: Verdict) -> Judgement:
    """Return a verdict as plain data."""
    failure = found.failure or found.known_failure
    return {
        "outcome": found.outcome.value,
        "horizon": _safe(found.horizon),
        "horizon_text": "unlimited" if found.horizon is None else str(found.horizon),
        "answer": answer(found),
        "reason": reason_beyond(found),
        "method": found.method,
        "shortest": found.failure is not None,
        "failing_string": _string_of(failure),
        "failing_tokens": None if failure is None or failure.length > LONGEST_STRING else list(failure.tokens),
        "failing_runs": None if failure is None else [(token, str(size)) for token, size in failure.runs],
        "failing_length": None if failure is None else _safe(failure.length),
        "failing_class": None if failure is None else str(failure.found),
        "right_class": None if failure is None else str(failure.right),
    }


def _string_of(failure: Failure | None) -> str | None:
    return None if failure is None or failure.length > LONGEST_STRING else failure.string


def _safe(number: int | None) -> int | None:
    return number if number is not None and number <= _SAFE else None


def as_float(value: Number) -> float | None:
    """Return the nearest float, and None where there is none to show: JSON has no word for an infinity."""
    if value is None:
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if isfinite(found) else None


def _exact_text(value: Number) -> str | None:
    """Return a number as "p/q" where that is short."""
    if value is None or (not isinstance(value, Fraction | int) and as_float(value) is None):
        return None
    number = exact(value)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > 4 * _LONGEST_EXACT:
        return None
    text = str(number)
    return text if len(text) <= _LONGEST_EXACT else None
