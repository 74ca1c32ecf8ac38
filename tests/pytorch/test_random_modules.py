"""Modules put together at random: what is read computes what they do, and the verdict on it is that of all their strings."""

import copy
import random
from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402

from tallystick import certify, from_torch  # noqa: E402
from tallystick.certificates.verdict import Outcome  # noqa: E402

torch.set_num_threads(1)

LONGEST = 8
CLASSES = {1: ("binary", None), 2: ("bb", ["accepted", "rejected"]), 3: ("ternary", ["Zero", "Neg", "Pos"])}


class Loop(nn.Module):
    """A cell in a loop, over strings × tokens × numbers."""

    def __init__(self, kind, inputs, units, learned):
        super().__init__()
        self.cell, self.units, self.lstm = kind(inputs, units), units, kind is nn.LSTMCell
        self.start = nn.Parameter(torch.randn(units)) if learned else None

    def forward(self, x):
        """Return all steps."""
        h = x.new_zeros(len(x), self.units) if self.start is None else self.start.repeat(len(x), 1)
        state, steps = (h, torch.zeros_like(h)) if self.lstm else h, []
        for token in x.unbind(1):
            state = self.cell(token, state)
            steps.append(state[0] if self.lstm else state)
        return torch.stack(steps, 1)


class Affine(nn.Module):
    """h' = f(W·[x, h] + b)."""

    def __init__(self, inputs, units, act):
        super().__init__()
        self.step, self.act = nn.Linear(inputs + units, units), act

    def forward(self, x, h):
        """Return the next state."""
        return self.act(self.step(torch.cat([h, x], dim=1)))


class Sequence(nn.Module):
    """An nn.RNN, nn.GRU or nn.LSTM, of which the steps are handed on."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        """Return all steps, strings first."""
        steps, _ = self.module(x if self.module.batch_first else x.transpose(0, 1))
        return steps if self.module.batch_first else steps.permute(1, 0, 2)


class Made(nn.Module):
    """Parts one after the other, of which the last step or all steps are answers."""

    def __init__(self, parts, every_step):
        super().__init__()
        self.parts, self.every_step = nn.Sequential(*parts), every_step

    def forward(self, x):
        """Return logits."""
        *body, head = self.parts
        for part in body:
            x = part(x)
        return head(x) if self.every_step else head(x[:, -1])


def recurrence(draw, inputs, units):
    kind = draw.choice(["RNN", "GRU", "LSTM", "relu", "RNNCell", "GRUCell", "LSTMCell", "hand"])
    if kind in ("RNNCell", "GRUCell", "LSTMCell"):
        return Loop(getattr(nn, kind), inputs, units, draw.random() < 0.5)
    if kind == "hand":
        act = draw.choice([torch.tanh, torch.relu, nn.Identity()])
        return Loop(lambda *sizes: Affine(*sizes, act), inputs, units, draw.random() < 0.5)
    options = {"num_layers": draw.choice([1, 2]), "batch_first": draw.random() < 0.5, "bias": draw.random() < 0.7}
    if kind == "relu":
        return Sequence(nn.RNN(inputs, units, nonlinearity="relu", **options))
    return Sequence(getattr(nn, kind)(inputs, units, **options))


def made(seed):
    """Return a module, what it is declared to read, and how many outputs it has."""
    draw = random.Random(seed)
    torch.manual_seed(seed)
    sizes, outputs = [draw.randint(1, 3) for _ in range(4)], draw.choice([1, 2, 3])
    ends = draw.random() < 0.3
    if draw.random() < 0.5:
        tokens = {"(": 1, ")": 0, **({"<BOS>": 2, "<EOS>": 0} if ends else {})}
        parts = [nn.Embedding(3, sizes[0])]
    else:
        tokens = {"(": [0.5, 1.0], ")": [1.0, -0.25], **({"<EOS>": [0.0, 0.0]} if ends else {})}
        parts = [nn.Linear(2, sizes[0])]
    parts += draw.choice([[], [nn.ReLU(), nn.Linear(sizes[0], sizes[0])], [nn.Tanh()], [nn.Dropout(0.5)]])
    parts.append(recurrence(draw, sizes[0], sizes[1]))
    if draw.random() < 0.4:
        parts += [nn.Linear(sizes[1], sizes[2]), recurrence(draw, sizes[2], sizes[1])]
    head = [
        nn.Linear(sizes[1], sizes[3]),
        draw.choice([nn.ReLU(), nn.Tanh(), nn.Identity()]),
        nn.Linear(sizes[3], outputs),
    ]
    top = draw.choice([nn.Identity(), nn.Sigmoid() if outputs == 1 else nn.LogSoftmax(-1)])
    parts.append(nn.Sequential(*head, top))
    return Made(parts, draw.random() < 0.5).eval(), tokens, outputs


def own_outputs(module, tokens, strings):
    """Return the module's own answers in doubles."""
    first, last = ([tokens[name]] if name in tokens else [] for name in ("<BOS>", "<EOS>"))
    rows = torch.tensor([[*first, *(tokens[token] for token in string), *last] for string in strings])
    with torch.no_grad():
        found = module(rows if isinstance(tokens["("], int) else rows.double())
    return (found[:, -1] if found.ndim == 3 else found).numpy()


def classes_of(module, tokens, outputs, strings):
    """Return the index of the class that the module gives each string, and how close the nearest decision is."""
    found = own_outputs(module, tokens, strings)
    if outputs == 1:
        middle = 0.5 if isinstance(module.parts[-1][-1], nn.Sigmoid) else 0.0
        return (found[:, 0] > middle).astype(int), np.abs(found - middle).min()
    ordered = np.sort(found, axis=1)
    return found.argmax(axis=1), (ordered[:, -1] - ordered[:, -2]).min()


def check(seed):
    module, tokens, outputs = made(seed)
    task, classes = CLASSES[outputs]
    network = from_torch(module, tokens=tokens, task=task, classes=classes)
    doubles, closest, horizon = copy.deepcopy(module).double(), np.inf, LONGEST
    strings = ["".join(found) for found in product("()", repeat=5)]
    found, margin = classes_of(doubles, tokens, outputs, strings)
    read = network.in_arithmetic("float64")
    if margin > 1e-9:
        assert [network.task.classes[index] for index in found] == [read.class_of(string) for string in strings]
    for length in range(1, LONGEST + 1):
        strings = ["".join(found) for found in product("()", repeat=length)]
        found, margin = classes_of(doubles, tokens, outputs, strings)
        right = [network.task.classes.index(network.right_class(string)) for string in strings]
        closest = min(closest, margin)
        if list(found) != right:
            horizon = length - 1
            break
    if closest < 1e-9:
        return None  # a tie, which doubles do not decide
    verdict = certify(network, limit=LONGEST)
    if verdict.outcome is Outcome.REFUTED:
        assert verdict.horizon == horizon or verdict.horizon >= LONGEST
    else:
        assert verdict.horizon is None or verdict.horizon <= horizon
    return verdict.horizon


@pytest.mark.parametrize("seeds", [range(12)])
def test_a_few(seeds):
    assert len({check(seed) for seed in seeds}) > 1


@pytest.mark.long
@pytest.mark.parametrize("block", range(8))
def test_many(block):
    for seed in range(100 + 40 * block, 115 + 40 * block):
        check(seed)
