"""Boxes of networks of many units hold PyTorch's own states in float64, and verdicts are what PyTorch says of every string."""

from itertools import product

import pytest

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402

from tallystick import GruCell, LstmCell, Network, Readout, ReluLayer, Stack, TanhLayer, certify  # noqa: E402
from tallystick.certificates.boxes.box_groups import empty_string  # noqa: E402
from tallystick.certificates.verdict import Outcome  # noqa: E402
from tallystick.numbers.boxes import box_of  # noqa: E402

KINDS = {"LSTM": LstmCell, "GRU": GruCell, "tanh": TanhLayer, "relu": ReluLayer}
LONGEST = 10
SIZES = [
    (nn.LSTM, 32, 1, {}),
    (nn.LSTM, 8, 2, {}),
    (nn.GRU, 16, 1, {}),
    (nn.GRU, 4, 3, {}),
    (nn.RNN, 64, 1, {}),
    (nn.RNN, 8, 1, {"nonlinearity": "relu"}),
    (nn.RNN, 5, 2, {"nonlinearity": "relu"}),
]
every_size = pytest.mark.parametrize(
    ("kind", "units", "layers", "options"), SIZES, ids=lambda part: getattr(part, "__name__", str(part))
)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def made(kind, units, layers, options, seed):
    """A module as PyTorch initialises it, a readout that makes the most of its states, and the network of both."""
    torch.manual_seed(seed)
    module = kind(2, units, layers, dtype=torch.float64, batch_first=True, **options)
    decide = fitted(module, units)
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    own = KINDS[kind.__name__ if kind is not nn.RNN else module.nonlinearity]
    cells = tuple(own(*(nested(getattr(module, f"{name}_l{layer}")) for name in names)) for layer in range(layers))
    readout = Readout(nested(decide.weight), nested(decide.bias))
    return module, decide, Network(cells[0] if layers == 1 else Stack(cells), readout)


def fitted(module, units):
    """The readout that is closest to the sign of the count on every string to length 6, by least squares."""
    states, wanted = [], []
    for length in range(1, 7):
        strings, counts = every_string(length)
        states.append(module(strings)[0][:, -1])
        wanted.append(torch.where(counts > 0, 1.0, -1.0).double())
    h = torch.cat(states).detach()
    inputs = torch.cat([h, torch.ones(len(h), 1, dtype=h.dtype)], 1)
    found = torch.linalg.lstsq(
        inputs, torch.cat(wanted)[:, None], driver="gelsd"
    )  # units of ReLU may be alike, or dead
    decide = nn.Linear(units, 1, dtype=torch.float64)
    with torch.no_grad():
        decide.weight.copy_(found.solution[:-1].T)
        decide.bias.copy_(found.solution[-1])
    return decide


def nested(tensor):
    rows = tensor.tolist()
    return tuple(map(tuple, rows)) if tensor.ndim > 1 else tuple(rows)


def every_string(length):
    """All strings as one-hot tensors in the order of the tokens, and their counts."""
    closing = torch.tensor(list(product((0, 1), repeat=length)))
    return nn.functional.one_hot(closing, 2).double(), (1 - 2 * closing).sum(1)


@every_size
def test_boxes_hold_the_states_of_pytorch(kind, units, layers, options):
    module, _, network = made(kind, units, layers, options, seed=3)
    cell = network.cell.map_weights(box_of)
    groups = empty_string(cell)
    for length in range(1, 8):
        groups = groups.longer(cell, suffix=LONGEST)
        states = module(every_string(length)[0])[0][:, -1].detach().numpy()
        for unit, box in enumerate(cell.hidden(groups.state)):
            assert (box.low[0] - 1e-13 <= states[:, unit]).all()
            assert (states[:, unit] <= box.high[0] + 1e-13).all()
            assert (box.high - box.low).max() < 1e-9


@every_size
def test_a_verdict_is_what_pytorch_says_of_every_string(kind, units, layers, options):
    for seed in range(3):
        module, decide, network = made(kind, units, layers, options, seed)
        verdict, first = certify(network, limit=LONGEST), None
        for length in range(1, LONGEST + 1):
            strings, counts = every_string(length)
            positive = decide(module(strings)[0][:, -1])[:, 0] > 0
            if first is None and bool((positive != (counts > 0)).any()):
                first = length
        if first is None:
            assert (verdict.outcome, verdict.horizon) == (Outcome.BOUNDED, LONGEST)
        else:
            assert (verdict.outcome, verdict.horizon) == (Outcome.REFUTED, first - 1)
            string = torch.tensor([["()".index(token) for token in verdict.failure.string]])
            positive = bool(decide(module(nn.functional.one_hot(string, 2).double())[0][:, -1])[0, 0] > 0)
            assert positive == (verdict.failure.found == "Pos")
