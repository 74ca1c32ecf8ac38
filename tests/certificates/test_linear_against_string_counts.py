"""The exact accuracy of linear networks of several units is the number of right strings, each of them run."""

import pytest
from affine_verdicts import SHARED, miscount


@pytest.mark.parametrize("kind", SHARED)
def test_as_many_strings_are_right_as_the_accuracy_says(kind):
    for seed in range(3):
        assert miscount(kind, seed, 7) is None, seed


@pytest.mark.long
@pytest.mark.parametrize("kind", SHARED)
def test_as_many_strings_of_many_networks_are_right_as_the_accuracy_says(kind):
    for seed in range(100, 106):
        assert miscount(kind, seed, 12 if seed % 4 == 0 else 8) is None, seed
