"""What the explorer says of one network: plain data, from the library's own functions, worked out in a worker process."""

import time
from fractions import Fraction
from math import isfinite

from tallystick.certificates.certificate import LONGEST_TRACE, certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.ensemble import has_theorem
from tallystick.certificates.exact_accuracy import accuracies
from tallystick.certificates.sorted_strings import sides
from tallystick.certificates.verdict import REAL, Failure, Lengths, Verdict, arithmetic_of
from tallystick.errors import BadInput
from tallystick.indicators import Condition, conditions
from tallystick.networks import Network, Readout
from tallystick.numbers import Number, exact, standard_floats

LONGEST_STRING = 2000
"""Tokens of a string that is traced, and of a failing string that is written out."""

_SAFE = 2**53
"""Whole numbers beyond it are no numbers to a browser."""

_LONGEST_EXACT = 60
_GROWTH = 3.0
"""The next length takes no longer than so many times the last one; where states are listed, twice as long."""


def trace(model: Network, arithmetic: str, string: str) -> dict[str, object]:
    """Return h, the count and the class before the first token and after each, and whether the class is right.

    A tanh has no rational values: in real numbers its states are shown in float64, and the answer says so.
    """
    shown = "float64" if not model.cell.is_rational and arithmetic == REAL else arithmetic
    executed = model.in_arithmetic(arithmetic_of(shown))
    with standard_floats():
        states = executed.cell.trace(string)
        classes = [str(executed.class_of_state(state)) for state in states]
    counts = model.task.language.running_counts(string)
    expected = [str(model.task.classes[model.task.index_of_count(count)]) for count in counts]
    return {
        "string": string,
        "arithmetic": shown,
        "states": [as_float(state) for state in states],
        "exact": [_exact_text(state) for state in states] if len(string) <= LONGEST_TRACE else None,
        "counts": counts,
        "classes": classes,
        "expected": expected,
        "right": [found == wanted for found, wanted in zip(classes, expected, strict=True)],
        "bands": bands(model.map_weights(exact)),
    }


def verdict(model: Network, arithmetic: str) -> dict[str, object]:
    """Return the conditions of the cell's theorem with their distances, and the verdicts for all and for even lengths."""
    cell = model.in_arithmetic(arithmetic_of(arithmetic)).cell.map_weights(exact)
    found = conditions(cell) if has_theorem(type(cell)) else []
    judged = {str(lengths): _verdict(certify(model, lengths, arithmetic)) for lengths in Lengths}
    return {"arithmetic": arithmetic, "indicators": [_indicator(condition) for condition in found], **judged}


def accuracy(model: Network, arithmetic: str, longest: int, seconds: float) -> dict[str, object]:
    """Return the exact share of right strings of every length, as far as they can be counted in so many seconds."""
    percent: list[float] = []
    total: list[str] = []
    note: str | None = None
    before = time.monotonic()
    until = before + seconds
    try:
        for found in accuracies(model, longest, arithmetic):
            percent.append(100 * float(found.accuracy))
            total.append(f"{found.total_correct}/{2**found.length}")
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


def certificate_of(model: Network, arithmetic: str, lengths: str) -> dict[str, object]:
    """Return the certificate, as `tallystick certify --out` writes it."""
    return certificate(certify(model, lengths, arithmetic))


def bands(network: Network) -> list[dict[str, object]]:
    """Return the interval of h that gets each class; no end is None, a class that no h gets is left out.

    The zero check's `rejected` is all but a point, so it is left out, too.
    """
    needed = enumerate(network.readout.comparisons)
    found = ((network.task.classes[index], _interval(network.readout, index)) for index, made in needed if made)
    return [{"class": str(name), "low": ends[0], "high": ends[1]} for name, ends in found if ends is not None]


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


def _indicator(condition: Condition) -> dict[str, object]:
    return {
        "formula": condition.formula,
        "value": as_float(condition.value),
        "exact": _exact_text(condition.value),
        "distance": as_float(condition.distance),
        "holds": condition.holds,
        "finding": condition.finding,
    }


def _verdict(found: Verdict) -> dict[str, object]:
    failure = found.failure or found.known_failure
    return {
        "outcome": str(found.outcome),
        "horizon": _safe(found.horizon),
        "horizon_text": "unlimited" if found.horizon is None else str(found.horizon),
        "reason": found.reason,
        "method": found.method,
        "shortest": found.failure is not None,
        **(_NO_FAILURE if failure is None else _failure(failure)),
    }


_NO_FAILURE: dict[str, object] = {
    "failing_string": None,
    "failing_runs": None,
    "failing_length": None,
    "failing_class": None,
    "right_class": None,
}


def _failure(failure: Failure) -> dict[str, object]:
    return {
        "failing_string": failure.string if failure.length <= LONGEST_STRING else None,
        "failing_runs": [(token, str(size)) for token, size in failure.runs],
        "failing_length": _safe(failure.length),
        "failing_class": str(failure.found),
        "right_class": str(failure.right),
    }


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
