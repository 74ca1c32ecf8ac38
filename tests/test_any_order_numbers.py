"""Spans: whatever a library may compute in a format lies in them."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from tallystick.numbers import FORMATS
from tallystick.numbers.any_order import SATURATED, Span, least_normal, span_between, span_of
from tallystick.numbers.boxes import Box
from tallystick.numbers.floats import FloatFormat, nearest
from tallystick.numbers.operations import hyperbolic_tangent, sigmoid, weighted_mean
from tallystick.numbers.values import layer, standard_floats

every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


@pytest.fixture(autouse=True)
def _standard_floats():
    with standard_floats():
        yield


def rounded(value: Fraction, form: FloatFormat) -> Fraction:
    return Fraction(float(nearest(value, form)))


def numbers(form: FloatFormat, count: int, generator: np.random.Generator) -> list[Fraction]:
    """Numbers of a format: some of a few digits, so that sums lie on numbers and in the middle of two, some of all digits."""
    digits = np.where(generator.random(count) < 0.5, 3, 60)
    drawn = generator.uniform(-1, 1, count) * 2.0 ** generator.integers(-form.digits, form.digits // 2, count)
    scale = 2.0 ** (digits - np.frexp(drawn)[1])
    return [rounded(Fraction(float(x)), form) for x in np.round(drawn * scale) / scale]


def point(value: Fraction, form: FloatFormat) -> Span:
    return span_of(value, form)


def executions(factors: list[tuple[Fraction, Fraction]], form: FloatFormat):
    """Sums of products: every order, every way to add a term to a sum, products rounded or fused; and one kept in float32."""
    single = FORMATS["float32"]
    for order in permutations(factors):
        for fused in (False, True):
            total = rounded(order[0][0] * order[0][1], form)
            kept = order[0][0] * order[0][1]
            for w, x in order[1:]:
                total = rounded(total + (w * x if fused else rounded(w * x, form)), form)
                kept = rounded(kept + w * x, single)
            yield total
            if form.digits < single.digits:
                yield rounded(kept, form)


@every_format
@pytest.mark.parametrize("terms", [1, 2, 3, 4])
def test_a_sum_holds_every_order_fused_or_not(form, terms):
    generator = np.random.default_rng(terms)
    for _ in range(40):
        weights, inputs = numbers(form, terms, generator), numbers(form, terms, generator)
        total = sum((point(w, form) * point(x, form) for w, x in zip(weights, inputs, strict=True)), start=0)
        box = total.box
        for found in executions(list(zip(weights, inputs, strict=True)), form):
            assert box.low <= found <= box.high


TWICE = {
    "float16": (2060, (1101, 1915 / 2**10), (1023, 2.0**-20)),
    "bfloat16": (264, (147, 229 / 2**7), (33, 31 * 2.0**-17)),
}
"""Two products whose sum lies just below the middle of two neighbours, and in float32 on it: so it may be rounded up."""


@pytest.mark.parametrize("name", TWICE)
def test_a_sum_may_be_kept_in_float32_and_be_rounded_twice(name):
    form, (above, *factors) = FORMATS[name], TWICE[name]
    exact = sum(Fraction(w) * Fraction(x) for w, x in factors)
    once, twice = rounded(exact, form), rounded(rounded(exact, FORMATS["float32"]), form)
    box = sum((point(w, form) * point(x, form) for w, x in factors), start=0).box
    assert (once, twice) == (above - 2, above)
    assert box.low <= once < twice <= box.high


@pytest.mark.parametrize("name", TWICE)
def test_a_step_may_be_computed_in_float32_and_its_state_be_rounded(name):
    """As fused LSTMs do: a gate that the format rounds to 1 is less than 1 in float32, and a memory does not become 0."""
    form = FORMATS[name]
    gate, memory = span_of(9.5, form), span_of(-1, form)
    assert sigmoid(gate).box.low <= sigmoid(np.float32(9.5)) < 1
    new = sigmoid(gate) * memory + sigmoid(span_of(9.75, form))
    kept = np.float32(np.float32(sigmoid(np.float32(9.75))) - sigmoid(np.float32(9.5)))
    assert new.box.low <= kept <= new.box.high
    middle = span_of(2**form.digits, form) * 1 + span_of(1, form)
    assert middle.box.high == 2**form.digits + 1
    assert middle.stored.low == middle.stored.high == 2**form.digits


@every_format
def test_exact_sums_of_two_stay_exact(form):
    depth = 2 ** (form.digits - 1)
    box = (point(Fraction(1), form) * point(Fraction(depth), form) + point(Fraction(-1), form)).box
    assert box.low == box.high == depth - 1


@every_format
def test_nothing_is_known_of_zero_times_what_may_be_infinite(form):
    large = span_of(form.greatest, form)
    grown = large + large + large
    for product in (0 * grown, span_of(0, form) * grown, grown * 0):
        assert np.isnan(product.box.low)
    assert (0 * large).is_zero


@every_format
def test_what_is_subnormal_or_was_before_it_was_rounded_may_be_zero(form):
    least = least_normal(form)
    nearly = span_of(Fraction(least), form) * span_of(1 - form.unit, form)
    assert nearly.low == 0
    assert span_of(Fraction(least) / 2, form).low == 0
    # PyTorch's fused LSTM has a sigmoid that is 0 where the true one is up to twice the least normal number.
    assert sigmoid(span_of(Fraction(float(np.log(2 * least))), form)).box.low == 0


def test_a_layer_adds_sums_to_its_rows_term_by_term():
    """The bias of a row may itself be a sum, whose terms cancel: each of them is rounded with the others."""
    form, units = FORMATS["float32"], 6
    generator = np.random.default_rng(0)
    W = generator.normal(size=(units, units)).astype(np.float32)
    x = generator.normal(size=units).astype(np.float32)
    weight = tuple(tuple(span_of(float(w), form) for w in row) for row in W)
    inputs = tuple(span_of(float(value), form) for value in x)
    bias = tuple(span_of(1e6, form) + span_of(-1e6, form) for _ in range(units))
    for row, found in zip(W, layer(weight, bias, inputs), strict=True):
        late = np.float32(1e6) + np.float32(sum(row * x, start=np.float32(0)))
        executed = [np.float32(late - np.float32(1e6)), np.float32(row @ x)]
        assert all(found.box.low <= one <= found.box.high for one in executed)


@every_format
def test_functions_are_within_their_range_and_saturate(form):
    (at_tanh, at_sigmoid), greatest = SATURATED[form.name], float(form.greatest) / 4
    for function, least, saturated in ((hyperbolic_tangent, -1, at_tanh), (sigmoid, 0, at_sigmoid)):
        box = function(span_between(Box(-greatest, greatest), form)).box
        assert (box.low, box.high) == (least, 1)
        box = function(span_between(Box(saturated, greatest), form)).box
        assert (box.low, box.high) == (1, 1)
        assert function(span_between(Box(saturated / 4, saturated / 4), form)).box.low < 1
    assert hyperbolic_tangent(span_of(0, form)).is_zero
    unknown = span_of(form.greatest, form) * 4
    assert np.isnan(hyperbolic_tangent(unknown).low)
    assert np.isnan(sigmoid(unknown).low)


@every_format
def test_the_mean_holds_both_ways_to_write_it(form):
    generator = np.random.default_rng(1)
    for _ in range(100):
        share = abs(numbers(form, 1, generator)[0]) % 1
        first, second = numbers(form, 2, generator)
        share = rounded(share, form)
        box = weighted_mean(*(point(value, form) for value in (share, first, second))).box
        rest, difference = rounded(1 - share, form), rounded(second - first, form)
        ways = [
            rounded(rounded(rest * first, form) + rounded(share * second, form), form),
            rounded(rest * first + rounded(share * second, form), form),
            rounded(rounded(rest * first, form) + share * second, form),
            rounded(rounded(difference * share, form) + first, form),
            rounded(difference * share + first, form),
        ]
        assert all(box.low <= found <= box.high for found in ways)
