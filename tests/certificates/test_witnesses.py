"""A string whose state is known between two bounds fails, or is counted, only if all states between them get one class."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from test_certainty import CROSSING

from tallystick.certificates.executions import Execution
from tallystick.certificates.extremes import ByOpenings, Ends
from tallystick.certificates.listed_accuracy import _require_decided
from tallystick.certificates.tanh_enclosures import EnclosedTanh
from tallystick.certificates.witnesses import judged
from tallystick.errors import BadInput
from tallystick.languages.tasks import TERNARY
from tallystick.networks import Network, Readout


@dataclass(frozen=True)
class Between(EnclosedTanh):
    """A cell of whose states nothing but two bounds is known."""

    low: Any
    high: Any

    def image(self, *_):
        """Return the bounds, whatever was before."""
        return self.low, self.high

    squashed = image


def between(bounds, readout, *, rounded):
    cell = Between(*map(np.float16, (1, -1, 1)), *bounds)
    return Execution(lambda _: Network(cell, readout), rounded=rounded, enclosed=True)


@pytest.mark.parametrize(("readout", "states"), CROSSING, ids=["large biases", "least numbers"])
def test_rounding_between_two_bounds_is_thought_of(readout, states):
    """At both bounds zero wins, which is wrong after `(`; rounded, negative does somewhere between them."""
    bounds = states[:1], states[-1:]
    rounded, exact = (between(bounds, readout, rounded=flag) for flag in (True, False))
    assert judged(rounded, ByOpenings(), "(") is None
    failure = judged(exact, ByOpenings(), "(")
    assert (failure.string, failure.found, failure.right) == ("(", *TERNARY.classes[1:])
    _require_decided(exact, 1, np.array([1]), Ends(*bounds))
    with pytest.raises(BadInput, match="the bounds on tanh do not decide every string of length 1"):
        _require_decided(rounded, 1, np.array([1]), Ends(*bounds))


def test_bounds_on_both_sides_of_zero_reject_nothing():
    def outcome(low, high):
        bounds = np.array([low], np.float16), np.array([high], np.float16)
        return judged(between(bounds, Readout.zero(), rounded=True), ByOpenings(), "()")

    assert outcome(-1, 1) is None
    assert outcome(1, 2).found == outcome(-2, -1).found == "rejected"
