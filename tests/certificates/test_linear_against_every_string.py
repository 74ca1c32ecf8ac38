"""Verdicts on affine networks of several units against every string up to twelve tokens, run in whole numbers.

What is compared: the outcome and the horizon, for all lengths and for even ones; the failing string, which must be a
shortest one; and the certificate, which the checker must find to hold.
"""

import json
from collections import Counter

import pytest
from affine_cases import KINDS, some_case
from affine_cores import MATRICES, SELECTIVE
from every_string import place_of, rightness

from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.checker import check

LONGEST = 12
QUICK, LONG, CHUNKS = 8, 900, 4
UNDECIDED = {*SELECTIVE, *MATRICES}
"""Kinds whose verdicts may stay open before the limit."""


def disagreement(case, lengths, longest=LONGEST):
    """What is wrong with the verdict on a case, or None."""
    each = enumerate(rightness(case.affine, longest), start=1)
    first, right = next(
        ((length, right) for length, right in each if length in lengths.upto(longest) and not right.all()), (None, None)
    )
    verdict = certify(case.network, lengths, limit=longest)
    failure = verdict.failure
    if verdict.outcome is Outcome.BOUNDED and (case.kind in UNDECIDED or case.affine.decision == "zero"):
        # A box that meets the threshold leaves a length open; no more is promised than what is right.
        wrong = first is not None and verdict.horizon >= first
        return f"BOUNDED to {verdict.horizon}, but length {first} fails" if wrong else None
    if first is not None and (failure is None or failure.length != first):
        return f"{verdict.outcome} to {verdict.horizon}, but length {first} fails"
    if first is None and failure is not None and failure.length <= longest:
        return f"REFUTED at {failure.length}, but every string is right up to {longest}"
    if first is not None and right[place_of(failure.string)]:
        return f"{failure.string} is right"
    if verdict.outcome is Outcome.BOUNDED and verdict.horizon != lengths.upto(longest)[-1]:
        return f"left open at {verdict.horizon}"
    answer = check(json.dumps(certificate(verdict)))
    return None if answer.valid else f"the check answers: {answer.reason}"


def lengths_of(seed):
    return Lengths.EVEN if seed % 4 == 1 else Lengths.ALL


@pytest.mark.parametrize("kind", KINDS)
def test_every_string_says_what_the_verdict_says(kind):
    for seed in range(QUICK):
        assert disagreement(some_case(seed, kind), lengths_of(seed), 8) is None, (kind, seed)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", KINDS)
def test_every_string_of_many_networks_says_what_the_verdict_says(kind, chunk):
    for seed in range(1000 + chunk, 1000 + LONG, CHUNKS):
        assert disagreement(some_case(seed, kind), lengths_of(seed)) is None, (kind, seed)


def test_the_cases_are_of_every_size_and_outcome():
    """Otherwise agreement would say little."""
    cases = [some_case(seed, kind) for kind in KINDS for seed in range(4)]
    assert {len(case.affine.start) for case in cases} >= set(range(1, 7))
    outcomes = Counter(certify(case.network, limit=LONGEST).outcome for case in cases)
    assert set(outcomes) == set(Outcome)
    firsts = {next((n for n, right in enumerate(rightness(case.affine, 8)) if not right.all()), None) for case in cases}
    assert len(firsts) > 5
