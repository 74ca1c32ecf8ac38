"""The table of docs/measurements.md on how far trained LSTMs count in each format, whichever library executes them.

    python -m benchmarks.saturated_horizons [SEEDS]

Each row trains LSTMs of one unit and certifies every one of them in any order of operations. Columns:

    horizon  the horizon of most of them, and the share that has it
    least    the least horizon of all
    exact    the share whose horizon is exact: a shortest failing string follows it
    checked  the share whose certificate the independent check accepts
    found, check  milliseconds of processor time for one network
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time

from tallystick.certificates.certificate import certificate
from tallystick.certificates.certify import certify
from tallystick.certificates.verdict import Outcome
from tallystick.checker.checking import check
from tallystick.networks import Network
from tallystick.networks.int8 import quantise
from tallystick.numbers.floats import INT8
from tallystick.runs.runner import train

ROWS = (("saturating", "binary"), ("saturating", "ternary"), ("saturating-labels", "binary"))
FORMATS = ("bfloat16", "float16", "float32", "bfloat16-state-float32", "int8-weights-float32")


def certified(network: Network, arithmetic: str) -> tuple[int, bool, bool, float, float]:
    """Return the horizon, whether it is exact, whether its certificate holds, and the seconds of both."""
    network = quantise(network) if arithmetic.startswith(INT8) else network
    begun = process_time()
    verdict = certify(network, arithmetic=arithmetic)
    found = process_time()
    holds = check(json.dumps(certificate(verdict))).valid is True
    return verdict.horizon or 0, verdict.outcome is Outcome.REFUTED, holds, found - begun, process_time() - found


def main() -> None:
    """Print the table."""
    seeds = int(sys.argv[1]) if sys.argv[1:] else 1000
    heads = (
        "method",
        "task",
        "format",
        "seeds",
        "horizon",
        "share, %",
        "least",
        "exact, %",
        "checked, %",
        "found, ms",
        "check, ms",
    )
    print(_line(heads))
    print(_line(["---"] * len(heads)))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for method, task in ROWS:
            trained = train(task=task, bias=True, cell="lstm", method=method, seeds=seeds)
            networks = [trained.network(place) for place in range(seeds)]
            for form in FORMATS:
                found = list(pool.map(certified, networks, [f"{form}-any-order"] * seeds, chunksize=16))
                horizons, exact, holds, finding, checking = zip(*found, strict=True)
                (most, times), least = Counter(horizons).most_common(1)[0], min(horizons)
                shares = [f"{100 * share / seeds:.1f}" for share in (times, sum(exact), sum(holds))]
                taken = [f"{1000 * sum(part) / seeds:.0f}" for part in (finding, checking)]
                cells = (method, task, form, f"{seeds:,}", f"{most:,}", shares[0], f"{least:,}", *shares[1:], *taken)
                print(_line(cells), flush=True)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
