"""What boxes prove, step by step: sure classes, failing strings, and how far a proof goes and why it ends there."""

import json
from fractions import Fraction

import numpy as np
import pytest
from brute_force import place_of
from vector_networks import counting_lstm, random_model

from tallystick import LinearCell, LstmCell, Network, Stack, certify
from tallystick.certificates.boxes import box_groups, box_proof
from tallystick.certificates.boxes.box_groups import empty_string, groups_to
from tallystick.certificates.boxes.box_proof import (
    FAILED,
    LIMIT,
    UNDECIDED,
    UNSURE,
    WORK,
    Bounded,
    Reached,
    boxed_forms,
    decide_by_boxes,
    prove,
    sure_classes,
)
from tallystick.certificates.certificate import certificate
from tallystick.certificates.progress import listen
from tallystick.certificates.verdict import REAL, Lengths, Outcome
from tallystick.checker import check
from tallystick.networks import Readout
from tallystick.numbers.boxes import Box
from tallystick.numbers.values import numbers_of

STILL = LstmCell(((0, 0),) * 4, ((0,),) * 4, (0,) * 4, (0,) * 4)
ALWAYS_POSITIVE = Network(STILL, Readout(((0,),), (1,)))
AT_THE_THRESHOLD = Network(STILL, Readout(((1,),), (0,)))
FAILS_AT_11 = counting_lstm(4.0)
TOKEN = 2 * 12
"""The work of one group of an LSTM with one unit."""


def test_a_box_that_reaches_a_tie_is_sure_only_of_the_lower_class():
    """Boxes of h from 0, from just above 0, and from below it; the output is h, or −h."""
    least = 1e-300
    hidden = (Box(np.array([0.0, least, -1.0]), np.array([5.0, 5.0, 5.0])),)
    rising, falling = (boxed_forms(Readout(((slope,),), (0,))) for slope in (1, -1))
    assert sure_classes(rising, hidden).tolist() == [UNSURE, 1, UNSURE]
    assert sure_classes(falling, hidden).tolist() == [0, 0, UNSURE]


def test_outputs_with_the_same_weights_are_told_apart_by_their_biases():
    hidden = (Box(np.array([0.0, 1e-300, -1.0]), np.array([5.0, 5.0, 5.0])),)
    readout = Readout(((0,), (0,), (1,)), (0, -9, 0))
    assert sure_classes(boxed_forms(readout), hidden).tolist() == [UNSURE, 2, UNSURE]
    assert certify(Network(FAILS_AT_11.cell, readout), limit=6).outcome is Outcome.REFUTED


def test_what_no_class_claims_is_sure_only_where_all_others_are_excluded():
    hidden = (Box(np.array([-1.0, 0.5, -2.0]), np.array([1.0, 1.0, -1.0])),)
    assert sure_classes(boxed_forms(Readout.zero()), hidden).tolist() == [UNSURE, 0, 0]


def test_a_zero_check_is_not_refuted_by_a_box_around_zero():
    """A third is no double, so the boxes of a cell that counts exactly hold more than its states."""
    counter = LinearCell(Fraction(1, 3), Fraction(-1, 3), 1)
    assert certify(Network(counter, Readout.zero())).outcome is Outcome.PROVED
    stacked = decide_by_boxes(Network(Stack((counter,)), Readout.zero()), Lengths.ALL, REAL, None)
    assert (stacked.outcome, stacked.horizon, stacked.known_failure) == (Outcome.BOUNDED, 1, None)


@pytest.mark.parametrize("suffix", [1, 2])
def test_a_group_that_fails_names_a_string_of_its_own(suffix):
    model = Bounded.of(ALWAYS_POSITIVE)
    groups = empty_string(model.cell)
    for _ in range(4):
        groups = groups.longer(model.cell, suffix)
    for place in np.argwhere(groups.counts <= 0):
        failing = np.zeros(groups.counts.shape, bool)
        failing[tuple(place)] = True
        failure = box_proof._failing_string(model, groups, failing)
        assert failure.length == groups.length
        assert place_of(failure.string) % 2**groups.suffix == place[1]
        assert failure.string.count("(") - failure.string.count(")") == groups.counts[tuple(place)]
    assert box_proof._failing_string(model, groups, np.zeros(groups.counts.shape, bool)) is None


def test_boxes_find_a_failure_by_themselves():
    at_once = prove(Bounded.of(ALWAYS_POSITIVE), Lengths.ALL, 5)
    assert (at_once.length, at_once.stop, at_once.failure.string) == (0, FAILED, ")")
    even = prove(Bounded.of(ALWAYS_POSITIVE), Lengths.EVEN, 5)
    assert (even.length, even.stop, even.failure.length) == (0, FAILED, 2)
    later = prove(Bounded.of(FAILS_AT_11), Lengths.ALL, 12)
    assert (later.length, later.stop, later.failure.length) == (10, FAILED, 11)
    executed = FAILS_AT_11.in_arithmetic("float64")
    assert executed.class_of(later.failure.string) == later.failure.found != later.failure.right
    assert prove(Bounded.of(AT_THE_THRESHOLD), Lengths.ALL, 5) == Reached(0, UNDECIDED)


def test_closer_boxes_decide_more(monkeypatch):
    model = Bounded.of(FAILS_AT_11)
    monkeypatch.setattr(box_proof, "SUFFIXES", (1,))
    assert prove(model, Lengths.ALL, 40) == Reached(10, UNDECIDED)
    monkeypatch.setattr(box_proof, "SUFFIXES", (1, 11))
    assert prove(model, Lengths.ALL, 40).stop == FAILED


def test_short_lengths_are_decided_string_by_string(monkeypatch):
    """Where that is little work, no group holds more than one string in the end."""
    monkeypatch.setattr(box_proof, "SUFFIXES", (1,))
    found = prove(Bounded.of(FAILS_AT_11), Lengths.ALL, 12)
    assert (found.length, found.stop) == (10, FAILED)
    suffixes = [list(box_proof._suffixes(FAILS_AT_11.cell, limit)) for limit in (5, 12, 40)]
    assert suffixes == [[5], [1, 12], [1]]
    assert list(box_proof._suffixes(FAILS_AT_11.cell, 1000)) == [1]


@pytest.mark.parametrize("suffix", [1, 3, 12])
def test_the_groups_to_a_length_are_counted(suffix):
    model = Bounded.of(FAILS_AT_11)
    groups, total = empty_string(model.cell), 0
    for length in range(7):
        assert groups_to(length, suffix) == total
        total += groups.size
        groups = groups.longer(model.cell, suffix)


def test_a_proof_ends_at_its_limit_and_no_later(monkeypatch):
    monkeypatch.setattr(box_proof, "MOST_WORK", TOKEN * (1 + 2 + 4))  # all that three tokens take
    model = Bounded.of(FAILS_AT_11)
    assert prove(model, Lengths.ALL, 3) == Reached(3, LIMIT)
    assert prove(model, Lengths.ALL, 4) == Reached(3, WORK)


def test_a_known_failure_is_named_and_nothing_is_proved_beyond_it(monkeypatch):
    limits = []

    def record(model, lengths, limit):
        limits.append(limit)
        return prove(model, lengths, limit)

    monkeypatch.setattr(box_proof, "suspects", lambda model, limit: ["(((((()))))", "((((((())))))"])
    monkeypatch.setattr(box_proof, "prove", record)
    exact = certify(FAILS_AT_11, limit=14)
    assert (exact.outcome, exact.horizon, exact.failure.string) == (Outcome.REFUTED, 10, "(((((()))))")
    monkeypatch.setattr(box_proof, "MOST_WORK", TOKEN * (1 + 2 + 4))
    left_open = certify(FAILS_AT_11, limit=14)
    assert (left_open.outcome, left_open.horizon, left_open.failure) == (Outcome.BOUNDED, 3, None)
    assert left_open.known_failure == exact.failure
    assert left_open.reason == (
        "every counted length to 3 is right; the boxes beyond it are too many, and a string of length 11 fails"
    )
    assert limits == [10, 10]


def interrupt_at(length):
    def listener(done, total, text):
        if done == length:
            raise KeyboardInterrupt

    return listen(listener)


def test_a_proof_says_how_far_it_is():
    told = []
    with listen(lambda *report: told.append(report)):
        certify(FAILS_AT_11, limit=20)
    assert {total for _, total, _ in told} == {10}
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][0] == 10
    certify(FAILS_AT_11, limit=20)
    assert (
        len(told) == len({(done, text) for done, _, text in told}) + 1
    )  # the last length is told once more at the end


def test_ctrl_c_gives_what_is_known_so_far():
    with interrupt_at(7):
        verdict = certify(FAILS_AT_11, limit=20)
    assert (verdict.outcome, verdict.horizon, verdict.known_failure.length) == (Outcome.BOUNDED, 7, 11)
    assert verdict.reason == (
        "interrupted: every counted length to 7 is right, the ones beyond it were not decided, and a string of length 11 fails"
    )
    assert check(json.dumps(certificate(verdict))).valid


def test_ctrl_c_before_anything_is_proved(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(box_proof, "suspects", interrupt)
    verdict = certify(FAILS_AT_11, limit=20)
    assert (verdict.outcome, verdict.horizon, verdict.known_failure) == (Outcome.BOUNDED, 0, None)
    assert verdict.reason.startswith("interrupted: ")


@pytest.mark.parametrize("units", [1, 5])
def test_groups_that_step_by_parts_are_those_that_step_together(units, monkeypatch):
    """Parts of seven groups, which several threads share, leave every box in its place."""
    cell = Bounded.of(random_model(LstmCell, units, 1, seed=units)).cell
    found = []
    for at_once in (10**6, 7):
        monkeypatch.setattr(box_groups, "_AT_ONCE", at_once)
        groups = empty_string(cell)
        for _ in range(7):
            groups = groups.longer(cell, 4)
        found.append([end for box in numbers_of(groups.state) for end in box.ends])
    np.testing.assert_allclose(*found, rtol=0, atol=1e-12)
