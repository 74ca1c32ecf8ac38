"""The horizons of many linear networks at once are those that `certify` finds one by one."""

import random
from collections import defaultdict

import numpy as np
import pytest
from linear_networks import KINDS, some_network

import tallystick as ts
from tallystick.certificates.certify import certify
from tallystick.certificates.linear import ensemble
from tallystick.certificates.linear.arrays import UNIT, linear_networks
from tallystick.certificates.linear.ensemble import layer_horizons
from tallystick.certificates.verdict import UNLIMITED, Lengths, Outcome
from tallystick.errors import BadInput
from tallystick.runs.columns import columns_of
from tallystick.runs.jobs import training_job
from tallystick.runs.rows import certify_many
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting


def together(values):
    """Equal nests of numbers as one nest of arrays."""
    if isinstance(values[0], tuple):
        return tuple(together(parts) for parts in zip(*values, strict=True))
    return np.array([float(value) for value in values])


def stacked(models):
    """Networks of one kind as one network of arrays."""
    first = models[0]
    cell = type(first.cell)(*(together([vars(model.cell)[name] for model in models]) for name in vars(first.cell)))
    weight, bias = (together([getattr(model.readout, name) for model in models]) for name in ("weight", "bias"))
    return ts.Network(cell, ts.Readout(weight, bias, first.readout.decision), first.task)


def disagreements(models, limit):
    found = layer_horizons(stacked(models), limit)
    wrong = []
    for place, model in enumerate(models):
        for lengths, answers, exact in (
            (Lengths.ALL, found.all, found.all_exact),
            (Lengths.EVEN, found.even, found.even_exact),
        ):
            verdict = certify(model, lengths, limit=limit)
            horizon = UNLIMITED if verdict.horizon is None else verdict.horizon
            if (horizon, verdict.outcome is not Outcome.BOUNDED) != (answers[place], exact[place]):
                wrong.append((model, lengths, verdict.outcome, horizon, answers[place], exact[place]))
    return wrong


def in_doubles(model):
    return model.map_weights(lambda weight, _: float(weight))


def networks_by_question(kind, seeds, d):
    groups = defaultdict(list)
    for seed in seeds:
        model = in_doubles(some_network(random.Random(f"{kind} {d} {seed}"), kind, d))
        groups[len(model.readout.bias), model.readout.decision, model.task.name, str(model.task.classes)].append(model)
    return groups.values()


@pytest.fixture
def _no_few(monkeypatch):
    monkeypatch.setattr(ensemble, "_FEW", 0)


@pytest.mark.usefixtures("_no_few")
@pytest.mark.parametrize("kind", KINDS)
def test_many_at_once_agree_with_each_alone(kind):
    """Ties, defective matrices and exact counters are among them; half of all thresholds lie on outputs."""
    for d in (1, 2, 4) if kind == "anything" else (2, 3):
        for models in networks_by_question(kind, range(12), d):
            assert disagreements(models, 40) == []


@pytest.mark.long
@pytest.mark.usefixtures("_no_few")
@pytest.mark.parametrize("kind", KINDS)
def test_more_at_once_agree_with_each_alone(kind):
    for d in range(2, 6):
        for models in networks_by_question(kind, range(30), d):
            assert disagreements(models, 60) == []


def near_counters(size, d, seed=0):
    """Networks like trained ones, from wild to nearly exact, in float32."""
    generator = np.random.default_rng(seed)
    parts = []
    for _ in range(size):
        spread = 10 ** generator.uniform(-5, -0.5)
        S = np.linalg.qr(generator.normal(size=(d, d)))[0] + 0.3 * generator.normal(size=(d, d))
        U = S @ np.diag([1 + spread * generator.normal(), *generator.uniform(-0.9, 0.9, d - 1)]) @ np.linalg.inv(S)
        step = S @ [1, *(0.1 * generator.normal(size=d - 1))]
        W = np.stack([step, spread * generator.normal(size=d) / 10 - step], axis=1)
        v = np.linalg.inv(S)[0] + spread / 10 * generator.normal(size=d)
        parts.append([part.astype(np.float32).astype(float) for part in (W, U, 0.01 * spread * v, v)])
    return [
        ts.Network(
            ts.LinearLayer(*(nested(part) for part in (W, U, bias, 0 * bias))),
            ts.Readout((nested(v),), (-float(generator.uniform()),)),
        )
        for W, U, bias, v in parts
    ]


def nested(array):
    return tuple(nested(part) if part.ndim else float(part) for part in array)


@pytest.mark.parametrize("d", [2, 5])
def test_networks_like_trained_ones_agree_and_few_are_asked_for_alone(d, monkeypatch):
    asked = []
    monkeypatch.setattr(ensemble, "certify", lambda *args, **options: asked.append(1) or certify(*args, **options))
    models = near_counters(80, d)
    assert disagreements(models, 300) == []
    assert len(asked) < 15


def test_the_block_does_not_matter(monkeypatch):
    models = stacked(near_counters(60, 3))
    whole = layer_horizons(models, 200)
    monkeypatch.setattr(ensemble, "_MOST_AT_ONCE", 10)
    for part, other in zip(whole, layer_horizons(models, 200), strict=True):
        assert part.tolist() == other.tolist()


def test_the_terms_lie_within_their_bounds():
    """Against rationals: the computed δ_k and γ_k of every network, with matrices whose powers grow and shrink."""
    models = [
        *near_counters(12, 3),
        *(in_doubles(some_network(random.Random(s), "defective", 3, "binary")) for s in range(12)),
    ]
    many = linear_networks(stacked(models))
    rows, sizes, length = many.outputs, many.output_sizes + 0 * many.constants, 40
    scale = (3 + 5) * UNIT * many.column_sizes(length)
    exact = [model.in_arithmetic("rational") for model in models]
    vectors = [list(model.readout.weight[0]) for model in exact]
    ratios = []
    for _ in range(length):
        sizes = sizes + (np.abs(rows) * (1 + many.row_sums)).sum(axis=1)
        found = [(rows * part).sum(axis=1)[0] for part in (many.steps, many.drifts)]
        for place, model in enumerate(exact):
            cell = model.cell
            steps = [one - other for one, other in cell.input_weight]
            drifts = [
                w[1] + x + h for w, x, h in zip(cell.input_weight, cell.input_bias, cell.recurrent_bias, strict=True)
            ]
            sign = 1 if float(model.readout.weight[0][0]) == many.outputs[0, 0, place] else -1
            for of, column in zip(found, (steps, drifts), strict=True):
                true = sign * sum(v * x for v, x in zip(vectors[place], column, strict=True))
                error, bound = abs(float(of[place] - true)), scale[place] * sizes[0, place]
                assert error <= bound
                ratios.append(bound / max(1e-3, abs(float(true))))
            vectors[place] = [
                sum(v * U for v, U in zip(vectors[place], column, strict=True))
                for column in zip(*cell.recurrent_weight, strict=True)
            ]
        rows = many.next_rows(rows)
    assert np.median(ratios) < 1e-11


def test_lru_and_selective_layers_agree_too():
    generator = np.random.default_rng(3)
    models = []
    for _ in range(20):
        n = 2
        spread = 10 ** generator.uniform(-4, -1)
        factors = np.stack([[1 + spread * generator.normal(), 0.5], [spread * generator.normal(), 0.3]])
        W = np.stack([[1, 0.1, 0, 0.2], [-1, 0.1, spread, 0]], axis=1)
        cell = ts.LruLayer(nested(W), nested(factors), (0.0,) * (2 * n))
        models.append(ts.Network(cell, ts.Readout(((1.0, 0.1, -0.1, 0.05),), (-0.5,))))
    assert disagreements(models, 100) == []
    shared = [
        ts.Network(
            ts.SelectiveLayer(m.cell.input_weight, tuple((f, f) for f in (1.0, 0.5, 0.2, 0.9)), (0.0,) * 4), m.readout
        )
        for m in models
    ]
    assert disagreements(shared, 60) == []


def test_what_is_no_ensemble_is_refused():
    (model,) = near_counters(1, 2)
    with pytest.raises(BadInput, match="arrays of one dimension"):
        layer_horizons(model)
    with pytest.raises(BadInput, match="not a finite number"):
        layer_horizons(stacked([model]).map_weights(lambda weight, _: np.full_like(weight, np.inf)))


def test_trained_layers_have_horizons():
    setting = Setting("binary", True, 4, "linear", epochs=2, units=3)
    weights = training_job(setting, 5, 0).initial(np.arange(5))
    trained = train(setting, weights, ["()", "((", "))"], workers=1)
    found = certify_many(trained)
    assert found.networks.all()
    assert found.horizons.all.tolist() == [certify(trained.network(seed)).horizon for seed in range(5)]
    names = [column.name for column in columns_of(setting.kind)]
    assert {"horizon_all", "horizon_even", "horizon_all_exact", "horizon_even_exact"} <= set(names)
