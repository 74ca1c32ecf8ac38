"""Gates that sharpen while they are trained: the folded network is the trained one, and as executed it counts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tallystick.cells import GruCell, LstmCell, Token
from tallystick.languages.tasks import BINARY, TERNARY
from tallystick.runs.jobs import training_job
from tallystick.training.descent import CROSS_ENTROPY
from tallystick.training.ensemble import paths, train
from tallystick.training.gradients import scan_gradient
from tallystick.training.layers import gate_gradient
from tallystick.training.lessons import course_of
from tallystick.training.methods import METHODS, risen
from tallystick.training.setting import Setting
from tallystick.training.weights import TensorWeights, fresh_weights

METHOD = METHODS["saturating"]
STRINGS = ["(", "))", "()((", ")(", "(()", ")))("]
SEEDS, UNITS, WIDTH = 3, 2, 5


def tokens(string, width=WIDTH):
    padded = string.rjust(width)
    return Token(*(jnp.array([token == bracket for token in padded], jnp.float64) for bracket in "()"))


def drawn(kind, task=TERNARY):
    weights = fresh_weights(kind, task, np.arange(SEEDS), bias=True, dtype=np.dtype(np.float64), units=UNITS)
    return jax.tree.map(jnp.asarray, weights)


# Each program takes seconds to compile.
@pytest.mark.long
@pytest.mark.parametrize("kind", [LstmCell, GruCell])
@pytest.mark.parametrize("every_token", [False, True])
def test_the_gradient_over_arrays_is_that_of_the_cells_own_step(kind, every_token):
    with jax.enable_x64(True):
        weights, generator = drawn(kind), np.random.default_rng(0)
        find = jax.jit(gate_gradient(kind, CROSS_ENTROPY, every_token=every_token, memory=False))
        expect = jax.jit(scan_gradient(kind, CROSS_ENTROPY, every_token=every_token))
        for string in STRINGS:
            shape = (TERNARY.outputs, WIDTH) if every_token else TERNARY.outputs
            targets = tuple(jnp.array(generator.uniform(size=shape)))
            found, expected = (gradient(weights, tokens(string), targets) for gradient in (find, expect))
            for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)


@pytest.mark.long
def test_the_memory_of_every_unit_is_regressed_on_the_count():
    """Against differences of the loss as docs/methods.md has it, through the cell's own step."""
    string, counts, right = ")()", (-1, 0, -1), (0, 0, 0)

    def loss(weights):
        cell = weights.cell(LstmCell)
        total = 0
        for state, count, target in zip(cell.trace(string)[1:], counts, right, strict=True):
            (y,) = weights.outputs(cell.hidden(state))
            entropy = jnp.logaddexp(0, y) - target * y
            total = total + entropy + METHOD.memory * sum((c - count) ** 2 for c in state.memory)
        return (total / len(string)).sum()

    with jax.enable_x64(True):
        weights = drawn(LstmCell, BINARY)
        padded = [np.pad(np.array(part, float), (WIDTH - len(string), 0)) for part in (right, counts)]
        find = gate_gradient(LstmCell, METHOD.objective(BINARY), every_token=True, memory=True)
        found, _ = jax.jit(find)(weights, tokens(string), tuple(jnp.array(part) for part in padded))
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(jax.jit(jax.grad(loss))(weights)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14)


def test_the_temperature_rises_from_1_to_the_methods_own():
    setting = Setting("binary", True, 8, "lstm", "saturating", epochs=10)
    course = jax.tree.map(jnp.asarray, course_of(setting, STRINGS))
    values = [float(course.temperature(jnp.int32(step), METHOD)) for step in range(int(course.steps) + 1)]
    assert values[: len(values) * 3 // 10] == [1] * (len(values) * 3 // 10)
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(values[-len(values) // 10 :], METHOD.temperature, rtol=1e-6)
    assert values[-1] == METHOD.temperature
    assert course.temperature(jnp.int32(0), METHODS["published"]) is None
    assert float(risen(jnp.float32(0.6), 33.0)) == pytest.approx(17)


def networks(seeds, block=None, **options):
    setting = Setting(
        **{"task": "binary", "bias": True, "train_length": 8, "cell": "lstm", "method": "saturating", **options}
    )
    job = training_job(setting, seeds, 0)
    initial = job.initial(np.arange(seeds))
    return initial, train(setting, initial, job.strings, block=block), job.strings


def test_the_folded_network_is_the_one_that_was_trained():
    """The accuracy that is kept was counted through sharpened gates; the networks that are returned have it."""
    _, ensemble, strings = networks(8, epochs=12)
    assert np.abs(ensemble.weights.inputs).max() > METHOD.temperature / 2
    # The last epoch counts each string just before its own update, by when next to nothing moves.
    np.testing.assert_allclose(ensemble.accuracy(strings), ensemble.accuracy_train, atol=0.5)


@pytest.mark.long
def test_a_path_ends_at_the_folded_network():
    initial, ensemble, strings = networks(2, epochs=3, precision="float64", train_length=4)
    along = paths(ensemble.setting, initial, strings)
    for path, last in zip(*map(jax.tree.leaves, (along, ensemble.weights)), strict=True):
        np.testing.assert_allclose(path[-1], last, rtol=1e-9)


def test_a_seeds_weights_are_the_same_in_any_block():
    (_, one, _), (_, other, _) = (
        networks(70, epochs=1, train_length=4),
        networks(70, block=64, epochs=1, train_length=4),
    )
    jax.tree.map(np.testing.assert_array_equal, one.weights, other.weights)


def memories(weights: TensorWeights, opening):
    """Return c and the outputs after each token of each string, step by step in NumPy's float32."""
    units, (W, U) = weights.readout_weight.shape[1], (weights.inputs, weights.recurrent)
    h = c = np.zeros((units, W.shape[-1], opening.shape[1]), np.float32)
    bias = sum(weights.bias)
    for row in opening:
        rows = np.where(row, W[:, 0, :, None], W[:, 1, :, None]) + bias[:, :, None]
        i, f, g, o = np.split(rows + (U[..., None] * h).sum(axis=1, dtype=np.float32), 4)
        with np.errstate(over="ignore"):
            i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        c = f * c + i * np.tanh(g)
        h = o * np.tanh(c)
        outputs = (weights.readout_weight[..., None] * h).sum(axis=1, dtype=np.float32)
        assert c.dtype == outputs.dtype == np.float32
        yield c, outputs + weights.readout_bias[0][..., None]


@pytest.mark.parametrize(
    ("method", "task", "units", "epochs"),
    [
        ("saturating", "binary", 1, 30),
        pytest.param("saturating", "ternary", 1, 40, marks=pytest.mark.long),
        ("saturating-labels", "binary", 1, 100),
        pytest.param("saturating", "binary", 4, 50, marks=pytest.mark.long),
        pytest.param("saturating-labels", "ternary", 2, 100, marks=pytest.mark.long),
    ],
)
def test_as_executed_a_memory_is_the_count(method, task, units, epochs):
    _, ensemble, _ = networks(8, method=method, task=task, units=units, epochs=epochs)
    opening = np.random.default_rng(1).random((1000, 8)) < 0.5
    counts = np.cumsum(np.where(opening, 1, -1), axis=0)
    exact = np.array(True)
    for (c, outputs), count in zip(memories(ensemble.weights, opening), counts, strict=True):
        # Labels alone do not say whether the memory is the count or its opposite, nor in which unit it is.
        exact = exact & ((c == count) if method == "saturating" else (np.abs(c) == np.abs(count))).all(axis=2)
        found = outputs[0] > 0 if task == "binary" else outputs.argmax(axis=0)
        assert (found == ((count > 0) if task == "binary" else np.sign(count) + 1)).all()
    assert (exact.all(axis=0) if method == "saturating" else exact.any(axis=0)).all()


@pytest.mark.long
def test_without_a_temperature_no_memory_is_the_count():
    _, ensemble, _ = networks(8, method="count-calm", epochs=30)
    opening = np.full((9, 1), True)
    *_, (c, _) = memories(ensemble.weights, opening)
    assert (c != len(opening)).all()


def test_sharpening_scales_what_the_gates_read_and_nothing_else():
    weights = drawn(GruCell)
    sharp = weights.sharpen(4.0)
    for name in ("inputs", "recurrent", "bias"):
        jax.tree.map(
            lambda one, other: np.testing.assert_array_equal(one, 4 * other),
            getattr(sharp, name),
            getattr(weights, name),
        )
    np.testing.assert_array_equal(sharp.readout_weight, weights.readout_weight)
