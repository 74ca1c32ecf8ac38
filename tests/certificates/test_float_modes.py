"""A thread that computes in another floating-point mode gets no verdict: every door refuses, in one line.

What NumPy is set to do about overflow and underflow is another matter, and none of a verdict's.
"""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from float_modes import CANNOT, MODES, mode, refusal_in
from vector_networks import counting_gru, counting_lstm

from tallystick.cells import LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates import deciders as room
from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.one_unit.ensemble import horizons, meets_conditions
from tallystick.certificates.one_unit.exact_accuracy import accuracies, accuracy_curve, exact_accuracy
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.certificates.one_unit.regions import outline, reach, slice_at
from tallystick.certificates.verdict import FLOATS, Outcome
from tallystick.cli.accuracy import score
from tallystick.counting_conditions import conditions, indicators
from tallystick.errors import BadInput
from tallystick.explore.answers import trace
from tallystick.networks import Network, Readout, read_network, write_network
from tallystick.numbers import FORMATS, exact, float_format, nearest

TINY = Network(LinearCell(2.0**-1060, -(2.0**-1060), 1.0), Readout.zero())
LEAKY = Network(LinearCell(1.0, -1.0, 0.5), Readout.binary(1.0))
CELLS = [
    LinearCell(1.0, -1.0, 0.5),
    SelectiveCell(1.0, -1.0, 2.0, 0.5),
    ReluCell(1.0, -1.0, 1.0),
    TanhCell(1.0, -1.0, 2.0),
]
READOUTS = [Readout.zero(), Readout.binary(1.0, -0.5), Readout.ternary((-1.0, 0.0, 1.0), (-1.0, 0.0, -1.0))]
MANY = LinearCell(np.array([1.0, 1.0]), np.array([-1.0, -0.5]), np.array([1.0, 0.5]))
REFUTED = certify(LEAKY, arithmetic="float32")
OVERFLOWING = certify(Network(ReluCell(65472, -65472, -32752), Readout.zero()), arithmetic="float16")
"""Along its failing string U·h lies below every float16, and h is 0 again."""

DOORS = {
    **{f"certify {name}": lambda name=name: certify(TINY, arithmetic=name) for name in ("real", *FLOATS)},
    **{
        f"certify {type(cell).__name__} {readout.kind} {name}": lambda cell=cell, readout=readout, name=name: certify(
            Network(cell, readout), arithmetic=name, limit=4
        )
        for cell in CELLS
        for readout in READOUTS
        for name in ("real", "float16")
    },
    "certify GRU": lambda: certify(counting_gru(0.9), limit=4),
    "certify LSTM": lambda: certify(counting_lstm(3.0), limit=4),
    "the states along a failing string": REFUTED.trace,
    "the states along an overflowing one": OVERFLOWING.trace,
    "horizons of linear cells": lambda: horizons(Network(MANY, Readout.binary(np.ones(2), np.zeros(2)))),
    "horizons by boxes": lambda: horizons(Network(MANY, Readout.zero())),
    "exact counters of an ensemble": lambda: meets_conditions(MANY),
    "exact accuracy": lambda: exact_accuracy(LEAKY, 6),
    "exact accuracy in float32": lambda: exact_accuracy(LEAKY, 6, "float32"),
    "accuracy curve": lambda: accuracy_curve(LEAKY, 6),
    "accuracy curve in bfloat16": lambda: accuracy_curve(LEAKY, 6, "bfloat16"),
    "extreme failures": lambda: extreme_failures(LEAKY, 6, "float64"),
    "random failures": lambda: random_failures(LEAKY, 6, 2, 0, "float64"),
    "outline of a region": lambda: outline(np.array([1.0, 1.1]), 4),
    "reach of a region": lambda: reach.__wrapped__(6),
    "states shown by the explorer": lambda: trace(LEAKY, "float32", "()"),
}

CHANGES_THE_MODE = pytest.mark.skipif(CANNOT is not None, reason=str(CANNOT))


def every_mode(test):
    return CHANGES_THE_MODE(pytest.mark.parametrize("name", MODES)(test))


@every_mode
@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses(name, door):
    assert refusal_in(name, DOORS[door]) is None


SETTINGS = {
    "raise": lambda: np.errstate(all="raise"),
    "warn": lambda: np.errstate(all="warn"),  # and a warning is an error in these tests
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("door", DOORS)
def test_what_numpy_is_told_of_overflow_changes_nothing(setting, door):
    expected = DOORS[door]()
    with SETTINGS[setting]():
        assert repr(DOORS[door]()) == repr(expected)


@pytest.mark.parametrize("name", FLOATS)
def test_numbers_at_the_ends_of_a_format_are_no_trouble(name):
    form, least = float_format(name), float_format(name).least
    numbers = (form.greatest, -form.greatest, least, -least, form.greatest / 3, least * 2 ** (form.digits - 1))
    models = [
        Network(kind(*weights), readout)
        for kind in (LinearCell, ReluCell, TanhCell)
        for weights in permutations(numbers[:3])
        for readout in (Readout.zero(), Readout.binary(*numbers[4:]), Readout.ternary(numbers[:3], numbers[3:]))
    ]
    with np.errstate(all="raise"):
        for model in models:
            assert certificate(certify(model, arithmetic=name, limit=3))["arithmetic"] == name


@CHANGES_THE_MODE
def test_the_way_out_is_named_and_works():
    with mode("both, as PyTorch sets them"), pytest.raises(BadInput, match=r"torch\.set_flush_denormal\(False\)"):
        certify(TINY, arithmetic="float64")
    with mode("upward"), pytest.raises(BadInput, match=r"fesetround\(FE_TONEAREST\)"):
        certify(TINY, arithmetic="float64")
    verdict = certify(TINY, arithmetic="float64")
    assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, 2**53)


@every_mode
def test_strings_are_not_scored(name, tmp_path):
    strings = tmp_path / "strings.txt"
    strings.write_text("()\n(()\n")
    assert score(LEAKY, strings)["strings"] == 2
    assert refusal_in(name, lambda: score(LEAKY, strings)) is None


@every_mode
@pytest.mark.parametrize("kind", [float, np.float32, np.float64, FORMATS["bfloat16"].kind, FORMATS["float16"].kind])
def test_numbers_are_read_and_rounded_as_ever_or_refused(name, kind):
    """What is read may outlive the mode: a subnormal number that became 0 would be another network's weight."""
    form = next(form for form in FORMATS.values() if form.kind is kind) if kind is not float else FORMATS["float64"]
    numbers = [kind(float(form.least * size)) for size in (1, 3, 2 ** (form.digits - 1))]
    with mode(name):
        for value, size in zip(numbers, (1, 3, 2 ** (form.digits - 1)), strict=True):
            assert _read_or_refused(lambda value=value: exact(value)) in (form.least * size, None)
            rounded = _read_or_refused(lambda size=size: nearest(form.least * size, form))
            assert rounded is None or np.asarray(rounded, form.kind).tobytes() == np.asarray(value, form.kind).tobytes()


def _read_or_refused(ask):
    try:
        return ask()
    except BadInput as refusal:
        return None if "floating point: this thread flushes" in str(refusal) else refusal


@every_mode
def test_conditions_hold_as_ever_or_are_refused(name):
    cell = SelectiveCell(2.0**-1060, -1.0, 2.0**-1023 * 2**-37, 2.0**1000)
    for ask in (lambda: conditions(cell), lambda: indicators(TINY.cell)):
        expected = ask()
        with mode(name):
            assert _read_or_refused(ask) in (expected, None)


@every_mode
def test_a_file_of_subnormal_weights_is_read_as_ever_or_refused(name, tmp_path):
    path = tmp_path / "tiny.safetensors"
    write_network(TINY, path)
    expected = read_network(path)
    assert expected.cell.open_step == Fraction(2) ** -1060
    with mode(name):
        assert _read_or_refused(lambda: read_network(path)) in (expected, None)


@every_mode
def test_slices_of_regions_are_exact_in_every_mode(name):
    expected = slice_at(1.25, 4)
    with mode(name):
        assert slice_at(1.25, 4) == expected


@every_mode
def test_a_mode_that_changes_half_way_is_noticed(name, monkeypatch):
    whole_search, entered = room.search, mode(name)

    def search(*arguments):
        found = whole_search(*arguments)
        entered.__enter__()
        return found

    monkeypatch.setattr(room, "search", search)
    try:
        with pytest.raises(BadInput, match=MODES[name][1]):
            certify(TINY, arithmetic="float64")
    finally:
        entered.__exit__(None, None, None)


@every_mode
def test_the_thread_that_computes_is_the_one_that_is_looked_at(name):
    with ThreadPoolExecutor(1) as untouched:
        assert untouched.submit(threading.get_ident).result() != threading.get_ident()
        with mode(name):
            assert untouched.submit(certify, TINY, "all", "float64").result().horizon == 2**53
            # A thread begins in the mode of the one that starts it.
            with ThreadPoolExecutor(1) as born_here, pytest.raises(BadInput, match=MODES[name][1]):
                born_here.submit(certify, TINY, "all", "float64").result()


@CHANGES_THE_MODE
def test_a_curve_is_looked_at_length_by_length():
    curve = accuracies(LEAKY, 6, "float32")
    assert next(curve).length == 1
    with mode("upward"), pytest.raises(BadInput, match="rounds upward"):
        next(curve)


BEGINS_IN_A_MODE = """
import sys
sys.path.insert(0, sys.argv[1])
from float_modes import mode
changed = mode(sys.argv[2])
changed.__enter__()
import tallystick as ts
model = ts.Network(ts.LinearCell(2.0**-1060, -(2.0**-1060), 1), ts.Readout.zero())
try:
    print(ts.certify(model, arithmetic="float64"))
except ts.BadInput as refusal:
    print(refusal)
changed.__exit__(None, None, None)
print(ts.certify(model, arithmetic="float64").horizon == 2**53)
"""


@CHANGES_THE_MODE
@pytest.mark.parametrize("name", ["both, as PyTorch sets them", "upward"])
def test_a_mode_that_was_changed_before_the_package_is_loaded_is_noticed(name):
    command = [sys.executable, "-W", "error", "-c", BEGINS_IN_A_MODE, str(Path(__file__).parent), name]
    refusal, later = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert MODES[name][1] in refusal
    assert later == "True"
