"""No library leaves an enclosure of floats in any order, and no such verdict is contradicted.

    python soak/executions.py [STRINGS] [WORKERS] [VERDICTS] [CASES]

Draws networks of every kind (`tests/certificates/library_networks.py`), gates small, large and saturated, and runs random strings
in float32 by NumPy, by PyTorch, batched and one at a time, by its own modules and by products with [x, h], and by JAX: everything
that the readout sees and every output must lie in its enclosure. Then verdicts that hold in any order are compared with every
string to length 12 in PyTorch, and the functions of each library are measured in every format. Needs PyTorch. Ends with 1 if
anything is wrong.
"""

import sys
import time
from collections.abc import Iterable
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "certificates"))

from library_networks import KINDS, LAYERS, contradiction, leaving_any, random_network

from tallystick.certificates.running.library_arrays import LIBRARIES, load_library
from tallystick.certificates.running.library_functions import check_library
from tallystick.errors import BadInput
from tallystick.numbers import FORMATS

_FIRST_SEED, _LONGEST, _AT_ONCE = 1000, 12, 5000
_DECIDED = (*LAYERS, "stack", "counter", "layer counter")
_WIDE_SHARE = 20
"""The true values of doubles take so many times as long to find."""


def show(text: str) -> None:
    """Write a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _network(kind: str, seed: int) -> tuple:
    load_library("torch").set_num_threads(1)
    generator = np.random.default_rng([_FIRST_SEED + seed, KINDS.index(kind)])
    return random_network(kind, generator), generator


def leave(case: tuple[str, int], strings: int) -> str | None:
    """Return where a library leaves the enclosure of random strings."""
    network, generator = _network(*case)
    rows = generator.integers(0, 2, (strings, int(generator.integers(1, _LONGEST + 1))))
    return leaving_any(network, "float32", rows, LIBRARIES)


def contradict(case: tuple[str, int]) -> str | None:
    """Return how every string contradicts the verdict on a network."""
    return contradiction(_network(*case)[0], longest=_LONGEST)


def count_wrong(what: str, cases: list, found: Iterable[str | None]) -> int:
    """Show what is wrong with each case, and return with how many something is."""
    wrong, started = 0, time.perf_counter()
    for place, (case, said) in enumerate(zip(cases, found, strict=True), start=1):
        if said is not None:
            wrong += 1
            show(f"{case}: {said}")
        if place % max(1, len(cases) // 10) == 0:
            show(f"{what}: {place:,} networks, {wrong} wrong, {time.perf_counter() - started:.0f} s")
    return wrong


def measure(cases: int) -> tuple[int, float]:
    """Measure every function in every format; return how many libraries are worse than assumed, and the worst that is not."""
    worse, worst = 0, 0.0
    for library in LIBRARIES:
        for name in FORMATS:
            try:
                number = cases // _WIDE_SHARE if name == "float64" else cases
                found = check_library(library, name, number, seed=_FIRST_SEED)
            except BadInput as error:
                worse += 1
                show(str(error))
                continue
            worst = max(worst, *(one.ulps for one in found))
            show(f"{library} {name}: " + ", ".join(f"{one.name} {one.ulps:.2f} at {one.argument:g}" for one in found))
    return worse, worst


def main(strings: int = 1_000_000, workers: int = 2, verdicts: int = 520, cases: int = 1_000_000) -> int:
    """Run so many strings, compare so many verdicts, and measure each function on so many arguments."""
    run = [(kind, seed) for seed in range(-(-strings // (_AT_ONCE * len(KINDS)))) for kind in KINDS]
    decided = [(kind, seed) for seed in range(-(-verdicts // len(_DECIDED))) for kind in _DECIDED]
    # A process keeps what its libraries compile, so it is replaced after a while; concurrent.futures may hang where it does that.
    with get_context("spawn").Pool(workers, maxtasksperchild=50) as pool:
        left = count_wrong("strings", run, pool.imap(partial(leave, strings=_AT_ONCE), run))
        contradicted = count_wrong("verdicts", decided, pool.imap(contradict, decided))
    worse, worst = measure(cases)
    show(
        f"executions: {len(run) * _AT_ONCE:,} strings of {len(run):,} networks of {len(KINDS)} kinds by NumPy, PyTorch and JAX, "
        f"{left} networks left their enclosure; {len(decided):,} verdicts and every string to length {_LONGEST} in PyTorch, "
        f"{contradicted} contradicted; functions at most {worst:.2f} units off, {worse} worse than assumed"
    )
    return 1 if left or contradicted or worse else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
