"""Snapped layers have the eigenvalue 1 and a count without drift, in rationals; some are right for ever without counting."""

from fractions import Fraction

import jax
import numpy as np
import pytest

from tallystick.cells import LinearLayer, SelectiveLayer
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.languages.tasks import BINARY, COUNT, TERNARY
from tallystick.networks import Network
from tallystick.training.snapping import counters_in_units, snap_layers
from tallystick.training.weights import TensorWeights, fresh_weights

STRINGS = ["(", ")(", "(()", "))(()", "((()))()"]


def near_a_counter(seeds=20, units=3, bias=True, task=BINARY, dtype=np.float32):
    """Linear layers in a random basis: the count with the factor 1.02 and steps 1 and −1.1, and units that forget."""
    generator = np.random.default_rng(units)
    turn = np.linalg.qr(generator.normal(size=(seeds, units, units)))[0]
    factors = np.concatenate([np.full((seeds, 1), 1.02), generator.uniform(-0.4, 0.4, (seeds, units - 1))], axis=1)
    a, b = (
        np.concatenate([np.full((seeds, 1), s), generator.uniform(-0.05, 0.05, (seeds, units - 1))], 1)
        for s in (1, -1.1)
    )
    v = np.concatenate([np.ones((seeds, 1)), generator.uniform(-1, 1, (seeds, units - 1))], axis=1)
    U = turn @ (factors[:, :, None] * np.swapaxes(turn, 1, 2))
    W, v = (np.einsum("sij,sjk->sik", turn, part) for part in (np.stack((a, b), axis=2), v[:, :, None]))
    W, U, V = (np.moveaxis(part, 0, -1).astype(dtype) for part in (W, U, np.swapaxes(v, 1, 2)))
    zeros = np.zeros((units, seeds), dtype)
    c = np.full((task.outputs, seeds), -0.5, dtype)
    return TensorWeights(W, U, (zeros, zeros) if bias else (), V, (c,))


def networks(weights, kind=LinearLayer, task=BINARY):
    return Network(weights.cell(kind), weights.readout(), task)


def has_a_counting_unit(cell):
    """Some row of U is that of the identity, and the steps of its unit are opposite powers of two, exactly."""
    for unit, (row, steps) in enumerate(zip(cell.recurrent_weight, cell.input_weight, strict=True)):
        a, b = map(Fraction, steps)
        if [Fraction(x) for x in row] == [int(place == unit) for place in range(len(row))]:
            return a == -b and np.log2(abs(float(a))) % 1 == 0
    return False


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_unit_counts_exactly_and_the_outputs_of_an_undrifting_network_stay(dtype):
    weights = near_a_counter(dtype=dtype)
    snapped = snap_layers(weights, LinearLayer, BINARY)
    assert jax.tree.structure(snapped) == jax.tree.structure(weights)
    found = networks(snapped)
    for seed in range(20):
        assert has_a_counting_unit(found.place(seed).cell)
    # Without its drift and at λ = 1 a network has the outputs that it had: the change of basis is none of its answers.
    again = snap_layers(snapped, LinearLayer, BINARY)
    for string in STRINGS:
        one, other = (w.outputs(w.cell(LinearLayer).final_state(string))[0] for w in (snapped, again))
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_snapped_networks_are_right_for_ever_and_no_exact_counters():
    found = networks(snap_layers(near_a_counter(seeds=5), LinearLayer, BINARY))
    verdicts = [certify(found.place(seed)) for seed in range(5)]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PROVED}
    for seed in range(5):
        outputs = [found.place(seed).outputs(string)[0] for string in ("()", ")(", "()()")]
        assert len(set(outputs)) > 1  # the count is 0 each time


def test_what_is_near_no_counter_stays_as_it_is():
    weights = near_a_counter(seeds=4)
    weights.inputs[:, 1, 0] = weights.inputs[:, 0, 0]
    weights.recurrent[..., 1] *= 2
    weights.inputs[0, 0, 2] = np.nan
    snapped = snap_layers(weights, LinearLayer, BINARY)
    for before, after in zip(jax.tree.leaves(weights), jax.tree.leaves(snapped), strict=True):
        np.testing.assert_array_equal(before[..., :3], after[..., :3])
    assert not np.array_equal(weights.recurrent[..., 3], snapped.recurrent[..., 3])


@pytest.mark.parametrize("kind", [LinearLayer, SelectiveLayer], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("task", [BINARY, TERNARY, COUNT], ids=lambda task: task.name)
@pytest.mark.parametrize("bias", [False, True])
def test_exact_counters_in_a_unit_give_the_count(kind, task, bias):
    drawn = fresh_weights(kind, task, np.arange(6), bias=bias, dtype=np.dtype(np.float32), units=3)
    counters = counters_in_units(drawn, kind, task, np.arange(6) % 3)
    assert jax.tree.structure(counters) == jax.tree.structure(drawn)
    cell = counters.cell(kind)
    for string in STRINGS:
        count = 2 * string.count("(") - len(string)
        last = counters.outputs(cell.final_state(string))[-1]
        np.testing.assert_array_equal(last, count - (0.5 if counters.readout_bias and task is not COUNT else 0))


def test_a_selective_layer_is_snapped_to_a_counter_in_one_unit():
    drawn = fresh_weights(SelectiveLayer, BINARY, np.arange(3), bias=True, dtype=np.dtype(np.float32), units=4)
    drawn.inputs[2], drawn.recurrent[2], drawn.bias[0][2] = np.array([[1], [-1.2]]), 0.9, 0
    drawn.recurrent[:2], drawn.recurrent[3] = 0, 0
    found = networks(snap_layers(drawn, SelectiveLayer, BINARY), SelectiveLayer)
    for seed in range(3):
        cell = found.place(seed).cell
        assert (cell.recurrent_weight[2], cell.input_weight[2]) == ((1, 1), (1, -1))
        assert all(found.place(seed).class_of(s) == found.place(seed).right_class(s) for s in STRINGS)


def test_a_snapped_selective_layer_counts_as_executed_whatever_its_other_units_do():
    drawn = fresh_weights(SelectiveLayer, BINARY, np.arange(1), bias=True, dtype=np.dtype(np.float32), units=2)
    drawn.inputs[0], drawn.recurrent[0], drawn.bias[0][0] = np.array([[1], [-1.2]]), 0.9, 0
    drawn.inputs[1], drawn.recurrent[1] = 1, 1.3  # which overflows within 400 tokens
    network = networks(snap_layers(drawn, SelectiveLayer, BINARY), SelectiveLayer).place(0).in_arithmetic("float32")
    for string in ("(" * 400, "(" * 400 + ")" * 400, "(" * 400 + ")" * 399):
        assert network.class_of(string) == network.right_class(string)
