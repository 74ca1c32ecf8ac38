"""State-space modules of PyTorch are read: each as the layer that it is, equal to the module on every string to length 8."""

from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.cells import Token
from tallystick.certificates.verdict import Outcome
from tallystick.networks.pytorch import Unreadable

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

torch.set_num_threads(1)

INDICES, VECTORS = {"(": 0, ")": 1}, {"(": [1, 0], ")": [0, 1]}
UNITS = 3


class Loop(nn.Module):
    """A recurrence by hand: `make` adds its weights, and `step` does one token."""

    tokens = INDICES

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.make()
        self.out = nn.Linear(UNITS, 1)

    def start(self, x):
        return torch.zeros(x.shape[0], UNITS)

    def forward(self, x):
        """Return one output per string."""
        h = self.start(x)
        for t in range(x.shape[1]):
            h = self.step(x[:, t], h)
        return self.out(h)


class Joined(Loop):
    """One nn.Linear over [x, h]."""

    tokens = VECTORS

    def make(self):
        self.cell = nn.Linear(2 + UNITS, UNITS)

    def step(self, x, h):
        return self.cell(torch.cat([x, h], -1))


class Diagonal(Loop):
    """Factors that are stored."""

    tokens = VECTORS

    def make(self):
        self.a, self.read = nn.Parameter(torch.rand(UNITS)), nn.Linear(2, UNITS)

    def step(self, x, h):
        return self.a * h + self.read(x)


class LearntStart(Diagonal):
    """A state to start from."""

    def make(self):
        super().make()
        self.first = nn.Parameter(torch.randn(UNITS))

    def start(self, x):
        return self.first.expand(x.shape[0], UNITS)


class Stable(Diagonal):
    """Factors that are computed from others."""

    def step(self, x, h):
        return h * torch.exp(-torch.exp(self.a)) + self.read(x)


class Kept(Diagonal):
    """Factors in a buffer."""

    def make(self):
        self.read = nn.Linear(2, UNITS)
        self.register_buffer("a", torch.rand(UNITS))


class Gates(Loop):
    """Gates that the token decides."""

    def make(self):
        self.a, self.b = nn.Embedding(2, UNITS), nn.Embedding(2, UNITS)

    def step(self, x, h):
        return torch.sigmoid(self.a(x)) * h + self.b(x)


class Mean(Gates):
    """A minimal GRU: h' = (1 − z)·h + z·tanh(b), with z of the token."""

    def step(self, x, h):
        z = torch.sigmoid(self.a(x))
        return (1 - z) * h + z * torch.tanh(self.b(x))


class Chosen(Loop):
    """Rows of a table that the token chooses."""

    def make(self):
        self.a, self.b = nn.Parameter(torch.rand(2, UNITS)), nn.Parameter(torch.randn(2, UNITS))

    def step(self, x, h):
        return self.b[x] + h * torch.sigmoid(self.a)[x]


class Selective(Loop):
    """A step size of the token, as in Mamba."""

    tokens = VECTORS

    def make(self):
        self.size, self.read = nn.Linear(2, UNITS), nn.Linear(2, UNITS)
        self.rate = nn.Parameter(torch.randn(UNITS))

    def step(self, x, h):
        size = functional.softplus(self.size(x))
        return torch.exp(-size * torch.exp(self.rate)) * h + size * self.read(x)


class Matrices(Loop):
    """A matrix of the token, by @."""

    def make(self):
        self.a, self.b = nn.Embedding(2, UNITS**2), nn.Embedding(2, UNITS)

    def matrices(self, x):
        return self.a(x).view(-1, UNITS, UNITS)

    def step(self, x, h):
        return (self.matrices(x) @ h.unsqueeze(-1)).squeeze(-1) + self.b(x)


class Batched(Matrices):
    """The same by bmm."""

    def step(self, x, h):
        return torch.bmm(self.matrices(x), h.unsqueeze(-1))[:, :, 0] + self.b(x)


class Summed(Matrices):
    """The same by einsum."""

    def step(self, x, h):
        return torch.einsum("bij,bj->bi", self.matrices(x), h) + self.b(x)


class Indexed(Matrices):
    """The same with a table of matrices."""

    def make(self):
        self.a, self.b = nn.Parameter(torch.randn(2, UNITS, UNITS)), nn.Embedding(2, UNITS)

    def matrices(self, x):
        return self.a[x]


class Lru(nn.Module):
    """An LRU layer with complex numbers."""

    tokens = VECTORS
    same = False

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.nu_log, self.theta_log, self.gamma_log = (nn.Parameter(torch.rand(UNITS) - 2) for _ in range(3))
        if self.same:
            self.nu_log.data.fill_(-1)
            self.theta_log.data.fill_(-1)
        self.B_re, self.B_im = (nn.Parameter(torch.randn(UNITS, 2)) for _ in range(2))
        self.C_re, self.C_im = (nn.Parameter(torch.randn(2, UNITS)) for _ in range(2))
        self.D, self.out = nn.Parameter(torch.randn(2, 2)), nn.Linear(2, 1)

    def forward(self, x):
        """Return one output per string."""
        factors = torch.exp(torch.complex(-torch.exp(self.nu_log), torch.exp(self.theta_log)))
        B = torch.complex(self.B_re, self.B_im) * torch.exp(self.gamma_log).unsqueeze(-1)
        C = torch.complex(self.C_re, self.C_im)
        read = x.to(B.dtype) @ B.T
        h = torch.zeros(x.shape[0], UNITS, dtype=B.dtype)
        for t in range(x.shape[1]):
            h = factors * h + read[:, t]
        return self.out((h @ C.T).real)


class SameFactors(Lru):
    """Units that turn alike."""

    same = True


class EveryStep(Lru):
    """The same with 1j, einsum, an output per token and what the token adds directly."""

    def forward(self, x):
        """Return one output per string and token."""
        factors = torch.exp(-torch.exp(self.nu_log) + 1j * torch.exp(self.theta_log))
        B = (self.B_re + 1j * self.B_im) * torch.exp(self.gamma_log).unsqueeze(-1)
        C = self.C_re + 1j * self.C_im
        h, outputs = torch.zeros(x.shape[0], UNITS, dtype=torch.cfloat), []
        for t in range(x.shape[1]):
            h = factors * h + torch.einsum("ni,bi->bn", B, x[:, t].to(B.dtype))
            outputs.append(self.out((h @ C.mT).real + x[:, t] @ self.D.T))
        return torch.stack(outputs, 1)


class S4d(nn.Module):
    """An S4D layer as a recurrence: channels that are alike but for what they read and show."""

    tokens = INDICES
    is_bilinear = False

    def __init__(self, channels=2, units=2):
        super().__init__()
        torch.manual_seed(0)
        self.channels, self.units = channels, units
        self.encoder, self.decoder = nn.Embedding(2, channels), nn.Linear(channels, 1)
        self.log_dt = nn.Parameter(torch.full((channels,), -2.0))
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(channels, units)))
        self.A_imag = nn.Parameter(np.pi * torch.arange(units).repeat(channels, 1))
        self.C = nn.Parameter(torch.view_as_real(torch.randn(channels, units, dtype=torch.cfloat)))
        self.D = nn.Parameter(torch.randn(channels))

    def forward(self, x):
        """Return one output per string."""
        u, dt = self.encoder(x), torch.exp(self.log_dt).unsqueeze(-1)
        C, A = torch.view_as_complex(self.C), -torch.exp(self.log_A_real) + 1j * self.A_imag
        change = A * dt
        if self.is_bilinear:
            factors, weights = (1 + change / 2) / (1 - change / 2), dt / (1 - change / 2)
        else:
            factors, weights = torch.exp(change), (torch.exp(change) - 1) / A
        h = torch.zeros(x.shape[0], self.channels, self.units, dtype=torch.cfloat)
        for t in range(x.shape[1]):
            h = factors * h + weights * u[:, t].unsqueeze(-1)
        return self.decoder(2 * (C * h).sum(-1).real + self.D * u[:, -1])


class Bilinear(S4d):
    """The same with the other discretisation."""

    is_bilinear = True


READ = {
    **dict.fromkeys((Joined, Diagonal, Stable, Kept, Lru, SameFactors, EveryStep, S4d, Bilinear), ts.LinearLayer),
    LearntStart: ts.Stack,
    **dict.fromkeys((Gates, Mean, Chosen, Selective), ts.SelectiveLayer),
    **dict.fromkeys((Matrices, Batched, Summed, Indexed), ts.MatrixLayer),
}


@pytest.fixture(autouse=True)
def kind_of_numbers():
    yield
    torch.set_default_dtype(torch.float32)


def outputs_of(network, length):
    """The network's outputs on every string of a length, in doubles."""
    strings = np.array(list(product((0, 1), repeat=length)))
    doubles = network.in_arithmetic("float64")
    state = doubles.cell.initial_state
    for closing in strings.T:
        state = doubles.cell.step(state, Token(1.0 - closing, 1.0 * closing))
    return strings, doubles.readout.outputs(doubles.cell.hidden(state))[0]


QUICK = (Joined, Kept, Mean, Selective, Indexed, Lru, S4d)


@pytest.mark.parametrize(
    ("kind", "cell"),
    [pytest.param(*one, marks=[] if one[0] in QUICK else pytest.mark.long) for one in READ.items()],
    ids=[kind.__name__ for kind in READ],
)
def test_it_is_read_as_what_it_is(kind, cell):
    module = kind().eval()
    network = ts.from_torch(module, task="binary", tokens=module.tokens)
    assert type(network.cell) is cell
    doubles = module.double()
    torch.set_default_dtype(torch.float64)  # for the states that modules make; see `kind_of_numbers`
    for length in range(1, 9):
        strings, found = outputs_of(network, length)
        given = torch.tensor(strings)
        given = given if module.tokens is INDICES else functional.one_hot(given, 2).double()
        with torch.no_grad():
            right = doubles(given)
        right = right[:, -1] if right.ndim > 2 else right
        np.testing.assert_allclose(found, right[:, 0].numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", [Gates, Matrices, Lru], ids=lambda kind: kind.__name__)
def test_a_failing_string_fails_in_the_module(kind):
    module = kind().eval()
    verdict = ts.certify(module, task="binary", tokens=module.tokens)
    assert verdict.outcome is Outcome.REFUTED
    string = verdict.failure.string
    given = torch.tensor([["()".index(token) for token in string]])
    given = given if module.tokens is INDICES else functional.one_hot(given, 2).float()
    with torch.no_grad():
        output = float(module(given)[0, 0])
    assert (output > 0) != (string.count("(") > string.count(")"))


class GateOfState(Gates):
    """A gate that looks at the state."""

    def step(self, x, h):
        return torch.sigmoid(self.a(x) + h) * h + self.b(x)


class GateOfLastToken(Gates):
    """A gate of the token before."""

    def forward(self, x):
        """Return one output per string."""
        h = torch.zeros(x.shape[0], UNITS)
        for t in range(1, x.shape[1]):
            h = self.a(x[:, t - 1]) * h + self.b(x[:, t])
        return self.out(h)


class Absolute(Lru):
    """A nonlinearity of complex numbers."""

    def forward(self, x):
        """Return one output per string."""
        h = torch.zeros(x.shape[0], UNITS, dtype=torch.cfloat)
        for t in range(x.shape[1]):
            h = torch.tanh(h) + x[:, t].to(h.dtype) @ torch.complex(self.B_re, self.B_im).T
        return self.out(h.real[:, :2])


UNREADABLE = {
    GateOfState: "multiplies two numbers that depend on the string|sigmoid is read",
    GateOfLastToken: "module",
    Absolute: "tanh of complex numbers is not read",
}


@pytest.mark.parametrize(("kind", "reason"), UNREADABLE.items(), ids=[kind.__name__ for kind in UNREADABLE])
def test_what_is_not_read_is_run(kind, reason):
    module = kind().eval()
    with pytest.raises(Unreadable, match=reason):
        ts.from_torch(module, task="binary", tokens=module.tokens)
    verdict = ts.certify(module, task="binary", tokens=module.tokens, threshold=0, upto=4)
    assert verdict.outcome in (Outcome.REFUTED, Outcome.BOUNDED)
