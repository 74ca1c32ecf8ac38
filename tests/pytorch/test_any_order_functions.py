"""What verdicts in any order assume of tanh, the sigmoid and the exponential, measured; `soak/executions.py` measures more."""

from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from tallystick import BadInput, check_library  # noqa: E402
from tallystick.certificates.running import library_functions as measured  # noqa: E402
from tallystick.certificates.running.library_arrays import LIBRARIES  # noqa: E402
from tallystick.numbers import FORMATS  # noqa: E402
from tallystick.numbers.any_order import SATURATED, ULPS  # noqa: E402
from tallystick.numbers.floats import nearest  # noqa: E402
from tallystick.numbers.values import standard_floats  # noqa: E402

every_library = pytest.mark.parametrize("library", LIBRARIES)
every_format = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)


@every_library
@every_format
def test_every_function_is_as_exact_as_assumed(library, form):
    found = check_library(library, form.name, cases=800)
    assert {"tanh", "sigmoid", "exp"} <= {one.name for one in found}
    assert all(0 < one.ulps <= ULPS for one in found)


@every_library
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
def test_a_saturated_function_is_exactly_one_in_float32(library, name):
    """Every 301st float32 from the point on to 128, then some of every size."""
    form, point = FORMATS["float32"], SATURATED["float32"][name == "sigmoid"]
    begin, end = np.array([point, 128], np.float32).view(np.int32)
    dense = np.arange(begin, end, 301, dtype=np.int32).view(np.float32)
    sampled = np.random.default_rng(0).integers(end, 0x7F7FFFFF, 2000).astype(np.int32).view(np.float32)
    function = measured.library_functions(library, form)[name]
    with standard_floats():
        x = np.concatenate([dense, sampled]).astype(np.float64)
        assert (function(x) == 1).all()
        if name == "tanh":
            assert (function(-x) == -1).all()
            assert (function(np.zeros(9)) == 0).all()


@every_format
def test_units_in_the_last_place_are_counted_from_the_true_value(form):
    x = np.array([0.5, 2.0, -3.0]).astype(form.kind).astype(np.float64)
    true = np.tanh(x)
    near = np.array([float(nearest(Fraction(value), form)) for value in true])
    for off in (0, 5):
        away = near + off * np.ldexp(1.0, np.frexp(true)[1] - form.digits)
        found = measured.ulps_off("tanh", x, away, form)
        assert (np.abs(found - off) <= 1.5).all()  # the double nearest to the value may be up to a unit off


@pytest.mark.parametrize(
    ("worse", "message"),
    [
        (lambda x: np.tanh(x) * (1 - 2.0**-19), "numpy: tanh in float32 is "),
        (
            lambda x: np.tanh(x) * np.where(x > 15, 1 - 2.0**-24, 1),
            r"numpy: tanh in float32 is 0\.9999999403953552 at ",
        ),
        (lambda x: np.tanh(x) * (1 + 2.0**-22), r"numpy: tanh in float32 is -?1\.000"),
    ],
    ids=["inexact", "not saturated", "out of range"],
)
def test_a_library_that_is_worse_is_refused(worse, message, monkeypatch):
    monkeypatch.setattr(
        measured, "library_functions", lambda *_: {"tanh": lambda x: worse(x).astype(np.float32).astype(float)}
    )
    with pytest.raises(BadInput, match=message) as refusal:
        check_library("numpy", "float32", cases=500)
    assert "any order" in str(refusal.value)
    assert "use another build" in str(refusal.value)


def test_an_unknown_library_or_format_is_refused():
    with pytest.raises(BadInput, match="run_by: 'keras' is not one of numpy, torch, jax"):
        check_library("keras")
    with pytest.raises(BadInput, match="arithmetic: 'real' is not one of float16"):
        check_library("numpy", "real")
