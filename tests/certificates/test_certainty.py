"""What right ends say of the states between them, where outputs are rounded or overflow."""

import numpy as np
import pytest

from tallystick.certificates.certainty import certain
from tallystick.certificates.extremes import Ends
from tallystick.networks import Readout

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
        assert not certain(readout, np.array([1]), Ends(between[:1], between[-1:]), rounded=True)[0]
        assert certain(readout, np.array([1]), Ends(between[:1], between[1:2]), rounded=True)[0]


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
    assert not certain(readout, np.array([1]), ends, rounded=True)[0]
    assert certain(readout, np.array([1]), ends, rounded=False)[0]


def test_each_group_is_certain_by_itself():
    """One overflows, and the others lie far from where the lines cross; one so far that a float16 does not hold it."""
    readout = ternary((1, 2, 1), (-60000, 60000, -60000))
    ends = Ends(np.array([1, 1, 1], np.float16), np.array([2, 30000, 3], np.float16))
    with np.errstate(over="ignore"):
        assert certain(readout, np.array([1, 1, 1]), ends, rounded=True).tolist() == [True, False, True]
