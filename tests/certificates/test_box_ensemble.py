"""The horizons of many GRUs, LSTMs and tanh layers at once are those that `certify` finds one by one, or lower bounds of them."""

from contextlib import nullcontext
from itertools import product

import numpy as np
import pytest
from test_linear_ensemble import stacked
from vector_networks import (
    VECTOR_CELLS,
    counting_gru,
    counting_lstm,
    every_state,
    random_model,
    ternary,
    trained_models,
    with_noise,
)

import tallystick as ts
from tallystick.cells import TanhLayer
from tallystick.certificates.boxes import ensemble
from tallystick.certificates.boxes.box_search import Found
from tallystick.certificates.boxes.ensemble import box_horizons, find_horizons, has_box_horizons
from tallystick.certificates.boxes.joined_boxes import BoxedNetworks, JoinedBoxes
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.languages.tasks import SEMI_DYCK1_MEMBERSHIP
from tallystick.networks import Network, Readout
from tallystick.numbers.values import numbers_of
from tallystick.runs import gpu_certifier
from tallystick.runs.columns import columns_of
from tallystick.runs.gpu_certifier import GpuCertifier
from tallystick.runs.rows import certify_many

LIMIT = 14
KINDS = {**VECTOR_CELLS, "tanh": TanhLayer}


def noisy_counters(cell, units, outputs, seeds):
    """Networks that are right to some length: counters made by hand, their weights moved at random."""
    start = counting_lstm(4, units) if cell == "lstm" else counting_gru(0.9, units)
    models = [with_noise(start, 0.1 + 0.1 * (seed % 4), seed) for seed in seeds]
    return [ternary(model) for model in models] if outputs == 3 else models


def check(models, limit=LIMIT):
    """Compare with verdicts one by one; return how many were left open."""
    found, left = find_horizons(stacked(models), limit), 0
    for (lengths, one), (place, model) in product(found.items(), enumerate(models)):
        verdict = certify(model, lengths, limit=limit)
        if one.is_open[place]:
            left += 1
            assert one.reached[place] <= verdict.horizon
        else:
            exact = verdict.outcome is Outcome.REFUTED
            assert (one.reached[place], one.is_exact[place]) == (verdict.horizon, exact), (lengths, place)
    return left


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("units", [1, 2, *(pytest.param(units, marks=pytest.mark.long) for units in (3, 4))])
@pytest.mark.parametrize("cell", KINDS)
def test_random_networks_have_the_horizons_of_certify(cell, units, outputs):
    check([random_model(KINDS[cell], units, outputs, seed) for seed in range(20)])


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("units", [1, *(pytest.param(units, marks=pytest.mark.long) for units in (2, 4))])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_counters_with_noise_have_the_horizons_of_certify(cell, units, outputs):
    models = noisy_counters(cell, units, outputs, range(12))
    assert check(models) <= len(models) // 2


@pytest.mark.parametrize("kind", ["gru 1", "gru 2", "lstm 1", "lstm 2"])
def test_trained_networks_have_the_horizons_of_certify(kind):
    models = [model for name, model in trained_models().items() if kind in name]
    assert check(models, 40) <= len(models) // 2


@pytest.mark.parametrize("kind", list(VECTOR_CELLS.values())[:2])
def test_every_state_lies_in_a_box_of_its_count(kind):
    models = [random_model(kind, 2, 1, seed) for seed in range(4)]
    networks = BoxedNetworks.of(stacked(models))
    boxes = JoinedBoxes.at_start(networks, np.arange(len(models)))
    strings = [every_state(model, 8) for model in models]
    for _ in range(8):
        boxes = boxes.longer(networks).join(0.05)
        low, high = (np.stack([box.ends[end] for box in numbers_of(boxes.state)], axis=1) for end in (0, 1))
        for place, each in enumerate(strings):
            h, c, counts = next(each)
            states = np.hstack([h, c]) if kind.has_memory else h
            for state, count in zip(states, counts, strict=True):
                own = (boxes.owners == place) & (boxes.counts == count)
                # The states are those of NumPy, up to its rounding.
                assert ((low[own] <= state + 1e-12) & (state - 1e-12 <= high[own])).all(axis=1).any()
    assert len(boxes.owners) < len(models) * 2**8


def test_a_network_stands_for_itself_whatever_is_beside_it(monkeypatch):
    models = noisy_counters("lstm", 2, 1, range(9))
    whole = find_horizons(stacked(models), LIMIT)
    monkeypatch.setattr(ensemble, "_AT_ONCE", 2)
    backward = find_horizons(stacked(models[::-1]), LIMIT)
    for lengths, found in whole.items():
        for one, other in zip(found, backward[lengths], strict=True):
            assert one.tolist() == other[::-1].tolist()


@pytest.mark.parametrize(
    ("cell", "outputs"),
    [("lstm", 1), *(pytest.param(*case, marks=pytest.mark.long) for case in (("lstm", 3), ("gru", 1), ("gru", 3)))],
)
def test_a_gpus_search_finds_what_the_cores_find(cell, outputs):
    """It runs on processors here."""
    models = noisy_counters(cell, 2, outputs, range(11))
    search = GpuCertifier(nullcontext, room=1 << 12).search
    other = find_horizons(stacked(models), LIMIT, search=search)
    for lengths, found in find_horizons(stacked(models), LIMIT).items():
        one, decided = other[lengths], ~found.is_open & ~other[lengths].is_open
        assert decided.sum() >= len(models) // 2
        assert (one.reached == found.reached)[decided].all()
        assert (one.is_exact == found.is_exact)[decided].all()
        assert (one.reached <= found.reached)[found.is_exact].all()
        assert (found.reached <= one.reached)[one.is_exact].all()


@pytest.mark.long
def test_networks_wait_for_room_and_begin_once_more_where_it_was_too_little(monkeypatch):
    models = noisy_counters("lstm", 1, 1, range(70))
    cut_off, real = [], gpu_certifier._search

    def search(*arrays, **static):
        known, late = real(*arrays, **static)
        cut_off.append(bool(late.any()))
        return known, late

    monkeypatch.setattr(gpu_certifier, "_search", search)
    found = []
    for room, usual in ((1 << 8, 1), (1 << 13, 100)):
        del cut_off[:]
        monkeypatch.setattr(gpu_certifier, "LEVELS", ((2**-9, 1 << 8, usual), (2**-12, 1 << 8, usual)))
        found.append(find_horizons(stacked(models), LIMIT, search=GpuCertifier(nullcontext, room).search))
        assert any(cut_off) == (usual == 1)
    little, enough = found
    for lengths, one in little.items():
        assert [part.tolist() for part in one] == [part.tolist() for part in enough[lengths]]


def test_a_gpu_leaves_what_it_is_not_made_for():
    networks = stacked([counting_lstm(5)])
    counts = Network(networks.cell, Readout(networks.readout.weight, networks.readout.bias, "count"))
    found = find_horizons(counts, 20, search=GpuCertifier(nullcontext).search)
    assert found[Lengths.ALL].is_open.all()


def test_a_gpu_takes_no_more_networks_than_its_keys_tell_apart():
    with pytest.raises(AssertionError, match="told apart"):
        GpuCertifier(nullcontext).search(stacked([counting_lstm(5)]), 2**32, {Lengths.ALL: Found.nothing(1)})


def test_a_network_with_too_many_boxes_keeps_what_was_proved(monkeypatch):
    models = [counting_lstm(5), counting_lstm(7)]
    monkeypatch.setattr(ensemble, "_MOST_BOXES", 64 * 40)
    monkeypatch.setattr(ensemble, "WIDTHS", (2**-8,))
    found = box_horizons(stacked(models), 60)
    assert (found.all <= [16, 46]).all()
    assert ((found.all == [16, 46]) >= found.all_exact).all()
    monkeypatch.setattr(ensemble, "_MOST_BOXES", 0)
    assert find_horizons(stacked(models), 60)[Lengths.ALL].is_open.all()


def test_a_string_that_fails_by_little_makes_a_horizon_exact():
    found = find_horizons(stacked([counting_lstm(7), counting_lstm(9)]), 130)[Lengths.ALL]
    assert (found.reached.tolist(), found.is_exact.tolist()) == ([46, 126], [True, True])


def test_a_network_that_lasts_to_the_limit_has_a_lower_bound():
    for limit in (1, 7, 8):
        found = find_horizons(stacked([counting_lstm(5)]), limit)
        assert [one.reached.tolist() for one in found.values()] == [[limit], [limit - limit % 2]]
        assert not any(one.is_exact.any() or one.is_open.any() for one in found.values())


def test_weights_that_cannot_be_bounded_and_other_languages_are_left_open():
    networks = stacked([counting_lstm(5), counting_lstm(2.0**501)])
    assert find_horizons(networks, 20)[Lengths.ALL].is_open.tolist() == [False, True]
    model = Network(networks.cell, networks.readout, SEMI_DYCK1_MEMBERSHIP)
    assert find_horizons(model, 20)[Lengths.ALL].is_open.all()


def test_the_rows_of_a_run_have_the_horizons():
    trained = ts.train("binary", 4, cell="lstm", units=2, bias=True, seeds=4, epochs=2)
    found = certify_many(trained)
    assert found.networks.all()
    for seed in range(4):
        verdict = certify(trained.network(seed), limit=100)
        assert found.horizons.all[seed] == verdict.horizon
        assert found.horizons.all_exact[seed] == (verdict.outcome is Outcome.REFUTED)
    assert has_box_horizons(trained.setting.kind)
    assert {"horizon_all", "horizon_even_exact"} <= {column.name for column in columns_of(trained.setting.kind)}
