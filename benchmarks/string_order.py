"""How much the order of the training strings decides: ternary, length 8, the published loss, the same seeds in each order.

    python -m benchmarks.string_order [ORDERS] [SEEDS]

Every epoch reads the strings in the one order of the shuffle, and Adam's rate never falls, so where a network comes to rest
depends on that order, in double precision too.
"""

import sys

import numpy as np

from tallystick.datasets.strings import long_suite
from tallystick.languages.tasks import TERNARY
from tallystick.runs.runner import train

SUITES = 5


def main(orders: int = 20, seeds: int = 256) -> None:
    """Print, for each order, the mean accuracy at 50 tokens and the share of networks without an error, in both precisions."""
    strings = [string for suite in range(SUITES) for string in long_suite(TERNARY, 50, seed=1000 + suite)]
    print(f"ternary, length 8, {seeds} seeds, {SUITES} test suites of 50 tokens")
    print("order  bias   float32 mean  at 100 %   float64 mean  at 100 %")
    for bias in (False, True):
        for order in range(orders):
            cells = []
            for precision in ("float32", "float64"):
                networks = train("ternary", 8, bias=bias, seeds=seeds, seed=order, precision=precision)
                accuracy = networks.accuracy(strings)
                cells.append(f"{accuracy.mean():10.1f} %  {100 * np.mean(accuracy == 100):6.1f} %")  # noqa: PLR2004
            print(f"{order:5d}  {'yes' if bias else 'no ':4}  {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
