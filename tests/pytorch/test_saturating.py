"""PyTorch runs LSTMs whose gates saturate as counters: every memory is the count, and every answer is right."""

import numpy as np
import pytest

from tallystick.runs.runner import train

torch = pytest.importorskip("torch")

TOKENS, STRINGS = 1000, 16


def test_pytorch_counts_with_a_trained_network():
    torch.set_num_threads(1)
    networks = train("binary", bias=True, seeds=2, cell="lstm", method="saturating", epochs=40)
    opening = np.random.default_rng(3).random((TOKENS, STRINGS)) < 0.5
    counts = torch.tensor(np.cumsum(np.where(opening, 1, -1), axis=0))
    tokens = torch.tensor(np.stack([opening, ~opening], axis=-1).astype(np.float32))
    for seed in range(2):
        weights = networks.weights.places(seed)
        cell = torch.nn.LSTMCell(2, 1)
        arrays = (weights.inputs, weights.recurrent, *weights.bias)
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        cell.load_state_dict({name: torch.tensor(array) for name, array in zip(names, arrays, strict=True)})
        v, bias = float(weights.readout_weight[0, 0]), float(weights.readout_bias[0][0])
        h = c = torch.zeros(STRINGS, 1)
        with torch.inference_mode():
            for token, count in zip(tokens, counts, strict=True):
                h, c = cell(token, (h, c))
                assert torch.equal(c[:, 0], count.to(torch.float32))
                assert torch.equal(v * h[:, 0] + bias > 0, count > 0)
