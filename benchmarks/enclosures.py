"""How long enclosures take for networks of the sizes that people train, by products of matrices and weight by weight.

    python -m benchmarks.enclosures [ROUNDS]

PyTorch trains each network for some seconds on brackets, with fixed seeds. In every round each is certified to its exact
horizon in both ways, one after the other, so that whatever else the machine does hits both alike. Processor seconds of all
cores; the least of the rounds counts. The last two columns are the least and the greatest ratio within a round. The rows named
"random" are as PyTorch initialises a network, and fail at once.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tallystick.certificates.boxes import suspects
from tallystick.certificates.certify import certify
from tallystick.networks import Network
from tallystick.networks.pytorch import from_torch
from tallystick.numbers import boxes

NETWORKS: dict[str, tuple[str, int, int, int, int]] = {
    "LSTM 32, random": ("LSTM", 32, 1, 0, 1),
    "LSTM 32": ("LSTM", 32, 1, 400, 12),
    "LSTM 32, longer strings": ("LSTM", 32, 1, 1500, 30),
    "LSTM 64": ("LSTM", 64, 1, 300, 12),
    "GRU 64": ("GRU", 64, 1, 1000, 30),
    "RNN tanh 64": ("RNN", 64, 1, 1500, 20),
    "two layers of LSTM 32": ("LSTM", 32, 2, 800, 30),
}
"""The module, its units and layers, the steps of training and the longest string."""

_BATCH = 64


def trained(kind: str, units: int, layers: int, steps: int, longest: int) -> Network:
    """Train a network to say after each token whether more brackets have opened than closed."""
    import torch  # noqa: PLC0415 -- takes seconds to load

    torch.manual_seed(1)
    torch.set_num_threads(1)
    cell: Any = getattr(torch.nn, kind)(2, units, layers, batch_first=True)
    decide = torch.nn.Linear(units, 1)
    weights = [*cell.parameters(), *decide.parameters()]
    adam = torch.optim.Adam(weights, lr=1e-3 if kind == "RNN" else 5e-3)
    for step in range(steps):
        length = 1 + step % longest
        closing = torch.randint(0, 2, (_BATCH, length))
        # Half of the strings have as many of either bracket as they can, where classes change.
        order = torch.rand(_BATCH // 2, length).argsort(1)
        closing[: _BATCH // 2] = torch.gather((torch.arange(length) % 2).expand(_BATCH // 2, length), 1, order)
        outputs = decide(cell(torch.nn.functional.one_hot(closing, 2).float())[0])[..., 0]
        positive = ((1 - 2 * closing).cumsum(1) > 0).float()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(outputs, positive)
        adam.zero_grad()
        loss.backward()  # pyright: ignore[reportUnknownMemberType]
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        adam.step()
    return from_torch(cell, decide)


@contextmanager
def weight_by_weight() -> Iterator[None]:
    """Leave products of matrices out."""
    before = boxes.FEWEST
    boxes.FEWEST = suspects.FEWEST = sys.maxsize
    try:
        yield
    finally:
        boxes.FEWEST = suspects.FEWEST = before


def seconds_to(horizon: int | None, network: Network) -> float:
    """Return the processor seconds of a verdict, whose horizon is known."""
    started = time.process_time()
    assert certify(network).horizon == horizon
    return time.process_time() - started


def main(rounds: int) -> None:
    """Print a row a network."""
    print(
        f"{rounds} rounds: processor seconds to the horizon, by matrices and weight by weight, and the ratio of the two"
    )
    print(f"{'network':24} {'horizon':>8} {'matrices':>8} {'weights':>8} {'ratio':>6} {'least':>6} {'most':>6}")
    for name, what in NETWORKS.items():
        network = trained(*what)
        horizon = certify(network).horizon
        quick: list[float] = []
        slow: list[float] = []
        for _ in range(rounds):
            quick.append(seconds_to(horizon, network))
            with weight_by_weight():
                slow.append(seconds_to(horizon, network))
        ratios = [one / other for one, other in zip(slow, quick, strict=True)]
        print(
            f"{name:24} {horizon:8} {min(quick):8.2f} {min(slow):8.2f} {min(slow) / min(quick):6.1f} "
            f"{min(ratios):6.1f} {max(ratios):6.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
