"""The oracle itself, checked against arithmetic that can be done by hand."""

import math

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from pytorch.reference import LOSSES, as_tensors, doubled_softmax, last_state, outputs_for, reference_training  # noqa: E402

SINGLE = {"readout_weight": [0.8], "readout_bias": None}
TRIPLE = {"readout_weight": [-0.6, 0.1, 0.9], "readout_bias": [0.2, -0.1, 0.3]}
CELL = {"open_weight": 0.4, "close_weight": -0.3, "recurrent_weight": 0.7}
CASES = [
    ("binary_cross_entropy", 1, SINGLE),
    ("squared_error", -2, SINGLE),
    ("cross_entropy", 2, TRIPLE),
    ("doubled_softmax", 0, TRIPLE),
]


def network(readout, bias):
    return {**CELL, "cell_bias": 0.25 if bias else None, **readout}


def test_the_state_is_the_recurrence():
    weights = as_tensors(**network(SINGLE, bias=True))
    expected = 0.0
    for step in (0.4, -0.3, -0.3):
        expected = step + 0.7 * expected + 0.25
    assert last_state("())", weights).item() == pytest.approx(expected, rel=1e-15)
    assert outputs_for("())", weights).tolist() == pytest.approx([0.8 * expected], rel=1e-15)


def test_the_doubled_softmax_has_a_floor():
    generator = torch.Generator().manual_seed(0)
    outputs = 30 * torch.randn((1000, 3), generator=generator, dtype=torch.float64)
    losses = [doubled_softmax(row, target).item() for row in outputs for target in range(3)]
    floor = math.log(1 + 2 / math.e)
    assert min(losses) >= floor - 1e-12
    assert min(losses) == pytest.approx(0.5514, abs=1e-4)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("objective", "target", "readout"), CASES, ids=[case[0] for case in CASES])
def test_the_gradient_is_the_slope_of_the_loss(objective, target, readout, bias):
    def loss(weights):
        return LOSSES[objective](outputs_for("(()(", weights), target)

    weights = as_tensors(**network(readout, bias))
    loss(weights).backward()
    for weight in weights.values():
        if weight is None:
            continue
        for place in range(weight.numel()):
            flat, gradient, width = weight.data.view(-1), weight.grad.view(-1)[place].item(), 1e-6
            around = []
            for side in (width, -width):
                flat[place] += side
                around.append(loss(weights).item())
                flat[place] -= side
            assert gradient == pytest.approx((around[0] - around[1]) / (2 * width), rel=1e-7, abs=1e-9)


def test_the_first_step_of_adam_is_the_learning_rate():
    start = network(SINGLE, bias=True)
    end = reference_training(["(()"], [1], objective="binary_cross_entropy", epochs=1, **start)
    # The loss falls when the state rises, and after one step the two moments cancel but for ε.
    assert end["open_weight"] == pytest.approx(start["open_weight"] + 0.005, abs=1e-8)
    assert end["cell_bias"] == pytest.approx(start["cell_bias"] + 0.005, abs=1e-8)
    assert end["readout_bias"] is None


def test_a_weight_moves_on_while_its_token_is_away():
    start = network(SINGLE, bias=False)
    once, twice = (
        reference_training(strings, [1] * len(strings), objective="binary_cross_entropy", epochs=1, **start)
        for strings in ([")"], [")", "("])
    )
    # m = 0.9·0.1·g over 1 − 0.9², and s = 0.999·0.001·g² over 1 − 0.999²: the second step is this share of the first.
    share = (0.09 / 0.19) / math.sqrt(0.000999 / 0.001999)
    assert twice["close_weight"] - once["close_weight"] == pytest.approx(0.005 * share, rel=1e-6)


@pytest.mark.parametrize(("objective", "target", "readout"), CASES, ids=[case[0] for case in CASES])
def test_training_lowers_the_loss(objective, target, readout):
    start = network(readout, bias=False)
    end = reference_training(["(()"], [target], objective=objective, epochs=20, **start)
    before, after = (
        LOSSES[objective](outputs_for("(()", as_tensors(**weights)), target).item() for weights in (start, end)
    )
    assert after < before
    assert end["cell_bias"] is None
