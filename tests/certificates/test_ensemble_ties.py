"""Ensembles at ties and at the ends of the range of floats: what is not sure is not decided, what is sure at once."""

import numpy as np
import pytest

from tallystick.cells import LinearCell, ReluCell, SelectiveCell
from tallystick.certificates.one_unit import ensemble as room
from tallystick.certificates.one_unit import linear_ensemble
from tallystick.certificates.one_unit.ensemble import UNLIMITED, horizons
from tallystick.certificates.one_unit.linear_ensemble import FirstFailures, Powers, decide_length
from tallystick.certificates.one_unit.sorted_strings import CriticalString, critical_strings
from tallystick.certificates.verdict import Horizons
from tallystick.networks import Network, Readout
from tallystick.numbers.boxes import Box

ONE = np.ones(1)
JUST_BELOW = 1 - 2.0**-53


@pytest.fixture
def _nobody_to_ask(monkeypatch):
    def unasked(model, *_, **__):
        raise AssertionError(f"{model} was not decided")

    monkeypatch.setattr(linear_ensemble, "certify_network", unasked)
    monkeypatch.setattr(room, "certify_network", unasked)
    monkeypatch.setattr(linear_ensemble, "_FEW", 0)


def answers(found):
    return found.all.tolist(), found.even.tolist(), found.all_exact.tolist(), found.even_exact.tolist()


# --- Boxes ---


def test_at_zero_the_biases_decide():
    """Also where they tie: 0 is not positive. Beside zero a box on both sides of the tie decides nothing."""
    biases = np.array([-1.0, 0.0, 1.0])
    readout = Readout.binary(np.full(3, 0.3), biases)
    at_zero = Box(np.zeros(3), np.zeros(3))
    for index, right in ((0, biases <= 0), (1, biases > 0)):
        decided = room._decide_class(readout, index, at_zero)
        assert decided.passes.tolist() == right.tolist()
        assert decided.fails.tolist() == (~right).tolist()
    tied = Readout.binary(ONE, 0 * ONE)
    for low, high in ((-1e-9, 1e-9), (0.0, 1e-9), (-1e-9, 0.0)):
        beside = Box(low * ONE, high * ONE)
        class_of_zero, class_above = (room._decide_class(tied, index, beside) for index in (0, 1))
        assert not class_above.passes.any()
        assert not class_of_zero.fails.any()
        assert high == 0 or not class_of_zero.passes.any()


def test_zero_is_told_from_what_may_be_zero():
    """A box an entry: zero itself, what may be zero from above, from below and from both, and what is not zero."""
    ends = np.array([[0, 0], [0, 1], [-1, 0], [-1, 1], [1, 2], [-2, -1]], float).T
    low, high = (np.broadcast_to(end, (2, 1, 6)) for end in ends)
    is_zero, is_not = [True, *[False] * 5], [*[False] * 4, True, True]
    for index, passes, fails in ((1, is_zero, is_not), (0, is_not, is_zero)):
        decided = room._decide_class(Readout.zero(), index, Box(low, high))
        assert decided.passes.all(axis=(0, 1)).tolist() == passes
        assert decided.fails.any(axis=(0, 1)).tolist() == fails


@pytest.mark.usefixtures("_nobody_to_ask")
def test_a_state_that_is_cut_to_zero_is_decided_in_boxes():
    """After `)` a ReLU cell is at 0, which is not positive; after `)(` it is at 1, which should not be."""
    found = horizons(Network(ReluCell(ONE, -2 * ONE, ONE), Readout.binary(ONE, 0 * ONE)))
    assert answers(found) == ([1], [0], [True], [True])


def test_an_exact_counter_is_only_as_right_as_its_readout():
    """Thresholds below 0, at 0, between the states, and beyond the first and the second of them."""
    biases = np.array([0.5, 0.0, -0.5, -1.5, -2.5])
    one = np.ones(5)
    for cell in (SelectiveCell(one, -one, one, one), LinearCell(one, -one, one)):
        found = horizons(Network(cell, Readout.binary(one, biases)))
        assert found.all.tolist() == [1, UNLIMITED, UNLIMITED, 0, 0]
        assert found.even.tolist() == [0, UNLIMITED, UNLIMITED, UNLIMITED, 0]
        assert found.all_exact.dtype == found.even_exact.dtype == bool
        assert found.all_exact.all()


def test_the_size_of_a_counters_step_matters():
    """The threshold 1 is above one step of 1/2 and at the second, and below a step of 2."""
    steps = np.array([0.5, 2.0])
    found = horizons(Network(LinearCell(steps, -steps, np.ones(2)), Readout.binary(np.ones(2), -np.ones(2))))
    assert (found.all.tolist(), found.even.tolist()) == ([0, UNLIMITED], [0, UNLIMITED])


def test_a_tie_that_the_certifier_proves_is_that_models_alone():
    """At h = −1 the outputs negative and zero are equal, which is negative; the others fail at `(()` and `((()`, or at once."""
    one = np.ones(3)
    cells = SelectiveCell(np.array([1.0, 1.0, -1.0]), np.array([-1.0, -1.0, 1.0]), one, np.array([1.0, 0.5, 1.0]))
    found = horizons(Network(cells, Readout.ternary((-one, 0 * one, one), (-one, 0 * one, -one / 2))))
    assert answers(found) == ([UNLIMITED, 2, 0], [UNLIMITED, 2, 0], [True] * 3, [True] * 3)


def test_the_certifier_goes_no_further_than_the_limit():
    """`()` ends in max(0, −2⁻⁵³), which boxes do not tell from a little more than 0."""
    found = horizons(Network(ReluCell(ONE, -ONE, JUST_BELOW * ONE), Readout.zero()), limit=7)
    assert answers(found) == ([7], [6], [False], [False])


def test_overflow_is_nothing_to_warn_of():
    large = 1e300 * np.ones(6)
    for cell in (SelectiveCell(large, -large, large, large), LinearCell(large, -large, large)):
        found = horizons(Network(cell, Readout.binary(np.ones(6), np.zeros(6))))
        assert found.all.tolist() == [1] * 6


# --- Floats with a bound on their error ---


def linear(rows, readout=None):
    """Linear cells from rows of a, b and U."""
    a, b, U = np.array(rows, float).T
    return Network(LinearCell(a, b, U), readout or Readout.binary(np.ones(len(a)), np.zeros(len(a))))


def test_which_models_floats_may_decide():
    rows = [(1, -1, 1), (1, -1, 0), (1, -1, -1), (1e-60, -1, 1), (1, -1e60, 1), (0, -1, 0.5), (1, -1, 1e-60), (1, 1, 2)]
    expected = [True, False, False, False, False, True, False, True]
    assert linear_ensemble._in_range(linear(rows)).tolist() == expected
    size = np.ones(3)
    for extreme in (np.array([1.0, 1e-60, 1e60]), -np.array([1.0, 1e-60, 1e60])):
        for readout in (Readout.binary(extreme, size), Readout.binary(size, extreme)):
            assert linear_ensemble._in_range(linear([(1, -1, 1)] * 3, readout)).tolist() == [True, False, False]


def test_which_models_go_through_the_lengths():
    """Not what is known, out of range, or drifts for long."""
    rows = [
        (1, -1.5, 1),
        (1, -1.5, 1),
        (1, -1.5, 1e-60),
        (1, -1.5, -1),
        (100, -100.05, 1),
        (0.01, -0.0101, 1),
        (1, -1.0001, 1.5),
        (1, 1, 1),
    ]
    known = np.array([-1, 0, -1, -1, -1, -1, -1, -1])
    chosen = linear_ensemble._can_run(linear(rows), Horizons(known, known, known < 0, known < 0))
    assert chosen.tolist() == [True, False, False, False, False, True, True, True]


def test_a_head_start_adds_to_what_is_known_and_changes_nothing_of_it():
    before = np.array([-1, -1, 0, 5, UNLIMITED, -1])
    sure = np.ones(6, bool)
    found = Horizons(before.copy(), before.copy(), sure, sure)
    linear_ensemble._take(FirstFailures(np.array([0, -1, 3, 3, 3, 8]), np.array([-1, 0, -1, 7, -1, 2])), found)
    assert found.all.tolist() == [0, -1, 0, 5, UNLIMITED, 8]
    assert found.even.tolist() == [-1, 0, 0, 5, UNLIMITED, 2]


@pytest.mark.usefixtures("_nobody_to_ask")
def test_what_fails_at_once_is_decided_in_floats():
    assert answers(horizons(linear([(-1, 1.5, 1), (-1, 1, 0.5)]))) == ([0, 0], [0, 0], [True, True], [True, True])


def test_a_tie_is_not_decided():
    nothing = np.zeros(1)
    for index in (0, 1):
        decided = linear_ensemble._decide(Readout.binary(nothing, nothing), index, ONE, error=nothing)
        assert not decided.passes.any()
        assert not decided.fails.any()


@pytest.mark.parametrize("readout", [Readout.binary(ONE, ONE), Readout.ternary((ONE,) * 3, (ONE,) * 3)], ids=str)
def test_the_states_of_the_critical_strings_are_those_of_the_cell(readout):
    """Weights with few digits, so that nothing is rounded; the terms are no smaller than the state."""
    models = Network(LinearCell(3 * ONE, -1.25 * ONE, 0.5 * ONE), readout)
    powers = Powers.at_zero(models.cell.recurrent_weight)
    for length in range(1, 9):
        powers = powers.longer(even=length % 2 == 0)
        for string in critical_strings(models.task, length % 2):
            h, size = powers.state(models, string)
            assert h[0] == models.cell.final_state("".join(token * times for token, times in string.runs(length)))[0]
            assert size[0] >= abs(h[0])


def test_powers_near_the_ends_of_the_range_are_not_used():
    def powers(last, whole):
        return Powers(ONE, whole * ONE, (ONE, ONE, last * ONE), (ONE, ONE, ONE))

    cases = {(0.5, 2.0): True, (1e-110, 2.0): False, (0.5, 1e110): False, (1e-110, 1e110): False, (0.0, np.inf): False}
    assert {case: bool(powers(*case).in_range()[0]) for case in cases} == cases


@pytest.mark.parametrize("position", [None, 0, 1, 2], ids=["binary", "negative", "zero", "positive"])
@pytest.mark.parametrize("string", ["((", "()", ")("])
def test_what_floats_decide_near_a_tie_is_so(string, position):
    """Thresholds within a few roundings of a state: `()` nearly cancels there, so that it is off by much more than its digits."""
    generator = np.random.default_rng(len(string) + ord(string[0]))
    size = 60
    a, U = generator.uniform(50, 100, size), generator.uniform(0.9, 1.1, size)
    b, v = -a * generator.uniform(0.999, 1.001, size) * U, generator.uniform(0.5, 2, size)
    cell = LinearCell(a, b, U)
    off = generator.integers(-3, 4, size) * 2.0**-53 * generator.choice([1.0, a.max()], size)
    bias = -v * cell.final_state(string) * (1 + generator.integers(-2, 3, size) * 2.0**-53) + off
    nothing = np.zeros(size)
    if position is None:
        readout = Readout.binary(v, bias)
    else:
        outputs = [(v, bias) if i == position else (nothing, nothing - (i == (position + 1) % 3)) for i in range(3)]
        readout = Readout.ternary(*zip(*outputs, strict=True))
    models = Network(cell, readout)
    powers = Powers.at_zero(U).longer(even=False).longer(even=True)
    runs = {"((": ("(", 0, None), "()": ("(", 0, 0), ")(": (")", 0, 0)}
    classes = models.task.classes
    exactly = [classes.index(models.place(i).in_arithmetic("rational").class_of(string)) for i in range(size)]
    for right in range(len(classes)):
        decided = decide_length(models, powers, [CriticalString(*runs[string], right)], 2)
        is_right = np.array(exactly) == right
        assert not (decided.passes & ~is_right).any()
        assert not (decided.fails & is_right).any()
    assert len(set(exactly)) > 1
