"""A model made ready to run keeps its states, and what lies between two states is called sure only where it is."""

import random
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from brute_force import READOUTS, some_model

from tallystick.cells import ONE_HOT, LinearCell, ReluCell, SelectiveCell, TanhCell
from tallystick.certificates.one_unit.executions import TANH_NEIGHBOURS, ExecutedTanh, RealTanh, execution, whole_model
from tallystick.certificates.one_unit.extremes import ByOpenings, ByRunningCount, Ends
from tallystick.certificates.one_unit.search import is_certain, is_steady
from tallystick.certificates.one_unit.sorted_strings import critical_strings, sides
from tallystick.certificates.verdict import runs_of
from tallystick.languages.tasks import BB_MEMBERSHIP, BINARY, TERNARY
from tallystick.networks import Network, Readout
from tallystick.numbers import ARITHMETICS, FORMATS, exact, format_of

HALF = Fraction(1, 2)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("cell", [LinearCell, SelectiveCell, ReluCell], ids=lambda kind: kind.__name__)
def test_whole_numbers_stand_for_the_exact_states(cell, readout):
    """One factor a length, above 0: states, and so classes, are those of the rationals."""
    generator = random.Random(f"{cell}{readout}")
    for _ in range(20):
        model = some_model(cell, readout, generator)
        run, string = execution(model, "real"), "".join(generator.choices("()", k=5))
        h, factors = 0, [1]
        for length, token in enumerate(string, start=1):
            whole = whole_model(model, length)
            assert all(isinstance(getattr(whole.cell, field.name), int) for field in fields(whole.cell))
            h = whole.cell.step(h, ONE_HOT[token])
            true = model.cell.final_state(string[:length])
            assert (h > 0) - (h < 0) == (true > 0) - (true < 0)
            if true:
                factors.append(h / Fraction(true))
            assert whole.readout.class_index((h,)) == model.readout.class_index((true,))
            assert run.model_at(length) == whole
        assert all(factor > 0 for factor in factors)
    assert (run.rounded, run.enclosed) == (False, False)


@pytest.mark.parametrize(
    ("cell", "arithmetic", "rounded", "enclosed"),
    [
        (LinearCell(1, -1, 1), "float32", True, False),
        (LinearCell(1, -1, 1), "real", False, False),
        (TanhCell(1, -1, 1), "float32", True, True),
        (TanhCell(1, -1, 1), "real", False, True),
    ],
)
def test_how_a_model_runs(cell, arithmetic, rounded, enclosed):
    run = execution(Network(cell, Readout.zero()), arithmetic)
    assert (run.rounded, run.enclosed) == (rounded, enclosed)


# --- Between two ends --------------------------------------------------------------------------------------------------------


def ends(*pairs):
    least, greatest = zip(*pairs, strict=True)
    return Ends(np.array(least), np.array(greatest))


def test_an_interval_across_zero_says_nothing_to_the_zero_check():
    pairs = [(-1, 1), (0, 1), (-1, 0), (1, 2), (-2, -1), (0, 0)]
    for rounded in (False, True):
        found = is_certain(Readout.zero(), np.zeros(6, int), ends(*pairs), rounded=rounded)
        assert found.tolist() == [False, False, False, True, True, False]
        assert is_certain(Readout.zero(), np.ones(6, int), ends(*pairs), rounded=rounded).all()


def test_exact_intervals_and_binary_ones_are_always_sure():
    wide = ends((-9.0, 9.0), (0.0, 1.0))
    assert is_certain(Readout.binary(1.0), np.array([0, 1]), wide, rounded=True).tolist() == [True, True]
    assert is_certain(Readout.ternary((1, 2, 3)), np.array([0, 2]), wide, rounded=False).tolist() == [True, True]


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        ((-1, 0, 1), True),
        ((0, 0, 0), True),
        ((1, 0, 0), True),
        ((0, -2, 0), True),
        ((-1, 0.25, 1), False),
        ((1, 2, -1), False),
        ((-1, -1, 1), False),
        ((1, 0, 2), False),
        ((0, -1, -2), False),
    ],
)
def test_outputs_of_one_sign_are_not_steady(weight, expected):
    readout = Readout.ternary(weight).map_weights(ARITHMETICS["float32"])
    assert is_steady(readout) == expected
    assert is_steady(Readout.binary(1))
    assert is_steady(Readout.zero())


@pytest.mark.parametrize("name", ["float16", "float16-fused"])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_what_is_called_sure_is_so_at_every_float_between(index, name):
    """Lines of one sign, close together: near their crossing rounding may exchange them several times."""
    generator, sure = random.Random(index), 0
    for _ in range(80):
        slopes = [Fraction(generator.randrange(100, 120), 16) for _ in range(3)]
        biases = [Fraction(generator.randrange(-3, 4), 64) for _ in range(3)]
        biases[index] += Fraction(generator.randrange(10), 16)
        readout = Readout.ternary(tuple(slopes), tuple(biases)).map_weights(ARITHMETICS[name])
        between = [np.float16(generator.randrange(-64, 64) / 64)]
        for _ in range(30):
            between.append(np.nextafter(between[-1], np.float16(np.inf)))
        found = [int(readout.class_index((h,))) for h in between]
        if found[0] == found[-1] == index and is_certain(
            readout, np.array([index]), Ends(np.array(between[:1]), np.array(between[-1:])), rounded=True
        ):
            sure += 1
            assert set(found) == {index}
    assert sure > 3


# --- Groups and critical strings ---------------------------------------------------------------------------------------------


def test_the_groups_lead_into_each_other():
    """A group's sources and targets agree, and the right class of a group is that of its strings."""
    for grouping, count in (
        (ByOpenings(), lambda group, length: 2 * group - length),
        (ByRunningCount(), lambda k, _: k),
    ):
        for group in range(5):
            sources = grouping.sources(group)
            into = {(token, source) for source in range(6) for token in "()" if grouping.target(source, token) == group}
            assert {(token, source) for token, source in sources if source >= 0} == into
        assert grouping.right_classes(BB_MEMBERSHIP, 4).tolist() == [int(count(group, 4) == 0) for group in range(5)]
    assert ByOpenings().right_classes(BINARY, 3).tolist() == [0, 0, 1, 1]
    assert ByOpenings().right_classes(TERNARY, 4).tolist() == [0, 0, 1, 2, 2]


@pytest.mark.parametrize("task", [BINARY, TERNARY], ids=["binary", "ternary"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8])
def test_the_critical_strings_are_the_sorted_ones_at_the_ends_of_each_class(task, length):
    counts = range(-length, length + 1, 2)
    by_class = {}
    for count in counts:
        by_class.setdefault(task.index_of_count(count), []).append(count)
    at_ends = {count for group in by_class.values() for count in (group[0], group[-1])}
    expected = set()
    for count in at_ends:
        n = (length + count) // 2
        expected |= {"(" * n + ")" * (length - n), ")" * (length - n) + "(" * n}
    found = {}
    for string in critical_strings(task, length % 2):
        text = "".join(token * size for token, size in string.runs(length))
        assert len(text) == length
        assert string.runs(length) == runs_of(text)
        found[text] = string.right
    assert set(found) == expected
    for text, right in found.items():
        assert task.classes[right] == task.right_class(text)


@pytest.mark.parametrize(
    "readout", [Readout.binary(2, -1), Readout.ternary((-1, 0, 3), (-2, 1, -1)), Readout.ternary((1, 1, 1), (0, 0, 0))]
)
def test_the_comparisons_of_a_class_hold_where_the_class_is_given(readout):
    for h in (Fraction(n, 4) for n in range(-12, 13)):
        holding = [
            index
            for index in range(len(readout.comparisons))
            if all(
                side.weight * h + side.bias > 0 if side.strict else side.weight * h + side.bias >= 0
                for side in sides(readout, index)
            )
        ]
        assert holding == [readout.class_index((h,))]


# --- Bounds of tanh ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [16, 64])
def test_real_bounds_of_tanh_are_as_close_as_their_digits(digits):
    cell = RealTanh.of(TanhCell(HALF, -HALF, 1), digits)
    x = np.array([Fraction(0), Fraction(1, 3), Fraction(-5, 2), Fraction(1, 10**9)], object)
    for at, low, high in zip(x, *cell.tanh_bounds(x), strict=True):
        assert low * 2**digits == int(low * 2**digits)
        assert high - low == (0 if at == 0 else Fraction(1, 2**digits))
        assert abs(float(low) - np.tanh(float(at))) < 2.0 ** (1 - min(digits, 50))
        assert low <= high


@pytest.mark.parametrize("name", FORMATS)
def test_executed_bounds_of_tanh_are_so_many_neighbours_away(name):
    form = FORMATS[name]
    cell = ExecutedTanh.of(TanhCell(HALF, -HALF, 1).map_weights(ARITHMETICS[name]))
    steps = 2 * TANH_NEIGHBOURS[name] if name == "float64" else TANH_NEIGHBOURS[name] + 1
    x = np.array([0.25, -0.75, 30.0, -30.0]).astype(form.kind)
    low, high = cell.tanh_bounds(x)
    middle = np.tanh(x.astype(np.float64)).astype(form.kind)
    for bound, edge in ((low, -1), (high, 1)):
        wanted = middle
        for _ in range(steps):
            wanted = np.nextafter(wanted, np.full(4, edge).astype(form.kind))
        assert bound.tolist() == wanted.tolist()
        assert bound.dtype == form.kind
    still = cell.image(*(np.zeros(1, form.kind),) * 2, ONE_HOT["("])
    assert exact(still[0][0]) < exact(np.tanh(np.float64(0.5)).astype(form.kind)) < exact(still[1][0])
    assert format_of(still[0][0]) is form


def test_tanh_of_zero_is_zero_and_falling_maps_exchange_the_ends():
    cell = ExecutedTanh.of(TanhCell(0, 1, -1).map_weights(ARITHMETICS["float32"]))
    zero = np.zeros(1, np.float32)
    assert [bound.tolist() for bound in cell.image(zero, zero, ONE_HOT["("])] == [[0.0], [0.0]]
    low, high = cell.image(np.array([-1], np.float32), np.array([2], np.float32), ONE_HOT[")"])
    assert low[0] < np.tanh(-1) < np.tanh(2) < high[0]
    assert cell.step(zero, ONE_HOT[")"]).tolist() == cell.image(zero, zero, ONE_HOT[")"])[0].tolist()
    low, high = cell.image(zero, np.array([1], np.float32), ONE_HOT["("])
    assert low[0] < np.tanh(-1)
    assert 0 < high[0] < 1e-40
