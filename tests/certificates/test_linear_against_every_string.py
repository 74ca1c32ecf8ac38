"""Verdicts on affine networks of several units against every string up to twelve tokens, run in whole numbers.

What is compared: the outcome and the horizon, for all lengths and for even ones; the failing string, which must be a
shortest one; and the certificate, which the checker must find to hold.
"""

from collections import Counter

import pytest
from affine_cases import KINDS, some_case
from affine_verdicts import disagreement_with_every_string as disagreement_of
from every_string import rightness

from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome

LONGEST = 12
QUICK, LONG = 8, 40
"""Networks of each kind; soak/linear.py compares nine hundred."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_string_says_what_the_verdict_says(kind):
    for seed in range(QUICK):
        assert disagreement_of(kind, seed, 8) is None, (kind, seed)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_string_of_many_networks_says_what_the_verdict_says(kind):
    for seed in range(1000, 1000 + LONG):
        assert disagreement_of(kind, seed, LONGEST) is None, (kind, seed)


def test_the_cases_are_of_every_size_and_outcome():
    """Otherwise agreement would say little."""
    cases = [some_case(seed, kind) for kind in KINDS for seed in range(4)]
    assert {len(case.affine.start) for case in cases} >= set(range(1, 7))
    outcomes = Counter(certify(case.network, limit=8).outcome for case in cases[::3])
    assert set(outcomes) == set(Outcome)
    firsts = {next((n for n, right in enumerate(rightness(case.affine, 8)) if not right.all()), None) for case in cases}
    assert len(firsts) >= 5
