"""The published experiment as it was run: PyTorch on the CPU, token by token, one string a step.

Written from the description of the experiment, as the baseline that the benchmarks are measured against. What can be made
ready once (the one-hot vectors, the targets) is made ready before the clock starts, so that the loop is not slower than it
has to be.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias, TypedDict

import torch
from torch import nn

LEARNING_RATE = 0.005
OUTPUTS = {"binary": 1, "ternary": 3}
TOKENS = {"(": (1.0, 0.0), ")": (0.0, 1.0)}

Loss: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Lessons: TypeAlias = list[tuple[torch.Tensor, torch.Tensor]]


class Weights(TypedDict):
    """A network's weights as plain numbers; None where it has no such bias."""

    open_weight: float
    close_weight: float
    recurrent_weight: float
    cell_bias: float | None
    readout_weight: list[float]
    readout_bias: list[float] | None


class CountingNetwork(nn.Module):
    """A linear cell over [token, h], and a readout of its last state."""

    def __init__(self, task: str, *, bias: bool) -> None:
        """Make the two layers, the cell first: the order decides which random numbers each gets."""
        super().__init__()
        self.cell = nn.Linear(3, 1, bias=bias)
        self.readout = nn.Linear(1, OUTPUTS[task], bias=bias or task == "ternary")

    def forward(self, string: torch.Tensor) -> torch.Tensor:
        """Return the outputs after the last token; the string has shape (tokens, 1, 2)."""
        h = torch.zeros((1, 1), dtype=string.dtype)
        for token in string:
            h = self.cell(torch.cat((token, h), dim=1))
        return self.readout(h)

    def set_weights(self, weights: Weights) -> None:
        """Put given numbers in the place of those drawn."""
        cell = [weights["open_weight"], weights["close_weight"], weights["recurrent_weight"]]
        new = [(self.cell.weight, cell), (self.cell.bias, weights["cell_bias"])]
        new += [(self.readout.weight, weights["readout_weight"]), (self.readout.bias, weights["readout_bias"])]
        with torch.no_grad():
            for parameter, values in new:
                if parameter is not None:
                    parameter.copy_(torch.tensor(values, dtype=parameter.dtype).reshape(parameter.shape))

    def weights(self) -> Weights:
        """Return the weights as they are."""
        open_weight, close_weight, recurrent_weight = self.cell.weight.flatten().tolist()
        return {
            "open_weight": open_weight,
            "close_weight": close_weight,
            "recurrent_weight": recurrent_weight,
            "cell_bias": None if self.cell.bias is None else self.cell.bias.item(),
            "readout_weight": self.readout.weight.flatten().tolist(),
            "readout_bias": None if self.readout.bias is None else self.readout.bias.tolist(),
        }


def train_one(  # noqa: PLR0913 -- the settings of a run, each with its name
    task: str,
    bias: bool,
    strings: Sequence[str],
    labels: Sequence[int],
    *,
    seed: int = 0,
    epochs: int = 100,
    dtype: torch.dtype = torch.float32,
    initial: Weights | None = None,
    objective: str = "published",
) -> Weights:
    """Train one network and return its final weights.

    Args:
        task: "binary" or "ternary".
        bias: whether the cell has a bias, and the binary readout.
        strings: the training set, in the order in which it is gone through.
        labels: the number of each string's class: 0 or 1 (positive), or 0, 1, 2 (negative, zero, positive).
        seed: what the initial weights are drawn from.
        epochs: passes over the set.
        dtype: the arithmetic.
        initial: initial weights to use instead of those drawn.
        objective: "published", or "cross_entropy" for a ternary loss without the second softmax.
    """
    network = make_network(task, bias=bias, seed=seed, dtype=dtype, initial=initial)
    with one_thread():
        train(network, make_lessons(task, strings, labels, dtype), loss_of(task, objective), epochs)
    return network.weights()


def seconds_per_epoch(strings: Sequence[str], labels: Sequence[int], epochs: int = 2) -> float:
    """Return the time of one epoch of binary training without bias, in float32: a mean, after one epoch that is not counted.

    Every epoch does the same work, so a whole run takes a hundred times as long; a benchmark that scales says so.
    """
    network = make_network("binary", bias=False, seed=0, dtype=torch.float32)
    lessons, loss = make_lessons("binary", strings, labels, torch.float32), loss_of("binary", "published")
    with one_thread():
        train(network, lessons, loss, epochs=1)
        start = perf_counter()
        train(network, lessons, loss, epochs)
        return (perf_counter() - start) / epochs


def make_network(
    task: str, *, bias: bool, seed: int, dtype: torch.dtype, initial: Weights | None = None
) -> CountingNetwork:
    """Make a network with the initial weights of a seed, or with those given."""
    torch.manual_seed(seed)
    network = CountingNetwork(task, bias=bias).to(dtype)
    if initial is not None:
        network.set_weights(initial)
    return network


def make_lessons(task: str, strings: Sequence[str], labels: Sequence[int], dtype: torch.dtype) -> Lessons:
    """Turn strings into one-hot vectors, and labels into what the loss compares with."""
    return [
        (one_hot(string, dtype), _target(task, label, dtype)) for string, label in zip(strings, labels, strict=True)
    ]


def one_hot(string: str, dtype: torch.dtype) -> torch.Tensor:
    """Return a string as an array of shape (tokens, 1, 2)."""
    return torch.tensor([[TOKENS[token]] for token in string], dtype=dtype)


def _target(task: str, label: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([[label]], dtype=dtype) if task == "binary" else torch.tensor([label])


def loss_of(task: str, objective: str) -> Loss:
    """Return the loss of the outputs for one string; the published ternary loss applies softmax twice."""
    binary, ternary = nn.BCELoss(), nn.CrossEntropyLoss()
    losses: dict[tuple[str, str], Loss] = {
        ("binary", "published"): lambda outputs, target: binary(torch.sigmoid(outputs), target),
        ("ternary", "published"): lambda outputs, target: ternary(torch.softmax(outputs, dim=1), target),
        ("ternary", "cross_entropy"): ternary,
    }
    return losses[task, objective]


def train(network: CountingNetwork, lessons: Lessons, loss: Loss, epochs: int) -> int:
    """Train the network; return how many strings it got right in the last epoch, each just before its own update."""
    adam = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    right = 0
    for _ in range(epochs):
        right = 0
        for string, target in lessons:
            adam.zero_grad()
            outputs = network(string)
            loss(outputs, target).backward()
            adam.step()
            right += predicted(outputs) == int(target)
    return right


def predicted(outputs: torch.Tensor) -> int:
    """Return the class: positive if p > 1/2, or the largest of three."""
    return int(torch.sigmoid(outputs).item() > 0.5) if outputs.numel() == 1 else int(outputs.argmax())  # noqa: PLR2004


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep PyTorch to one core, and give it back its threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
