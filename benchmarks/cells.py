"""How fast each scalar cell trains beside the linear one, measured in turns.

    python -m benchmarks.cells [ROUNDS]

In every round each cell of `SCALAR` trains the same seeds once, one after the other, so that whatever else the machine does hits
all of them alike. Processor seconds of one core; the least of the rounds counts. The last two columns are the least and the
greatest ratio within a round.
"""

import sys
import time
from functools import partial

import numpy as np

from tallystick.cells import CELLS, ScalarCell
from tallystick.runs.jobs import training_job
from tallystick.training.ensemble import train
from tallystick.training.setting import Setting

SEEDS = 2048
SCALAR = [name for name, kind in CELLS.items() if issubclass(kind, ScalarCell)]
TAUGHT = (("binary", "published"), ("ternary", "published"), ("count", "count-calm"))


def seconds_by_round(task: str, method: str, rounds: int) -> dict[str, list[float]]:
    """Return the processor seconds of each cell, round by round; what is compiled is compiled before."""
    work = {}
    for cell in SCALAR:
        setting = Setting(task, False, 8, cell, method)
        job = training_job(setting, SEEDS, 0)
        work[cell] = partial(train, setting, job.initial(np.arange(SEEDS)), job.strings, workers=1, device="cpu")
        work[cell]()
    found: dict[str, list[float]] = {cell: [] for cell in SCALAR}
    for _ in range(rounds):
        for cell, once in work.items():
            started = time.process_time()
            once()
            found[cell].append(time.process_time() - started)
    return found


def main(rounds: int) -> None:
    """Print a row a cell for each task and method."""
    print(
        f"{SEEDS} seeds, length 8, 100 epochs, {rounds} rounds: processor seconds, and as a multiple of the linear cell's"
    )
    print(f"{'task':8} {'method':12} {'cell':10} {'seconds':>8} {'ratio':>6} {'least':>6} {'most':>6}")
    for task, method in TAUGHT:
        found = seconds_by_round(task, method, rounds)
        for cell, seconds in found.items():
            ratios = [mine / linear for mine, linear in zip(seconds, found["linear"], strict=True)]
            print(
                f"{task:8} {method:12} {cell:10} {min(seconds):8.2f} {min(seconds) / min(found['linear']):6.2f} "
                f"{min(ratios):6.2f} {max(ratios):6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
