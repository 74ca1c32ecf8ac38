import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cells import SelectiveCell
from tallystick.errors import BadInput
from tallystick.numbers import (
    ARITHMETICS,
    FORMATS,
    exact,
    floats,
    hyperbolic_tangent,
    nearest,
    positive_part,
    sigmoid,
    square,
    unit_step,
    values,
    weighted_mean,
)
from tallystick.numbers.arithmetics import Fused, fused_multiply_add
from tallystick.numbers.balls import ball_of, digits
from tallystick.numbers.boxes import Box

doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(doubles)
def test_every_way_of_writing_a_double_reads_back_exactly(value):
    fraction = Fraction(value)
    assert exact(value) == exact(value.hex()) == exact(str(fraction)) == exact(np.float64(value)) == fraction
    assert exact(Decimal(value)) == fraction
    assert exact(repr(value)) == Fraction(repr(value))


@given(doubles, st.sampled_from(["float16", "float32", "float64"]))
def test_rounding_a_double_agrees_with_numpy(value, name):
    with np.errstate(over="ignore"):
        expected = np.dtype(name).type(value)
    if np.isfinite(expected):
        assert nearest(Fraction(value), FORMATS[name]) == expected
    else:
        with pytest.raises(BadInput, match=f"too large for {name}"):
            nearest(Fraction(value), FORMATS[name])


@given(st.fractions(), st.sampled_from(["float16", "bfloat16", "float32"]))
def test_no_neighbour_is_nearer(value, name):
    form = FORMATS[name]
    if abs(value) > form.greatest:
        return
    found = nearest(value, form)
    error = abs(exact(found) - value)
    for direction in (-np.inf, np.inf):
        neighbour = np.nextafter(found, form.kind(direction))
        if np.isfinite(neighbour):
            assert error <= abs(Fraction(float(neighbour)) - value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_fused_product_and_sum_rounds_once(name):
    """Against rationals, on numbers of all sizes, many of which nearly cancel."""
    form, generator = FORMATS[name], np.random.default_rng(1)
    size = 3000
    top = 200 if name == "float64" else 60 if name in ("float32", "bfloat16") else 7
    w, h = (
        (generator.normal(size=size) * 2.0 ** generator.integers(-top, top, size)).astype(form.kind) for _ in range(2)
    )
    with np.errstate(over="ignore"):
        near = -(w * h) * (1 + generator.choice([0, 1, -3, 2.0**5, 2.0**30], size) * float(form.unit)).astype(form.kind)
        other = (generator.normal(size=size) * 2.0 ** generator.integers(-top, top, size)).astype(form.kind)
    c = np.where(generator.random(size) < 0.5, near.astype(form.kind), other)
    found = fused_multiply_add(w, h, c, form)
    assert found.dtype == form.kind
    for x, y, z, result in zip(w, h, c, found, strict=True):
        if np.isfinite(result) and np.isfinite(z):
            assert result == nearest(exact(x) * exact(y) + exact(z), form)
    rounded_twice = w * h + c
    assert np.mean(np.isfinite(c) & (found != rounded_twice)) > 0.05


@pytest.mark.parametrize(
    ("w", "h", "c"), [(1e200, 1e200, -1e300), (1e-200, 1e-200, 5e-324), (1e-160, 1.5e-160, 3e-320)]
)
def test_fused_doubles_at_the_edges_of_the_range(w, h, c):
    exactly = Fraction(w) * Fraction(h) + Fraction(c)
    found = float(fused_multiply_add(np.float64(w), np.float64(h), np.float64(c), FORMATS["float64"]))
    assert found == (np.inf if exactly > 2**1024 else float(exactly))


def test_a_fused_product_that_vanishes_leaves_nothing():
    """The product is below half of the least double, though the parts that it is made of are not."""
    w, h = float.fromhex("0x1.f9c8590741c7ap-500"), float.fromhex("0x1.03259be0f9a0ap-576")
    assert 0 < Fraction(w) * Fraction(h) < Fraction(1, 2**1075)
    for x, y in ((w, h), (h, w), (-w, h)):
        assert fused_multiply_add(x, y, 0.0, FORMATS["float64"]) == 0


@pytest.mark.parametrize(
    ("w", "h", "c", "expected"),
    [
        (1.0, 1.0, np.inf, np.inf),
        (1.0, 1.0, -np.inf, -np.inf),
        (2.0, np.inf, 1.0, np.inf),
        (-np.inf, 2.0, 1.0, -np.inf),
        (1e-300, -np.inf, 1.0, -np.inf),
    ],
)
def test_an_infinity_stays_one_when_fused(w, h, c, expected):
    for form in FORMATS.values():
        assert fused_multiply_add(np.float64(w), np.float64(h), np.float64(c), form) == expected


def test_a_fused_weight_runs_a_cell_with_one_rounding_a_step():
    cell = SelectiveCell(0.1, -0.1, 1.1, 0.9)
    fused, twice = (cell.map_weights(ARITHMETICS[name]) for name in ("float32-fused", "float32"))
    h, string = Fraction(0), "(()()("
    for token in string:
        weight, step = (1.1, 0.1) if token == "(" else (0.9, -0.1)
        h = exact(nearest(exact(np.float32(weight)) * h + exact(np.float32(step)), FORMATS["float32"]))
    assert exact(fused.final_state(string)) == h != exact(twice.final_state(string))


@pytest.mark.parametrize(
    ("name", "digits", "least_exponent", "greatest"),
    [
        ("float16", 11, -24, 65504),
        ("bfloat16", 8, -133, (2**8 - 1) * 2**120),
        ("float32", 24, -149, (2**24 - 1) * 2**104),
        ("float64", 53, -1074, (2**53 - 1) * 2**971),
    ],
)
def test_the_formats_are_those_of_the_standard(name, digits, least_exponent, greatest):
    form = floats._format(name, FORMATS[name].kind)
    assert form == FORMATS[name]
    assert (form.name, form.digits, form.least_exponent, form.greatest) == (name, digits, least_exponent, greatest)
    assert (form.unit, form.least) == (Fraction(1, 2**digits), Fraction(2) ** least_exponent)
    assert form.last_place(Fraction(1)) == 2 * form.unit
    assert form.last_place(Fraction(0)) == form.last_place(Fraction(1))
    assert form.last_place(form.least / 2) == form.least


@pytest.mark.parametrize("name", FORMATS)
def test_a_tie_goes_to_the_even_neighbour(name):
    form = FORMATS[name]
    whole = 2**form.digits
    for middle, even in ((whole + 1, whole), (whole + 3, whole + 4), (whole + 5, whole + 4)):
        for sign in (1, -1):
            assert exact(nearest(Fraction(sign * middle), form)) == sign * even
            assert abs(exact(nearest(sign * (middle + Fraction(1, 10**30)), form)) - sign * middle) == 1
            assert exact(nearest(sign * (middle + Fraction(1, 10**30)), form)) == sign * (middle + 1)
            assert exact(nearest(sign * (middle - Fraction(1, 10**30)), form)) == sign * (middle - 1)
    assert exact(nearest(form.least / 2, form)) == 0
    assert exact(nearest(form.least * Fraction(3, 2), form)) == 2 * form.least
    over = form.greatest + form.last_place(form.greatest) / 2
    assert exact(nearest(over - Fraction(1, 10**30), form)) == form.greatest
    with pytest.raises(BadInput):
        nearest(over, form)


@pytest.mark.parametrize(
    ("name", "w", "h", "c", "expected"),
    [
        # The product is the middle of two neighbours; what is added is too little for a wider format to see.
        ("float32", 24929, 673, 2.0**-40, 2**24 + 2),
        ("float32", 24929, 673, -(2.0**-40), 2**24),
        ("float32", -24929, 673, -(2.0**-40), -(2**24) - 2),
        # Beside the middle by less than a double's last digit: the double above it must not be taken back to it.
        ("float32", 24929, 673, 2.0**-28 * (1 - 2.0**-12), 2**24 + 2),
        ("bfloat16", 5, 53, 2.0**-20, 266),
        ("bfloat16", 5, 53, 2.0**-60, 266),
        ("bfloat16", 5, 53, 0, 264),
        ("bfloat16", 3, 89, -(2.0**-20), 266),
        ("bfloat16", 3, 89, -(2.0**-60), 266),
        ("bfloat16", 3, 89, 0, 268),
        ("float16", 3, 683, 2.0**-24, 2050),
        ("float16", 3, 683, 0, 2048),
        ("float64", 321, 28059810762433, 2.0**-60, 2**53 + 2),
        ("float64", 321, 28059810762433, -(2.0**-60), 2**53),
        ("float64", 321, 28059810762433, 0, 2**53),
        ("float32", 2.0**127, 2, 0, np.inf),
        ("float32", 2.0**127, -2, 0, -np.inf),
        ("float64", 2.0**1023, -2, 0, -np.inf),
    ],
)
def test_a_middle_is_left_on_the_side_of_what_is_added(name, w, h, c, expected):
    form = FORMATS[name]
    found = fused_multiply_add(form.kind(w), form.kind(h), form.kind(c), form)
    assert type(found) is form.kind
    assert float(found) == expected


def test_each_entry_of_an_array_is_fused_by_itself():
    """Also where some lie at the edges of the range, and are done in rationals."""
    w, h, c = np.array([1e200, 321.0, 1e-200, 0.0]), np.array([1e-300, 28059810762433.0, 1e-120, 5.0]), 2.0**-60
    expected = [float(Fraction(x) * Fraction(y) + Fraction(c)) for x, y in zip(w, h, strict=True)]
    assert fused_multiply_add(w, h, np.float64(c), FORMATS["float64"]).tolist() == expected
    assert fused_multiply_add(w[:, None], h, c, FORMATS["float64"]).shape == (4, 4)


class Squashed:
    """A number of another library."""

    def tanh(self):
        """Say that it was asked."""
        return "squashed"


def test_a_number_squashes_itself_where_it_can():
    assert hyperbolic_tangent(Squashed()) == "squashed"
    assert sigmoid(0.0) == 0.5
    for kind in (float, np.float16, np.float32):
        assert type(hyperbolic_tangent(kind(0.5))) is type(sigmoid(kind(0.5))) is kind
    for x in (-800.0, -2.0, 0.25, 3.0, 800.0):
        assert sigmoid(x) == pytest.approx((1 + np.tanh(x / 2)) / 2, rel=1e-12, abs=1e-300)
        assert sigmoid(np.array([x]))[0] == pytest.approx(sigmoid(x), rel=1e-15)
        assert hyperbolic_tangent(np.array([x]))[0] == hyperbolic_tangent(x) == np.tanh(x)
    assert weighted_mean(Fraction(1, 4), 8, 4) == 7


@pytest.mark.parametrize("text", ["0." + "1" * 3000 + "e-2000", "0x" + "f" * 4000])
def test_a_number_too_long_to_be_written_again_is_refused(text):
    with pytest.raises(BadInput, match="written out as a ratio has more than 4200 digits"):
        exact(text)


def test_a_number_of_as_many_digits_as_can_be_written_is_read():
    assert exact("0x" + "f" * 3488) == 2**13952 - 1
    with pytest.raises(BadInput, match="written out as a ratio has more than 4200 digits"):
        exact("0x1" + "f" * 3488)


@pytest.mark.parametrize("name", ARITHMETICS)
def test_every_arithmetic_names_the_field_it_complains_of(name):
    for value in ("one", "1e9999", None, np.inf, Fused(np.float32(np.inf), FORMATS["float32"])):
        with pytest.raises(BadInput, match="^recurrent_weight: "):
            ARITHMETICS[name](value, "recurrent_weight")


def test_a_fused_weight_reads_as_its_value():
    assert exact(Fused(np.float32(0.1), FORMATS["float32"]), "weight") == Fraction(float(np.float32(0.1)))


def test_a_named_arithmetic_reads_text_and_rounds_once():
    assert ARITHMETICS["float32"]("0.1") == np.float32(0.1)
    assert ARITHMETICS["rational"]("0.1") == Fraction(1, 10)
    assert isinstance(ARITHMETICS["float16"]("1/3"), np.float16)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-0x1.8p1", -3),
        ("0X10", 16),
        ("0x.8p0", None),
        (" 1/4 ", Fraction(1, 4)),
        ("+1e-3", Fraction(1, 1000)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("1e2000", 10**2000),
        ("0x1p-2000", Fraction(1, 2**2000)),
        ("-0x.0p0", None),
        ("0x0.8", Fraction(1, 2)),
        ("-1/4", Fraction(-1, 4)),
        ("1" * 4200, int("1" * 4200)),
        ("1/0", None),
        ("1/-2", None),
        ("1e2001", None),
        ("1e99999999999999999999", None),
        ("0x1p-2001", None),
        ("1_000", None),
        ("١", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("1" * 5000, None),
    ],
)
def test_numbers_as_text(text, value):
    if value is not None:
        assert exact(text) == value
        return
    with pytest.raises(BadInput, match="^weight: ") as refusal:
        exact(text, "weight")
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("value", [None, True, [1], np.array([1.0]), float("nan"), float("inf"), 1j, object()])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(BadInput, match=re.escape("weight: ")):
        exact(value, "weight")


def test_numpy_numbers_are_read_without_going_through_a_double():
    assert exact(np.int64(2**60 + 1)) == 2**60 + 1
    assert exact(np.longdouble(1) + np.longdouble(2) ** -60) in (1, 1 + Fraction(1, 2**60))
    assert exact(np.float16(0.1)) == Fraction(float(np.float16(0.1)))


def test_the_positive_part_keeps_its_kind():
    for value in (Fraction(-1, 2), -1.5, -2, np.float32(-1), np.array([-1.0, 2.0], np.float16)):
        assert type(positive_part(value)) is type(value)
        assert np.all(positive_part(value) == np.maximum(value, 0))


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_the_sums_that_tell_the_mode_are_those_of_exact_arithmetic(form):
    left, right, kind, bits = values._sums(form.kind)
    normal, unit = form.least * 2 ** (form.digits - 1), form.last_place(Fraction(1))
    assert [exact(x) for x in left] == [form.least, normal * 3 / 2, 1, -1, 1]
    assert [exact(y) for y in right] == [form.least, -normal, unit / 4, -unit / 4, unit * 3 / 4]
    rounded = np.array([nearest(exact(x) + exact(y), form) for x, y in zip(left, right, strict=True)], kind)
    assert rounded.tobytes() == bits.tobytes()


KINDS = [float, Fraction, np.float32, np.float16, np.float64, ARITHMETICS["bfloat16"]]


@pytest.mark.parametrize("kind", KINDS, ids=["float", "Fraction", "float32", "float16", "float64", "bfloat16"])
def test_squares_and_unit_steps_stay_in_their_kind(kind):
    for value in (-3, -0.5, 0, 0.5, 2):
        x = kind(value)
        assert type(square(x)) is type(unit_step(x)) is type(x)
        assert (square(x), unit_step(x)) == (value * value, int(value > 0))
    whole = np.array([-3, 0, 2])
    assert unit_step(whole).tolist() == [0, 0, 1]
    assert unit_step(whole).dtype == whole.dtype


@given(doubles.filter(lambda x: abs(x) < 1e100), doubles.filter(lambda x: abs(x) < 1e100), st.fractions(0, 1))
def test_bounds_of_squares_and_unit_steps_hold_all_numbers_between(one, other, share):
    low, high = sorted((one, other))
    inside = Fraction(low) + share * (Fraction(high) - Fraction(low))
    squares, steps = square(Box(low, high)), unit_step(Box(low, high))
    assert 0 <= squares.low <= inside * inside <= squares.high
    assert squares.high <= max(low * low, high * high) * (1 + 1e-15) + 1e-300
    assert steps.low <= unit_step(inside) <= steps.high
    assert (steps.low == steps.high) == (unit_step(low) == unit_step(high))
    with digits(64):
        middle, reach = ball_of((Fraction(low) + Fraction(high)) / 2), ball_of((Fraction(high) - Fraction(low)) / 2)
        ball = middle + reach * type(reach)(0, 1)
        assert square(ball).overlaps(ball_of(inside * inside))
        assert unit_step(ball).overlaps(ball_of(unit_step(inside)))
