"""Cells and methods side by side: the shares are those of the networks, and the table says what was found."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from tallystick.cells import LinearCell, LinearLayer
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.cli import main
from tallystick.languages.tasks import BINARY
from tallystick.networks import Network, Readout
from tallystick.runs.runner import train
from tallystick.studies.compare import (
    Spread,
    compare,
    default_layer_settings,
    default_settings,
    default_vector_settings,
    summary,
)
from tallystick.studies.comparison_table import HEADINGS, as_cells, as_csv, as_markdown, setting_words
from tallystick.training.ensemble import Ensemble
from tallystick.training.methods import UNGATED
from tallystick.training.setting import Setting
from tallystick.training.snapping import counters_in_units
from tallystick.training.weights import Weights


def test_every_method_is_compared():
    settings = default_settings()
    assert {setting.method for setting in settings if setting.cell == "linear"} == set(UNGATED)
    settings += default_layer_settings() + default_vector_settings()
    assert len(set(map(setting_words, settings))) == len(settings)


def test_the_summary_of_linear_networks_is_that_of_each_network():
    networks = train("binary", 4, seeds=30, method="count")
    found = summary(networks)
    a, b, U = (np.asarray(w, np.float64) for w in vars(networks.cell()).values())
    v = networks.weights.readout_weight[0]
    verdicts = [
        certify(Network(LinearCell(*map(float, cell)), Readout.binary(float(weight))))
        for *cell, weight in zip(a, b, U, v, strict=True)
    ]
    horizons = sorted(np.inf if verdict.horizon is None else verdict.horizon for verdict in verdicts)
    assert found.proved == np.mean(np.isinf(horizons))
    assert found.horizons == Spread(horizons[2], horizons[14], horizons[26], horizons[-1])
    even = [certify(verdict.model, "even").horizon for verdict in verdicts]
    assert found.even_horizons.greatest == max(np.inf if horizon is None else horizon for horizon in even)
    assert found.exact == np.mean((b == -a) & (U == 1))
    assert (found.certified, found.horizons_exact) == (30, 1)
    assert found.failed == np.mean(networks.accuracy_train < 90)


def test_a_horizon_that_lasts_to_the_end_of_the_search_is_a_lower_bound():
    setting = Setting("binary", False, 2, "selective", epochs=1)
    one = np.ones(4, np.float32)
    P = np.array([1, 1 + 1e-6, 0.5, 2], np.float32)
    weights = Weights((one, -one), (P, one), (), (one,), (-one / 2,))
    found = summary(Ensemble(setting, weights, 100 * one))
    assert (found.exact, found.proved, found.horizons_exact) == (0.25, 0.25, 0.75)
    assert found.horizons == Spread(2, 2, 100, np.inf)


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "least_proved"),
    [
        (Setting("binary", False, 8, method="tied-unit"), 1.0),
        (Setting("binary", False, 8, snap=True), 1.0),
        (Setting("binary", False, 8, method="count-calm"), 0.9),
        (Setting("binary", False, 8, "selective", "count-calm", snap=True), 0.9),
        (Setting("count", False, 8, "relu", "count-penalty"), 0.8),
    ],
    ids=str,
)
def test_methods_that_reach_the_conditions(setting, least_proved):
    found = compare(setting, seeds=32)
    assert found.proved >= least_proved
    assert found.exact is not None
    assert found.exact >= found.proved
    assert (found.horizons.median, found.certified) == (np.inf, 32)


def test_the_published_method_reaches_none():
    found = compare(Setting("binary", False, 8), seeds=32)
    assert (found.exact, found.proved, found.failed) == (0, 0, 0)
    assert 4 < found.horizons.median <= found.even_horizons.median < found.even_horizons.greatest < 50


def test_cells_with_several_units_are_compared_too():
    how = {"cell": "gru", "method": "corrected", "epochs": 40, "learning_rate": 0.02}
    found = compare(Setting("binary", True, 2, **how), seeds=3)
    assert (found.exact, found.proved, found.certified) == (None, 0, 3)
    networks = train("binary", 2, bias=True, seeds=3, **how)
    verdicts = [certify(networks.network(place)) for place in range(3)]
    assert found.horizons.greatest == max(verdict.horizon for verdict in verdicts)
    assert found.horizons_exact == np.mean([verdict.outcome is Outcome.REFUTED for verdict in verdicts])
    assert 30 < found.accuracy_50 <= 100


def test_the_summary_of_layers_is_that_of_each_layer_and_tells_counters_from_the_others():
    how = {"cell": "linear", "units": 2, "method": "count-calm", "bias": True, "epochs": 60, "learning_rate": 0.02}
    networks = train("binary", 4, seeds=6, **how, snap=True)
    found = summary(networks)
    verdicts = [certify(networks.network(place)) for place in range(6)]
    assert found.proved == np.mean([verdict.outcome is Outcome.PROVED for verdict in verdicts])
    assert found.proved > 0.5
    assert found.exact == 0  # what forgets is left in the outputs, so they are not the count
    counters = counters_in_units(networks.weights, LinearLayer, BINARY, np.zeros(6, int))
    exact = summary(replace(networks, weights=counters))
    assert (exact.exact, exact.proved, exact.horizons_exact) == (1, 1, 1)


def test_a_snapped_row_is_the_one_beside_it_snapped():
    setting = Setting("binary", True, 2, "linear", "count-calm", epochs=30, units=2)
    plain, snapped = compare(setting, 4), compare(replace(setting, snap=True), 4)
    networks = train("binary", 2, seeds=4, cell="linear", units=2, method="count-calm", bias=True, epochs=30, snap=True)
    assert snapped == summary(networks)
    assert (plain.failed, plain.setting.snap) == (snapped.failed, False)


def test_the_tables():
    rows = [compare(Setting("binary", False, 2), 4), compare(Setting("binary", False, 2, "tanh"), 4)]
    (first, second) = csv.DictReader(io.StringIO(as_csv(rows)))
    assert (first["cell"], first["exact"], second["exact"]) == ("linear", "0.0", "")
    assert as_cells(rows[1])[list(HEADINGS).index("exact")] == "–"
    assert len(as_markdown(rows).splitlines()) == 4


def test_the_command(capsys, tmp_path):
    arguments = ["compare", "--seeds", "8", "--cell", "linear", "--method", "tied-unit", "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as status:
        main([*arguments, "--json"])
    assert status.value.code == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["proved"], row["horizon_50"]) == (1.0, "unlimited")
    assert len(list((tmp_path / "out").iterdir())) == 6  # the rows are kept beside what is made of them
    for wrong, message in (
        (arguments, "exists already"),
        (["compare", "--cell", "lamp"], "cell: 'lamp' is not one of"),
    ):
        with pytest.raises(SystemExit) as status:
            main(wrong)
        captured = capsys.readouterr()
        assert (status.value.code, captured.out, captured.err.count("\n")) == (2, "", 1)
        assert message in captured.err
