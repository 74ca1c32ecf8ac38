"""The horizons of whole ensembles against those of single models."""

import random
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
from brute_force import READOUTS, SCALAR_CELLS, some_model
from ensemble_agreement import ensemble_disagreements, in_floats, stacked

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit import ensemble as room
from tallystick.certificates.one_unit import linear_ensemble
from tallystick.certificates.one_unit.ensemble import UNLIMITED, horizons, meets_conditions
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.counting_conditions import conditions
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout
from tallystick.runs import gpu_certifier
from tallystick.runs.gpu_certifier import GpuCertifier

KINDS = pytest.mark.parametrize("kind", ["binary", "ternary"])


def expected(models, lengths):
    found = [certify(in_floats(model), lengths).horizon for model in models]
    return [UNLIMITED if horizon is None else horizon for horizon in found]


def near_exact(kind, generator):
    """Models like trained ones, from wild to nearly exact, some of them exact."""
    spread = 10.0 ** generator.uniform(-7, -0.5)
    a = generator.choice([1.0, -1.0, generator.gauss(1, 0.3)])
    b = -a * generator.choice([1.0, generator.gauss(1, spread)])
    cell = LinearCell(a, b, generator.choice([1.0, generator.gauss(1, spread), generator.gauss(1, spread)]))
    v = generator.choice([1.0, 0.3]) * (1 if a > 0 else -1)
    place = generator.choice([0.0, 0.5, generator.random()])
    if kind == "binary":
        return Network(cell, Readout.binary(v, -v * place * a))
    return Network(cell, Readout.ternary((-v, 0.0, v), (-v * place * a, 0.0, -v * place * a)))


def some_ensemble(kind, generator):
    """Models near a counter, and others."""
    near = [near_exact(kind, generator) for _ in range(60)]
    return near + [some_model(LinearCell, kind, generator) for _ in range(40)]


@KINDS
@pytest.mark.parametrize("few", [0, 32])
def test_an_ensemble_agrees_with_its_models(kind, few, monkeypatch):
    monkeypatch.setattr(linear_ensemble, "_FEW", few)
    monkeypatch.setattr(linear_ensemble, "_LONGEST", 400)
    generator = random.Random(f"{kind}{few}")
    models = some_ensemble(kind, generator)
    found = horizons(stacked(models))
    assert found.all.tolist() == expected(models, Lengths.ALL)
    assert found.even.tolist() == expected(models, Lengths.EVEN)
    assert found.all_exact.all()
    assert found.even_exact.all()


@KINDS
def test_a_head_start_on_a_device_changes_nothing(kind, monkeypatch):
    """The device fails the most of them; what lasts longer than it goes, or lies at a tie, is left to the host."""
    monkeypatch.setattr(gpu_certifier, "LONGEST", 30)
    generator = random.Random(f"{kind}")
    models = some_ensemble(kind, generator)
    taken = []

    def head_start(models, chosen):
        found = GpuCertifier(nullcontext).first_failures(models, chosen)
        taken.append((found.even >= 0).sum() / chosen.sum())
        return found

    ensemble = stacked(models)
    for alone, helped in zip(horizons(ensemble), horizons(ensemble, head_start=head_start), strict=True):
        assert alone.tolist() == helped.tolist()
    assert 0.5 < taken[0] < 1


SEARCHED = [
    (kind, readout)
    for kind in SCALAR_CELLS.values()
    for readout in READOUTS
    if kind is not LinearCell or readout == "zero"
]


@pytest.mark.parametrize(("kind", "readout"), SEARCHED)
def test_an_ensemble_of_any_cell_agrees_with_its_models(kind, readout, monkeypatch):
    """Ties included: half of the thresholds lie on states of the cell, and many cells are exact counters."""
    monkeypatch.setattr(room, "_AT_ONCE", 32)
    generator = random.Random(f"{readout} {kind.name}")
    models = [in_floats(some_model(kind, readout, generator)) for _ in range(40 if kind is TanhCell else 100)]
    verdicts = {lengths: [certify(model, lengths, limit=14) for model in models] for lengths in Lengths}
    assert ensemble_disagreements(models, verdicts, limit=14) == []
    found = horizons(stacked(models), limit=14)
    for lengths, exact in ((Lengths.ALL, found.all_exact), (Lengths.EVEN, found.even_exact)):
        assert np.mean(exact == [verdict.outcome is not Outcome.BOUNDED for verdict in verdicts[lengths]]) > 0.8


def test_boxes_decide_nearly_all(monkeypatch):
    """The certifier is for the few that lie at a tie; exact counters need neither, P·Q = 1 and b = −Q·a or a zero check."""
    generator = np.random.default_rng(2)
    size = 300
    a, b, P, Q = (
        generator.normal(mean, 0.05, size).astype(np.float32).astype(np.float64) for mean in (0.9, -1, 1, 1.01)
    )
    P[:100], Q[:100] = generator.choice([[0.5, 2], [4, 0.25], [1, 1]], 100).T
    b[:100] = -Q[:100] * a[:100]
    asked = []
    monkeypatch.setattr(room, "certify_network", lambda *args, **options: asked.append(1) or certify(*args, **options))
    found = horizons(Network(SelectiveCell(a, b, P, Q), Readout.binary(np.full(size, 1.5), np.zeros(size))))
    assert (found.all[:100] == UNLIMITED).all()
    assert (found.all[100:] < 100).all()
    assert found.all_exact.all()
    counters = horizons(Network(ReluCell(a, -a, np.ones(size)), Readout.zero()))
    assert (counters.even == UNLIMITED).all()
    assert len(asked) < 5


def test_what_lasts_to_the_limit_has_a_lower_bound():
    one = np.ones(2)
    cells = SelectiveCell(one, -one, one, np.array([1.0, 1 + 1e-9]))
    found = horizons(Network(cells, Readout.binary(one, -one / 2)), limit=21)
    assert found.all.tolist() == [UNLIMITED, 21]
    assert found.even.tolist() == [UNLIMITED, 20]
    assert found.all_exact.tolist() == found.even_exact.tolist() == [True, False]


@pytest.mark.parametrize("kind", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_exact_counters_are_those_of_the_theorem(kind):
    generator = random.Random(str(kind))
    models = [in_floats(some_model(kind, "zero", generator)) for _ in range(200)]
    found = meets_conditions(stacked(models).cell).tolist()
    if kind is TanhCell:
        assert not any(found)
    else:
        assert found == [all(condition.holds for condition in conditions(model.cell)) for model in models]
        assert 10 < sum(found) < 190


def test_floats_decide_nearly_all(monkeypatch):
    """The rational path is for the few that lie at a tie."""
    generator = np.random.default_rng(1)
    size = 3000
    cells = LinearCell(
        *(generator.normal(mean, 0.1, size).astype(np.float32) for mean in (0.9, -1)),
        generator.normal(1, 0.04, size).astype(np.float32),
    )
    readouts = Readout.binary(np.full(size, 1.5, np.float32), np.zeros(size, np.float32))
    asked = []
    monkeypatch.setattr(linear_ensemble, "certify_network", lambda *args: asked.append(args) or certify(*args))
    found = horizons(Network(cells, readouts))
    assert len(asked) < 100
    assert (found.even >= found.all - 1).all()


def test_exact_counters_are_unlimited():
    ones = np.ones(5)
    places = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    found = horizons(Network(LinearCell(ones, -ones, ones), Readout.binary(ones, -places)))
    assert (found.all == UNLIMITED).tolist() == [True, True, False, False, False]
    assert (found.even == UNLIMITED).tolist() == [True, True, True, True, False]


def test_extreme_weights_go_to_rationals():
    cells = LinearCell(np.array([1e-300, 1e300, 1.0]), np.array([-1e-300, -1e300, -1.0]), np.array([1.0, 0.5, 1e-200]))
    readouts = Readout.binary(np.ones(3), np.zeros(3))
    models = [
        Network(LinearCell(1e-300, -1e-300, 1.0), Readout.binary(1.0)),
        Network(LinearCell(1e300, -1e300, 0.5), Readout.binary(1.0)),
    ]
    models.append(Network(LinearCell(1.0, -1.0, 1e-200), Readout.binary(1.0)))
    assert horizons(Network(cells, readouts)).all.tolist() == expected(models, Lengths.ALL)


def test_bad_arrays_are_named():
    one = np.ones(2)
    with pytest.raises(BadInput, match="limit: 1 is not a whole number from 2 on"):
        horizons(Network(LinearCell(one, -one, one), Readout.binary(one, one)), limit=1)
    with pytest.raises(BadInput, match="not a finite number"):
        horizons(Network(LinearCell(one, np.array([1, np.nan]), one), Readout.binary(one)))
    with pytest.raises(BadInput, match="arrays of one dimension"):
        horizons(Network(LinearCell(1.0, -1.0, 1.0), Readout.binary(1.0)))
    with pytest.raises(BadInput, match="arrays of one dimension"):
        horizons(Network(LinearCell(one, -one, np.array([Fraction(1)] * 2)), Readout.binary(one)))
