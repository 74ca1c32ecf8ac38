"""No wrong verdict on networks that are asked about a language: the certifier and the checker against every string.

    python soak/languages.py [NETWORKS] [WORKERS]

Goes through every kind of cell with every way of answering in turn, over ready languages and machine files
(`tests/certificates/language_cases.py`): right networks, nearly right ones and random ones. What each says of every string, to
length 10 over two tokens, 7 over three and 5 over four, is worked out by code that shares nothing with the package
(`language_oracle.py`, `plain_languages.py`), in rationals or in balls of 200 binary digits. Ends with 1 if a verdict, a
horizon, a failing string, what it is said to say, or a certificate is wrong, if a forged certificate is believed, or if an
answer is missing that is certain.
"""

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

from language_cases import ANSWERS, CELLS
from language_verdicts import disagreement_of

_FIRST_SEED, _AT_ONCE = 1000, 10


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(networks: int = 5600, workers: int = 2) -> int:
    """Compare the verdicts on so many networks, as many of each kind of cell and answer."""
    kinds = [(cell, answer) for cell in CELLS for answer in ANSWERS]
    cases = [(*kind, _FIRST_SEED + seed) for seed in range(-(-networks // len(kinds))) for kind in kinds]
    wrong, started, decided = 0, time.perf_counter(), Counter[str]()
    finding, checking = 0.0, 0.0
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(disagreement_of, *zip(*cases, strict=True), chunksize=_AT_ONCE)
        for place, (case, (disagreement, about, (found_in, checked_in))) in enumerate(
            zip(cases, found, strict=True), 1
        ):
            decided[about.rpartition(" ")[0]] += 1
            finding, checking = finding + found_in, checking + checked_in
            if disagreement is not None:
                wrong += 1
                show(f"{case}: {disagreement} ({about})")
            if place % max(1, len(cases) // 10) == 0:
                show(f"{place:,} networks, {wrong} disagreements, {time.perf_counter() - started:.0f} s")
    for about, number in sorted(decided.items()):
        show(f"{about}: {number:,}")
    show(f"finding {finding:.0f} s, checking each verdict and two forged ones {checking:.0f} s")
    show(f"{len(cases):,} networks of {len(kinds)} kinds, {wrong} disagreements")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
