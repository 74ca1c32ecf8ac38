"""What is said of bad input, word for word: one line that names the field, its value and what would be right."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from tallystick.cells import GruCell, LinearCell, LstmCell, ReluCell, ScalarCell, TanhCell
from tallystick.certificates.certify import certify
from tallystick.certificates.deciders import exact_depth
from tallystick.certificates.one_unit.ensemble import horizons
from tallystick.certificates.one_unit.exact_accuracy import accuracy_curve, exact_accuracy
from tallystick.certificates.one_unit.extremes import closed_form, extremes, rows
from tallystick.certificates.one_unit.failing_strings import extreme_failures, random_failures
from tallystick.certificates.one_unit.regions import outline, slice_at
from tallystick.certificates.verdict import Failure, Lengths, Outcome, Verdict
from tallystick.errors import BadInput
from tallystick.languages.brackets import BinaryClass
from tallystick.networks import Network, Readout
from tallystick.numbers import ARITHMETICS, FORMATS, exact, hyperbolic_tangent, nearest, sigmoid
from tallystick.numbers.boxes import box_of

HALF = Fraction(1, 2)
COUNTER = Network(LinearCell(1, -1, 1), Readout.binary(1, -HALF))
GRU = Network(GruCell(((0, 0),) * 3, ((0,),) * 3, (0,) * 3, (0,) * 3), Readout(((1,),), (0,)))
WRONG = Failure((("(", 2),), BinaryClass.NOT_POSITIVE, BinaryClass.POSITIVE)
FLOATS = "float16, bfloat16, float32, float64, float16-fused, bfloat16-fused, float32-fused, float64-fused"
EXAMPLES = '0.25, "1/4" or "0x1p-2"'
NINES = "9" * 40


class Strange(ScalarCell):
    """A cell that nothing is known of."""

    def step(self, h, token):
        """Stand still."""
        return h


def verdict(outcome, horizon, failure=None, known_failure=None):
    return Verdict(COUNTER, Lengths.ALL, "real", outcome, horizon, failure, "search", "because", known_failure)


def many(kind, *weights):
    return Network(kind(*(np.array([weight]) for weight in weights)), READOUT)


def in_float16(part):
    return part.map_weights(ARITHMETICS["float16"])


READOUT = Readout.binary(np.array([1.0]), np.array([0.0]))

MESSAGES = [
    # --- numbers
    ("number: '' is not a number: write " + EXAMPLES, lambda: exact("")),
    ("weight: 'one' is not a number: write " + EXAMPLES, lambda: exact("one", "weight")),
    (f"number: '{'x' * 40}' is not a number: write " + EXAMPLES, lambda: exact("x" * 40)),
    (f"number: '{'x' * 37}...' is not a number: write " + EXAMPLES, lambda: exact("x" * 41)),
    ("number: 'NaN' is not a number: write " + EXAMPLES, lambda: exact(Decimal("NaN"))),
    ("number: '1/0' divides by zero", lambda: exact("1/0")),
    ("number: '1e2001' has an exponent beyond ±2000", lambda: exact("1e2001")),
    ("number: '1e-2001' has an exponent beyond ±2000", lambda: exact("1e-2001")),
    ("number: '0x1p+12345' has an exponent beyond ±2000", lambda: exact("0x1p+12345")),
    (
        f"number: '{'9' * 37}...' has 4201 characters; at most 4200 are read",
        lambda: exact("9" * 4201),
    ),
    (
        f"number: '0x{'f' * 35}...' written out as a ratio has more than 4200 digits",
        lambda: exact("0x" + "f" * 3500),
    ),
    ("number: 'x' is not a number: write " + EXAMPLES, lambda: exact(" x ")),
    ("number: array([1.]) is not a single number", lambda: exact(np.array([1.0]))),
    ("number: None is not a number", lambda: exact(None)),
    ("weight: True is not a number", lambda: exact(True, "weight")),
    ("number: nan is not a finite number", lambda: exact(float("nan"))),
    ("number: inf is not a finite number", lambda: exact(np.float32("inf"))),
    ("number: -inf is not a finite number", lambda: exact(FORMATS["bfloat16"].kind("-inf"))),
    ("number: about 2^15 is too large for float16", lambda: nearest(Fraction(65520), FORMATS["float16"])),
    ("number: about 2^128 is too large for float32", lambda: ARITHMETICS["float32"](2**128)),
    ("number: about 2^128 is too large for bfloat16", lambda: ARITHMETICS["bfloat16-fused"](2**128)),
    ("bias: about 2^1024 is too large for float64", lambda: ARITHMETICS["float64"](2**1024, "bias")),
    (
        "tanh 1/2: no rational number; bring the cell into floating point first, as with float32",
        lambda: hyperbolic_tangent(HALF),
    ),
    (
        "sigmoid 1/2: no rational number; bring the cell into floating point first, as with float32",
        lambda: sigmoid(HALF),
    ),
    # --- cells and readouts
    ("recurrent_weight: 'U' is not a number", lambda: LinearCell(1, -1, "U")),
    ("unknown token 'x' at position 2; the alphabet is ( )", lambda: LinearCell(1, -1, 1).trace("(x")),
    ("string: 7 is not a string of tokens", lambda: LinearCell(1, -1, 1).trace(7)),
    (
        "recurrent_weight: () is not a matrix as a tuple of rows",
        lambda: GruCell(((0, 0),) * 3, (), (0,) * 3, (0,) * 3),
    ),
    (
        "recurrent_weight: ((), ()) is not a matrix as a tuple of rows",
        lambda: GruCell(((0, 0),) * 3, ((), ()), (0,) * 3, (0,) * 3),
    ),
    (
        "recurrent_weight: ((0,), (0,)) is not a tuple of 3 rows of 1",
        lambda: GruCell(((0, 0),) * 3, ((0,),) * 2, (0,) * 3, (0,) * 3),
    ),
    (
        "input_weight: ((0, 0), (0, 0), (0, 0)) is not a tuple of 4 rows of 2",
        lambda: LstmCell(((0, 0),) * 3, ((0,),) * 4, (0,) * 4, (0,) * 4),
    ),
    (
        "input_weight[1]: (0,) is not a tuple of 2 numbers",
        lambda: GruCell(((0, 0), (0,), (0, 0)), ((0,),) * 3, (0,) * 3, (0,) * 3),
    ),
    (
        "input_weight[2][1]: None is not a number",
        lambda: GruCell(((0, 0), (0, 0), (0, None)), ((0,),) * 3, (0,) * 3, (0,) * 3),
    ),
    ("input_bias: (0, 0) is not a tuple of 3 numbers", lambda: GruCell(((0, 0),) * 3, ((0,),) * 3, (0,) * 2, (0,) * 3)),
    ("input_bias: 0 is not a tuple of 3 numbers", lambda: GruCell(((0, 0),) * 3, ((0,),) * 3, 0, (0,) * 3)),
    (
        "recurrent_bias[1]: nan is not a finite number",
        lambda: GruCell(((0, 0),) * 3, ((0,),) * 3, (0,) * 3, (0, float("nan"), 0)),
    ),
    (
        f"input_bias: ({NINES[:36]}... is not a tuple of 3 numbers",
        lambda: GruCell(((0, 0),) * 3, ((0,),) * 3, (int(NINES),), (0,) * 3),
    ),
    (
        f"input_bias: {NINES} is not a tuple of 3 numbers",
        lambda: GruCell(((0, 0),) * 3, ((0,),) * 3, int(NINES), (0,) * 3),
    ),
    ("weight: None is not a number", lambda: Readout.binary(None)),
    ("bias: inf is not a finite number", lambda: Readout.binary(1, float("inf"))),
    ("weight: (1, 2) is not a tuple of three numbers, one a class", lambda: Readout.ternary((1, 2))),
    ("bias: 0 is not a tuple of three numbers, one a class", lambda: Readout.ternary((1, 2, 3), 0)),
    ("bias[2]: '0' is not a number", lambda: Readout.ternary((1, 2, 3), (0, 0, "0"))),
    ("weight: ((1,), (1,)) is not a tuple of 1 rows of 1", lambda: Readout(((1,), (1,)), (0,))),
    ("bias: 0 is not a tuple with one entry per output, of 1 to 64", lambda: Readout(((1,),), 0)),
    ("weight[0]: 1 is not a tuple of numbers, one a unit", lambda: Readout((1,), (0,))),
    ("weight[0]: () is not a tuple of numbers, one a unit", lambda: Readout(((),), (0,))),
    ("weight: ((1,),) is not a tuple of 3 rows of 1", lambda: Readout(((1,),), (0, 0, 0))),
    ("weight[1]: (1, 2) is not a tuple of 1 numbers", lambda: Readout(((1,), (1, 2), (1,)), (0, 0, 0))),
    ("weight[0][1]: None is not a number", lambda: Readout(((1, None),), (0,))),
    ("bias[0]: None is not a number", lambda: Readout(((1,),), (None,))),
    # --- weights that do not fit the arithmetic
    ("close_step: about 2^16 is too large for float16", lambda: in_float16(LinearCell(1, 2**16, 1))),
    ("recurrent_weight: about 2^16 is too large for float16", lambda: in_float16(LinearCell(1, -1, 2**16))),
    ("weight: about 2^16 is too large for float16", lambda: in_float16(Readout.binary(2**16))),
    ("bias: about 2^16 is too large for float16", lambda: in_float16(Readout.binary(1, 2**16))),
    ("weight: about 2^16 is too large for float16", lambda: in_float16(Readout.ternary((1, 2**16, 1)))),
    ("bias: about 2^16 is too large for float16", lambda: in_float16(Readout.ternary((1, 1, 1), (0, 0, 2**16)))),
    ("weight: about 2^16 is too large for float16", lambda: in_float16(Readout(((1, 2**16),), (0,)))),
    ("bias: about 2^16 is too large for float16", lambda: in_float16(Readout(((1,),), (2**16,)))),
    (
        "input_weight: about 2^16 is too large for float16",
        lambda: in_float16(GruCell(((2**16, 0),) * 3, ((0,),) * 3, (0,) * 3, (0,) * 3)),
    ),
    (
        "recurrent_weight: about 2^16 is too large for float16",
        lambda: in_float16(GruCell(((0, 0),) * 3, ((2**16,),) * 3, (0,) * 3, (0,) * 3)),
    ),
    (
        "bias: about 2^16 is too large for float16",
        lambda: in_float16(GruCell(((0, 0),) * 3, ((0,),) * 3, (0,) * 3, (2**16,) * 3)),
    ),
    # --- verdicts
    ("lengths: 'odd' is not one of all, even", lambda: certify(COUNTER, "odd")),
    (
        f"arithmetic: 'float8' is not one of real, {FLOATS}, nor a format followed by -any-order, nor one that keeps weights or "
        "states in less, such as int8-weights-bfloat16-state-float32-any-order",
        lambda: certify(COUNTER, arithmetic="float8"),
    ),
    ("limit: 1 is not a whole number from 2 on", lambda: certify(COUNTER, limit=1)),
    ("limit: 1 is not a whole number from 2 on", lambda: certify(GRU, limit=1)),
    ("cell: a Strange is outside what can be decided", lambda: certify(Network(Strange(1, 1), Readout.zero()))),
    (
        "arithmetic: 'float32' is for cells without gates, since each library adds up a gate's terms in an order of its own; "
        "certify in real arithmetic, or in float32-any-order, for any order",
        lambda: certify(GRU, arithmetic="float32"),
    ),
    ("horizon: None does not go with BOUNDED", lambda: verdict(Outcome.BOUNDED, None)),
    ("horizon: 3 does not go with PROVED", lambda: verdict(Outcome.PROVED, 3)),
    ("failure: None does not go with REFUTED", lambda: verdict(Outcome.REFUTED, 3)),
    (f"failure: {WRONG!r} does not go with BOUNDED", lambda: verdict(Outcome.BOUNDED, 1, WRONG)),
    ("failure: length 2 does not follow horizon 0", lambda: verdict(Outcome.REFUTED, 0, WRONG)),
    ("failure: length 2 does not follow horizon 2", lambda: verdict(Outcome.REFUTED, 2, WRONG)),
    (
        f"known_failure: {WRONG!r} does not go with BOUNDED to 2",
        lambda: verdict(Outcome.BOUNDED, 2, known_failure=WRONG),
    ),
    (
        f"known_failure: {WRONG!r} does not go with REFUTED to 1",
        lambda: verdict(Outcome.REFUTED, 1, WRONG, known_failure=WRONG),
    ),
    (
        "counterexample: 1000001 tokens are too many to write out; read its runs",
        lambda: Failure((("(", 10**6), (")", 1)), BinaryClass.POSITIVE, BinaryClass.NOT_POSITIVE).string,
    ),
    (f"arithmetic: 'real' is not one of {FLOATS}", lambda: exact_depth(COUNTER.cell, "real")),
    ("number: more than 2^500 is too large to bound", lambda: box_of(2**500 + 1)),
    # --- what else is asked of a model
    ("length: -1 is not a whole number from 0 on", lambda: list(rows(COUNTER.cell, -1))),
    ("openings: -1 is not a whole number from 0 on", lambda: extremes(COUNTER.cell, -1, 1)),
    ("closings: 1.5 is not a whole number from 0 on", lambda: extremes(COUNTER.cell, 1, 1.5)),
    ("openings: -1 is not a whole number from 0 on", lambda: closed_form(COUNTER.cell, -1, 1)),
    ("closings: -1 is not a whole number from 0 on", lambda: closed_form(COUNTER.cell, 1, -1)),
    ("cell: no closed form is known for a ReluCell", lambda: closed_form(ReluCell(1, -1, 1), 1, 1)),
    ("limit: 1 is not a whole number from 2 on", lambda: horizons(many(LinearCell, 1.0, -1.0, 1.0), 1)),
    ("cells: a Strange is outside what can be decided", lambda: horizons(many(Strange, 1.0, 1.0))),
    (
        "models: an ensemble's weights are arrays of one dimension, of float64 or less",
        lambda: horizons(Network(LinearCell(1.0, -1.0, 1.0), READOUT)),
    ),
    (
        "models: an ensemble's weights are arrays of one dimension, of float64 or less",
        lambda: horizons(many(LinearCell, 1, -1, 1)),
    ),
    (
        "models: a weight is not a finite number",
        lambda: horizons(many(LinearCell, 1.0, np.inf, 1.0)),
    ),
    ("length: 0 is not a whole number from 1 on", lambda: exact_accuracy(COUNTER, 0)),
    ("length: 1001 is more than 1,000", lambda: exact_accuracy(COUNTER, 1001)),
    ("length: 0 is not a whole number from 1 on", lambda: accuracy_curve(COUNTER, 0)),
    ("length: 1001 is more than 1,000", lambda: accuracy_curve(COUNTER, 1001)),
    (
        "length: 57 is too long to count; at most 56",
        lambda: exact_accuracy(Network(LinearCell(1, -1, HALF), Readout.binary(1)), 57),
    ),
    (
        "length: h overflows at length 2; only shorter lengths can be counted",
        lambda: exact_accuracy(Network(LinearCell(40000, 40000, 1), Readout.binary(1)), 3, "float16"),
    ),
    (
        "length: the bounds on tanh do not decide every string of length 1",
        lambda: exact_accuracy(Network(TanhCell(HALF, HALF, 0), Readout.binary(1, -0.46211716)), 2, "float32"),
    ),
    ("number: -1 is not a whole number from 0 on", lambda: random_failures(COUNTER, 2, -1)),
    ("length: 0 is not a whole number from 1 on", lambda: random_failures(COUNTER, 0, 1)),
    ("length: 401 is more than 400", lambda: extreme_failures(COUNTER, 401)),
    ("longest: 0 is not a whole number from 1 on", lambda: slice_at(1, 0)),
    ("longest: 1 is not a whole number from 2 on", lambda: slice_at(1, 1, "even")),
    ("longest: 1 is not a whole number from 2 on", lambda: outline(np.ones(1), 1)),
    ("recurrent_weight: None is not a number", lambda: slice_at(None, 4)),
    ("b/a: None is not a number", lambda: None in slice_at(1, 4)),
]


@pytest.mark.parametrize(("message", "ask"), MESSAGES, ids=[message[:50] for message, _ in MESSAGES])
def test_bad_input_is_named(message, ask):
    with pytest.raises(BadInput) as refusal:
        ask()
    assert str(refusal.value) == message


REASONS = [
    (
        "the cell counts exactly, and every string of length 1 and 2 is right",
        lambda: certify(COUNTER),
    ),
    ("the cell counts exactly, and every string of length 2 is right", lambda: certify(COUNTER, "even")),
    (
        "a string of length 2 gets rejected instead of accepted; no shorter one fails",
        lambda: certify(Network(LinearCell(1, -1, HALF), Readout.zero())),
    ),
    (
        "a string of length 2 gets rejected instead of accepted; no shorter one of even length fails",
        lambda: certify(Network(LinearCell(1, -1, HALF), Readout.zero()), "even"),
    ),
    (
        "every multiple of the step is exact in float32 to depth 16777216, and every string of length 1 and 2 is right",
        lambda: certify(COUNTER, arithmetic="float32"),
    ),
    (
        "every counted length to 5 is right; the search went no further",
        lambda: certify(Network(LinearCell(1, -1, 0.99), Readout.binary(1, -HALF)), "even", "float32", limit=5),
    ),
    (
        "h overflows at length 2",
        lambda: certify(Network(LinearCell(40000, -1, 1), Readout.binary(1)), arithmetic="float16"),
    ),
]


@pytest.mark.parametrize(("reason", "ask"), REASONS, ids=[reason[:50] for reason, _ in REASONS])
def test_a_verdict_says_why(reason, ask):
    assert ask().reason == reason
