"""Holds a verdict, and counts of right strings, against every string to a length."""

import numpy as np
from brute_force import classes, place_of

from tallystick.certificates.exact_accuracy import accuracy_curve
from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Outcome, arithmetic_of
from tallystick.errors import BadInput

UNDECIDED = ("overflow", "the bounds on tanh do not decide")


def every_string(model, arithmetic, longest):
    """The class that each string gets in an arithmetic, and the right one, by length."""
    return classes(model.in_arithmetic(arithmetic_of(arithmetic)), longest)


def verdict_disagreement(model, lengths, arithmetic, strings):
    """What is wrong with a verdict, or None; and the outcome."""
    longest = max(strings)
    counted = {length: pair for length, pair in strings.items() if length % lengths.stride == 0}
    shortest = next((length for length, (found, right) in counted.items() if (found != right).any()), None)
    verdict = certify(model, lengths, arithmetic, limit=longest)
    if verdict.failure and verdict.failure.length <= longest:
        return _wrong_failure(verdict, counted, shortest), verdict.outcome
    return _wrong_horizon(verdict, max(counted), shortest), verdict.outcome


def _wrong_horizon(verdict, last, shortest):
    if verdict.outcome is Outcome.BOUNDED and verdict.horizon < last:
        if not any(reason in verdict.reason for reason in UNDECIDED):
            return f"bounded early: {verdict.reason}"
        return None if shortest is None or shortest > verdict.horizon else f"length {shortest} fails before the horizon"
    return None if shortest is None else f"length {shortest} fails, unseen"


def _wrong_failure(verdict, counted, shortest):
    failure, names = verdict.failure, list(verdict.model.readout.classes)
    found, right = (array[place_of(failure.string)] for array in counted[failure.length])
    checks = {
        "a shorter string fails, or none": failure.length == shortest == verdict.horizon + verdict.lengths.stride,
        "the string does not fail": found != right,
        "the class is not the one it gets": failure.found == names[found],
        "the right class is another": failure.right == names[right],
        "the trace is not the string's": len(verdict.trace()) == failure.length + 1,
    }
    return next((claim for claim, holds in checks.items() if not holds), None)


def count_disagreement(model, arithmetic, strings):
    """What is wrong with the counts of right strings to a length, or None; and whether they were counted."""
    try:
        curve = accuracy_curve(model, max(strings), arithmetic)
    except BadInput as refusal:
        return (None if any(reason in str(refusal) for reason in UNDECIDED) else str(refusal)), False
    for counted in curve:
        found, right = strings[counted.length]
        expected = np.bincount(right[found == right], minlength=len(counted.correct)).tolist()
        if expected != list(counted.correct.values()):
            return f"{expected} strings of length {counted.length} are right", True
    return None, True
