"""What is proved of a module that was read holds where the module itself is run on every string."""

import random

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402

import tallystick as ts  # noqa: E402
from tallystick.certificates.verdict import Outcome  # noqa: E402

UPTO = 12
CLASSES = {
    "binary": ["ZeroNeg", "Pos"],
    "ternary": ["Neg", "Zero", "Pos"],
    "bb": ["rejected", "accepted"],
}


class Whole(nn.Module):
    """An embedding or not, a recurrent layer or two, and a readout of the last step."""

    def __init__(self, draw):
        super().__init__()
        self.embed = nn.Embedding(2, 3) if draw.random() < 0.4 else None
        kind, size = draw.choice([nn.RNN, nn.RNN, nn.GRU, nn.LSTM]), 3 if self.embed else 2
        options = {"nonlinearity": draw.choice(["tanh", "relu"])} if kind is nn.RNN else {}
        self.layer = kind(size, draw.randint(1, 4), draw.choice([1, 1, 2]), batch_first=draw.random() < 0.5, **options)
        self.task = draw.choice(list(CLASSES))
        outputs = 1 if self.task != "ternary" and draw.random() < 0.5 else len(CLASSES[self.task])
        self.readout = nn.Linear(self.layer.hidden_size, outputs)

    def forward(self, x):
        """Read the last step."""
        states, _ = self.layer(x if self.embed is None else self.embed(x))
        return self.readout(states[:, -1] if self.layer.batch_first else states[-1])


def near_a_counter(draw):
    """A ReLU layer that counts openings and closings apart, or a little beside that, and compares the two."""
    module = Whole(draw)
    module.embed, module.task = None, draw.choice(["binary", "ternary"])
    module.layer = nn.RNN(2, 2, nonlinearity="relu", batch_first=draw.random() < 0.5)
    module.readout = nn.Linear(2, 1 if module.task == "binary" else 3)
    noise, half = draw.choice([0.0, 0.01, 0.03, 0.1]), 0.5
    rows = [[half, -half]] if module.task == "binary" else [[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0]]
    with torch.no_grad():
        module.layer.weight_ih_l0.copy_(torch.eye(2) + noise * torch.randn(2, 2))
        module.layer.weight_hh_l0.copy_(torch.eye(2) + noise * torch.randn(2, 2))
        module.layer.bias_ih_l0.zero_()
        module.layer.bias_hh_l0.zero_()
        module.readout.weight.copy_(torch.tensor(rows) * (1 + noise))
        module.readout.bias.copy_(torch.tensor([-half / 2] if module.task == "binary" else [-half, 0.0, -half]))
    return module


def compare(seed):
    """Certify a module as it is read, and run it in double precision; return the horizon."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    draw = random.Random(seed)
    module = (near_a_counter(draw) if seed % 3 == 0 else Whole(draw)).double().eval()
    tokens = {"(": 0, ")": 1} if module.embed is not None or draw.random() < 0.5 else {"(": [1, 0], ")": [0, 1]}
    several = module.readout.out_features > 1
    declared = {"task": module.task, "tokens": tokens, "classes": CLASSES[module.task] if several else None}
    read = ts.certify(module, limit=UPTO, **declared)
    run = ts.certify(module, upto=UPTO, threshold=None if several else 0, **declared)
    assert (read.arithmetic, run.arithmetic) == ("real", "as executed")
    reached = UPTO if read.horizon is None else min(read.horizon, UPTO)
    assert run.horizon >= reached
    if read.outcome is Outcome.REFUTED and read.failure.length <= UPTO:
        assert (run.outcome, run.horizon) == (Outcome.REFUTED, read.horizon)
        assert run.failure.length == read.failure.length
    assert read.known_failure is None or run.horizon < read.known_failure.length
    return run.horizon


def test_what_is_read_agrees_with_what_is_run():
    assert len({compare(seed) for seed in range(15)}) > 2


@pytest.mark.long
@pytest.mark.parametrize("block", range(8))
def test_what_is_read_agrees_with_what_is_run_at_length(block):
    assert len({compare(seed) for seed in range(100 + 30 * block, 130 + 30 * block)}) > 2
