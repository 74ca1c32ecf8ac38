"""Where all strings are right, against going through all of them and against the closed form of R_N."""

from itertools import product

import numpy as np
import pytest

from tallystick.cells import LinearCell
from tallystick.certificates.regions import outline
from tallystick.explanations.exact_counter import ExactCounter
from tallystick.explanations.region import counted_lengths, margin_over
from tallystick.explanations.resting_place import Plane
from tallystick.training.setting import Setting

PLANE = Plane.between((-1.75, -0.31), (0.63, 1.58), 23, 19)


def is_right(setting, outputs, count):
    if setting.task == "count":
        return np.abs(outputs[0] - count) < 0.5
    right = [count > 0] if setting.task == "binary" else [count < 0, count == 0, count > 0]
    given = (
        [outputs[0] > 0]
        if setting.task == "binary"
        else list(np.argmax(outputs, axis=0) == np.arange(3)[:, None, None])
    )
    return np.all([np.asarray(one) == other for one, other in zip(given, right, strict=True)], axis=0)


@pytest.mark.parametrize("length", [2, 3, 6])
@pytest.mark.parametrize(("task", "bias"), [*product(("binary", "ternary", "count"), (False, True))])
def test_right_on_sorted_strings_is_right_on_all(task, bias, length):
    setting = Setting(task, bias, length, method="corrected")
    counter = ExactCounter.of_scale(setting, 1.0, threshold=0.6)
    sizes = range(1, length + 1) if counted_lengths(setting) == "all" else range(2, length + 1, 2)
    cell = LinearCell(1.0, 1 / PLANE.ratios, PLANE.recurrent_weights[:, None])
    right = np.ones((19, 23), bool)
    for string in ("".join(tokens) for size in sizes for tokens in product("()", repeat=size)):
        h = np.broadcast_to(cell.final_state(string), right.shape)
        outputs = np.array([s * h + t for s, t in zip(counter.slopes, counter.intercepts, strict=True)])
        right &= is_right(setting, outputs, string.count("(") - string.count(")"))
    assert ((margin_over(setting, counter, PLANE) > 0) == right).all()
    assert right.any() or task == "count" or length == 3
    assert not right.all()


@pytest.mark.parametrize("length", [2, 4, 8])
def test_without_bias_it_is_the_region_of_the_certificates(length):
    setting = Setting("binary", False, length)
    inside = margin_over(setting, ExactCounter.of_scale(setting, 3.0), PLANE) > 0
    left, right = outline(PLANE.recurrent_weights, length, "even")
    with np.errstate(invalid="ignore"):
        expected = (PLANE.ratios > left[:, None]) & (PLANE.ratios < right[:, None])
    assert (inside == expected).all()


def test_the_lengths_that_count():
    assert [counted_lengths(Setting("binary", False, length)) for length in (1, 2, 3, 6, 8)] == [
        "all",
        "even",
        "all",
        "even",
        "even",
    ]
