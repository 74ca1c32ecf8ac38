"""The fifteen networks of docs/models.md, each certified as its user would: `python -m benchmarks.brought` prints the table.

The networks are those of tests/pytorch, trained for a moment each, in PyTorch on one thread. Needs the extra `torch`.
"""

import sys
import time
from pathlib import Path

import tallystick as ts

_NETWORKS = Path(__file__).parents[1] / "tests" / "pytorch"
_STEPS = 400


def main() -> None:
    """Train, certify and time each network, and print one row of the table per network."""
    sys.path.insert(0, str(_NETWORKS))
    import brought  # noqa: PLC0415 -- found through the path above
    import torch  # noqa: PLC0415 -- an extra

    print("| network | declared | verdict | decided by | time |\n| --- | --- | --- | --- | --- |")
    for name, kind in brought.FIFTEEN.items():
        torch.manual_seed(1)
        network = kind.make()
        # A few random strings hold no member of aⁿbⁿcⁿ to learn from.
        network = brought.train(kind, network, _STEPS) if len(kind.alphabet) == 2 else network.eval()  # noqa: PLR2004
        declared = kind.declared() | ({} if kind.classes else {"threshold": kind.threshold} if kind.run else {})
        started = time.perf_counter()
        verdict = ts.certify(network, **declared)
        took = time.perf_counter() - started
        horizon = "every length" if verdict.horizon is None else verdict.horizon
        example = f", fails on `{verdict.failure.string}`" if verdict.failure else ""
        words = ", ".join(f"{key}={value!r}" for key, value in declared.items())
        print(f"| {name} | `{words}` | {verdict.outcome} at {horizon}{example} | {verdict.method} | {took:.1f} s |")


if __name__ == "__main__":
    main()
