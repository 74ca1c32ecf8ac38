"""The exact accuracy of linear networks of several units is the number of right strings, each of them run."""

import pytest
from affine_cases import some_case
from affine_cores import COMPLEX, LINEAR
from every_string import rightness

import tallystick as ts

SHARED = [*LINEAR, *COMPLEX, "equal_factors", "equal_matrices"]
"""Kinds with one matrix for both tokens."""


def disagreement(case, longest):
    """What is wrong with the numbers of right strings, or None."""
    for length, right in enumerate(rightness(case.affine, longest), start=1):
        found = ts.exact_accuracy(case.network, length)
        if found.total_correct != right.sum() or sum(found.strings.values()) != 2**length:
            return f"{found.total_correct} of length {length} are said to be right; {right.sum()} are"
    return None


@pytest.mark.parametrize("kind", SHARED)
def test_as_many_strings_are_right_as_the_accuracy_says(kind):
    for seed in range(3):
        assert disagreement(some_case(f"counted {seed}", kind), 7) is None, seed


@pytest.mark.long
@pytest.mark.parametrize("kind", SHARED)
def test_as_many_strings_of_many_networks_are_right_as_the_accuracy_says(kind):
    for seed in range(100, 112):
        assert disagreement(some_case(f"counted {seed}", kind), 12 if seed % 4 == 0 else 8) is None, seed
