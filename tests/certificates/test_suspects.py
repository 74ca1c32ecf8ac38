"""Strings that may fail: each does in float64, the shortest first; and why a verdict by boxes stops where it does."""

import numpy as np
import pytest
from test_linear_ensemble import stacked
from vector_networks import MODELS, counting_gru, counting_lstm, random_model, ternary, with_noise

from tallystick import LstmCell, Network, certify
from tallystick.certificates.boxes import box_proof, suspects
from tallystick.certificates.boxes.joined_boxes import BoxedNetworks
from tallystick.certificates.verdict import Lengths, Outcome
from tallystick.networks import Readout

SHORT = 24


def written(bits):
    return "".join(")" if closing else "(" for closing in bits)


@pytest.mark.parametrize("name", ["random gru 3 1", "random lstm 2 3", "noisy LSTM 0", "count-tokens gru 2 0"])
def test_every_suspect_fails_in_doubles_the_shortest_first(name):
    model = MODELS[name].in_arithmetic("float64")
    ways = (suspects.suspects, suspects._among_chosen, suspects._among_extremes)
    found = [list(way(model, SHORT)) for way in ways]
    for strings in found:
        assert [len(string) for string in strings] == sorted({len(string) for string in strings})
        assert all(model.class_of(string) != model.right_class(string) for string in strings)
        assert all(len(string) <= SHORT for string in strings)
    every, chosen, extreme = ({len(string) for string in strings} for strings in found)
    assert every == chosen | extreme


@pytest.mark.parametrize("units", [1, 2, 4])
@pytest.mark.parametrize("length", [3, 8, 13])
def test_many_networks_have_the_suspects_that_each_has_alone(units, length):
    models = [random_model(LstmCell, units, 3, seed) for seed in range(6)]
    models += [with_noise(ternary(counting_lstm(4, units)), 0.2, seed) for seed in range(6)]
    strings, found = suspects.suspects_at(stacked(models), length)
    alone = [[string for string in suspects.suspects(model, length) if len(string) == length] for model in models]
    assert [[written(bits)] if fails else [] for bits, fails in zip(strings, found, strict=True)] == alone


def test_the_strings_of_many_networks_fail_as_each_does_alone():
    models = [random_model(LstmCell, 2, 3, seed) for seed in range(6)]
    models += [with_noise(ternary(counting_lstm(4, 2)), 0.2, seed) for seed in range(6)]
    strings = np.random.default_rng(0).random((len(models), 9)) < 0.4
    alone = [
        box_proof.Bounded.of(model).failure(written(bits)) is not None
        for model, bits in zip(models, strings, strict=True)
    ]
    assert 0 < sum(alone) < len(alone)
    assert BoxedNetworks.of(stacked(models)).failures(strings).tolist() == alone


def test_chosen_strings_go_on_where_extremes_end(monkeypatch):
    model = MODELS["random gru 3 1"]
    everywhere = [len(string) for string in suspects.suspects(model, SHORT)]
    monkeypatch.setattr(suspects, "_LONGEST_EXTREMES", 3)
    assert max(len(string) for string in suspects.suspects(model, SHORT)) > 3
    monkeypatch.setattr(suspects, "LONGEST", 3)
    assert [len(string) for string in suspects.suspects(model, SHORT)] == [
        length for length in everywhere if length <= 3
    ]


def test_the_extremes_of_one_unit_are_those_of_every_string():
    """With one unit whose maps rise, the strings that lead furthest are the extremes themselves: none that fails is missed."""
    model = ternary(counting_gru(0.8)).in_arithmetic("float64")
    failing = {
        length
        for length in range(1, 9)
        for place in range(2**length)
        if model.class_of(string := written([place >> i & 1 for i in range(length)])) != model.right_class(string)
    }
    assert {len(string) for string in suspects._among_extremes(model, 8)} == failing


def test_the_chosen_strings():
    """Sorted, alternating after a run, in blocks, all of one token; each with the brackets swapped; and random ones."""
    limit = 12
    strings = {written(bits) for bits in suspects._chosen_strings(limit)}
    sizes = range(1, limit // 2 + 1)
    wanted = {"(" * limit}
    wanted |= {"(" * size + ")" * (limit - size) for size in sizes}
    wanted |= {("(" * size + ")(" * limit)[:limit] for size in sizes}
    wanted |= {(("(" * size + ")" * size) * limit)[:limit] for size in sizes}
    wanted |= {string.translate(str.maketrans("()", ")(")) for string in wanted}
    assert wanted <= strings
    assert len(suspects._chosen_strings(limit)) == 2 * (3 * len(sizes) + 1) + 200
    assert len(strings) > len(wanted) + 100
    assert suspects._chosen_strings(1).shape[1] == 1


def test_some_strings_stay_near_zero():
    tokens = suspects._near_zero(400, np.random.default_rng(0))
    counts = np.where(tokens, -1, 1).cumsum(axis=1)
    assert tokens.shape == (100, 400)
    assert 1 < np.abs(counts).mean() < 2
    assert 0.45 < tokens.mean() < 0.55


@pytest.mark.parametrize("lengths", Lengths)
def test_a_verdict_by_boxes_says_why(lengths, monkeypatch):
    right = certify(counting_lstm(20.0), lengths, limit=6)
    assert (right.outcome, right.horizon, right.method) == (Outcome.BOUNDED, 6, "gated boxes")
    assert right.reason == (
        "every counted length to 6 is right; the search went no further, and no string is known to fail"
    )
    wrong = certify(counting_lstm(4.0), lengths, limit=20)
    length = 11 if lengths is Lengths.ALL else wrong.failure.length
    found, wanted = wrong.failure.found, wrong.failure.right
    assert wrong.reason == f"a string of length {length} gets {found} instead of {wanted}; no shorter counted one fails"
    assert (wrong.horizon, wrong.known_failure) == (length - lengths.stride, None)
    monkeypatch.setattr(box_proof, "MOST_WORK", 2 * 12 * (1 + 2 + 4))  # three tokens of an LSTM with one unit
    busy = certify(counting_lstm(20.0), lengths, limit=6)
    assert busy.horizon == 3 - 3 % lengths.stride
    assert busy.reason == (
        f"every counted length to {busy.horizon} is right; the boxes beyond it are too many, and no string is known to fail"
    )


def test_what_the_boxes_leave_open_names_the_failure_beyond():
    still = LstmCell(((0, 0),) * 4, ((0,),) * 4, (0,) * 4, (0,) * 4)
    verdict = certify(Network(still, Readout(((1,),), (0,))), limit=3)
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 0)
    assert verdict.reason == "the boxes around the states do not decide length 1, and no string is known to fail"
    moved = certify(Network(still, Readout(((1,),), (-1,))), limit=3)
    assert (moved.outcome, moved.failure.string) == (Outcome.REFUTED, "(")
