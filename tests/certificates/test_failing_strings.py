"""Strings for use as tests: each really fails, and where one can be told to fail, some are found."""

import random
from fractions import Fraction

import pytest
from brute_force import READOUTS, SCALAR_CELLS, failing_strings, some_model

from tallystick.cells import LinearCell, ReluCell
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit import failing_strings as room
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.certificates.verdict import arithmetic_of
from tallystick.errors import BadInput
from tallystick.networks import Network, Readout


@pytest.mark.parametrize("tries", [0, 20])
@pytest.mark.parametrize("arithmetic", ["real", "float16", "float32-fused"])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("cell", SCALAR_CELLS.values(), ids=SCALAR_CELLS)
def test_what_is_listed_fails(cell, readout, arithmetic, tries, monkeypatch):
    monkeypatch.setattr(room, "_TRIES", tries)
    generator = random.Random(f"{cell}{readout}{arithmetic}")
    for _ in range(4):
        model = some_model(cell, readout, generator)
        expected = {s for s in failing_strings(model.in_arithmetic(arithmetic_of(arithmetic)), 6) if len(s) == 6}
        extreme = extreme_failures(model, 6, arithmetic)
        drawn = random_failures(model, 6, 5, seed=1, arithmetic=arithmetic)
        assert {failure.string for failure in (*extreme, *drawn)} <= expected
        assert len(extreme) == len({failure.string for failure in extreme})
        assert all(failure.right != failure.found for failure in (*extreme, *drawn))
        if arithmetic == "real" and readout != "zero":  # each class is an interval, so extremes tell of every failure
            assert bool(extreme) == bool(drawn) == bool(expected)
            assert len(drawn) in (0, 5)


def test_every_failing_string_can_be_grown(monkeypatch):
    monkeypatch.setattr(room, "_TRIES", 0)
    model = Network(LinearCell(1, Fraction(-9, 10), Fraction(21, 20)), Readout.binary(1, Fraction(-1, 2)))
    expected = {string for string in failing_strings(model, 8) if len(string) == 8}
    grown = {failure.string for failure in random_failures(model, 8, 1500, seed=2)}
    assert grown == expected
    assert 10 < len(expected) < 2**8


@pytest.mark.parametrize("step", [Fraction(-9, 10), Fraction(-3, 2)], ids=str)
def test_every_failing_string_of_a_running_count_can_be_grown(step, monkeypatch):
    """And nothing else is: growing never ends in a dead end."""
    monkeypatch.setattr(room, "_TRIES", 0)
    model = Network(ReluCell(1, step, 1), Readout.zero())
    expected = {string for string in failing_strings(model, 5) if len(string) == 5}
    grown = [failure.string for failure in random_failures(model, 5, 150, seed=3)]
    assert len(grown) == 150
    assert set(grown) == expected
    assert 1 < len(expected) < 2**4
    assert random_failures(Network(ReluCell(1, -1, 1), Readout.zero()), 5, 3) == []


@pytest.mark.parametrize("number", [1, 4, 5])
def test_common_failures_are_drawn_and_none_is_grown(number, monkeypatch):
    """Each has then the same chance, as the strings themselves have."""

    def ungrown(*_):
        raise AssertionError("grown")

    monkeypatch.setattr(room, "_grow", ungrown)
    model = Network(LinearCell(-1, 1, 1), Readout.binary(1))
    assert len(random_failures(model, 9, number)) == number


def test_rare_failures_are_found_where_drawing_finds_none():
    model = Network(LinearCell(1, -1, Fraction(1001, 1000)), Readout.binary(1, Fraction(-1, 2)))
    length = certify(model).failure.length
    assert length > 40
    found = random_failures(model, length, 3)
    assert len(found) == 3
    assert all(model.class_of(failure.string) == failure.found != failure.right for failure in found)
    assert random_failures(model, length - 1, 3) == extreme_failures(model, length - 1) == []


def test_the_seed_decides():
    model = Network(ReluCell(1, -2, 1), Readout.binary(1))
    first, again, other = (random_failures(model, 12, 5, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert random_failures(model, 12, 5) == random_failures(model, 12, 5, seed=0) != first


def test_bad_arguments_are_named():
    model = Network(LinearCell(1, -1, 1), Readout.zero())
    with pytest.raises(BadInput, match="length: 401"):
        extreme_failures(model, 401)
    with pytest.raises(BadInput, match="number: -1"):
        random_failures(model, 3, -1)
