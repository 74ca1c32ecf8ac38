"""Loss and gradient at the exact counter: closed forms against differentiation, the loop's own gradient, and known values.

And what they are sums over: the strings that are scored, against going through every prefix.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import LinearCell
from tallystick.datasets.strings import training_set
from tallystick.errors import BadInput
from tallystick.studies.explain.counter import ExactCounter, at_counter, profile, scored_strings
from tallystick.studies.explain.pull import pull_of
from tallystick.studies.explain.words import setting_name
from tallystick.training.descent import adam
from tallystick.training.lessons import lessons_of
from tallystick.training.loop import Learner
from tallystick.training.methods import UNGATED
from tallystick.training.setting import Setting

SETTINGS = [
    Setting(task, bias, 4, method=method)
    for task, bias, method in product(("binary", "ternary", "count"), (False, True), UNGATED)
]
BESIDE = {"scale": 1.7, "step": 0.6, "threshold": 0.3}
"""A counter that nothing is special about; regression does not rest there, so its gradient shows as well."""


def found_at(setting, **counter):
    counter = ExactCounter.of_scale(setting, **counter)
    strings = profile(scored_strings(setting, training_set(setting.goal, setting.train_length, 0)))
    there = at_counter(setting, strings, counter)
    return counter, there, pull_of(setting, counter, there.slope)


# What follows is written without the package's objectives, gradients and parametrisations, so that an error would have to be
# made twice. All numbers have a last axis for the changes that a derivative is taken with.

LOSSES = {
    "binary_cross_entropy": lambda o, d, _: np.logaddexp(0, o[0]) - (d > 0) * o[0],
    "cross_entropy": lambda o, d, _: _cross_entropy(o, d),
    "doubled_softmax": lambda o, d, _: _cross_entropy(np.exp(o) / np.exp(o).sum(axis=0), d),
    "squared_error": lambda o, d, wanted: ((o - wanted) ** 2).sum(axis=0),
}


def _cross_entropy(o, d):
    return np.log(np.exp(o).sum(axis=0)) - o[int(np.sign(d)) + 1]


def wanted_outputs(setting, d):
    if setting.task == "ternary":
        return np.array([-d - 0.5, 0, d - 0.5])[:, None]
    return np.array([[d - 0.5 * (setting.task == "binary" and setting.bias)]])


def scored_parts(setting, string):
    return [string[: end + 1] for end in range(len(string))] if setting.procedure.every_token else [string]


def mean_loss(setting, strings, a, b, U, v, c):
    total = 0.0
    for string in strings:
        parts = scored_parts(setting, string)
        for part in parts:
            h = 0.0
            for token in part:
                h = U * h + (a if token == "(" else b)
            d = part.count("(") - part.count(")")
            loss = LOSSES[setting.objective.name](v * h + c, d, wanted_outputs(setting, d))
            total = total + loss / len(parts) / len(strings)
    return total


def network(setting, numbers):
    """From the trained numbers, by name, to a, b, U, v and c."""
    tied, unit = setting.procedure.parametrisation.tied, setting.procedure.parametrisation.unit
    a = numbers["inputs"][0]
    b = -a if tied else numbers["inputs"][1]
    if numbers["bias"]:
        a, b = a + numbers["bias"][0], b + numbers["bias"][0]
    v = np.stack(numbers["readout_weight"])
    c = np.stack(numbers["readout_bias"]) if numbers["readout_bias"] else np.zeros_like(v)
    return a, b, np.ones_like(a) if unit else numbers["recurrent"][0], v, c


def objective(setting, strings, numbers):
    a, b, U, v, c = network(setting, numbers)
    penalised = setting.procedure.regulariser is not None
    return mean_loss(setting, strings, a, b, U, v, c) + penalised * setting.procedure.strength * (
        (a + b) ** 2 + (U - 1) ** 2
    )


def trained_numbers(setting, counter):
    weights = counter.weights(setting)._asdict()
    tied, unit = setting.procedure.parametrisation.tied, setting.procedure.parametrisation.unit
    if tied:
        weights |= {"inputs": weights["inputs"][:1], "bias": ()}
    return weights | {"recurrent": ()} if unit else weights


def flat(numbers):
    return [float(value) for values in numbers.values() for value in values]


def changed(numbers, size):
    """Each number with a last axis: that of every number changed up, then down."""
    count = len(flat(numbers))
    places, found = iter(range(count)), {}
    for name, values in numbers.items():
        found[name] = [
            value + size * np.concatenate([np.eye(count)[place], -np.eye(count)[place]])
            for value, place in zip(values, places, strict=False)
        ]
    return found


@pytest.mark.parametrize("setting", SETTINGS, ids=setting_name)
def test_the_closed_form_is_the_derivative_by_the_trained_numbers(setting):
    strings = training_set(setting.goal, setting.train_length, 0)
    counter, there, pull = found_at(setting, **BESIDE)
    numbers = trained_numbers(setting, counter)
    still = {name: [np.array([value]) for value in values] for name, values in numbers.items()}
    assert objective(setting, strings, still)[0] == pytest.approx(there.loss + pull.added_term, rel=1e-12)
    up, down = np.split(objective(setting, strings, changed(numbers, 1e-6)), 2)
    assert [len(values) for values in pull.by_trained] == [len(values) for values in numbers.values()]
    np.testing.assert_allclose(flat(pull.by_trained._asdict()), (up - down) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("setting", [one for one in SETTINGS if one.task == "binary"], ids=setting_name)
def test_the_network_moves_as_its_numbers_follow_the_gradient_down(setting):
    counter, _, pull = found_at(setting, **BESIDE)
    numbers, slope = trained_numbers(setting, counter), pull.by_trained._asdict()
    times = np.array([1e-6, -1e-6])
    moved = {
        name: [value - times * part for value, part in zip(values, slope[name], strict=True)]
        for name, values in numbers.items()
    }
    a, b, U, _, _ = network(setting, moved)
    if setting.procedure.projection is not None:
        a, b, U = (a - b) / 2, (b - a) / 2, np.ones(2)
    speed = [(part[0] - part[1]) / 2e-6 for part in (a, b, U, a / b)]
    np.testing.assert_allclose(pull.speed, speed, rtol=1e-5, atol=1e-8)
    assert pull.holds_steps == (setting.method in ("tied", "tied-unit", "projected"))
    assert pull.holds_recurrent == (setting.method in ("unit", "tied-unit", "projected"))
    assert pull.added_term == pull.added_slope == 0


@pytest.mark.parametrize("method", UNGATED)
def test_it_is_the_mean_of_what_the_loop_learns_from(method):
    setting = Setting("binary", True, 2, method=method, precision="float64")
    counter, _, pull = found_at(setting, **BESIDE)
    lessons = lessons_of(setting, training_set(setting.goal, 2, 0))
    with jax.enable_x64(True):
        weights = jax.tree.map(lambda number: jnp.array([number]), counter.weights(setting))
        parts = {"kind": setting.kind, "task": setting.goal, "method": setting.procedure}
        learner = Learner(weights, adam(0.1), setting.procedure.strength, 0.1, **parts)
        slopes = [learner.look(lessons.exercise(place), learner.start(), np.float64).slope for place in range(6)]
        mean = [np.mean([float(part[0]) for part in leaf]) for leaf in zip(*map(jax.tree.leaves, slopes), strict=True)]
    np.testing.assert_allclose(flat(pull.by_trained._asdict()), mean, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("method", ["count", "count-tokens"])
def test_the_derivative_of_regression_in_rationals(method):
    """Numerical differentiation without rounding: the cell runs on rationals."""
    setting = Setting("count", False, 8, method=method)
    strings = training_set(setting.goal, 8, 0)
    _, there, _ = found_at(setting, scale=2, step=0.5)
    weighed = list(zip(scored_strings(setting, strings).strings, scored_strings(setting, strings).share, strict=True))
    point, size = [Fraction(1, 2), Fraction(-1, 2), Fraction(1), Fraction(4)], Fraction(1, 10**12)

    def loss(numbers):
        a, b, U, v = numbers
        cell = LinearCell(a, b, U)
        return sum(
            Fraction(share) * (v * cell.final_state(string) - string.count("(") + string.count(")")) ** 2
            for string, share in weighed
        )

    derivatives = [
        float((loss(_with(point, place, size)) - loss(_with(point, place, -size))) / (2 * size)) for place in range(4)
    ]
    found = (*there.slope.inputs, *there.slope.recurrent, *there.slope.readout_weight)
    np.testing.assert_allclose(found, derivatives, rtol=1e-13)
    assert there.loss == pytest.approx(float(loss(point)), rel=1e-13)


def _with(point, place, change):
    return [number + change * (place == other) for other, number in enumerate(point)]


@pytest.mark.parametrize(("length", "floor"), [(2, 0.231), (4, 0.198), (8, 0.153)])
def test_balanced_strings_keep_the_binary_loss_above_a_floor(length, floor):
    """P(zero)·ln 2, and a force on both steps that no scale takes away."""
    setting = Setting("binary", False, length)
    strings = profile(scored_strings(setting, training_set(setting.goal, length, 0)))
    assert strings.balanced_share * np.log(2) == pytest.approx(floor, abs=5e-4)
    for scale in (1.0, 10.0, 100.0):
        found = at_counter(setting, strings, ExactCounter.of_scale(setting, scale))
        assert found.loss >= found.limit == pytest.approx(strings.balanced_share * np.log(2), rel=1e-12)
        assert sum(found.slope.inputs) > 0.1
        assert found.slope.readout_weight[0] <= 0


def test_the_loss_of_three_classes_falls_to_its_least_as_the_scale_grows():
    for method, floor in (("corrected", 0.0), ("published", np.log(np.e + 2) - 1)):
        setting = Setting("ternary", False, 4, method=method)
        losses = [found_at(setting, scale=scale)[1] for scale in (1.0, 4.0, 16.0)]
        assert losses[0].loss > losses[1].loss > losses[2].loss > losses[2].limit
        assert losses[0].limit == pytest.approx(floor, abs=1e-12)
        assert all(not there.is_minimum for there in losses)


@pytest.mark.parametrize("method", [name for name in UNGATED if name.startswith("count")])
def test_the_exact_counter_is_at_rest_under_regression_alone(method):
    for task, bias, length in product(("count", "binary", "ternary"), (False, True), (1, 2, 4, 8)):
        if (task, length) == ("ternary", 1):
            continue
        _, there, pull = found_at(Setting(task, bias, length, method=method), step=0.3)
        assert there.loss == there.force == 0
        assert there.is_minimum
        assert not any(pull.speed)


def test_three_classes_pull_at_the_recurrent_weight_alone():
    _, there, pull = found_at(Setting("ternary", False, 4), scale=4.0)
    assert not there.is_minimum
    assert pull.speed.recurrent_weight > 1e-3
    assert abs(pull.speed.ratio) < 1e-12  # by symmetry: the paper's fourth claim


def test_multipliers_cancel_what_leads_off_the_conditions():
    setting = Setting("binary", True, 4, method="lagrangian")
    _, there, pull = found_at(setting, **BESIDE)
    for_steps, for_recurrent = pull.multipliers
    by_open, by_close = there.slope.inputs
    assert for_recurrent == pytest.approx(-there.slope.recurrent[0], rel=1e-12)
    assert for_steps == pytest.approx(-(by_open + by_close) / 2, rel=1e-12)
    assert found_at(replace(setting, method="penalty"), **BESIDE)[2].multipliers == ()


def test_one_token_leaves_the_recurrent_weight_alone():
    for setting in (Setting("binary", False, 1), Setting("count", False, 1, method="count-tokens")):
        strings = profile(scored_strings(setting, training_set(setting.goal, 1, 0)))
        assert not strings.uses_recurrence
        assert found_at(setting, scale=2.0)[1].slope.recurrent == (0,)
    assert profile(scored_strings(Setting("count", False, 2), ["()"])).uses_recurrence


@pytest.mark.parametrize("method", ["count", "count-tokens"])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_every_string_has_the_same_part_and_its_prefixes_share_it(method, length):
    setting = Setting("binary", False, length, method=method)
    strings = training_set(setting.goal, length, 0)
    expected: Counter[str] = Counter()
    for string in strings:
        ends = range(1, len(string) + 1) if method == "count-tokens" else [len(string)]
        for end in ends:
            expected[string[:end]] += Fraction(1, len(ends) * len(strings))
    found = scored_strings(setting, strings)
    assert dict(zip(found.strings, found.share.tolist(), strict=True)) == {
        string: float(share) for string, share in expected.items()
    }
    summed = profile(found)
    assert summed.share.sum() == pytest.approx(1)
    for place, count in enumerate(summed.counts):
        alike = {string: share for string, share in expected.items() if string.count("(") - string.count(")") == count}
        share = sum(alike.values())
        area = sum(part * sum(_counts_before(string)) for string, part in alike.items())
        assert summed.share[place] == pytest.approx(float(share))
        assert summed.openings[place] == pytest.approx(float(sum(s.count("(") * p for s, p in alike.items()) / share))
        assert summed.area[place] == pytest.approx(float(area / share), abs=1e-15)
    assert summed.openings @ summed.share - summed.closings @ summed.share == pytest.approx(
        summed.counts @ summed.share
    )


def _counts_before(string):
    return [string[:end].count("(") - string[:end].count(")") for end in range(len(string))]


def test_what_cancels_cancels_exactly():
    setting = Setting("binary", False, 8)
    found = profile(scored_strings(setting, training_set(setting.goal, 8, 0)))
    assert found.area[found.counts == 0] == np.array([0.0])


def test_nothing_is_refused():
    with pytest.raises(BadInput, match="strings: an empty training set"):
        scored_strings(Setting("binary", False, 2), [])
