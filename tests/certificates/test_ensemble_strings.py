"""The horizons of small ensembles against every string of their networks; nothing is asked of the certifier's own searches."""

import random
from fractions import Fraction

import numpy as np
import pytest
from brute_force import READOUTS, SCALAR_CELLS, classes, some_model
from ensemble_agreement import in_floats, stacked

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.one_unit import ensemble as room
from tallystick.certificates.one_unit import linear_ensemble
from tallystick.certificates.one_unit.ensemble import UNLIMITED, horizons
from tallystick.certificates.one_unit.linear_ensemble import size_of, some_of
from tallystick.certificates.one_unit.sorted_strings import right_at_zero
from tallystick.networks import Network, Readout

LONGEST = 7
COMBINATIONS = [(cell, readout) for cell in SCALAR_CELLS.values() for readout in READOUTS]


def right_to(model, stride):
    """The greatest counted length to which no string fails, and whether that is all that was looked at."""
    strings = classes(model.in_arithmetic("rational"), LONGEST)
    wrong = [length for length, (found, right) in strings.items() if length % stride == 0 and (found != right).any()]
    return (wrong[0] - stride, False) if wrong else (LONGEST - LONGEST % stride, True)


@pytest.mark.parametrize(("cell", "readout"), COMBINATIONS, ids=[f"{c.name} {r}" for c, r in COMBINATIONS])
def test_an_ensemble_is_right_as_far_as_every_string_says(cell, readout, monkeypatch):
    monkeypatch.setattr(linear_ensemble, "_FEW", 0)
    generator = random.Random(f"{cell}{readout}strings")
    models = [in_floats(some_model(cell, readout, generator)) for _ in range(10 if cell is TanhCell else 25)]
    found = horizons(stacked(models), limit=LONGEST)
    for stride, reached, sure in ((1, found.all, found.all_exact), (2, found.even, found.even_exact)):
        for model, horizon, exact in zip(models, reached.tolist(), sure.tolist(), strict=True):
            expected, to_the_end = right_to(model, stride)
            if to_the_end:
                assert horizon >= expected
                assert exact or horizon == expected
            else:
                assert horizon == expected if exact else horizon <= expected
                assert exact or cell is TanhCell


def no_tie(cell, readout, generator):
    """A network near a counter whose weights are drawn at random, so that no state lies on a threshold."""
    a, U = generator.choice([1, -1]) * generator.uniform(0.8, 1.2), generator.uniform(0.8, 1.25)
    weights = [U, generator.uniform(0.8, 1.25)] if cell is SelectiveCell else [U]
    at, v = a * generator.uniform(0.2, 0.6), generator.uniform(0.5, 2) * (1 if a > 0 else -1)
    made = cell(a, -a * generator.uniform(0.8, 1.25), *weights)
    if readout == "binary":
        return Network(made, Readout.binary(v, -v * at))
    return Network(made, Readout.ternary((-v, 0.1 * v, v), (-v * at, 0.0, -v * at)))


@pytest.mark.parametrize("readout", ["binary", "ternary"])
@pytest.mark.parametrize("cell", [LinearCell, SelectiveCell], ids=["linear", "selective"])
def test_away_from_ties_floats_decide_by_themselves(cell, readout, monkeypatch):
    """No model is left to the certifier, and each is right as far as every string says."""

    def unasked(model, *_, **__):
        raise AssertionError(f"{model} was not decided")

    monkeypatch.setattr(linear_ensemble, "certify_network", unasked)
    monkeypatch.setattr(room, "certify_network", unasked)
    monkeypatch.setattr(linear_ensemble, "_FEW", 0)
    generator, seen = random.Random(f"{cell}{readout}"), set()
    models = [no_tie(cell, readout, generator) for _ in range(40)]
    found = horizons(stacked(models), limit=60)
    for stride, reached, sure in ((1, found.all, found.all_exact), (2, found.even, found.even_exact)):
        assert sure.all()
        for model, horizon in zip(models, reached.tolist(), strict=True):
            expected, to_the_end = right_to(model, stride)
            assert horizon >= expected if to_the_end else horizon == expected
            seen.add(horizon)
    assert len(seen) > 4


def test_what_is_known_for_certain():
    """An exact counter, one that drifts, one that fails at once and one with U ≤ 0: their horizons by hand."""
    a, b, U = np.array([1.0, 1.0, -1.0, 1.0]), np.array([-1.0, -1.25, 1.0, -1.0]), np.array([1.0, 1.0, 1.0, -1.0])
    found = horizons(Network(LinearCell(a, b, U), Readout.binary(np.ones(4), np.full(4, -0.5))))
    # The second has h = n − 5m/4 and is wrong once n = m + 1 gives 1 − m/4 ≤ 1/2: at 3 + 2 tokens.
    assert found.all.tolist() == [UNLIMITED, 4, 0, 1]
    # Of even lengths n = m + 2 gives 2 − m/4 ≤ 1/2 for m = 6: at 8 + 6 tokens.
    assert found.even.tolist() == [UNLIMITED, 12, 0, 0]
    assert found.all_exact.all()
    assert found.even_exact.all()


def test_a_head_start_is_taken_over_where_nothing_else_is_known():
    a, b, U = np.ones(3), np.array([-1.0, -1.25, -1.25]), np.ones(3)
    asked = []

    def head_start(models, chosen):
        asked.append((size_of(models), chosen.tolist()))
        return linear_ensemble.FirstFailures(np.array([7, 4, -1]), np.array([7, -1, 12]))

    found = horizons(Network(LinearCell(a, b, U), Readout.binary(np.ones(3), np.full(3, -0.5))), head_start=head_start)
    assert asked == [(3, [False, True, True])]
    assert found.all.tolist() == [UNLIMITED, 4, 4]
    assert found.even.tolist() == [UNLIMITED, 12, 12]


@pytest.mark.parametrize(
    ("readout", "expected"),
    [
        (Readout.binary(np.ones(3), np.array([-1.0, 0.0, 1.0])), [True, True, False]),
        (
            Readout.ternary((np.ones(3),) * 3, (np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]), np.zeros(3))),
            [False, True, False],
        ),
    ],
)
def test_which_readouts_are_right_at_zero(readout, expected):
    assert right_at_zero(Network(LinearCell(np.ones(3), -np.ones(3), np.ones(3)), readout)).tolist() == expected


def test_some_of_the_models():
    models = Network(
        LinearCell(np.arange(3.0), np.arange(3.0), np.arange(3.0)), Readout.binary(np.arange(3.0), np.zeros(3))
    )
    assert size_of(models) == 3
    for chosen in (np.array([False, True, True]), slice(1, None), np.array([1, 2])):
        assert some_of(models, chosen).cell.close_step.tolist() == [1.0, 2.0]
        assert some_of(models, chosen).readout.weight[0][0].tolist() == [1.0, 2.0]


def test_a_zero_check_is_searched_to_the_limit():
    """ReLU counters that forget a little: right as far as the search goes, and no further said."""
    half = Fraction(1, 2)
    cells = ReluCell(np.array([1.0, 1.0]), np.array([-1.0, -1.0]), np.array([float(half), 1.0]))
    found = horizons(Network(cells, Readout.zero()), limit=2)
    assert (found.all.tolist(), found.all_exact.tolist()) == ([2, UNLIMITED], [False, True])
    assert (found.even.tolist(), found.even_exact.tolist()) == ([2, UNLIMITED], [False, True])
    further = horizons(Network(cells, Readout.zero()), limit=9)
    assert (further.all.tolist()[0], further.all_exact.tolist()) == (2, [True, True])
