"""No silent change of protocol: what is drawn, trained and certified is what the golden files hold."""

import json
from dataclasses import replace

import jax
import numpy as np
import pytest
from golden.renew import DRAWN, MODELS, drawn, horizons, made, read, settings, written

TOLERANCE = 1e-4
"""How far a weight may lie off, absolutely. Another version of XLA or another processor rounds the same float32 steps in another
way. What that can come to is what all of float32's rounding comes to, which training in float64 takes away: a quarter of this at
most, as the test below has it. A change of protocol moves a weight by ten times as much at least, which is tested, too."""


def off(found, expected):
    """How far the weight lies off that does so most."""
    return max(jax.tree.leaves(jax.tree.map(lambda a, b: float(np.abs(a - b).max()), found, expected)))


def test_what_is_drawn_is_what_was_always_drawn():
    """Strings, their order and initial weights: the same bits with every library on every machine."""
    assert drawn() == json.loads(DRAWN.read_text())


@pytest.mark.parametrize("task", ["binary", "ternary"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_golden_models(task, bias):
    of_program = [setting for setting in settings() if (setting.task, setting.bias) == (task, bias)]
    assert len(of_program) == 3
    for setting in of_program:
        golden, found = read(setting), made(setting)
        jax.tree.map(np.testing.assert_array_equal, found.initial, golden.initial)
        assert off(found.trained, golden.trained) <= TOLERANCE, setting
        # Of the weights as they are written, rounding has no part in this.
        np.testing.assert_array_equal(horizons(setting, golden.trained), golden.horizons)


def test_rounding_alone_stays_within_the_tolerance():
    for setting in settings()[:3]:
        exact = made(replace(setting, precision="float64"))
        assert 0 < off(read(setting).trained, exact.trained) <= TOLERANCE / 4


CHANGES = {
    "the learning rate": {"learning_rate": 0.00502},
    "an epoch more": {"epochs": 2},
    "the initial weights": {"initial_scale": 1.001},
    "Adam's numbers": {"optimiser": "calm"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_protocol_shows(change):
    setting = settings()[2]
    assert off(made(replace(setting, **change)).trained, read(setting).trained) >= 10 * TOLERANCE


def test_another_order_of_the_strings_shows():
    setting = settings()[2]
    assert off(made(setting, order=1).trained, read(setting).trained) >= 10 * TOLERANCE


def test_a_few_hundred_models_are_written_as_they_are_read():
    golden = {setting: read(setting) for setting in settings()}
    assert written(golden) == MODELS.read_text()
    assert len(MODELS.read_text().splitlines()) == 1 + 288
