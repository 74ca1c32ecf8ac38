"""No verdict in another floating-point mode: subnormal numbers flushed to zero, and every other direction of rounding.

    python soak/modes.py [CELLS] [WORKERS]

Goes through the same blocks of models as `verdicts.py`, in processes of its own, and asks about each as
`tests/certificates/refusals.py` says. Whatever is answered and not refused is printed with its block, its model and its mode.
Ends with 1 if there is such an answer.
"""

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

from differential import blocks
from float_modes import CANNOT, MODES
from refusals import refuse

_AT_ONCE = 4


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(cells: int = 20_000, workers: int = 2) -> int:
    """Ask about so many cells."""
    if CANNOT is not None:
        show(f"modes: not tried here: {CANNOT}")
        return 0
    total, answered = Counter[str](), 0
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for tally, found in pool.map(refuse, blocks(cells), chunksize=_AT_ONCE):
            total += tally
            answered += len(found)
            for answer in found:
                show(answer)
    ways = ("verdicts", "counts", "extreme strings", "random strings", "ensembles")
    asked = ", ".join(f"{name} {total[name]:,}" for name in ways)
    show(
        f"modes: {total['cells']:,} cells in {len(MODES)} modes ({asked}; checker as ever {total['checker']:,}), "
        f"{answered} answered and not refused"
    )
    return 1 if answered else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
