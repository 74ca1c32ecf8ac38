"""How fast programs are run on every string, beside what a user would write, measured in turns.

    python -m benchmarks.exhaustive [LENGTH] [ROUNDS]

An LSTM of 32 units with a readout, to which the count is added so that it is right on every string, is run on all strings up to a
length: as a whole module by `ts.certify`; as an object that exposes its state; in batches by a plain loop that compares nothing;
and, to a shorter length, string by string. In every round each goes once, one after the other; the least time counts.
Needs PyTorch.
"""

import sys
import time
from collections.abc import Callable
from itertools import product

import torch
from torch import nn

import tallystick as ts
from tallystick.certificates.running.executable import BATCH
from tallystick.certificates.running.string_blocks import blocks

TOKENS = {"(": [1, 0], ")": [0, 1]}
SHORTER = 8
"""So many tokens less where strings are run one by one."""


class Module(nn.Module):
    """An LSTM that is right on every string: its own output stays below the count that is added to it."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.readout = nn.LSTM(2, 32, batch_first=True), nn.Linear(32, 1)
        self.steps = nn.Parameter(torch.tensor([[1.0], [-1.0]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Read all strings from their start."""
        return self.read_out(self.layer(x)[0][:, -1], (x @ self.steps).sum(dim=1))

    def read_out(self, hidden: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        """Add the count to a small output."""
        return 0.1 * torch.tanh(self.readout(hidden)) - 0.5 + count


class States(nn.Module):
    """The same module, a token at a time."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        self.module = module

    def start(self, batch: int) -> tuple[torch.Tensor, ...]:
        """Return h, c and the count before the first token."""
        return torch.zeros(1, batch, 32), torch.zeros(1, batch, 32), torch.zeros(batch, 1)

    def step(self, state: tuple[torch.Tensor, ...], tokens: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Read a token of each string."""
        *memory, count = state
        return *self.module.layer(tokens[:, None], tuple(memory))[1], count + tokens @ self.module.steps

    def outputs(self, state: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """Read the state out."""
        return self.module.read_out(state[0][0], state[2])


def run_batches(module: Module, length: int) -> None:
    """Run all strings in batches, and look at nothing."""
    codes = torch.eye(2)
    with torch.no_grad():
        for size in range(1, length + 1):
            for rows in blocks(2, size, BATCH):
                module(codes[torch.from_numpy(rows)])


def run_one_by_one(module: Module, length: int) -> None:
    """Run all strings one by one, and look at nothing."""
    codes = torch.eye(2)
    with torch.no_grad():
        for size in range(1, length + 1):
            for string in product((0, 1), repeat=size):
                module(codes[list(string)][None])


def main(length: int, rounds: int) -> None:
    """Print the strings per second of each way, and how many times the string by string loop that is."""
    module = Module().eval()
    states, short = States(module).eval(), max(1, length - SHORTER)
    ways: dict[str, tuple[int, Callable[[], object]]] = {
        "string by string": (short, lambda: run_one_by_one(module, short)),
        "batches, nothing compared": (length, lambda: run_batches(module, length)),
        "certify, whole module": (length, lambda: ts.certify(module, task="binary", tokens=TOKENS, upto=length)),
        "certify, exposed state": (length, lambda: ts.certify(states, task="binary", tokens=TOKENS, upto=length)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, (_, work) in ways.items():
            started = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - started)
    print(f"LSTM of 32 units, torch {torch.__version__}, {torch.get_num_threads()} threads, {rounds} rounds")
    print(f"{'way':26} {'length':>6} {'strings':>9} {'seconds':>8} {'strings/s':>10} {'ratio':>6}")
    slowest = (2 ** (short + 1) - 2) / min(seconds["string by string"])
    for name, (longest, _) in ways.items():
        strings, least = 2 ** (longest + 1) - 2, min(seconds[name])
        print(
            f"{name:26} {longest:6} {strings:9,} {least:8.2f} {strings / least:10,.0f} {strings / least / slowest:6.1f}"
        )


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(*(numbers + [18, 3][len(numbers) :]))
