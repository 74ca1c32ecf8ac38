"""Weights and states kept in less than is computed in: verdicts hold for every execution, and the checker says the same."""

import json
from fractions import Fraction

import numpy as np
import pytest
from forged import sealed
from library_networks import LAYERS, contradiction, counter, enclosure, leaving, leaving_any, random_network

import tallystick as ts
from tallystick.cells import LinearCell, LinearLayer, LstmCell, Stack
from tallystick.certificates.certificate import certificate
from tallystick.certificates.verdict import Outcome
from tallystick.checker.checking import check
from tallystick.errors import BadInput
from tallystick.files import Document
from tallystick.languages.machine_files import task_from_json
from tallystick.networks import Network, Readout
from tallystick.networks.files import network_from_json
from tallystick.networks.int8 import quantise
from tallystick.networks.tensors.state_dicts import network_of_tensors
from tallystick.numbers import MIXED_FORMATS

KINDS = tuple(name for name in LAYERS if name != "LruLayer")
DEPTHS = {"float16": 2**11, "bfloat16": 2**8, "float32": 2**24}
SATURATED = LstmCell(((60, 60), (60, 60), (60, -60), (60, 60)), ((1,),) * 4, (0,) * 4, (0,) * 4)
COUNTER = Network(SATURATED, Readout.binary(1, -0.5))


def drawn(kind, name, seed):
    """Return a random network whose weights fit a format, and the generator that made it."""
    generator = np.random.default_rng([seed, KINDS.index(kind)])
    network = random_network(kind, generator)
    return (quantise(network) if name.startswith("int8") else network), generator


SOME = [
    name if place % 4 == 0 else pytest.param(name, marks=pytest.mark.long) for place, name in enumerate(MIXED_FORMATS)
]


@pytest.mark.parametrize("name", SOME)
def test_what_numpy_computes_lies_in_its_enclosure(name):
    for seed, kind in enumerate(KINDS):
        network, generator = drawn(kind, name, seed)
        rows = generator.integers(0, 2, (64, 9))
        assert leaving_any(network, name, rows, ["numpy"]) is None, (kind, seed)


@pytest.mark.long
def test_sums_that_are_multiplied_by_their_scale_at_the_end_lie_in_the_enclosure():
    for seed in range(40):
        generator = np.random.default_rng(seed)
        network = quantise(random_network("LinearLayer", generator))
        rows = generator.integers(0, 2, (16, 8))
        bounds = enclosure(network, "int8-weights-float32", rows)
        assert leaving(bounds, scaled_at_the_end(network, rows), rows) is None, seed


def scaled_at_the_end(network, rows):
    """Run a linear layer in float32 as libraries for int8 do: whole numbers times x, added up, times the scale."""
    cell, single = network.cell, np.float32

    def parts(matrix):
        found = [[Fraction(weight) for weight in row] for row in matrix]
        scales = [max(map(abs, row)) / 127 if any(row) else Fraction(1) for row in found]
        wholes = [[round(w / s) for w in row] for row, s in zip(found, scales, strict=True)]
        assert [[q * s for q in row] for row, s in zip(wholes, scales, strict=True)] == found
        return np.array(wholes, single), np.array([float(s) for s in scales], single)

    (W, w), (U, u), (V, v) = map(parts, (cell.input_weight, cell.recurrent_weight, network.readout.weight))
    biases = cell.input_bias, cell.recurrent_bias, network.readout.bias
    b_x, b_h, c = (np.array([float(x) for x in part], single) for part in biases)
    shown, outputs = [], []
    state = np.zeros((len(rows), cell.units), single)
    for place in range(rows.shape[1]):
        x = np.eye(2, dtype=single)[rows[:, place]]
        state = (state @ U.T) * u + b_h + ((x @ W.T) * w + b_x)
        shown.append(state)
        outputs.append((state @ V.T) * v + c)
    return [np.stack(part, 1).astype(float) for part in (shown, outputs)]


@pytest.mark.parametrize("name", SOME)
def test_every_short_string_agrees_with_the_verdict(name):
    for seed, kind in enumerate(KINDS):
        network, _ = drawn(kind, name, 100 + seed)
        assert contradiction(network, "numpy", 8, name) is None, (kind, seed)


@pytest.mark.parametrize("name", MIXED_FORMATS)
def test_a_saturated_lstm_counts_as_far_as_its_states_do(name):
    network = quantise(COUNTER) if name.startswith("int8") else COUNTER
    verdict = ts.certify(network, arithmetic=f"{name}-any-order")
    depth = DEPTHS[MIXED_FORMATS[name].state.name]
    assert (verdict.outcome, verdict.horizon, verdict.failure.runs) == (
        Outcome.REFUTED,
        2 * depth,
        (("(", depth + 1), (")", depth)),
    )
    written = certificate(verdict)
    assert check(json.dumps(written)).valid is True
    other = {"float32": "bfloat16", "float16": "bfloat16", "bfloat16": "float16"}[MIXED_FORMATS[name].state.name]
    kept = next(one for one, form in MIXED_FORMATS.items() if form.state.name == other and _same_weights(one, name))
    for change in ({"horizon": 2 * depth + 1}, {"arithmetic": f"{kept}-any-order"}, {"horizon": 2 * depth - 1}):
        assert check(sealed({**written, **change})).valid is False, change


def _same_weights(one, other):
    return MIXED_FORMATS[one].weights_name == MIXED_FORMATS[other].weights_name


@pytest.mark.long
def test_grouped_verdicts_are_checked_too():
    for name in ("float16-state-float32", "int8-weights-bfloat16-state-float32"):
        for seed in range(2):
            cell = counter(np.random.default_rng(seed))
            row = (1.0,) * cell.units
            network = Network(cell, Readout((row,), (-0.5,)))
            verdict = ts.certify(quantise(network), arithmetic=f"{name}-any-order", limit=20)
            assert check(json.dumps(certificate(verdict))).valid is True


def test_a_matrix_of_int8_is_read_from_json_and_from_tensors():
    document = {
        "cell": "linear",
        "input_weight": {"int8": [[127, -127]], "scale": 0.5},
        "recurrent_weight": {"int8": [[64]], "scale": ["0x1p-6"]},
        "readout": {"kind": "binary", "weight": [[1]], "bias": [0]},
    }
    network = network_from_json(Document(document, "network"))
    assert network.cell.input_weight == ((Fraction(127, 2), Fraction(-127, 2)),)
    assert network.cell.recurrent_weight == ((1,),)
    tensors = {
        "rnn.weight_ih_l0": np.array([[127, -127], [3, 4]], np.int8),
        "rnn.weight_ih_l0_scale": np.array([0.5, 0.25], np.float32),
        "rnn.weight_hh_l0": np.eye(2),
        "out.weight": np.array([[1.0, 2.0]]),
    }
    read = network_of_tensors(tensors, {"nonlinearity": "relu"})
    assert read.cell.input_weight == ((Fraction(127, 2), Fraction(-127, 2)), (Fraction(3, 4), 1))


def test_a_tensor_of_int8_without_its_scale_is_asked_about():
    tensors = {"rnn.weight_ih_l0": np.array([[1, -1]], np.int8), "rnn.weight_hh_l0": np.eye(1)}
    with pytest.raises(BadInput, match="rnn.weight_ih_l0: int8 without rnn.weight_ih_l0_scale beside it"):
        network_of_tensors(tensors, {"nonlinearity": "relu"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"int8": [[128, 0]], "scale": 1}, "128 is not a whole number from -128 to 127"),
        ({"int8": [[1, 0]], "scale": [1, 2]}, r"\[1, 2\] is not one scale, or one for each of 1 rows"),
        ({"int8": [[1, 0]]}, "field 'scale' is missing"),
        ({"int8": [[0.5, 0]], "scale": 1}, "0.5 is not a whole number"),
    ],
)
def test_a_matrix_of_int8_that_is_none_is_refused(change, message):
    document = {
        "cell": "linear",
        "input_weight": change,
        "recurrent_weight": [[1]],
        "readout": {"kind": "binary", "weight": [[1]], "bias": [0]},
    }
    with pytest.raises(BadInput, match=message):
        network_from_json(Document(document, "network"))


def test_what_cannot_be_kept_so_is_refused():
    layer = LinearLayer(((1.0, -1.1),), ((0.3,),), (0.0,), (0.0,))
    with pytest.raises(BadInput, match="input_weight: a row is not made of whole numbers from -128 to 127"):
        ts.certify(Network(layer, Readout.binary(1)), arithmetic="int8-weights-float32-any-order")
    with pytest.raises(BadInput, match="a LinearCell has no matrix whose rows have a scale"):
        quantise(Network(LinearCell(1, -1, 1), Readout.binary(1)))
    stack = Stack((SATURATED, LstmCell(((1,),) * 4, ((1,),) * 4, (0,) * 4, (0,) * 4)), ((1, 0), (0, 1)))
    with pytest.raises(BadInput, match="is for one layer, since nothing says whether the next one sees a state before"):
        ts.certify(Network(stack, COUNTER.readout), arithmetic="float16-state-float32-any-order")


@pytest.mark.parametrize("name", ["bfloat16", "bfloat16-state-float32", "float16-weights-bfloat16-state-float32"])
def test_few_states_are_followed_to_any_length(name):
    verdict = ts.certify(COUNTER, run_by="numpy", arithmetic=name)
    assert (verdict.outcome, verdict.horizon, verdict.method) == (Outcome.REFUTED, 512, "reachable states")
    assert verdict.failure.runs == (("(", 257), (")", 256))
    assert ts.certify(COUNTER, run_by="numpy", arithmetic=name, lengths="even").horizon == 512
    assert ts.certify(COUNTER, run_by="numpy", arithmetic=name, upto=100).horizon == 100


def test_a_language_without_a_counter_is_decided_at_every_length_as_it_is_run():
    """Whether `(` came an odd number of times: h' = 1 − h after it, and h' = h after `)`."""
    cases = [
        {"token": token, "state": state, "update": ["+0"], "next_state": after}
        for token, state, after in (
            ("(", "even", "odd"),
            ("(", "odd", "even"),
            (")", "even", "even"),
            (")", "odd", "odd"),
        )
    ]
    document = {
        "alphabet": ["(", ")"],
        "states": ["even", "odd"],
        "initial_state": "even",
        "counters": 1,
        "cases": cases,
        "accepting": [{"state": "odd", "zero_check": "0"}],
    }
    layer = ts.SelectiveLayer(((1.0, 0.0),), ((-1.0, 1.0),), (0.0,))
    network = Network(layer, Readout.binary(1, -0.5), task_from_json(Document(document, "parity"), "parity"))
    for name in ("float16", "float32"):
        verdict = ts.certify(network, run_by="numpy", arithmetic=name)
        assert (verdict.outcome, verdict.horizon, verdict.method) == (Outcome.PROVED, None, "reachable states")


@pytest.mark.parametrize("kind", ["LinearLayer", "LstmCell", "GruCell", "ReluLayer"])
def test_following_states_says_what_running_every_string_says(kind):
    for seed in range(6):
        network = random_network(kind, np.random.default_rng(seed))
        for name in ("float16", "bfloat16-state-float32"):
            fast = ts.certify(network, run_by="numpy", arithmetic=name, upto=8)
            build = fast.model.function
            slow = ts.certify(
                build,
                task=network.task,
                tokens={"(": 0, ")": 1},
                classes=[str(one) for one in network.task.classes],
                threshold=0.0 if len(network.readout.bias) == 1 else None,
                upto=8,
            )
            assert (fast.outcome, fast.horizon) == (slow.outcome, slow.horizon), (kind, seed, name)
            assert (fast.failure and fast.failure.string) == (slow.failure and slow.failure.string)
