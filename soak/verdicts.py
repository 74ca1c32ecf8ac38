"""No wrong verdict: the certifier against brute force, rationals, the independent checker, ensembles and a solver.

    python soak/verdicts.py [CELLS] [WORKERS]

Goes through blocks of models at the edges of every arithmetic (`tests/certificates/edge_models.py`), each drawn from its own
seed, and compares as `tests/certificates/differential.py` says. Every disagreement is printed with its block and its model.
Ends with 1 if there is one.
"""

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

from differential import blocks, compare

_AT_ONCE = 4


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(cells: int = 1_000_000, workers: int = 2) -> int:
    """Compare so many cells."""
    total, disagreements, shown, started = Counter[str](), 0, 0, time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        for tally, found in pool.map(compare, blocks(cells), chunksize=_AT_ONCE):
            total += tally
            disagreements += len(found)
            for disagreement in found:
                show(disagreement)
            if total["cells"] >= shown + cells / 20:
                shown = total["cells"]
                show(f"{shown:,} cells, {disagreements} disagreements, {time.perf_counter() - started:.0f} s")
    outcomes = ", ".join(f"{total[name]:,} {name}" for name in ("PROVED", "REFUTED", "BOUNDED", "refused"))
    ways = ("brute force", "checker", "ensemble", "counts", "larger limits", "longer strings", "z3", "several units")
    compared = ", ".join(f"{name} {total[name]:,}" for name in ways)
    show(f"verdicts: {total['cells']:,} cells ({outcomes}; {compared}), {disagreements} disagreements")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
