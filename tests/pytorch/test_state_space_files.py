"""State dicts of LRU and S4D layers are read as the modules that were saved, by the names that their parameters have."""

from itertools import product

import numpy as np
import pytest

import tallystick as ts
from tallystick.errors import BadInput

torch = pytest.importorskip("torch", reason="needs the [torch] extra")

from safetensors.torch import save_file  # noqa: E402
from torch import nn  # noqa: E402

torch.set_num_threads(1)

STRINGS = ["".join(tokens) for length in range(1, 6) for tokens in product("()", repeat=length)]


class Lru(nn.Module):
    """An LRU layer between two linear ones."""

    def __init__(self, units=3, features=4):
        super().__init__()
        torch.manual_seed(0)
        self.encoder, self.head = nn.Linear(2, features), nn.Linear(features, 1)
        self.layer = nn.ParameterDict(
            {
                **{name: torch.rand(units) - 2 for name in ("nu_log", "theta_log", "gamma_log")},
                **{name: torch.randn(units, features) for name in ("B_re", "B_im")},
                **{name: torch.randn(features, units) for name in ("C_re", "C_im")},
                "D": torch.randn(features),
            }
        )

    def forward(self, x):
        """Return one output."""
        own, h = self.layer, 0
        factors = torch.exp(torch.complex(-own["nu_log"].exp(), own["theta_log"].exp()))
        for u in self.encoder(x):
            h = factors * h + own["gamma_log"].exp() * (torch.complex(own["B_re"], own["B_im"]) @ u.to(factors.dtype))
        return self.head((torch.complex(own["C_re"], own["C_im"]) @ h).real + own["D"] * u)


class S4d(nn.Module):
    """An S4D layer between an embedding and a linear one."""

    def __init__(self, channels=3, units=2):
        super().__init__()
        torch.manual_seed(0)
        self.encoder, self.head = nn.Embedding(2, channels), nn.Linear(channels, 1)
        self.layer = nn.ParameterDict(
            {
                "log_A_real": torch.randn(channels, units),
                "A_imag": torch.randn(channels, units) * 3,
                "log_dt": torch.randn(channels) - 2,
                "C": torch.randn(channels, units, 2),
                "D": torch.randn(channels),
            }
        )

    def forward(self, x):
        """Return one output."""
        own, h = self.layer, 0
        A, dt = torch.complex(-own["log_A_real"].exp(), own["A_imag"]), own["log_dt"].exp()[:, None]
        for u in self.encoder(x):
            h = torch.exp(dt * A) * h + (torch.exp(dt * A) - 1) / A * u[:, None]
        return self.head(2 * (torch.view_as_complex(own["C"]) * h).sum(-1).real + own["D"] * u)


ROLES = {"embedding": "encoder", "readout": "head"}
CASES = {
    "lru": (Lru, ROLES | {"tokens": '{"(": [1, 0], ")": [0, 1]}'}, torch.eye(2, dtype=torch.float64)),
    "s4d": (S4d, ROLES | {"tokens": '{"(": 0, ")": 1}', "discretisation": "zoh", "factor": "2"}, torch.arange(2)),
}


@pytest.mark.parametrize(("kind", "labels", "tokens"), CASES.values(), ids=CASES)
def test_a_state_dict_is_the_module(kind, labels, tokens, tmp_path):
    module, path = kind().double(), tmp_path / "network.safetensors"
    save_file(module.state_dict(), path, metadata=labels)
    network = ts.read_network(path)
    assert isinstance(network.cell, ts.LruLayer)
    for string in STRINGS:
        found = network.readout.outputs(network.cell.hidden(network.cell.final_state(string)))
        with torch.no_grad():
            right = module(tokens[["()".index(token) for token in string]])
        np.testing.assert_allclose(list(map(float, found)), right.numpy(), rtol=1e-10, atol=1e-12)


REFUSED = {
    "roles": (
        Lru,
        {"embedding": None},
        "metadata embedding and readout: 'head' does not name each of encoder, head once",
    ),
    "a module that is not there": (Lru, {"readout": "top"}, "'encoder,top' does not name each of encoder, head once"),
    "tokens": (S4d, {"tokens": None}, "tokens: missing"),
    "discretisation": (S4d, {"discretisation": None}, "metadata discretisation: missing; .* write zoh or bilinear"),
    "factor": (S4d, {"factor": "3"}, 'factor: "3" is not 1 or 2'),
}


@pytest.mark.parametrize(("kind", "change", "message"), REFUSED.values(), ids=REFUSED)
def test_what_a_file_does_not_tell_is_asked_for(kind, change, message, tmp_path):
    labels = {**CASES["lru" if kind is Lru else "s4d"][1], **change}
    path = tmp_path / "network.safetensors"
    save_file(kind().state_dict(), path, metadata={name: value for name, value in labels.items() if value})
    with pytest.raises(BadInput, match=message):
        ts.read_network(path)


def test_a_missing_parameter_is_named(tmp_path):
    path = tmp_path / "network.safetensors"
    state = {name: tensor for name, tensor in Lru().state_dict().items() if name != "layer.C_im"}
    save_file(state, path, metadata=CASES["lru"][1])
    with pytest.raises(BadInput, match=r"tensor 'layer\.C_im' is missing"):
        ts.read_network(path)
