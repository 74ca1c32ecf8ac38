"""Linear networks of PyTorch: the failing string of a verdict fails in the module itself, and no shorter one does."""

from itertools import product

import pytest

import tallystick as ts
from tallystick.certificates.verdict import Outcome

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402

TOKENS = {"(": [1, 0], ")": [0, 1]}


class LinearRNN(nn.Module):
    """A linear recurrence in float64, near a counter: h' = W·x + U·h."""

    def __init__(self, units, seed, noise):
        super().__init__()
        torch.manual_seed(seed)
        self.units = units
        self.read, self.recur, self.answer = (
            nn.Linear(2, units),
            nn.Linear(units, units, bias=False),
            nn.Linear(units, 1),
        )
        with torch.no_grad():
            for layer, matrix in (
                (self.read, torch.tensor([[1.0, -1.0]])),
                (self.recur, torch.eye(1)),
                (self.answer, torch.eye(1)),
            ):
                layer.weight.mul_(noise)
                layer.weight[: len(matrix), : matrix.shape[1]] += matrix
            self.read.bias.mul_(noise)
            self.answer.bias.fill_(-0.5)
        self.double()

    def forward(self, x):
        """Read strings of one length from their start."""
        h = torch.zeros(x.shape[0], self.units, dtype=x.dtype)
        for step in range(x.shape[1]):
            h = self.read(x[:, step]) + self.recur(h)
        return self.answer(h)


def first_wrong_length(module, longest):
    for length in range(1, longest + 1):
        strings = ["".join(tokens) for tokens in product("()", repeat=length)]
        positive = (
            module(torch.tensor([[TOKENS[token] for token in string] for string in strings], dtype=torch.float64))[:, 0]
            > 0
        )
        if positive.tolist() != [string.count("(") > string.count(")") for string in strings]:
            return length
    return None


@pytest.mark.parametrize(("units", "noise"), [(2, 0.02), (4, 0.05), (8, 0.1)])
def test_a_linear_network_is_decided_as_its_module_runs(units, noise):
    torch.set_num_threads(1)
    for seed in range(3):
        module = LinearRNN(units, seed, noise).eval()
        verdict = ts.certify(module, task="binary", tokens=TOKENS)
        assert (verdict.outcome, verdict.method) == (Outcome.REFUTED, "sorting")
        first = first_wrong_length(module, 10)
        assert verdict.failure.length == first or (first is None and verdict.failure.length > 10)
        x = torch.tensor([[TOKENS[token] for token in verdict.failure.string]], dtype=torch.float64)
        assert (module(x).item() > 0) == (verdict.failure.found == "Pos") != (verdict.failure.right == "Pos")
