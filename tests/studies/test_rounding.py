"""Signal and noise of the gradient along training, and the step at which noise takes over."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.errors import BadInput
from tallystick.runs.jobs import training_job
from tallystick.studies.explain import rounding
from tallystick.studies.explain.rounding import NEVER, SHARES, gradient_rounding
from tallystick.training.descent import adam
from tallystick.training.lessons import course_of, lessons_of
from tallystick.training.loop import Learner
from tallystick.training.setting import Setting

_OWN_WAY = 1.5
"""Programs of their own round in their own way: so much may lie between the noise of two."""


def watched_by_hand(setting, seeds):
    """The lengths of the gradient and of its error, step by step, from the learner alone."""
    job = training_job(setting, seeds, 0)
    lessons, course = (part(setting, job.strings) for part in (lessons_of, course_of))
    signal, noise = [], []
    with jax.enable_x64(True):
        initial = jax.tree.map(jnp.asarray, job.initial(np.arange(seeds)))
        course, lessons = jax.tree.map(jnp.asarray, course), jax.tree.map(jnp.asarray, lessons)
        parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
        learners = [
            Learner(
                weights, adam(lambda done: course.corrections(done, setting.procedure)), course.strength, 0.005, **parts
            )
            for weights in (initial, jax.tree.map(lambda array: array.astype(np.float64), initial))
        ]
        student = learners[0].start()
        for step in range(int(course.steps)):
            exercise = lessons.exercise(course.place(jnp.int32(step)))
            look = learners[0].look(exercise, student, np.float32)
            fine = student._replace(trained=jax.tree.map(lambda array: array.astype(np.float64), student.trained))
            exact = learners[1].look(exercise, fine, np.float64).slope
            pairs = list(zip(jax.tree.leaves(look.slope), jax.tree.leaves(exact), strict=True))
            signal.append(np.sqrt(sum(np.asarray(true) ** 2 for _, true in pairs)))
            noise.append(np.sqrt(sum((np.asarray(rough, np.float64) - np.asarray(true)) ** 2 for rough, true in pairs)))
            student = learners[0].learn(student, look)
    return np.array(signal), np.array(noise)


def trailing(values, size):
    """The root mean square over the last so many steps, from the first full window on."""
    return np.array([np.sqrt((values[end - size : end] ** 2).mean(axis=0)) for end in range(size, len(values) + 1)])


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "steps"),
    [
        (Setting("binary", False, 2, epochs=4), [6, 12, 18, 24]),
        (Setting("binary", False, 4, method="curriculum", epochs=2), [6, 34]),
    ],
)
def test_it_is_the_error_of_each_gradient_over_the_last_epoch(setting, steps):
    shares = (5e-8, 1e-7)  # what so short a training reaches somewhere, and not everywhere
    found = gradient_rounding(setting, 8, shares=shares)
    assert found.steps.tolist() == steps
    assert [found.epoch(step) for step in (steps[0], steps[0] + 1, steps[-1])] == [1, 2, len(steps)]
    size = steps[-1] - steps[-2]
    signal, noise = (trailing(part, size) for part in watched_by_hand(setting, 8))
    ends = [min(end, steps[-1]) for end in range(size, steps[-1] + size, size)]
    assert found.ends.tolist() == ends
    at = np.array(ends) - size
    np.testing.assert_allclose(found.signal, signal[at], rtol=1e-5)
    np.testing.assert_allclose(found.noise, noise[at], rtol=_OWN_WAY - 1)
    np.testing.assert_allclose(found.most, (noise / signal).max(axis=0), rtol=_OWN_WAY - 1)
    for share, first, then in zip(shares, found.first, found.then, strict=True):
        for seed, ratios in enumerate((noise / signal).T):
            place = first[seed] - size if first[seed] != NEVER else len(ratios)
            assert (ratios[:place] < _OWN_WAY * share).all()
            if first[seed] != NEVER:
                assert ratios[place] > share / _OWN_WAY
                assert then[seed] == pytest.approx(signal[place, seed], rel=1e-4)
    assert (found.first != NEVER).any()
    assert (found.first == NEVER).any()


def test_sums_over_the_last_steps_take_nothing_away():
    values = np.random.default_rng(0).uniform(size=(12, 2)) * np.logspace(0, -18, 12)[:, None]
    found = rounding._trailing(jnp.asarray(values[:6]), jnp.asarray(values[6:]))
    expected = [values[end - 6 : end].sum(axis=0) for end in range(7, 13)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.fixture(scope="module")
def ternary():
    return gradient_rounding(Setting("ternary", False, 8), 8)


def test_rounding_takes_over_where_the_gradient_fades(ternary):
    """Ternary, length 8: towards the end of training the gradient's rounding is half the gradient."""
    assert ternary.signal.shape == ternary.noise.shape == (100, 8)
    assert (ternary.noise[0] < 1e-5 * ternary.signal[0]).all()
    first, last = ternary.first
    assert (first > 40 * 297).all()
    assert ((last == NEVER) | (last > first)).all()
    assert (ternary.most >= SHARES[0]).all()
    assert (ternary.then[0] < 1e-4).all()
    assert [ternary.epoch(step) for step in (1, 297, 298, 29_700)] == [1, 1, 2, 100]


def test_short_strings_and_finer_gradients_leave_nothing_to_rounding(ternary):
    short = gradient_rounding(replace(ternary.setting, train_length=2), 8)
    assert (short.first == NEVER).all()
    finer = gradient_rounding(replace(ternary.setting, gradients="float64", epochs=2), 8)
    assert (finer.first == NEVER).all()
    assert (finer.noise < 2.0**-23 * finer.signal).all()


def test_only_what_has_a_finer_arithmetic_beside_it():
    with pytest.raises(BadInput, match="precision: 'float64'; only float32 has a finer arithmetic"):
        gradient_rounding(Setting("binary", False, 2, precision="float64"))
