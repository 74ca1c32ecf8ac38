"""Networks as a PyTorch user would bring them, and an oracle that shares nothing with the package.

The oracle runs the module itself on every string, and finds the right class by counting characters.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")
from torch import nn  # noqa: E402 -- once it is known to be there
from torch.nn import functional  # noqa: E402


class WholeRecurrent(nn.Module):
    """A recurrent module of PyTorch over one-hot tokens, and a linear layer that looks at the last step."""

    def __init__(self, recurrent, outputs=1):
        super().__init__()
        self.body, self.head = recurrent, nn.Linear(recurrent.hidden_size, outputs)

    def forward(self, x):
        out, _ = self.body(x if self.body.batch_first else x.transpose(0, 1))
        return self.head(out[:, -1] if self.body.batch_first else out[-1])


class EmbeddedLSTM(nn.Module):
    def __init__(self, vocabulary=2, units=16, outputs=2, width=8):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, units, batch_first=True)
        self.decide = nn.Linear(units, outputs)

    def forward(self, tokens):
        _, (h, _) = self.lstm(self.embed(tokens))
        return self.decide(h[-1])


class PaperCell(nn.Module):
    """The paper's cell: one nn.Linear over [x, h], read by another."""

    def __init__(self, units=1):
        super().__init__()
        self.units = units
        self.cell, self.out = nn.Linear(2 + units, units), nn.Linear(units, 1)

    def forward(self, x):
        h = torch.zeros(x.shape[0], self.units, dtype=x.dtype)
        for t in range(x.shape[1]):
            h = self.cell(torch.cat([x[:, t], h], dim=-1))
        return self.out(h)


class LoopOfLSTMCells(nn.Module):
    def __init__(self, units=8):
        super().__init__()
        self.cell, self.fc, self.units = nn.LSTMCell(2, units), nn.Linear(units, 1), units

    def forward(self, x):
        h = x.new_zeros(x.size(0), self.units)
        c = x.new_zeros(x.size(0), self.units)
        for step in x.unbind(1):
            h, c = self.cell(step, (h, c))
        return torch.sigmoid(self.fc(h)).squeeze(-1)


class LinearRecurrentUnit(nn.Module):
    """A complex diagonal recurrence as in the LRU, with its exponential parametrisation."""

    def __init__(self, units=8):
        super().__init__()
        self.nu, self.theta = nn.Parameter(torch.rand(units) * 0.1), nn.Parameter(torch.rand(units) * 0.3)
        self.B = nn.Parameter(torch.randn(units, 2, 2))
        self.C = nn.Parameter(torch.randn(1, units, 2))

    def forward(self, x):
        recurrent = torch.exp(torch.complex(-torch.exp(self.nu - 3), self.theta))
        B, C = torch.view_as_complex(self.B), torch.view_as_complex(self.C)
        h = torch.zeros(x.shape[0], len(self.nu), dtype=B.dtype)
        for t in range(x.shape[1]):
            h = recurrent * h + x[:, t].to(B.dtype) @ B.T
        return (h @ C.T).real


class SelectiveDiagonal(nn.Module):
    """A diagonal recurrence whose weights depend on the token, as in selective state-space layers."""

    def __init__(self, units=4):
        super().__init__()
        self.gate, self.step, self.out = nn.Linear(2, units), nn.Linear(2, units), nn.Linear(units, 1)

    def forward(self, x):
        decay, steps = torch.exp(-functional.softplus(self.gate(x) - 4)), self.step(x)
        h = torch.zeros(x.shape[0], steps.shape[-1], dtype=x.dtype)
        for t in range(x.shape[1]):
            h = decay[:, t] * h + steps[:, t]
        return self.out(h)


class Renamed(nn.Module):
    """A whole network in pieces under names of their own."""

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.mix = nn.Embedding(4, 6), nn.Linear(6, 5)

        def forward(self, ids):
            return self.mix(self.table(ids))

    def __init__(self):
        super().__init__()
        self.reader, self.remember = self.Encoder(), nn.GRU(5, 6, num_layers=2, dropout=0.1)
        self.judge = nn.Sequential(nn.Dropout(0.2), nn.Linear(6, 3), nn.LogSoftmax(dim=-1))

    def forward(self, ids):
        out, _ = self.remember(self.reader(ids).transpose(0, 1))
        return self.judge(out)[-1]


@dataclass(frozen=True)
class Brought:
    """A kind of network, what its user declares of it, and whether it is run on every string since its structure is not read."""

    make: Any
    task: str
    tokens: Any
    alphabet: str = "()"
    classes: tuple[str, ...] | None = None
    threshold: float = 0.0
    special: dict = field(default_factory=dict)
    run: bool = False

    def declared(self):
        tokens = {**self.tokens, **self.special}
        return {"task": self.task, "tokens": tokens, **({"classes": list(self.classes)} if self.classes else {})}


ONE_HOT = {"(": [1, 0], ")": [0, 1]}
REVERSED = {"(": [0, 1], ")": [1, 0]}
TERNARY = ("Neg", "Zero", "Pos")

FIFTEEN = {
    "the paper's cell": Brought(PaperCell, "binary", ONE_HOT),
    "RNN(2, 1) relu": Brought(
        lambda: WholeRecurrent(nn.RNN(2, 1, nonlinearity="relu", batch_first=True)), "binary", ONE_HOT
    ),
    "RNN(2, 8) tanh, batch_first": Brought(lambda: WholeRecurrent(nn.RNN(2, 8, batch_first=True)), "binary", ONE_HOT),
    "RNN(2, 16) relu": Brought(lambda: WholeRecurrent(nn.RNN(2, 16, nonlinearity="relu")), "binary", REVERSED),
    "LSTM(2, 4)": Brought(lambda: WholeRecurrent(nn.LSTM(2, 4, batch_first=True)), "binary", ONE_HOT),
    "LSTM(2, 32)": Brought(lambda: WholeRecurrent(nn.LSTM(2, 32, batch_first=True)), "binary", ONE_HOT),
    "GRU(2, 16), three logits": Brought(
        lambda: WholeRecurrent(nn.GRU(2, 16), 3), "ternary", ONE_HOT, classes=("Zero", "Pos", "Neg")
    ),
    "two-layer LSTM(2, 8)": Brought(
        lambda: WholeRecurrent(nn.LSTM(2, 8, num_layers=2, dropout=0.1)), "binary", ONE_HOT
    ),
    "Embedding, LSTM(16), two logits": Brought(EmbeddedLSTM, "bb", {"(": 0, ")": 1}, classes=("rejected", "accepted")),
    "linear vector RNN, d = 4": Brought(lambda: PaperCell(4), "binary", ONE_HOT),
    "complex diagonal LRU, d = 8": Brought(LinearRecurrentUnit, "binary", ONE_HOT),
    "selective diagonal, d = 4": Brought(SelectiveDiagonal, "binary", ONE_HOT),
    "LSTMCell in a loop": Brought(LoopOfLSTMCells, "binary", ONE_HOT, threshold=0.5),
    "a^n b^n c^n with BOS and EOS": Brought(
        lambda: EmbeddedLSTM(5),
        "anbncn",
        {"a": 1, "b": 2, "c": 3},
        "abc",
        ("rejected", "accepted"),
        special={"<BOS>": 0, "<EOS>": 4},
        run=True,
    ),
    "submodules under other names": Brought(Renamed, "ternary", {"(": 2, ")": 1}, classes=TERNARY),
}


def right_class(task, string):
    """Return the right class by counting characters."""
    count = string.count("(") - string.count(")")
    if task == "binary":
        return "Pos" if count > 0 else "ZeroNeg"
    if task == "ternary":
        return TERNARY[(count > 0) - (count < 0) + 1]
    if task == "bb":
        return "accepted" if count == 0 else "rejected"
    n = string.count("a")
    return "accepted" if string == "a" * n + "b" * n + "c" * n else "rejected"


def answers(kind, network, strings):
    """Return the class that the module itself gives each of some strings of one length."""
    rows = [[kind.tokens[token] for token in string] for string in strings]
    if "<BOS>" in kind.special:
        rows = [[kind.special["<BOS>"], *row, kind.special["<EOS>"]] for row in rows]
    indices = isinstance(rows[0][0], int)
    dtype = torch.int64 if indices else next(network.parameters()).dtype
    with torch.no_grad():
        outputs = network(torch.tensor(rows, dtype=dtype)).double().reshape(len(strings), -1)
    default = {"binary": ("ZeroNeg", "Pos")}.get(kind.task, ("rejected", "accepted"))
    names = kind.classes or default
    if outputs.shape[1] == 1:
        return [names[int(value > kind.threshold)] for value in outputs[:, 0]]
    return [names[int(index)] for index in outputs.argmax(dim=1)]


def failing_strings(kind, network, length):
    """Return every string of a length to which the module gives a wrong class."""
    strings = ["".join(tokens) for tokens in product(kind.alphabet, repeat=length)]
    found = answers(kind, network, strings)
    return [string for string, answer in zip(strings, found, strict=True) if answer != right_class(kind.task, string)]


def train(kind, network, steps, seed=0, longest=8):
    """Train a network for a little while on random strings, as a user would."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    names = kind.classes or ("ZeroNeg", "Pos")
    for _ in range(steps):
        length = int(torch.randint(1, longest + 1, (1,), generator=generator))
        picks = torch.randint(0, len(kind.alphabet), (64, length), generator=generator)
        strings = ["".join(kind.alphabet[index] for index in row) for row in picks.tolist()]
        rows = torch.tensor([[kind.tokens[token] for token in string] for string in strings])
        rows = rows if rows.dim() == 2 else rows.to(next(network.parameters()).dtype)
        outputs = network(rows).reshape(len(strings), -1)
        right = torch.tensor([names.index(right_class(kind.task, string)) for string in strings])
        if outputs.shape[1] > 1:
            loss = functional.cross_entropy(outputs, right)
        elif kind.threshold:
            loss = functional.binary_cross_entropy(outputs[:, 0], right.to(outputs.dtype))
        else:
            loss = functional.binary_cross_entropy_with_logits(outputs[:, 0], right.to(outputs.dtype))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network.eval()
