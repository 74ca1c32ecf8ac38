"""The loop does what the protocol says, and a seed's weights depend on nothing but the seed and the setting."""

from itertools import product

import jax
import numpy as np
import pytest

from tallystick.cells import CELLS, LinearCell
from tallystick.datasets.strings import training_set
from tallystick.errors import BadInput
from tallystick.languages.tasks import BINARY, TASKS, TERNARY
from tallystick.networks import Readout
from tallystick.runs.runner import train as train_networks
from tallystick.training.ensemble import paths, train
from tallystick.training.setting import PRECISIONS, Setting
from tallystick.training.weights import fresh_weights, nudge_weights, published_weights


def start(setting, seeds):
    return fresh_weights(setting.kind, setting.goal, np.asarray(seeds), bias=setting.bias, dtype=setting.dtype)


def by_protocol(setting, initial, strings, seed):
    """The protocol in plain NumPy and float64: one network, one string at a time, backpropagation written out."""
    w = [float(a[seed]) for a in (*initial.inputs, *initial.recurrent, *initial.bias)]
    v = [float(a[seed]) for a in initial.readout_weight]
    c = [float(a[seed]) for a in initial.readout_bias]
    parameters = np.array(w + v + c)
    n, k = len(w), len(v)
    m, s = np.zeros_like(parameters), np.zeros_like(parameters)
    step = right = 0
    for epoch in range(setting.epochs):
        for string, target in zip(strings, setting.goal.targets(strings), strict=True):
            w, v, c = parameters[:n], parameters[n : n + k], parameters[n + k :]
            states = [0.0]
            for token in string:
                states.append(w[2] * states[-1] + (w[0] if token == "(" else w[1]) + (w[3] if n > 3 else 0.0))
            outputs = v * states[-1] + (c if len(c) else 0.0)
            if epoch == setting.epochs - 1:
                right += (
                    bool(np.argmax(outputs) == np.argmax(target))
                    if k > 1
                    else bool((outputs[0] > 0) == (target[0] > 0))
                )
            if k == 1:
                error = 1 / (1 + np.exp(-outputs)) - target
            else:
                q = np.exp(outputs - outputs.max())
                q /= q.sum()
                r = np.exp(q) / np.exp(q).sum() - target
                error = q * (r - (q * r).sum())
            back, slope = float((error * v).sum()), np.zeros(n)
            for t in range(len(string), 0, -1):
                slope[0 if string[t - 1] == "(" else 1] += back
                slope[2] += back * states[t - 1]
                if n > 3:
                    slope[3] += back
                back *= w[2]
            gradient = np.concatenate([slope, error * states[-1], error if len(c) else []])
            step += 1
            m, s = 0.9 * m + 0.1 * gradient, 0.999 * s + 0.001 * gradient**2
            parameters = parameters - 0.005 * (m / (1 - 0.9**step)) / (np.sqrt(s / (1 - 0.999**step)) + 1e-8)
    return parameters, 100 * right / len(strings)


@pytest.mark.parametrize("task", ["binary", "ternary"])
@pytest.mark.parametrize("bias", [False, True])
def test_the_loop_is_the_protocol(task, bias):
    setting = Setting(task, bias, 4, precision="float64", epochs=20)
    strings = training_set(setting.goal, 4, seed=1)
    initial = start(setting, range(3))
    trained = train(setting, initial, strings)
    for seed in range(3):
        parameters, right = by_protocol(setting, initial, strings, seed)
        found = [array[seed] for array in jax.tree.leaves(trained.weights)]
        np.testing.assert_allclose(found, parameters, rtol=1e-9, atol=1e-11)
        assert trained.accuracy_train[seed] == pytest.approx(right)


@pytest.mark.parametrize(
    ("task", "precision"), [("binary", "float32"), pytest.param("ternary", "float64", marks=pytest.mark.long)]
)
def test_a_seeds_weights_are_the_same_in_any_block_on_any_number_of_cores(task, precision):
    """At length 8 float32 training is chaotic, so one differing bit would show."""
    setting = Setting(task, bias=True, train_length=8, precision=precision, epochs=12)
    strings = training_set(setting.goal, 8, seed=0)
    seeds = np.arange(150)
    expected = train(setting, start(setting, seeds), strings)
    for block, workers in ((5, 2), (100, 1), (256, 2)):
        found = train(setting, start(setting, seeds), strings, block=block, workers=workers)
        jax.tree.map(np.testing.assert_array_equal, found.weights, expected.weights)
        np.testing.assert_array_equal(found.accuracy_train, expected.accuracy_train)
    backwards = train(setting, start(setting, seeds[::-1]), strings)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a[::-1], b), backwards.weights, expected.weights)


def test_float32_stays_float32_whatever_the_users_own_setting():
    setting = Setting("ternary", bias=False, train_length=4, epochs=5)
    strings = training_set(TERNARY, 4, 0)
    expected = train(setting, start(setting, range(8)), strings)
    with jax.enable_x64(True):
        found = train(setting, start(setting, range(8)), strings)
    jax.tree.map(np.testing.assert_array_equal, found.weights, expected.weights)


def test_the_initial_weights_of_the_papers_seeds_are_shipped():
    for task in (BINARY, TERNARY):
        for bias in (False, True):
            weights = published_weights(task, bias=bias, dtype=np.dtype(np.float64))
            assert all(len(array) == 10 for array in jax.tree.leaves(weights))
            assert len(weights.readout_weight) == task.outputs
            assert len(weights.bias) == bias
            assert len(weights.readout_bias) == (task.outputs if bias or task is TERNARY else 0)
            cell = np.array([*weights.inputs, *weights.recurrent, *weights.bias])
            assert (abs(cell) <= 3**-0.5).all()
            assert all((np.float32(array) == array).all() for array in jax.tree.leaves(weights))


def test_initial_weights_depend_on_the_seed_alone():
    few, many = (
        fresh_weights(LinearCell, BINARY, np.arange(n), bias=True, dtype=np.dtype(np.float32)) for n in (3, 1000)
    )
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b[:3]), few, many)
    other = fresh_weights(LinearCell, TERNARY, np.arange(1000), bias=False, dtype=np.dtype(np.float64))
    np.testing.assert_array_equal(other.inputs[0].astype(np.float32), many.inputs[0])
    for arrays, bound in ((many.inputs, 3**-0.5), (many.recurrent, 3**-0.5), (many.readout_weight, 1.0)):
        for array in arrays:
            assert np.abs(array).max() <= bound
            assert np.abs(array).max() > 0.99 * bound
            assert abs(array.mean()) < 0.1 * bound
    assert len({array.tobytes() for array in jax.tree.leaves(many)}) == 6


def test_biases_are_where_the_protocol_puts_them():
    for task, bias, readout in ((BINARY, False, 0), (BINARY, True, 1), (TERNARY, False, 3), (TERNARY, True, 3)):
        for weights in (
            fresh_weights(LinearCell, task, np.arange(2), bias=bias, dtype=np.dtype(np.float32)),
            published_weights(task, bias=bias, dtype=np.dtype(np.float32)),
        ):
            assert (len(weights.bias), len(weights.readout_bias)) == (int(bias), readout)


def test_a_nudge_is_as_small_as_asked_and_repeatable():
    weights = published_weights(TERNARY, bias=True, dtype=np.dtype(np.float64))
    moved = nudge_weights(weights, 1e-7, seed=1)
    for before, after in zip(jax.tree.leaves(weights), jax.tree.leaves(moved), strict=True):
        assert np.all(np.abs(after / before - 1) <= 1e-7)
        assert np.all(after != before)
    jax.tree.map(np.testing.assert_array_equal, moved, nudge_weights(weights, 1e-7, seed=1))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_paths_start_where_training_starts_and_end_where_it_ends(precision):
    setting = Setting("ternary", bias=True, train_length=2, precision=precision, epochs=7)
    strings = training_set(TERNARY, 2, 0)
    initial = start(setting, range(4))
    along, end = paths(setting, initial, strings), train(setting, initial, strings)
    for path, first, last in zip(*map(jax.tree.leaves, (along, initial, end.weights)), strict=True):
        assert path.shape == (8, 4)
        assert path.dtype == last.dtype == setting.dtype
        np.testing.assert_array_equal(path[0], first)
        np.testing.assert_allclose(path[-1], last, rtol=1e-5)


CELLS_AND_TASKS = [
    pytest.param(
        cell,
        task,
        marks=() if place % len(TASKS) == number and cell not in ("gru", "lstm") else pytest.mark.long,
    )
    for (place, cell), (number, task) in product(enumerate(CELLS), enumerate(TASKS))
]
"""Each cell without gates is tried with one task, and every cell with every task where there is time."""


@pytest.mark.parametrize(("cell", "task"), CELLS_AND_TASKS)
def test_every_cell_learns_every_task(cell, task):
    networks = train_networks(task, train_length=2, seeds=16, cell=cell, epochs=150, bias=True)
    assert all(np.isfinite(array).all() for array in jax.tree.leaves(networks.weights))
    # Many ReLU cells die on the way; that one of them learns shows that the gradient reaches it.
    assert np.quantile(networks.accuracy_train, 1.0 if cell == "relu" else 0.5) >= 80
    assert networks.accuracy(["(", "()", "))"]).shape == (16,)


def test_accuracy_is_the_share_of_right_classes():
    networks = train_networks("ternary", train_length=2, seeds=6, epochs=3)
    strings = ["(((", "))(", "()", ")(", "((()))(((("]
    cell, readout = networks.cell(), networks.weights.readout()
    for seed in range(6):
        right = 0
        for string in strings:
            h = cell.final_state(string)[seed]
            outputs = [v[seed] * h + c[seed] for (v,), c in zip(readout.weight, readout.bias, strict=True)]
            right += ["Neg", "Zero", "Pos"][int(np.argmax(outputs))] == TERNARY.label(string)
        assert networks.accuracy(strings)[seed] == pytest.approx(100 * right / len(strings))


def test_a_network_is_taken_out_of_its_ensemble_with_its_very_weights():
    networks = train_networks("binary", train_length=2, seeds=3, epochs=2, bias=True)
    third = networks.network(2)
    assert third.cell == LinearCell(*(float(array[2]) for array in vars(networks.cell()).values()))
    (v,), (c,) = networks.weights.readout_weight, networks.weights.readout_bias
    assert third.readout == Readout.binary(float(v[2]), float(c[2]))
    counting = train_networks("count", train_length=2, seeds=1, epochs=1, method="count")
    assert counting.network(0).readout == Readout.zero()


def test_progress_counts_every_seed_once():
    setting = Setting("binary", bias=False, train_length=2, epochs=1)
    told = []
    train(setting, start(setting, range(150)), ["()", "(("], block=64, progress=told.append)
    assert sorted(told) == [22, 64, 64]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "quaternary"}, "task: 'quaternary' is not one of"),
        ({"cell": "transformer"}, "cell: 'transformer' is not one of linear, selective, relu"),
        ({"method": "magic"}, "method: 'magic' is not one of published, corrected"),
        ({"precision": "float8"}, "precision: 'float8' is not one of float32, float64"),
        ({"epochs": 0}, "epochs: 0 is not a whole number from 1 on"),
        ({"epochs": 715827883}, "epochs: 715827883 over 354 strings are more than 1,000,000,000 steps"),
        ({"seeds": 10**12}, "seeds: 1000000000000 is more than 10,000,000"),
        ({"bias": "no"}, "bias: 'no' is neither True nor False"),
        ({"train_length": "8"}, "train_length: '8' is not a whole number"),
        ({"task": "ternary", "train_length": 1}, "train_length: 1 has no string of the class Zero"),
        ({"learning_rate": "x"}, "learning_rate: 'x' is not between 0 and 1"),
        ({"colour": "red"}, "colour: no such option; the options are cell, method"),
        ({"learning_rate": float("nan")}, "learning_rate: nan is not between 0 and 1"),
        ({"seeds": 0}, "seeds: 0 is not a whole number from 1 on"),
        ({"train_length": 99}, "train_length: 99 is more than 14"),
    ],
)
def test_a_setting_that_cannot_be_trained_is_refused(options, message):
    with pytest.raises(BadInput, match=message):
        train_networks(**options)


def test_training_needs_strings_and_seeds():
    setting = Setting("binary", bias=False, train_length=2)
    with pytest.raises(BadInput, match="strings: an empty training set"):
        train(setting, start(setting, range(2)), [])
    with pytest.raises(BadInput, match="seeds: none to train"):
        train(setting, start(setting, []), ["()"])
    with pytest.raises(BadInput, match="block: 0 is not a whole number"):
        train(setting, start(setting, range(2)), ["()"], block=0)
