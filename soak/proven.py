"""The proven checker and the Python checker never contradict each other.

    python soak/proven.py [CERTIFICATES] [FORGERIES] [WORKERS]

Goes through certificates of networks with one unit, of linear units with long horizons and of affine networks with several
units, and through forgeries of such certificates with digests that fit, until the proven checker has decided so many of each.
What it leaves open is counted, by its reason. Needs what `make proofs` builds. Ends with 1 if the two contradict each other.
"""

import shutil
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

import proven_cases

_AT_ONCE = 100
_KINDS = ("unit", "long", "affine")
_REASON = 60


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def compare(name: str, first: int, program: str) -> tuple[Counter, list[str]]:
    """Let both checkers answer some certificates; return how many of each answer there were, and the contradictions."""
    proven_cases.PROGRAM = Path(program)
    make = getattr(proven_cases, name)
    made = [(seed, content) for seed in range(first, first + _AT_ONCE) if (content := make(seed)) is not None]
    lines = proven_cases.proven_answers([content for _, content in made])
    answers: Counter = Counter()
    wrong: list[str] = []
    for (seed, content), line in zip(made, lines, strict=True):
        answers[line[:_REASON] if proven_cases.is_open(line) else line.partition(":")[0]] += 1
        if (found := proven_cases.disagreement(content, line)) is not None:
            wrong.append(f"{name} {seed}: {found}")
    return answers, wrong


def compare_many(names: tuple[str, ...], wanted: int, workers: int, program: str) -> tuple[int, int]:
    """Compare until so many are decided, as many of each kind of network; return how many were, and how many contradictions."""
    answers: Counter = Counter()
    contradictions, started = 0, time.perf_counter()
    with ProcessPoolExecutor(workers) as pool:
        for name in names:
            decided, firsts = 0, count(0, _AT_ONCE)
            while decided < wanted // len(names):
                batch = list(islice(firsts, 10 * workers))
                for found, wrong in pool.map(compare, [name] * len(batch), batch, [program] * len(batch)):
                    answers += found
                    decided += sum(number for answer, number in found.items() if not proven_cases.is_open(answer))
                    contradictions += len(wrong)
                    for line in wrong:
                        show(line)
                show(
                    f"{name}: {decided:,} decided, {contradictions} contradictions, {time.perf_counter() - started:.0f} s"
                )
    for answer, number in answers.most_common():
        show(f"    {number:7,} {answer}")
    return sum(number for answer, number in answers.items() if not proven_cases.is_open(answer)), contradictions


def main(certificates: int = 20_000, forgeries: int = 20_000, workers: int = 2) -> int:
    """Compare so many certificates, and so many forgeries."""
    if not proven_cases.PROGRAM.is_file():
        show("the proven checker is not built: make proofs builds it")
        return 2
    with TemporaryDirectory() as folder:
        program = shutil.copy(proven_cases.PROGRAM, folder)  # so that a build beside it does no harm
        genuine, wrong = compare_many(tuple(f"{kind}_certificate" for kind in _KINDS), certificates, workers, program)
        forged, more = compare_many(tuple(f"{kind}_forgery" for kind in _KINDS), forgeries, workers, program)
    show(
        f"proven checker: {genuine:,} certificates and {forged:,} forgeries decided, {wrong + more} contradictions of the "
        "Python checker"
    )
    return 1 if wrong + more else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
