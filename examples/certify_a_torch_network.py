"""Train an LSTM with PyTorch, save it, read it back, certify it, and check the certificate. Needs `pip install '.[torch]'`.

python examples/certify_a_torch_network.py
"""

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save_file
from torch import nn

import tallystick as ts

torch.manual_seed(1)
torch.set_num_threads(1)  # tensors this small are quickest on one core


class Network(nn.Module):
    """Says after every token whether there have been more ( than )."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(input_size=2, hidden_size=2, batch_first=True)
        self.decide = nn.Linear(2, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return an output for each token of each string; above zero says yes."""
        return self.decide(self.cell(tokens)[0]).squeeze(2)


# All strings of eight tokens, ( as [1, 0] and ) as [0, 1]; their beginnings are all the shorter ones.
tokens = torch.tensor(
    [[[1.0, 0.0] if token == "(" else [0.0, 1.0] for token in string] for string in product("()", repeat=8)]
)
more_open = (tokens[..., 0] - tokens[..., 1]).cumsum(dim=1) > 0

network = Network()
optimiser = torch.optim.Adam(network.parameters(), lr=0.03)
for _ in range(200):
    optimiser.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(network(tokens), more_open.float()).backward()
    optimiser.step()
wrong = int(((network(tokens) > 0) != more_open).sum())
print(f"Wrong on strings of up to 8 tokens: {wrong} of {more_open.numel()} answers")

with TemporaryDirectory() as folder:
    weights, certificate = Path(folder) / "network.safetensors", Path(folder) / "certificate.json"
    save_file(network.state_dict(), weights)
    verdict = ts.certify(ts.read_network(weights))
    print(f"Right on all strings up to length {verdict.horizon}: {verdict.reason}")
    ts.write_certificate(verdict, certificate)
    print(f"The checker says that the certificate holds: {ts.check_certificate(certificate).valid}")

if verdict.failure:
    string = [[[1.0, 0.0] if token == "(" else [0.0, 1.0] for token in verdict.failure.string]]
    output = network(torch.tensor(string))[0, -1].item()
    print(f"PyTorch's own output for {verdict.failure.string}: {output:.2f}; right would be {verdict.failure.right}")
