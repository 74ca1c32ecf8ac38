"""How many short strings are right, class by class, against every string: any cell, any readout, any arithmetic."""

import random
from fractions import Fraction

import numpy as np
import pytest
from brute_force import READOUTS, SCALAR_CELLS, classes, some_model

from tallystick.cells import LinearCell, SelectiveCell, TanhCell
from tallystick.certificates.one_unit import exact_accuracy as counting
from tallystick.certificates.one_unit.exact_accuracy import ExactAccuracy, accuracy_curve, exact_accuracy
from tallystick.certificates.verdict import arithmetic_of
from tallystick.errors import BadInput
from tallystick.languages.tasks import MembershipClass
from tallystick.networks import Network, Readout

LONGEST = 5


@pytest.mark.parametrize("arithmetic", ["real", "float16", "float32-fused"])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("cell", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_the_counts_are_those_of_every_string(cell, readout, arithmetic):
    generator, counted = random.Random(f"{cell}{readout}{arithmetic}"), 0
    for _ in range(6):
        model = some_model(cell, readout, generator)
        try:
            curve = accuracy_curve(model, LONGEST, arithmetic)
        except BadInput:  # bounds on tanh that do not decide, or a state that overflows
            continue
        counted += 1
        strings = classes(model.in_arithmetic(arithmetic_of(arithmetic)), LONGEST)
        names = model.task.classes
        assert [found.length for found in curve] == list(range(1, LONGEST + 1))
        for found in curve:
            given, right = strings[found.length]
            assert found.strings == {name: int((right == index).sum()) for index, name in enumerate(names)}
            assert found.correct == {
                name: int(((right == index) & (given == index)).sum()) for index, name in enumerate(names)
            }
        assert exact_accuracy(model, LONGEST, arithmetic) == curve[-1]
    assert counted > (0 if cell is TanhCell else 4)


@pytest.mark.parametrize("U", [-1, 0, 1])
@pytest.mark.parametrize("readout", [Readout.zero(), Readout.binary(1, -1), Readout.ternary((-1, 0, 1), (-2, 0, -1))])
def test_few_distinct_sums_are_counted_by_binomials(U, readout):
    """Ties included: steps and thresholds are whole numbers."""
    for a, b in ((1, -1), (2, -1), (1, 1), (-1, 2), (1, 0)):
        model = Network(LinearCell(Fraction(a), Fraction(b), Fraction(U)), readout)
        strings = classes(model.in_arithmetic("rational"), 6)
        for found in accuracy_curve(model, 6):
            given, right = strings[found.length]
            assert found.total_correct == (given == right).sum()


def test_shares_of_right_strings():
    found = ExactAccuracy(
        3,
        {MembershipClass.REJECTED: 8, MembershipClass.ACCEPTED: 0},
        {MembershipClass.REJECTED: 6, MembershipClass.ACCEPTED: 0},
    )
    assert (found.total_correct, found.accuracy, found.balanced_accuracy) == (6, Fraction(3, 4), Fraction(3, 4))
    even = ExactAccuracy(
        2,
        {MembershipClass.REJECTED: 2, MembershipClass.ACCEPTED: 2},
        {MembershipClass.REJECTED: 2, MembershipClass.ACCEPTED: 1},
    )
    assert (even.total_correct, even.accuracy, even.balanced_accuracy) == (3, Fraction(3, 4), Fraction(3, 4))


@pytest.mark.parametrize(("name", "arithmetic", "most"), [("MOST_FLOATS", "float32", 14), ("MOST_OBJECTS", "real", 14)])
def test_states_are_listed_while_they_are_few(name, arithmetic, most, monkeypatch):
    """A selective cell has 2 states of length 1, 4 of length 2 and so on."""
    model = Network(SelectiveCell(1, -1, Fraction(3, 4), Fraction(5, 8)), Readout.binary(1))
    for allowed, refused in ((8, 4), (7, 3), (most, 4)):
        monkeypatch.setattr(counting, name, allowed)
        with pytest.raises(BadInput) as refusal:
            exact_accuracy(model, 6, arithmetic)
        assert str(refusal.value) == (
            f"length: {refused} has more than {allowed} states to list; only shorter lengths can be counted"
        )
        assert len(accuracy_curve(model, refused - 1, arithmetic)) == refused - 1


def test_strings_that_share_a_state_are_one_state_with_a_number():
    groups = next(iter(_groups(Network(LinearCell(1, -1, 1), Readout.zero()), 6)))
    assert [len(listed.sizes) for _, listed in sorted(groups.items())] == [1] * 7
    assert [int(listed.sizes.sum()) for _, listed in sorted(groups.items())] == [1, 6, 15, 20, 15, 6, 1]
    assert [int(listed.states.least[0]) for _, listed in sorted(groups.items())] == list(range(-6, 7, 2))


def _groups(model, length):
    run = counting.execution(model, "float32")
    grouping = counting.grouping_of(run.model_at(0))
    start = counting._Listed(counting.first_row(run.model_at(0).cell), np.array([1], object))
    groups = {0: start}
    for size in range(1, length + 1):
        groups = counting._advance(groups, run, grouping, size)
    yield groups
