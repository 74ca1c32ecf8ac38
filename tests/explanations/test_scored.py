"""What is scored, and its sums by count, against going through every prefix."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from tallystick.datasets.training_sets import training_set
from tallystick.errors import BadInput
from tallystick.explanations.profile import profile
from tallystick.explanations.scored import scored
from tallystick.training.setting import Setting


@pytest.mark.parametrize("method", ["count", "count-tokens"])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_every_string_has_the_same_part_and_its_prefixes_share_it(method, length):
    setting = Setting("binary", False, length, method=method)
    strings = training_set(setting.scored_as, length, 0)
    expected: Counter[str] = Counter()
    for string in strings:
        ends = range(1, len(string) + 1) if method == "count-tokens" else [len(string)]
        for end in ends:
            expected[string[:end]] += Fraction(1, len(ends) * len(strings))
    found = scored(setting, strings)
    assert dict(zip(found.strings, found.share.tolist(), strict=True)) == {
        string: float(share) for string, share in expected.items()
    }
    summed = profile(found)
    assert summed.share.sum() == pytest.approx(1)
    for place, count in enumerate(summed.counts):
        alike = {string: share for string, share in expected.items() if string.count("(") - string.count(")") == count}
        share = sum(alike.values())
        area = sum(part * sum(_counts_before(string)) for string, part in alike.items())
        assert summed.share[place] == pytest.approx(float(share))
        assert summed.openings[place] == pytest.approx(float(sum(s.count("(") * p for s, p in alike.items()) / share))
        assert summed.area[place] == pytest.approx(float(area / share), abs=1e-15)
    assert summed.openings @ summed.share - summed.closings @ summed.share == pytest.approx(
        summed.counts @ summed.share
    )


def _counts_before(string):
    return [string[:end].count("(") - string[:end].count(")") for end in range(len(string))]


def test_what_cancels_cancels_exactly():
    setting = Setting("binary", False, 8)
    found = profile(scored(setting, training_set(setting.scored_as, 8, 0)))
    assert found.area[found.counts == 0] == np.array([0.0])


def test_nothing_is_refused():
    with pytest.raises(BadInput, match="strings: an empty training set"):
        scored(Setting("binary", False, 2), [])
