"""No wrong verdict on linear networks of several units: the certifier and the checker against every string in whole numbers.

    python soak/linear.py [NETWORKS] [WORKERS]

Goes through networks of every kind in turn (`tests/certificates/affine_cases.py`): dense, diagonal, complex and defective
matrices, one for both tokens or one for each, commuting or not, exact counters, near ones and networks that are right for ever
without counting. The verdict on each is compared with every string up to twelve tokens; then, for networks with one matrix for
both tokens, the number of right strings of each length. Ends with 1 if a verdict, a horizon, a failing string, a certificate or
a number of right strings is wrong.
"""

import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

from affine_cases import KINDS
from affine_verdicts import SHARED, disagreement_with_every_string, miscount

_LONGEST, _FIRST_SEED, _AT_ONCE = 12, 1000, 20


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def count_disagreements(name: str, compare: Callable, kinds: Sequence[str], networks: int, workers: int) -> int:
    """Compare so many networks with every string, as many of each kind, and return how many disagree."""
    cases = [(kind, _FIRST_SEED + seed) for seed in range(-(-networks // len(kinds))) for kind in kinds]
    wrong, started = 0, time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(compare, *zip(*cases, strict=True), repeat(_LONGEST), chunksize=_AT_ONCE)
        for place, (case, disagreement) in enumerate(zip(cases, found, strict=True), start=1):
            if disagreement is not None:
                wrong += 1
                show(f"{case}: {disagreement}")
            if place % (len(cases) // 10) == 0:
                show(f"{name}: {place:,} networks, {wrong} disagreements, {time.perf_counter() - started:.0f} s")
    show(f"{name}: {len(cases):,} networks of {len(kinds)} kinds, strings to length {_LONGEST}, {wrong} disagreements")
    return wrong


def main(networks: int = 21_600, workers: int = 2) -> int:
    """Compare the verdicts on so many networks, and the numbers of right strings of as many."""
    wrong = count_disagreements("verdicts", disagreement_with_every_string, KINDS, networks, workers)
    wrong += count_disagreements("right strings", miscount, SHARED, networks, workers)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
