"""Exact counters in floating point: proved to their depth, refuted just beyond it, and never claimed where there is none."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import LinearCell, LstmCell, Recurrence, ReluLayer, SelectiveCell, Stack, Token
from tallystick.certificates.any_order.counted import Counted, counted
from tallystick.certificates.any_order.executions import Executions
from tallystick.certificates.any_order.invariant_search import invariant_of
from tallystick.certificates.any_order.invariants import Invariant
from tallystick.certificates.any_order.saturation import METHOD, evidence_of_saturation
from tallystick.certificates.verdict import Outcome
from tallystick.networks import Network, Readout
from tallystick.numbers.any_order import SATURATED, span_of
from tallystick.numbers.floats import FORMATS
from tallystick.numbers.values import numbers_of

BINARY = Readout.binary(1, -0.5)
DEPTHS = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24, "float64": 2**53}
ZEROS = (0.0,) * 4


def counter(*, i: float = 60, f: float = 60, close: float = -60, o: float = 60, feedback: float = 1) -> LstmCell:
    """Return an LSTM of one unit whose gates i, f and o get these inputs, and g 60 and `close`."""
    return LstmCell(((i, i), (f, f), (60, close), (o, o)), ((feedback,),) * 4, ZEROS, ZEROS)


def beside(*, f: float, g: float, on_first: float = 1) -> LstmCell:
    """Return a counter with a second unit that forgets at f, takes in g of `(`, and moves the gates of the first."""
    weight = ((60, 60), (0.5, 0.5), (60, 60), (f, f), (60, -60), (g, -0.3), (60, 60), (1, 1))
    return LstmCell(weight, ((1, on_first), (0.25, 0.5)) * 4, ZEROS * 2, ZEROS * 2)


def found_in(cell: Recurrence, readout: Readout = BINARY, form: str = "float32") -> Invariant | None:
    network = Network(cell, readout)
    return invariant_of(Executions.of(network, f"{form}-any-order"), network.task)


@pytest.mark.parametrize(("form", "depth"), DEPTHS.items())
@pytest.mark.parametrize("lengths", ["all", "even"])
def test_a_saturated_lstm_counts_to_the_depth_of_the_format_and_fails_past_twice_that(form, depth, lengths):
    verdict = ts.certify(Network(counter(), BINARY), lengths=lengths, arithmetic=f"{form}-any-order")
    length = 2 * depth + (1 if lengths == "all" else 2)
    assert (verdict.outcome, verdict.horizon, verdict.method) == (Outcome.REFUTED, 2 * depth, METHOD)
    assert verdict.failure is not None
    assert verdict.failure.runs == (("(", length - depth), (")", depth))
    assert (verdict.failure.found, verdict.failure.right) == ("ZeroNeg", "Pos")
    assert f"the memory of unit 1 counts exactly in steps of 1 to depth {depth:,} and stops there" in verdict.reason


@pytest.mark.parametrize(
    "readout", [Readout.zero(), Readout.ternary((-2, 0, 2), (-1, 0, -1)), Readout.binary(-1, -0.5)]
)
def test_every_readout_is_judged_by_its_own_classes(readout):
    verdict = ts.certify(Network(counter(), readout), arithmetic="float32-any-order")
    if readout.weight == ((-1,),):  # it says the opposite, so `(` fails
        assert verdict.horizon == 0
    else:
        assert (verdict.horizon, verdict.method) == (2**25, METHOD)


def test_a_string_just_past_the_horizon_fails_as_executed_and_those_before_it_are_right():
    """The claim in float16, run token by token in NumPy."""
    network = Network(counter(), BINARY)
    verdict = ts.certify(network, arithmetic="float16-any-order")
    assert verdict.failure is not None
    executed = network.in_arithmetic("float16")
    assert not _is_right(executed, verdict.failure.string)
    tokens = "(" * 2049 + ")" * 2047
    assert len(tokens) == verdict.horizon
    assert _is_right(executed, tokens)


def _is_right(executed: Network, string: str) -> bool:
    found = executed.readout.class_index(executed.cell.hidden(executed.cell.final_state(string)))
    return int(found) == executed.task.index_of_count(executed.task.count(string))


@pytest.mark.parametrize(
    "cell",
    [
        counter(f=15),  # the forget gate is 1 − 3·10⁻⁷
        counter(f=19),  # which is 1 in PyTorch, but within 8 units of 1 is all that is taken for granted
        counter(i=12),  # it adds less than 1
        counter(close=-8),  # ( adds 1 and ) takes away less
        counter(close=60),  # both add
        counter(feedback=-70),  # at greater counts the gates close
        LstmCell(((60, -60), (60, 60), (60, -60), (60, 60)), ((1,),) * 4, ZEROS, ZEROS),  # ) adds nothing
    ],
)
def test_a_network_that_is_not_quite_saturated_gets_no_invariant(cell):
    assert found_in(cell) is None


@pytest.mark.parametrize(
    ("cell", "claimed"),
    [
        (beside(f=1, g=0.3), True),  # it forgets
        (beside(f=60, g=0.3), True),  # it adds up what it sees, and nobody knows how much that is: its h is within ±1
        (beside(f=60, g=0.3, on_first=-50), False),  # and so it may open and close the gates of the counter
    ],
)
def test_a_unit_that_does_not_count_may_do_what_it_likes_where_the_counter_does_not_care(cell, claimed):
    found = found_in(cell, Readout(((1, 0.01),), (-0.5,), "sign"))
    assert (found is not None) == claimed
    assert found is None or (found.depth, found.stops) == (2**24, True)
    assert found is None or found.above == (None, None, Fraction(1), None)


def test_a_unit_that_counts_the_length_is_told_from_one_that_counts_brackets():
    """As labels alone teach them: g of the second unit is 1 for both tokens, so that its h is between 0 and 1."""
    weight = ((60, 60),) * 4 + ((60, -60), (60, 60)) + ((60, 60),) * 2
    cell = LstmCell(weight, ((0, 0),) * 8, ZEROS * 2, ZEROS * 2)
    found = found_in(cell, Readout(((10, -3),), (-2,), "sign"))
    assert found is not None
    assert (found.above, found.below) == ((None, None, Fraction(1), None),) * 2
    assert found_in(cell, Readout(((10, 3),), (-2,), "sign")) is None  # `()()` gets 3·tanh 4 − 2


def test_a_readout_that_sees_too_much_of_another_unit_is_not_proved():
    assert found_in(beside(f=60, g=0.3), Readout(((1, 0.5),), (-0.5,), "sign")) is None


@pytest.mark.parametrize(
    ("step", "form", "depth", "stops"),
    [
        (0.5, "float32", 2**24, True),
        (3, "float32", 5592405, False),
        (3, "float16", 682, False),
        (-2, "bfloat16", 256, True),
    ],
)
def test_steps_of_any_size_count_as_far_as_their_multiples_are_exact(step, form, depth, stops):
    network = Network(LinearCell(step, -step, 1), Readout.binary(step, -step * step / 2))
    found = invariant_of(Executions.of(network, f"{form}-any-order"), network.task)
    assert found is not None
    assert (found.depth, found.stops) == (depth, stops)
    verdict = ts.certify(network, arithmetic=f"{form}-any-order", limit=100)
    assert verdict.horizon == (2 * depth if stops else depth)


@pytest.mark.parametrize(
    "cell",
    [
        SelectiveCell(1, -1, 1, 1),
        Stack((LinearCell(1, -1, 1),), start=(7,)),
        Stack((counter(), LstmCell(((60,), (60,), (60,), (60,)), ((0,),) * 4, ZEROS, ZEROS))),
    ],
)
def test_other_recurrences_are_taken_as_they_come(cell):
    """A selective cell counts; a counter that starts at 7 says so; and one that reads a counter adds up its h, not a count."""
    readout = BINARY if not isinstance(cell, Stack) or cell.start == ((0, 0),) * 2 else Readout.binary(1, -7.5)
    found = found_in(cell, readout)
    if isinstance(cell, Stack) and len(cell.layers) == 2:
        assert found is None
    else:
        assert found is not None
        assert found.depth in (2**24, 2**24 - 7)


@pytest.mark.parametrize("seed", range(12))
def test_no_execution_leaves_an_invariant_and_none_is_wrong(seed):
    """Random LSTMs with gates around the point where they saturate, on random strings in NumPy's float32 and float16."""
    random = np.random.default_rng(seed)
    units, form = int(random.integers(1, 4)), ("float32", "float16")[seed % 2]
    edge = SATURATED[form][1]
    rows = random.normal(0, 1, (4 * units, 1)) + edge * random.choice([0.5, 1.0, 1.3, 2, 4], (4 * units, 1))
    signs = np.where(np.arange(4 * units) // units == 2, -1, 1)[:, None]
    weight = np.concatenate([rows, signs * rows], 1)
    recurrent = random.normal(0, 1, (4 * units, units))
    cell = LstmCell(
        tuple(map(tuple, weight.tolist())),
        tuple(map(tuple, recurrent.tolist())),
        (0.0,) * 4 * units,
        (0.0,) * 4 * units,
    )
    network = Network(cell, Readout((tuple(random.normal(1, 0.2, units).tolist()),), (-0.3,), "sign"))
    found = invariant_of(Executions.of(network, f"{form}-any-order"), network.task)
    if found is None:
        return
    executed = network.in_arithmetic(form)
    state, counts = executed.cell.initial_state, np.zeros(64, int)
    for place in range(300):
        closing = random.random(64) < (0.5 if place % 60 < 30 else (0.2 if place % 120 < 60 else 0.8))
        dtype = FORMATS[form].kind
        state = executed.cell.step(state, Token((~closing).astype(dtype), closing.astype(dtype)))
        counts += np.where(closing, -1, 1)
        columns = np.clip(counts, -found.edge, found.edge) + found.edge
        for number, low, high, above, below in zip(
            numbers_of(state), found.low, found.high, found.above, found.below, strict=True
        ):
            slope = np.where(counts > 0, float(above or 0), float(below or 0))
            offset = slope * (counts - np.clip(counts, -found.edge, found.edge))
            assert (number - offset >= low[columns]).all()
            assert (number - offset <= high[columns]).all()
        classes = executed.readout.class_index(executed.cell.hidden(state))
        assert (np.asarray(classes) == network.task.right_classes(counts)).all()


@pytest.mark.parametrize("form", ["bfloat16", "float16"])
def test_counted_numbers_are_what_every_order_of_addition_gives(form):
    """Each sum that is said to count is added up in every order, at every j, in the format itself."""
    random, kind = np.random.default_rng(5), FORMATS[form].kind
    claimed = 0
    for _ in range(150):
        last = int(random.integers(0, 40))
        base, slope = (Fraction(int(random.integers(-300, 300))) / 2 ** int(random.integers(0, 3)) for _ in range(2))
        ends = [float(base), float(base + slope * last)]
        if any(float(kind(end)) != end for end in ends):
            continue
        terms = [float(kind(value)) for value in random.integers(-40, 40, int(random.integers(1, 3))) / 4]
        total = counted(base, slope, last, FORMATS[form])
        for term in terms:
            total = span_of(term, FORMATS[form]) + total
        settled = total.settled
        if not isinstance(settled, Counted):
            continue
        claimed += 1
        for j, order in product(range(last + 1), permutations(range(len(terms) + 1))):
            numbers = [kind(float(base + slope * j)), *map(kind, terms)]
            added = kind(0)
            for place in order:
                added = kind(added + numbers[place])
            assert Fraction(float(added)) == settled.base + settled.slope * j
    assert claimed > 5


def test_one_more_than_the_depth_stays_by_rounding_to_even():
    one = span_of(1, FORMATS["float64"])
    top = counted(Fraction(2**53), Fraction(0), 0, FORMATS["float64"])
    for total, kept in ((top + one, 2**53), (top - one, 2**53 - 1), (top + one + one, None)):
        assert isinstance(total, Counted)
        assert total.line == (None if kept is None else (kept, 0))
    longer = counted(Fraction(2**53 - 9), Fraction(1), 9, FORMATS["float64"]) + one  # of which the last is not exact
    assert not isinstance(longer.settled, Counted)


def test_the_evidence_holds_the_invariant():
    evidence = evidence_of_saturation(Network(counter(), BINARY), "float32-any-order")
    assert evidence is not None
    assert (evidence["edge"], evidence["depth"], evidence["above"]) == (14, 2**24, [None, 1])
    boxes = evidence["boxes"]
    assert isinstance(boxes, list)
    assert len(boxes) == 29
    assert boxes[14] == [[0, 0], [0, 0]]
    assert boxes[-1] == [[1, 1], [14, 14]]


def test_two_relu_units_that_count_up_and_down_are_left_to_other_deciders():
    """Their sums have three terms, and bounds of such sums in many boxes at once are not exact."""
    pair = ReluLayer(((1, -1), (-1, 1)), ((1, -1), (-1, 1)), (0, 0), (0, 0))
    verdict = ts.certify(Network(pair, Readout(((1, -1),), (-0.5,), "sign")), arithmetic="float32-any-order", limit=20)
    assert verdict.horizon == 20
