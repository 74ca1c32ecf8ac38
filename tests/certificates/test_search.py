"""Right ends of an interval of states: what they say of the states between, and of a string known between two bounds only."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tallystick.certificates.one_unit.exact_accuracy import _require_decided
from tallystick.certificates.one_unit.executions import EnclosedTanh, Execution
from tallystick.certificates.one_unit.extremes import ByOpenings, Ends
from tallystick.certificates.one_unit.search import failure_of, is_certain
from tallystick.errors import BadInput
from tallystick.languages.tasks import TERNARY
from tallystick.networks import Network, Readout
from tallystick.networks.readout import DECISIONS, GREATEST, NOTHING, ZERO, Comparison, Decision

# Of the lines for negative and zero: slopes and biases, and the least h. At h = 1 the former overflows and the latter does not.
OVERFLOWING = [
    ((-9904, -11496), (-55616, -54016), 0.07342529296875),
    ((-18560, -20352), (-46976, -45152), 0.0738525390625),
    ((-1462, -4108), (-64064, -61408), 0.5185546875),
]


@pytest.mark.parametrize(("slopes", "biases", "least"), OVERFLOWING)
def test_an_overflow_hides_how_near_two_lines_are(slopes, biases, least):
    """At both ends zero wins, by a lot and by all; yet beside the overflow the two lines are rounded to one number."""
    weight, bias = (tuple(map(np.float16, line)) for line in ((*slopes, 1), (*biases, -65504)))
    readout = Readout.ternary(weight, bias)
    low, high = np.float16(least), np.float16(1)
    between = np.arange(low.view(np.uint16), high.view(np.uint16) + 1, dtype=np.uint16).view(np.float16)
    with np.errstate(over="ignore"):
        found = readout.class_index((between,))
        assert found[0] == found[-1] == 1
        assert 0 in found
        assert not is_certain(readout, np.array([1]), Ends(between[:1], between[-1:]), rounded=True)[0]
        assert is_certain(readout, np.array([1]), Ends(between[:1], between[1:2]), rounded=True)[0]


def ternary(weight, bias):
    return Readout.ternary(tuple(map(np.float16, weight)), tuple(map(np.float16, bias)))


# Readouts whose outputs zero and negative are rounded to one number between two ends at which zero wins, and those ends.
# In the second the products lie below the least normal number, where rounding is as coarse however small they are.
LEAST = 2.0**-24
CROSSING = [
    (ternary((2, 1, 1), (999.5, 1000, -1000)), (np.arange(27) / 100).astype(np.float16)),
    (ternary((0.75, 0.5, 0.5), (2 * LEAST, 4 * LEAST, -1)), (np.arange(8) * LEAST).astype(np.float16)),
]


@pytest.mark.parametrize(("readout", "states"), CROSSING, ids=["large biases", "least numbers"])
def test_lines_as_near_as_rounding_are_not_certain(readout, states):
    found = readout.class_index((states,))
    assert found[0] == found[-1] == 1
    assert 0 in found
    ends = Ends(states[:1], states[-1:])
    assert not is_certain(readout, np.array([1]), ends, rounded=True)[0]
    assert is_certain(readout, np.array([1]), ends, rounded=False)[0]


def test_each_group_is_certain_by_itself():
    """One overflows, and the others lie far from where the lines cross; one so far that a float16 does not hold it."""
    readout = ternary((1, 2, 1), (-60000, 60000, -60000))
    ends = Ends(np.array([1, 1, 1], np.float16), np.array([2, 30000, 3], np.float16))
    with np.errstate(over="ignore"):
        assert is_certain(readout, np.array([1, 1, 1]), ends, rounded=True).tolist() == [True, False, True]


@dataclass(frozen=True)
class Between(EnclosedTanh):
    """A cell of whose states nothing but two bounds is known."""

    low: Any
    high: Any

    def image(self, *_):
        """Return the bounds, whatever was before."""
        return self.low, self.high

    tanh_bounds = image


def between(bounds, readout, *, rounded):
    cell = Between(*map(np.float16, (1, -1, 1)), *bounds)
    return Execution(lambda _: Network(cell, readout), rounded=rounded, enclosed=True)


@pytest.mark.parametrize(("readout", "states"), CROSSING, ids=["large biases", "least numbers"])
def test_rounding_between_two_bounds_is_thought_of(readout, states):
    """At both bounds zero wins, which is wrong after `(`; rounded, negative does somewhere between them."""
    bounds = states[:1], states[-1:]
    rounded, exact = (between(bounds, readout, rounded=flag) for flag in (True, False))
    assert failure_of(rounded, ByOpenings(), "(") is None
    failure = failure_of(exact, ByOpenings(), "(")
    assert (failure.string, failure.found, failure.right) == ("(", *TERNARY.classes[1:])
    _require_decided(exact, 1, np.array([1]), Ends(*bounds))
    with pytest.raises(BadInput, match="the bounds on tanh do not decide every string of length 1"):
        _require_decided(rounded, 1, np.array([1]), Ends(*bounds))


def test_bounds_on_both_sides_of_zero_reject_nothing():
    def outcome(low, high):
        bounds = np.array([low], np.float16), np.array([high], np.float16)
        return failure_of(between(bounds, Readout.zero(), rounded=True), ByOpenings(), "()")

    assert outcome(-1, 1) is None
    assert outcome(1, 2).found == outcome(-2, -1).found == "rejected"


def test_a_class_of_what_is_left_needs_all_others_to_lie_beside(monkeypatch):
    """Classes 1 and 2 are intervals, h > 2 and h < −2, and class 0 is what is left between them and at their ends."""
    comparisons = ((), (Comparison(0, NOTHING, True),), (Comparison(1, NOTHING, True),))
    decision = Decision("ternary", 3, comparisons, TERNARY)
    monkeypatch.setitem(DECISIONS, GREATEST, decision)
    readout = Readout.ternary((1, -1, 0), (-2, -2, 0))
    ends = Ends(np.array([-2, -3, 3, -3], object), np.array([2, 3, 4, -2], object))
    assert is_certain(readout, np.zeros(4, int), ends, rounded=False).tolist() == [True, False, False, False]
    assert is_certain(readout, np.array([0, 2, 1, 2]), ends, rounded=False).tolist() == [True, True, True, True]


def test_the_zero_check_is_certain_where_its_comparisons_say_so(monkeypatch):
    """The short way that the zero check takes agrees with the one by comparisons, which any decision can take."""
    monkeypatch.setitem(DECISIONS, "zero by name", DECISIONS[ZERO])
    ends = Ends(np.array([-2, -1, 0, 1, -1, 0], object), np.array([-1, 0, 0, 2, 1, 1], object))
    by_comparisons = Readout(((1,),), (0,), "zero by name")
    for right in (np.zeros(6, int), np.ones(6, int)):
        short, long = (is_certain(one, right, ends, rounded=False) for one in (Readout.zero(), by_comparisons))
        assert short.tolist() == long.tolist()
    assert not is_certain(Readout.zero(), np.zeros(6, int), ends, rounded=False).all()
