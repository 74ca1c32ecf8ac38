"""Holds a verdict, and counts of right strings, against every string to a length, the theorems and the checker.

Each function returns what is wrong, in words, or None.
"""

import json
from decimal import localcontext
from fractions import Fraction

import numpy as np
from brute_force import classes, digits_needed, final_state, found_indices, place_of, recurrent_weights
from edge_models import is_refused

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.exact_accuracy import accuracy_curve
from tallystick.certificates.verdict import REAL, Outcome, arithmetic_of
from tallystick.checker import check
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout

UNDECIDED = ("overflow", "the bounds on tanh do not decide")


def every_string(model, arithmetic, longest):
    """The class that each string gets in an arithmetic, and the right one, by length."""
    return classes(model.in_arithmetic(arithmetic_of(arithmetic)), longest)


def verdict_disagreement(model, lengths, arithmetic, strings):
    """What is wrong with a verdict, or None; and the outcome."""
    verdict = certify(model, lengths, arithmetic, limit=max(strings))
    return wrong_verdict(verdict, strings), verdict.outcome


def wrong_verdict(verdict, strings):
    """What is wrong with a verdict, as far as the strings go, or None."""
    counted = {length: pair for length, pair in strings.items() if length % verdict.lengths.stride == 0}
    shortest = next((length for length, (found, right) in counted.items() if (found != right).any()), None)
    if verdict.failure and verdict.failure.length <= max(strings):
        return _wrong_failure(verdict, counted, shortest)
    return _wrong_horizon(verdict, max(counted), shortest)


def _wrong_horizon(verdict, last, shortest):
    if verdict.outcome is Outcome.BOUNDED and verdict.horizon < last:
        if not any(reason in verdict.reason for reason in UNDECIDED):
            return f"bounded early: {verdict.reason}"
        return None if shortest is None or shortest > verdict.horizon else f"length {shortest} fails before the horizon"
    return None if shortest is None else f"length {shortest} fails, unseen"


def _wrong_failure(verdict, counted, shortest):
    failure, names = verdict.failure, verdict.model.task.classes
    found, right = (array[place_of(failure.string)] for array in counted[failure.length])
    checks = {
        "a shorter string fails, or none": failure.length == shortest == verdict.horizon + verdict.lengths.stride,
        "the string does not fail": found != right,
        "the class is not the one it gets": failure.found == names[found],
        "the right class is another": failure.right == names[right],
        "the trace is not the string's": len(verdict.trace()) == (failure.length + 1 if _has_trace(verdict) else 0),
    }
    return next((claim for claim, holds in checks.items() if not holds), None)


def _has_trace(verdict):
    """The states of a tanh cell in real numbers are shown as doubles, if these hold its weights."""
    shown_as_doubles = isinstance(verdict.model.cell, TanhCell) and verdict.arithmetic == REAL
    return not (shown_as_doubles and is_refused(Network(verdict.model.cell, Readout.zero()), "float64"))


def wrong_proof(verdict, strings):
    """A model is proved iff the conditions of its theorem hold in rationals and every counted string to length 2 is right."""
    short = [strings[length] for length in verdict.lengths.upto(2)]
    counts = verdict.arithmetic == REAL and is_counter(verdict.model) and all((f == r).all() for f, r in short)
    if counts != (verdict.outcome is Outcome.PROVED):
        return "proved, but no exact counter" if not counts else "an exact counter, but not proved"
    if verdict.outcome is Outcome.BOUNDED and _is_always_decided(verdict):
        return "bounded, where a theorem decides"
    return None


def is_counter(model):
    """Whether a cell counts exactly, from the theorems: the closing map inverts the opening one; a ReLU cell has h = a·κ."""
    (P, Q), (a, b) = (
        map(Fraction, pair) for pair in (recurrent_weights(model.cell), (model.cell.open_step, model.cell.close_step))
    )
    if isinstance(model.cell, ReluCell):
        return model.readout.kind == "zero" and a > 0 and P == 1 and a + b == 0
    return not isinstance(model.cell, TanhCell) and P * Q == 1 and b == -Q * a and a != 0 and P != -1


def _is_always_decided(verdict):
    cell, zero_check = verdict.model.cell, verdict.model.readout.kind == "zero"
    decided = isinstance(cell, LinearCell) or (zero_check and isinstance(cell, SelectiveCell))
    return decided and verdict.arithmetic == REAL


def wrong_string(verdict, lengths):
    """The failing string, if its length is one of these, gets the class that it is said to get; run token by token."""
    failure = verdict.failure
    if failure is None or failure.length not in lengths:
        return None
    executed = verdict.executed
    with np.errstate(all="ignore"), localcontext(prec=digits_needed(executed)):
        (index,) = found_indices(executed.readout, final_state(executed.cell, failure.string))
    found, right = executed.task.classes[index], executed.right_class(failure.string)
    return (
        None if (found, right) == (failure.found, failure.right) and found != right else "the string does not fail so"
    )


def wrong_certificate(verdict):
    """The independent checker says that the certificate holds."""
    finding = check(json.dumps(certificate(verdict)))
    return None if finding.valid else f"the checker: {finding.reason}"


def wrong_limits(shorter, longer):
    """A verdict that searched further says the same where the other one is sure, and no less elsewhere."""
    if shorter.outcome is not Outcome.BOUNDED:
        same = (shorter.outcome, shorter.horizon) == (longer.outcome, longer.horizon)
        return None if same else f"another verdict with a larger limit: {longer.outcome} {longer.horizon}"
    less = longer.horizon is not None and longer.horizon < shorter.horizon
    return f"with a larger limit only {longer.horizon}" if less else None


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
