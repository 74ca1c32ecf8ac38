"""What is wrong with the verdict on an affine network, or with the number of its right strings, each string having been run."""

import json

from affine_cases import some_case
from affine_cores import COMPLEX, LINEAR
from every_string import is_right, rightness
from longest_paths import commutes

import tallystick as ts
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check

SHARED = [*LINEAR, *COMPLEX, "equal_factors", "equal_matrices"]
"""Kinds with one matrix for both tokens, whose right strings are counted."""


def may_stay_open(affine):
    """Whether a verdict may be open before the limit: where the matrices do not commute, or differ and are asked for zero."""
    if affine.matrices[0] == affine.matrices[1]:
        return False
    return affine.decision == "zero" or not commutes(affine)


def disagreement(case, lengths, longest, first):
    """What is wrong with the verdict on a case, or None; every string is right before the length `first`, up to `longest`."""
    verdict = certify(case.network, lengths, limit=longest)
    failure, counted = verdict.failure, lengths.upto(longest)
    if verdict.outcome is Outcome.BOUNDED:
        if first is not None and verdict.horizon >= first:
            return f"BOUNDED to {verdict.horizon}, but length {first} fails"
        # A box that meets the threshold leaves a length open; no more is promised than what is right.
        if verdict.horizon != counted[-1] and not may_stay_open(case.affine):
            return f"left open at {verdict.horizon}"
    elif first is not None and (failure is None or failure.length != first):
        return f"{verdict.outcome} to {verdict.horizon}, but length {first} fails"
    if first is None and failure is not None and failure.length <= longest:
        return f"REFUTED at {failure.length}, but every string is right up to {longest}"
    if failure is not None and is_right(case.affine, failure.string):
        return f"{failure.string} is right"
    answer = check(json.dumps(certificate(verdict)))
    return None if answer.valid else f"the check answers: {answer.reason}"


def lengths_of(seed):
    """Even lengths for every fourth case, all for the others."""
    return Lengths.EVEN if seed % 4 == 1 else Lengths.ALL


def disagreement_with_every_string(kind, seed, longest):
    """Return what is wrong with the verdict on one case, compared with every string up to a length; None where nothing is."""
    case, lengths = some_case(seed, kind), lengths_of(seed)
    each = enumerate(rightness(case.affine, longest), start=1)
    first = next((length for length, right in each if length % lengths.stride == 0 and not right.all()), None)
    return disagreement(case, lengths, longest, first)


def miscount(kind, seed, longest):
    """Return what is wrong with the numbers of right strings of one case up to a length; None where nothing is."""
    case = some_case(f"counted {seed}", kind)
    for length, right in enumerate(rightness(case.affine, longest), start=1):
        found = ts.exact_accuracy(case.network, length)
        if found.total_correct != right.sum() or sum(found.strings.values()) != 2**length:
            return f"{found.total_correct} of length {length} are said to be right; {right.sum()} are"
    return None
