"""The horizons of many affine networks at once are those that every string of each says, for all lengths and for even ones."""

from fractions import Fraction

import numpy as np
import pytest
from affine_cases import KINDS, some_case
from every_string import rightness

import tallystick as ts
from tallystick.certificates.linear.ensemble import layer_horizons

ASKED = ("binary", "ternary", "two reversed")


def weights_of(network):
    found = []
    network.map_weights(lambda value, _: found.append(Fraction(value)) or value)
    return found


def some_cases(kind, d, asked, number):
    """Cases without a stack whose weights are doubles, so that they can stand side by side in arrays."""
    found, seed = [], 0
    while len(found) < number and seed < 12 * number:
        case, seed = some_case(f"many {seed}", kind, d, asked), seed + 1
        if isinstance(case.network.cell, ts.Cell) and all(x == Fraction(float(x)) for x in weights_of(case.network)):
            found.append(case)
    return found


def side_by_side(cases):
    """One network whose weights are arrays, one entry per case."""
    columns = iter(zip(*(map(float, weights_of(case.network)) for case in cases), strict=True))
    return cases[0].network.map_weights(lambda value, name: np.array(next(columns)))


def last_right_length(right, stride):
    """The horizon, or None where every counted length is right."""
    wrong = (length for length in range(stride, len(right) + 1, stride) if not right[length - 1].all())
    return next((length - stride for length in wrong), None)


def disagreements(kind, d, asked, number, longest):
    cases = some_cases(kind, d, asked, number)
    if not cases:
        return 0
    found = layer_horizons(side_by_side(cases), longest)
    for place, case in enumerate(cases):
        right = list(rightness(case.affine, longest))
        for stride, horizons, exact in ((1, found.all, found.all_exact), (2, found.even, found.even_exact)):
            horizon = last_right_length(right, stride)
            if horizon is None:
                assert horizons[place] >= longest - longest % stride, (kind, d, asked, place)
            else:
                assert (horizons[place], exact[place]) == (horizon, True), (kind, d, asked, place)
    return len(cases)


def test_many_horizons_are_what_every_string_says():
    each = enumerate(KINDS)
    assert sum(disagreements(kind, 1 + place % 4, ASKED[place % 3], 3, 8) for place, kind in each) > 40


@pytest.mark.long
@pytest.mark.parametrize("d", [1, 2, 4, 6])
@pytest.mark.parametrize("asked", ASKED)
def test_the_horizons_of_more_networks_are_what_every_string_says(asked, d):
    assert sum(disagreements(kind, d, asked, 5, 10) for kind in KINDS) > 60
