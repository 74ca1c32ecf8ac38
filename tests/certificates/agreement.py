"""Holds a verdict, and counts of right strings, against every string to a length."""

import numpy as np
from brute_force import found_index, found_indices, right_index, right_indices, states, string_at, wrong_places

from tallystick.certificates.exact_accuracy import accuracy_curve
from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Outcome, arithmetic_of
from tallystick.errors import BadInput

UNDECIDED = ("overflow", "the bounds on tanh do not decide")


def verdict_disagreement(model, lengths, arithmetic, longest):
    """What is wrong with a verdict, or None; and the outcome."""
    executed = model.in_arithmetic(arithmetic_of(arithmetic))
    wrong = {length: places for length, places in wrong_places(executed, longest) if length % lengths.stride == 0}
    shortest = next((length for length, places in wrong.items() if len(places)), None)
    verdict = certify(model, lengths, arithmetic, limit=longest)
    return _disagreement(verdict, wrong, shortest, executed, longest), verdict.outcome


def _disagreement(verdict, wrong, shortest, executed, longest):
    if verdict.failure and verdict.failure.length <= longest:
        return _wrong_failure(verdict, wrong, shortest, executed)
    counted = longest - longest % verdict.lengths.stride
    if verdict.outcome is Outcome.BOUNDED and verdict.horizon < counted:
        if not any(reason in verdict.reason for reason in UNDECIDED):
            return f"bounded early: {verdict.reason}"
        return None if shortest is None or shortest > verdict.horizon else f"length {shortest} fails before the horizon"
    return None if shortest is None else f"length {shortest} fails, unseen"


def _wrong_failure(verdict, wrong, shortest, executed):
    string = verdict.failure.string
    classes = list(executed.readout.classes)
    checks = {
        "a shorter string fails, or none": len(string) == shortest == verdict.horizon + verdict.lengths.stride,
        "the string does not fail": string in {string_at(place, len(string)) for place in wrong[len(string)].tolist()},
        "the trace is not the string's": len(verdict.trace()) == len(string) + 1,
        "the class is not the one it gets": classes.index(verdict.failure.found) == found_index(executed, string),
        "the right class is another": classes.index(verdict.failure.right) == right_index(executed, string),
    }
    return next((claim for claim, holds in checks.items() if not holds), None)


def count_disagreement(model, arithmetic, longest):
    """What is wrong with the counts of right strings to a length, or None; and whether they were counted."""
    executed = model.in_arithmetic(arithmetic_of(arithmetic))
    try:
        curve = accuracy_curve(model, longest, arithmetic)
    except BadInput as refusal:
        return (None if any(reason in str(refusal) for reason in UNDECIDED) else str(refusal)), False
    with np.errstate(all="ignore"):
        for length, h in enumerate(states(executed.cell, longest)):
            right = right_indices(executed, length)
            counts = np.bincount(
                right[found_indices(executed.readout, h) == right], minlength=len(executed.readout.classes)
            )
            if length and counts.tolist() != list(curve[length - 1].correct.values()):
                return f"{counts.tolist()} strings of length {length} are right", True
    return None, True
