"""The horizons of whole ensembles against those of single models."""

import random
from fractions import Fraction

import numpy as np
import pytest
from brute_force import some_model

from tallystick.cells import LinearCell
from tallystick.certificates import ensemble
from tallystick.certificates.ensemble import UNLIMITED, horizons
from tallystick.certificates.horizon import certify
from tallystick.certificates.verdict import Lengths
from tallystick.errors import BadInput
from tallystick.models import Model
from tallystick.readouts import BinaryReadout, TernaryReadout

KINDS = pytest.mark.parametrize("kind", [BinaryReadout, TernaryReadout])


def stacked(models):
    """Models as one cell and one readout of arrays."""
    cells = LinearCell(*(np.array([float(getattr(m.cell, name)) for m in models]) for name in _FIELDS))
    readouts = [m.readout for m in models]
    if isinstance(readouts[0], BinaryReadout):
        weight, bias = (np.array([float(getattr(r, name)) for r in readouts]) for name in ("weight", "bias"))
    else:
        weight, bias = (
            tuple(np.array([float(getattr(r, name)[i]) for r in readouts]) for i in range(3))
            for name in ("weight", "bias")
        )
    return cells, type(readouts[0])(weight, bias)


_FIELDS = ("open_step", "close_step", "recurrent_weight")


def in_floats(model):
    return Model(model.cell.converted(lambda x, _: float(x)), model.readout.converted(lambda x, _: float(x)))


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
    if kind is BinaryReadout:
        return Model(cell, BinaryReadout(v, -v * place * a))
    return Model(cell, TernaryReadout((-v, 0.0, v), (-v * place * a, 0.0, -v * place * a)))


@KINDS
@pytest.mark.parametrize("few", [0, 32])
def test_an_ensemble_agrees_with_its_models(kind, few, monkeypatch):
    monkeypatch.setattr(ensemble, "_FEW", few)
    monkeypatch.setattr(ensemble, "_LONGEST", 400)
    generator = random.Random(f"{kind}{few}")
    models = [near_exact(kind, generator) for _ in range(150)] + [
        some_model(LinearCell, kind, generator) for _ in range(100)
    ]
    found = horizons(*stacked(models))
    assert found.all.tolist() == expected(models, Lengths.ALL)
    assert found.even.tolist() == expected(models, Lengths.EVEN)


def test_floats_decide_nearly_all(monkeypatch):
    """The rational path is for the few that lie at a tie."""
    generator = np.random.default_rng(1)
    size = 3000
    cells = LinearCell(
        *(generator.normal(mean, 0.1, size).astype(np.float32) for mean in (0.9, -1)),
        generator.normal(1, 0.04, size).astype(np.float32),
    )
    readouts = BinaryReadout(np.full(size, 1.5, np.float32), np.zeros(size, np.float32))
    asked = []
    monkeypatch.setattr(ensemble, "certify", lambda *args: asked.append(args) or certify(*args))
    found = horizons(cells, readouts)
    assert len(asked) < 100
    assert (found.even >= found.all - 1).all()


def test_exact_counters_are_unlimited():
    ones = np.ones(5)
    places = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    found = horizons(LinearCell(ones, -ones, ones), BinaryReadout(ones, -places))
    assert (found.all == UNLIMITED).tolist() == [True, True, False, False, False]
    assert (found.even == UNLIMITED).tolist() == [True, True, True, True, False]


def test_extreme_weights_go_to_rationals():
    cells = LinearCell(np.array([1e-300, 1e300, 1.0]), np.array([-1e-300, -1e300, -1.0]), np.array([1.0, 0.5, 1e-200]))
    readouts = BinaryReadout(np.ones(3), np.zeros(3))
    models = [
        Model(LinearCell(1e-300, -1e-300, 1.0), BinaryReadout(1.0)),
        Model(LinearCell(1e300, -1e300, 0.5), BinaryReadout(1.0)),
    ]
    models.append(Model(LinearCell(1.0, -1.0, 1e-200), BinaryReadout(1.0)))
    assert horizons(cells, readouts).all.tolist() == expected(models, Lengths.ALL)


def test_bad_arrays_are_named():
    one = np.ones(2)
    with pytest.raises(BadInput, match="not a finite number"):
        horizons(LinearCell(one, np.array([1, np.nan]), one), BinaryReadout(one))
    with pytest.raises(BadInput, match="arrays of one dimension"):
        horizons(LinearCell(1.0, -1.0, 1.0), BinaryReadout(1.0))
    with pytest.raises(BadInput, match="arrays of one dimension"):
        horizons(LinearCell(one, -one, np.array([Fraction(1)] * 2)), BinaryReadout(one))
