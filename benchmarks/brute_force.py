"""Certificates against every string: random models of every cell, readout and arithmetic, each string run one by one.

    python -m benchmarks.brute_force [LONGEST] [MODELS] [WORKERS]

Compares the verdict, the horizon, the shortest failing string and the numbers of right strings, for all and for even
lengths, and counts disagreements. Ends with 1 if there is one.
"""

import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

from agreement import count_disagreement, every_string, verdict_disagreement
from brute_force import READOUTS, SCALAR_CELLS, some_model

from tallystick.certificates.verdict import ARITHMETIC_NAMES, Lengths, Outcome

COMBINATIONS = list(product(SCALAR_CELLS, READOUTS, ARITHMETIC_NAMES))


def compare(combination: tuple[str, str, str], models: int, longest: int) -> tuple[dict[str, int], list[str]]:
    """Compare some models of one combination; return tallies and disagreements."""
    cell, readout, arithmetic = combination
    generator = random.Random(f"{combination}")
    tally = dict.fromkeys(["models", "counted", *map(str, Outcome)], 0)
    found = []
    for _ in range(models):
        model = some_model(SCALAR_CELLS[cell], readout, generator)
        tally["models"] += 1
        strings = every_string(model, arithmetic, longest)
        for lengths in Lengths:
            disagreement, outcome = verdict_disagreement(model, lengths, arithmetic, strings)
            tally[str(outcome)] += 1
            found += [f"{model} {lengths} {arithmetic}: {disagreement}"] if disagreement else []
        # A tanh in real numbers is slow to bound, string by string.
        shorter = 9 if (cell, arithmetic) == ("tanh", "real") else longest
        some = {length: pair for length, pair in strings.items() if length <= shorter}
        disagreement, counted = count_disagreement(model, arithmetic, some)
        tally["counted"] += counted
        found += [f"{model} {arithmetic}: {disagreement}"] if disagreement else []
    return tally, found


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(longest: int = 14, models: int = 10_000, workers: int = 2) -> int:
    """Run every combination, as many models each as make up the number."""
    each = -(-models // len(COMBINATIONS))
    total, disagreements, started = dict[str, int](), list[str](), time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        runs = pool.map(compare, COMBINATIONS, *([value] * len(COMBINATIONS) for value in (each, longest)))
        for combination, (tally, found) in zip(COMBINATIONS, runs, strict=True):
            show(f"{' '.join(combination):32} {tally} {len(found)} disagreements")
            total = {name: total.get(name, 0) + size for name, size in tally.items()}
            disagreements += found
    show("\n".join(disagreements))
    show(f"every string to length {longest}, {time.perf_counter() - started:.0f} s: {total}")
    show(f"{total['models']} models, {len(disagreements)} disagreements")
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
