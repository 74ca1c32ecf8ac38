"""The extremes of h against every string."""

import random
from collections import defaultdict

import numpy as np
import pytest
from brute_force import some_cell, states, strings

from tallystick.cells import LinearCell, ReluCell, SelectiveCell
from tallystick.certificates.one_unit.extremes import ByRunningCount, closed_form, extremes, first_row, rows
from tallystick.errors import BadInput
from tallystick.languages.brackets import SEMI_DYCK1
from tallystick.numbers import ARITHMETICS


def grouped(cell, longest, group):
    found = defaultdict(list)
    for length, row in enumerate(states(cell, longest)):
        for string, state in zip(strings(length), row, strict=True):
            found[length, group(string)].append(state)
    return {key: (min(ends), max(ends)) for key, ends in found.items()}


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("kind", [LinearCell, SelectiveCell, ReluCell])
def test_the_recursion_gives_the_extremes_of_every_string(kind, arithmetic):
    generator = random.Random(1)
    for _ in range(40):
        cell = some_cell(kind, generator).map_weights(ARITHMETICS[arithmetic])
        with np.errstate(over="ignore", invalid="ignore"):
            expected = grouped(cell, 8, lambda string: string.count("("))
            if not all(np.isfinite(float(end)) for ends in expected.values() for end in ends):
                continue  # an overflow times a weight of zero is no number
            for length, row in enumerate(rows(cell, 8)):
                for openings in range(length + 1):
                    assert (row.least[openings], row.greatest[openings]) == expected[length, openings]


@pytest.mark.parametrize("arithmetic", ["rational", "float16"])
def test_the_same_by_running_count(arithmetic):
    generator = random.Random(2)
    for _ in range(40):
        cell = some_cell(ReluCell, generator).map_weights(ARITHMETICS[arithmetic])
        with np.errstate(over="ignore", invalid="ignore"):
            expected, row = grouped(cell, 8, SEMI_DYCK1.count), first_row(cell)
            for length in range(1, 9):
                row = ByRunningCount().advance(row, cell)
                for group in range(length + 1):
                    assert (row.least[group], row.greatest[group]) == expected[length, group]


def test_the_closed_form_of_a_linear_cell():
    generator = random.Random(3)
    for _ in range(200):
        cell = some_cell(LinearCell, generator)
        openings, closings = generator.randrange(6), generator.randrange(6)
        assert closed_form(cell, openings, closings) == extremes(cell, openings, closings)


def test_bad_numbers_are_named():
    with pytest.raises(BadInput, match="openings: -1"):
        extremes(LinearCell(1, -1, 1), -1, 2)
    with pytest.raises(BadInput, match="no closed form is known for a ReluCell"):
        closed_form(ReluCell(1, -1, 1), 1, 1)  # pyright: ignore
