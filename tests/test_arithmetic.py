import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.arithmetic import ARITHMETICS, exact, nearest, positive_part
from tallystick.errors import BadInput

doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(doubles)
def test_every_way_of_writing_a_double_reads_back_exactly(value):
    fraction = Fraction(value)
    assert exact(value) == exact(value.hex()) == exact(str(fraction)) == exact(np.float64(value)) == fraction
    assert exact(Decimal(value)) == fraction
    assert exact(repr(value)) == Fraction(repr(value))


@given(doubles, st.sampled_from([np.float16, np.float32, np.float64]))
def test_rounding_a_double_agrees_with_numpy(value, kind):
    with np.errstate(over="ignore"):
        expected = kind(value)
    if np.isfinite(expected):
        assert nearest(Fraction(value), kind) == expected
    else:
        with pytest.raises(BadInput, match=f"too large for {kind.__name__}"):
            nearest(Fraction(value), kind)


@given(st.fractions(), st.sampled_from([np.float16, np.float32]))
def test_no_neighbour_is_nearer(value, kind):
    if abs(value) > np.finfo(kind).max:
        return
    found = nearest(value, kind)
    error = abs(Fraction(float(found)) - value)
    for direction in (-np.inf, np.inf):
        neighbour = np.nextafter(found, kind(direction))
        if np.isfinite(neighbour):
            assert error <= abs(Fraction(float(neighbour)) - value)


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
