"""Verdicts on affine networks whose matrices commute, at lengths that have too many strings to run: the extremes decide."""

import pytest
from affine_cases import KINDS, some_case
from affine_verdicts import disagreement, lengths_of
from every_string import rightness
from longest_paths import commutes, first_wrong_length

COMMUTING = [kind for kind in KINDS if kind not in {"dense_by_token", "hidden_counter"}]
"""Kinds whose matrices commute, unless a second layer mixes them."""


def long_lived_case(kind, seed):
    """A case whose matrices commute and whose short strings are all right, or None."""
    case = some_case(f"paths {seed}", kind)
    if case.affine.decision == "zero" or not commutes(case.affine):
        return None
    return case if all(right.all() for right in rightness(case.affine, 4)) else None


def compare(kind, seeds, longest):
    """Compare verdicts on the cases of a kind that live long with the best paths; return the lengths that fail."""
    firsts = []
    for seed in seeds:
        case, lengths = long_lived_case(kind, seed), lengths_of(seed)
        if case is not None:
            firsts.append(first_wrong_length(case.affine, longest, lengths.stride))
            assert disagreement(case, lengths, longest, firsts[-1]) is None, (kind, seed)
    return firsts


def test_the_best_paths_are_those_of_every_string():
    """The two oracles agree."""
    for kind in COMMUTING:
        for seed in range(3):
            case = some_case(seed, kind, d=3, asked=("binary", "any outputs", "count")[seed])
            right = list(rightness(case.affine, 6))
            first = next((length for length in range(1, 7) if not right[length - 1].all()), None)
            assert not commutes(case.affine) or first_wrong_length(case.affine, 6, 1) == first


def test_the_best_paths_say_what_the_verdict_says():
    firsts = [first for kind in COMMUTING for first in compare(kind, range(3), 16)]
    assert len(firsts) > 15


@pytest.mark.long
@pytest.mark.parametrize("kind", COMMUTING)
def test_the_best_paths_of_many_networks_say_what_the_verdict_says(kind):
    compare(kind, range(100, 106), 64)
