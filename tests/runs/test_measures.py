"""Measures of GRUs and LSTMs on long strings, against single strings run one by one."""

import math

import numpy as np
import pytest

from tallystick import BadInput, GruCell, LstmCell, Network, Readout
from tallystick.runs.measures import (
    accuracy_by_length,
    border_strings,
    counting_units,
    curve_to,
    earliest_failures,
    first_failures,
    judge,
    uniform_strings,
)


def counting_lstm(saturations):
    """Networks whose memory counts nearly, one for each saturation of their gates."""
    w, zero = np.array(saturations, np.float64), np.zeros(len(saturations))
    cell = LstmCell(((w, w), (w, w), (w, -w), (w, w)), ((zero,),) * 4, (zero,) * 4, (zero,) * 4)
    return Network(cell, Readout(((zero + 1,),), (zero - math.tanh(0.5),)))


def alone(model, place):
    return model.map_weights(lambda value, _: value[place])


def random_networks(kind, units, outputs, networks=3, dtype=np.float64):
    generator = np.random.default_rng(4)

    def vector(size):
        return tuple(generator.normal(size=networks).astype(dtype) for _ in range(size))

    rows = kind.gates * units
    cell = kind(
        tuple(vector(2) for _ in range(rows)), tuple(vector(units) for _ in range(rows)), vector(rows), vector(rows)
    )
    return Network(cell, Readout(tuple(vector(units) for _ in range(outputs)), vector(outputs)))


def written(row):
    return "".join(")" if closing else "(" for closing in row)


@pytest.mark.parametrize(("kind", "outputs"), [(GruCell, 1), (LstmCell, 1), (GruCell, 3), (LstmCell, 3)])
def test_answers_and_failures_are_those_of_each_string_alone(kind, outputs):
    networks, tokens = random_networks(kind, 2, outputs), uniform_strings(12, 6, seed=1)
    right, failed = judge(networks, tokens)
    assert right.shape == failed.shape == (3, 6)
    for place in range(3):
        model = alone(networks, place)
        for number, row in enumerate(tokens):
            alike = [model.class_of(written(row[:n])) == model.right_class(written(row[:n])) for n in range(1, 13)]
            assert right[place, number] == alike[-1]
            assert failed[place, number] == (alike.index(False) + 1 if False in alike else 0)


def test_accuracy_falls_with_the_length_where_counting_ends():
    found = accuracy_by_length(counting_lstm([5.0, 12.0, 30.0]), (10, 1000, 10_000), strings=20)
    assert found[10].tolist() == [100, 100, 100]
    assert found[1000][0] < 90
    assert found[1000][2] == found[10_000][2] == 100
    assert found[10_000][0] <= found[10_000][1] < 100


def test_float32_weights_run_in_float32():
    networks = random_networks(LstmCell, 1, 1, dtype=np.float32)
    assert counting_units(networks, uniform_strings(5, 4, seed=0))[0].slope.shape == (3,)
    assert judge(networks, uniform_strings(5, 4, seed=0))[0].shape == (3, 4)


def test_a_curve_goes_through_shorter_lengths_and_ends_where_it_is_asked_to():
    networks = counting_lstm([5.0, 30.0])
    curve = curve_to(networks, 300, strings=20)
    assert curve.lengths == (2, 5, 10, 20, 50, 100, 200, 300)
    assert curve.accuracy.shape == (8, 2)
    assert (curve.accuracy[:, 1] == 100).all()
    assert curve.accuracy[-1, 0] == accuracy_by_length(networks, (300,), strings=20)[300][0] < 100
    assert curve_to(networks, 300, strings=20, shorter=False).lengths == (300,)
    with pytest.raises(BadInput, match="length: 200000 is more than 100,000"):
        curve_to(networks, 200_000)


def test_many_networks_are_run_in_portions(monkeypatch):
    networks, tokens = random_networks(LstmCell, 1, 1, networks=5), uniform_strings(9, 4, seed=0)
    together, (unit, *_) = judge(networks, tokens), counting_units(networks, tokens)
    monkeypatch.setattr("tallystick.runs.measures._MOST_STATES", {"cpu": 8})
    monkeypatch.setattr("tallystick.runs.measures._MOST_KEPT", 3 * tokens.size)
    assert all(map(np.array_equal, judge(networks, tokens), together))
    in_portions = counting_units(networks, tokens)[0]
    for part in ("slope", "intercept", "r_squared"):
        np.testing.assert_allclose(getattr(in_portions, part), getattr(unit, part), rtol=1e-12)


def test_the_earliest_failure_is_the_shortest_of_all_strings():
    networks, tokens = counting_lstm([5.0, 30.0]), border_strings(60, 20, seed=0)
    failed = first_failures(networks, tokens)
    assert earliest_failures(networks, tokens).tolist() == [failed[0][failed[0] > 0].min(), 0]


def test_a_single_network_has_one_entry():
    model = alone(counting_lstm([9.0]), 0)
    assert first_failures(model, np.array([[False] * 64 + [True] * 63])).tolist() == [[127]]
    assert accuracy_by_length(model, (20,))[20].tolist() == [100]


def test_a_counting_memory_is_found():
    tokens = uniform_strings(40, 30, seed=2)
    hidden, memory = counting_units(counting_lstm([20.0, 2.0]), tokens)
    assert (hidden.part, memory.part, memory.unit) == ("hidden", "memory", 0)
    assert memory.r_squared[0] == pytest.approx(1, abs=1e-6)
    assert memory.slope[0] == pytest.approx(1, abs=1e-6)
    assert memory.intercept[0] == pytest.approx(0, abs=1e-6)
    assert hidden.r_squared[0] < 0.9
    assert memory.r_squared[1] < 0.9


def test_the_regression_is_least_squares():
    tokens = uniform_strings(9, 7, seed=3)
    model = random_networks(GruCell, 2, 1, networks=1)
    counts, states = [], []
    for row in tokens:
        for n, state in enumerate(alone(model, 0).cell.trace(written(row))[1:], start=1):
            counts.append(n - 2 * row[:n].sum())
            states.append(state.hidden)
    for unit, found in enumerate(counting_units(model, tokens)):
        values = np.array(states)[:, unit]
        slope, intercept = np.polyfit(counts, values, 1)
        assert found.slope[0] == pytest.approx(slope)
        assert found.intercept[0] == pytest.approx(intercept)
        assert found.r_squared[0] == pytest.approx(np.corrcoef(counts, values)[0, 1] ** 2)


def test_a_unit_that_does_not_move_follows_nothing():
    zero = ((0.0, 0.0),) * 3
    model = Network(GruCell(zero, ((0.0,),) * 3, (0.0,) * 3, (0.0,) * 3), Readout(((1.0,),), (0.0,)))
    (unit,) = counting_units(model, uniform_strings(5, 3, seed=0))
    assert (unit.slope[0], unit.r_squared[0]) == (0, 0)


def test_strings_near_the_border_are_drawn_by_seed():
    assert np.array_equal(border_strings(101, 10, seed=1), border_strings(101, 10, seed=1))
    assert not np.array_equal(border_strings(100, 10, seed=1), border_strings(100, 10, seed=2))
    assert set((101 - 2 * border_strings(101, 10, seed=1).sum(axis=1)).tolist()) == {-1, 1}
    with pytest.raises(BadInput, match="strings: 0 is not a whole number from 1 on"):
        uniform_strings(5, 0, seed=0)
