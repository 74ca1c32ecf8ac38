"""Snapped networks are exact counters, and what is near no counter is left alone."""

import jax
import numpy as np
import pytest

from tallystick.cells import CELLS, LinearCell, ReluCell, SelectiveCell
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.ensemble import UNLIMITED, horizons
from tallystick.counting_conditions import conditions
from tallystick.languages.brackets import SEMI_DYCK1
from tallystick.languages.tasks import COUNT, TASKS
from tallystick.networks import Network, Readout
from tallystick.runs.runner import train
from tallystick.training.snapping import exact_counters, is_near_a_counter, snap
from tallystick.training.weights import Weights, fresh_weights


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("task", "method"), [("binary", "published"), ("binary", "count"), ("ternary", "corrected")])
def test_every_snapped_network_is_proved_for_all_lengths(task, method, bias):
    networks = train(task, train_length=8, seeds=64, bias=bias, method=method, epochs=40, snap=True)
    weights = jax.tree.map(lambda array: array.astype(np.float64), networks.weights)
    near = is_near_a_counter(networks.weights, LinearCell)
    assert near.mean() > 0.9
    found = horizons(Network(weights.cell(LinearCell), weights.readout()))
    assert (found.all[near] == UNLIMITED).all()
    assert (found.even[near] == UNLIMITED).all()
    assert networks.accuracy(["((()))", "(" * 40 + ")" * 39, ")" * 7 + "(" * 8])[near].min() == 100


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("kind", [LinearCell, SelectiveCell, ReluCell], ids=["linear", "selective", "relu"])
def test_exact_counters_meet_every_condition(kind, task, bias):
    drawn = fresh_weights(kind, task, np.arange(20), bias=bias, dtype=np.dtype(np.float32))
    counters = exact_counters(drawn, kind, task)
    assert jax.tree.structure(counters) == jax.tree.structure(drawn)
    networks = Network(counters.cell(kind), counters.readout())
    for seed in range(20):
        network = networks.place(seed)
        assert all(condition.holds for condition in conditions(network.cell))
        assert np.log2(abs(network.cell.open_step)) % 1 == 0
        if kind is ReluCell:
            zero = Network(network.cell, Readout.zero())
            assert all(SEMI_DYCK1.contains(s) == (zero.class_of(s) == "accepted") for s in ("())(", "))", "(()", ")()"))
        elif task is not COUNT:
            assert certify(network).horizon is None


def test_what_is_near_no_counter_stays_as_it_is():
    a, b, U = np.array([[1, -1.2, 0.9], [1, 1, 1], [1, -3, 1], [1, -1, 1.6], [0, 0, 1], [np.nan, -1, 1]], np.float32).T
    weights = Weights((a, b), (U,), (), (np.ones_like(a),), ())
    assert is_near_a_counter(weights, LinearCell).tolist() == [True] + 5 * [False]
    found = snap(weights, LinearCell, COUNT)
    assert [float(array[0]) for array in jax.tree.leaves(found)] == [1, -1, 1, 1]
    for before, after in zip(jax.tree.leaves(weights), jax.tree.leaves(found), strict=True):
        np.testing.assert_array_equal(before[1:], after[1:])


def test_a_relu_cell_that_counts_downwards_is_near_nothing():
    one = np.ones(1, np.float32)
    weights = Weights((-one, one), (one,), (), (one,), ())
    assert is_near_a_counter(weights, CELLS["linear"]).all()
    assert not is_near_a_counter(weights, ReluCell).any()
