"""A module whose tokens or outputs were declared the wrong way round is told so in its verdict's reason."""

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

import tallystick as ts  # noqa: E402

torch.set_num_threads(1)


class Counter(nn.Module):
    """Counts in one unit without a squash, and has two outputs."""

    def __init__(self):
        super().__init__()
        self.rnn, self.decide = nn.RNN(2, 1, nonlinearity="relu", bias=True, batch_first=True), nn.Linear(1, 2)
        with torch.no_grad():
            for parameter, values in zip(
                self.parameters(), ([[1.0, -1.0]], [[1.0]], [0.0], [0.0], [[0.0], [1.0]], [0.0, -0.5]), strict=True
            ):
                parameter.copy_(torch.tensor(values))
            self.rnn.bias_ih_l0.fill_(0.0)

    def forward(self, x):
        """Return two outputs of the last state."""
        return self.decide(self.rnn(x)[0][:, -1])


def test_a_module_declared_the_wrong_way_round_is_told():
    module = Counter().eval()
    tokens, swapped = {"(": [1, 0], ")": [0, 1]}, {"(": [0, 1], ")": [1, 0]}
    right = ts.certify(module, task="semidyck1", tokens=tokens, classes=["accepted", "rejected"], limit=20)
    assert right.horizon == 20
    assert right.hint is None
    for said, hint in (
        ({"tokens": swapped, "classes": ["accepted", "rejected"]}, "with the two tokens swapped"),
        ({"tokens": tokens, "classes": ["rejected", "accepted"]}, "with classes=['accepted', 'rejected']"),
    ):
        wrong = ts.certify(module, task="semidyck1", **said)
        assert wrong.horizon <= 2
        assert wrong.reason.endswith(f"; {wrong.hint}")
        assert wrong.hint == f"{hint} the horizon would be at least 16"
