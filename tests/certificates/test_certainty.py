"""What right ends say of the states between them, where an output overflows at one of them."""

import numpy as np
import pytest

from tallystick.certificates.certainty import certain
from tallystick.certificates.extremes import Ends
from tallystick.readouts import TernaryReadout

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
    readout = TernaryReadout(weight, bias)
    low, high = np.float16(least), np.float16(1)
    between = np.arange(low.view(np.uint16), high.view(np.uint16) + 1, dtype=np.uint16).view(np.float16)
    with np.errstate(over="ignore"):
        found = readout.class_index(between)
        assert found[0] == found[-1] == 1
        assert 0 in found
        assert not certain(readout, np.array([1]), Ends(between[:1], between[-1:]), rounded=True)[0]
        assert certain(readout, np.array([1]), Ends(between[:1], between[1:2]), rounded=True)[0]
